// Code of the host that a file names (host/trust.ts).
import { afterEach, describe, expect, it, vi } from 'vitest';
import { checkFlags, checkMakefile, checkTrust } from '../../host/trust.ts';

afterEach(() => void vi.unstubAllEnvs());

describe('options of the compiler in a file of an experiment', () => {
  it.each(
    [
      '-O2',
      '-O0',
      '-O',
      '-g',
      '-DLUCK=3',
      '-UX',
      '-Iinclude',
      '-std=gnu11',
      '-Wall',
      '-Wno-error=unused',
    ].concat(
      ['-fno-builtin-memcmp', '-fsanitize=undefined', '-fsanitize-coverage=trace-pc,trace-cmp', '-fwrapv'],
      ['-march=rv64gc', '-mcmodel=medany'],
    ),
  )('%s is harmless', flag => {
    vi.stubEnv('KCOVBOX_TRUST', '');
    expect(() => checkFlags([flag])).not.toThrow();
  });

  it.each(
    [
      '--ld-path=/tmp/evil',
      '-fplugin=./evil.so',
      '-fpass-plugin=./evil.so',
      '-fuse-ld=/tmp/evil',
      '-B.',
    ].concat(
      ['-Wl,--plugin,./evil.so', '-Xclang', '-load', '-mllvm', '@flags', '-o', 'elsewhere', '-specs=x'],
      ['-ftime-trace=elsewhere', '-fcrash-diagnostics-dir=x', '-save-temps', '-MF', '--config=x', '-wrapper'],
    ),
  )('%s needs the word of the user', flag => {
    vi.stubEnv('KCOVBOX_TRUST', '');
    expect(() => checkFlags(['-O2', flag])).toThrow(
      `${flag} may run programs or write files with your rights: set KCOVBOX_TRUST=1 if you trust it`,
    );
    vi.stubEnv('KCOVBOX_TRUST', '1');
    expect(() => checkFlags(['-O2', flag])).not.toThrow();
  });
});

it('a device needs it, too; no device needs nothing', () => {
  vi.stubEnv('KCOVBOX_TRUST', '');
  expect(() => checkTrust([])).not.toThrow();
  expect(() => checkTrust(['x/d.ts', 'y.ts'])).toThrow(
    /^device x\/d\.ts is code that runs with your rights: /,
  );
});

it('the Makefile of a tree of xv6 needs it', () => {
  vi.stubEnv('KCOVBOX_TRUST', '');
  expect(() => checkMakefile('trees/xv6')).toThrow(
    /^the Makefile of trees\/xv6 is code that runs with your rights: set KCOVBOX_TRUST=1 /,
  );
  vi.stubEnv('KCOVBOX_TRUST', '1');
  expect(() => checkMakefile('trees/xv6')).not.toThrow();
});
