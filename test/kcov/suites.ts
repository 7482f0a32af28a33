// Programs in the style of the four systems' own kcov tests, for suites.*.test.ts.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { buildProgram, type Dialect } from '../../toolchain/index.ts';
import { initrd, kernel, run } from '../kernel/boot.ts';

export const PROGRAMS = resolve(import.meta.dirname, '../../guest-programs');
/** Compiler flags of such programs. */
const STRICT = [
  '-Wall',
  '-Wextra',
  '-Wshadow',
  '-Wno-unused-parameter',
  '-Wno-unused-result',
  '-Wno-sign-compare',
];

/** Program, dialect, arguments, and what the output holds at least. */
type Suite = [name: string, dialect: Dialect, args: string, wanted: RegExp];
const SUITES: Suite[] = [
  ['openbsd-regress', 'openbsd', '', /^ok cmp thread$/m],
  ['openbsd-remote', 'openbsd', '', /^ok remote-interrupt in mode 2$/m],
  ['netbsd-atf', 'netbsd', '', /^kcov_remote: passed$/m],
  ['freebsd-atf', 'freebsd', '', /^cleaned: passed$/m],
  ['bsd-executor', 'openbsd', '', /^ok executor$/m],
  ['bsd-executor', 'netbsd', '', /^ok executor$/m],
  ['bsd-executor', 'freebsd', '', /^ok executor$/m],
  ['bsd-surroundings', 'openbsd', '', /^ok surroundings$/m],
  ['bsd-surroundings', 'netbsd', '', /^ok surroundings$/m],
  ['bsd-surroundings', 'freebsd', '', /^ok surroundings$/m],
  ['linux-selftest', 'linux', '', /^# Totals: pass:14 fail:0 xfail:0 xpass:0 skip:0 error:0$/m],
  ['linux-executor', 'linux', '', /^ok executor$/m],
  ['linux-documented', 'linux', 'pc', /^0xffffffff8/],
  ['linux-documented', 'linux', 'cmp', /^ip: 0xffffffff8\w+ type: 0x[0-7], arg1: /],
  ['linux-documented', 'linux', 'remote', /^nothing$/m],
];

/** The first of each name, and so at least one of each dialect. */
export const FIRST = SUITES.filter(([name], i) => SUITES.findIndex(([other]) => other === name) === i);
export const OTHERS = SUITES.filter(suite => !FIRST.includes(suite));

export async function suite(name: string, dialect: Dialect): Promise<Uint8Array> {
  const cflags = [...STRICT, '-Werror'];
  return readFileSync(
    (await buildProgram(join(PROGRAMS, `kcov-suites/${name}.c`), { dialect, cflags })).path,
  );
}

/** `eager`: all of the guest is compiled, at its first instruction; that takes some seconds. */
export const suiteTests = (suites: readonly Suite[], eager: boolean): void =>
  it.each(suites)('%s on %s %s', async (name, dialect, args, wanted) => {
    const archive = initrd({ 'bin/t': await suite(name, dialect) });
    const elf = await kernel(dialect);
    for (const options of [
      { kcov: 'device', engine: 'jit', eager },
      { kcov: 'off', engine: 'interp' },
    ] as const) {
      const machine = { ramBytes: 256 << 20, harts: 2, ...options };
      const end = run(elf, archive, `init=/bin/t -- ${args}`, machine);
      expect(end.text).toMatch(wanted);
      expect(end.text).not.toMatch(/^not ok|: failed/m);
      expect(end.status).toBe(0);
    }
  });
