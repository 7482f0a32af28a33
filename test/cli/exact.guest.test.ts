// `--exact`: source lines by retired instructions, of a kernel with hooks and of a bare-metal
// program without.

import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { missing, run, scratch } from '../coverage/support.ts';

const reason = missing('exact coverage', 'clang-19', 'ld.lld-19');

const BARE = `static volatile int sink;
__attribute__((noinline)) static int both(int a, int b)
{
    if (a > 0 && b > 0 && a + b > 5) {
        sink = a;
        return 1;
    }
    return 0;
}
void main(void)
{
    for (int i = 0; i < 10; i++)
        sink = both(i, i - 2);
    if (sink == 77)
        sink = 5;
    *(volatile int *)0x100000 = 0x5555;
    for (;;)
        ;
}
`;

function kcovbox(...args: string[]) {
  const bin = resolve(import.meta.dirname, '../../bin/kcovbox.cjs');
  return spawnSync(process.execPath, [bin, ...args], { encoding: 'utf8', input: '' });
}

function bare(): string {
  const dir = scratch();
  const [c, s, elf] = [join(dir, 'bare.c'), join(dir, 'start.S'), join(dir, 'bare.elf')];
  writeFileSync(c, BARE);
  writeFileSync(s, '.section .init,"ax"\n.globl _start\n_start: la sp, 0x80100000\n call main\n');
  const target = [
    '--target=riscv64',
    '-march=rv64imac',
    '-mabi=lp64',
    '-mcmodel=medany',
    '-O1',
    '-g',
    '-gdwarf-4',
  ];
  const link = ['-ffreestanding', '-nostdlib', '-static', '-fuse-ld=lld-19', '-Wl,-Ttext=0x80001000'];
  run('clang-19', [...target, ...link, '-Wl,--section-start=.init=0x80000000', s, c, '-o', elf]);
  return elf;
}

describe.skipIf(reason)('--exact', () => {
  it('counts the lines of a program without hooks', () => {
    const elf = bare();
    const out = join(scratch(), 'bare.info');
    const done = kcovbox('boot', '-bios', 'none', '-kernel', elf, '-nographic', '--exact', '--cover', out);
    expect([done.stderr, done.status]).toEqual(['', 0]);
    const text = kcovbox(
      'boot',
      '-bios',
      'none',
      '-kernel',
      elf,
      '-nographic',
      '--exact',
      '--cover',
      '-',
    ).stdout;
    expect(text).toMatch(/^ +4 +10 \+ {5}if \(a > 0/m);
    expect(text).toMatch(/^ +14 +1 \+ {5}if \(sink == 77\)/m);
    expect(text).toMatch(/^ +15 +0 - {9}sink = 5;/m);
    const [, covered, total] = /^ {2}lines .* (\d+)\/(\d+)$/m.exec(text)!;
    expect(run('lcov', ['--summary', out])).toContain(`(${covered} of ${total} lines)`);
  });

  it('counts the kernel under a program, and refuses what it cannot write', () => {
    const source = join(scratch(), 'hello.c');
    writeFileSync(source, '#include <unistd.h>\nint main(void) { return getpid() > 0 ? 0 : 1; }\n');
    const done = kcovbox('run', '--exact', '--cover', '-', '--format', 'source', source);
    expect([done.stderr, done.status]).toEqual(['', 0]);
    expect(done.stdout).toMatch(/^ +\d+ +[1-9]\d* \+ .*return curproc->pid;/m);
    const refused = (...args: string[]) => {
      const { status, stderr } = kcovbox(...args, source);
      expect(status).not.toBe(0);
      expect(stderr).toMatch(/^kcovbox: [^\n]+\n$/);
      return stderr;
    };
    expect(refused('run', '--exact')).toContain('--exact without --cover');
    expect(refused('run', '--exact', '--cover', 'x.kcov')).toContain('format kcov holds records');
  });
});
