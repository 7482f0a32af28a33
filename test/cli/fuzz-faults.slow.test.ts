// Longer campaigns about drivers and kernels of the user's own: races with faults, fresh machines
// in place of snapshots, and a kernel tree that is gone when its crash is repeated.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { kcovbox, ROOT } from '../support/command.ts';

const cwd = mkdtempSync(join(tmpdir(), 'kcovbox-fuzz-faults-slow-'));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));
const TRUSTED = { KCOVBOX_TRUST: '1' };
const cli = (...words: string[]) => kcovbox(['fuzz', ...words], { cwd, env: TRUSTED, timeout: 600_000 });

const example = (...path: string[]): string => join(ROOT, 'examples', ...path);
const THERMO = [
  ...['--kasan', '--fault', 'thermo', '--device', example('sensor', 'thermo.ts')],
  ...['--driver', example('flawed', 'trusts.c'), '--describe', example('fuzz', 'thermo.kd')],
  ...['*$thermo', 'dup', 'close'].flatMap(name => ['--call', name]),
];
const TITLE = 'KASAN: slab-out-of-bounds Write in thermo_read';

test('races with faults are the same with any number of workers, and are repeated', () => {
  const words = ['run', ...THERMO, '--schedule', 'rw', '-n', '2048'];
  expect(cli(...words, '-j', '1', 'races-1').stdout).toContain(TITLE);
  cli(...words, '-j', '2', '--engine', 'interp', 'races-2');
  const { status, stdout } = spawnSync('diff', ['-r', 'races-1', 'races-2'], { cwd, encoding: 'utf8' });
  expect([status, stdout]).toEqual([0, '']);
  expect(readFileSync(join(cwd, 'races-1', 'epochs.jsonl'), 'utf8')).toMatch(
    /!schedule rw 0x[0-9a-f]+\\n!fault thermo:/,
  );
  expect(cli('verify', '--sample', '100', 'races-1').status).toBe(0);
  expect(cli('repro', 'races-1').stdout).toMatch(
    /^same {2}KASAN: slab-out-of-bounds Write in thermo_read\n/m,
  );
});

test('a driver that waits without end, and one that violates a rule, are found and repeated', () => {
  const good = readFileSync(example('sensor', 'thermo.c'), 'utf8');
  const start = 'mmio_write32(t->regs + THERMO_START, 1);';
  writeFileSync(join(cwd, 'twice.c'), good.replace(start, `${start} ${start}`));
  const cases = [
    [example('flawed', 'waits.c'), 'INFO: task hung in sys_read'],
    [join(cwd, 'twice.c'), 'PROTOCOL: thermo: start-while-busy'],
  ] as const;
  for (const [n, [driver, title]] of cases.entries()) {
    const words = THERMO.map(word => (word.endsWith('trusts.c') ? driver : word));
    expect(cli('run', ...words, '-n', '1024', `flaw${n}`).stdout).toContain(title);
    expect(cli('repro', `flaw${n}`).stdout).toContain(`same  ${title}\n`);
  }
});

test('a campaign without snapshots has the same corpus', () => {
  for (const more of [[], ['--no-snapshots']])
    cli('run', ...THERMO, ...more, '-n', '1024', `snapshots${more.length}`);
  const journal = (name: string): string => readFileSync(join(cwd, name, 'epochs.jsonl'), 'utf8');
  const finds = (name: string) =>
    journal(name)
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
      .map(({ entries, crashes }) => ({ entries, crashes }));
  expect(finds('snapshots1')).toEqual(finds('snapshots0'));
});

test("crashes of a kernel of the user's own are repeated on that kernel", () => {
  cpSync(join(ROOT, 'kernel'), join(cwd, 'tree'), { recursive: true });
  const source = join(cwd, 'tree', 'opt', 'provoke', 'provoke.c');
  writeFileSync(source, readFileSync(source, 'utf8').replace('panic("provoked")', 'panic("edited")'));
  writeFileSync(
    join(cwd, 'provoke.kd'),
    'strings provoke = "/dev/provoke"\nstrings provocations = "panic"\n' +
      'call openat$provoke(dir: int32 = -100, path: ptr string provoke, flags: int32 = 1, mode: int32 = 0) -> fd\n' +
      'call write$provoke(fd: fd, buf: ptr string provocations, n: len64 buf)\n',
  );
  const kernel = ['--kernel-source', 'tree', '--debug', '--describe', 'provoke.kd', '--call', '*$provoke'];
  expect(cli('run', ...kernel, '-n', '1024', 'edited').status).toBe(1);
  rmSync(join(cwd, 'tree'), { recursive: true });
  expect(cli('repro', 'edited')).toMatchObject({
    status: 0,
    stdout: 'same  kernel panic: edited in do_panic\n',
  });
});
