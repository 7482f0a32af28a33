// `kcovbox debug` on other capsules than those of a program on one hart: of `boot`, thin ones, of
// several harts; and a watch of an object that lies in two pages.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { recordBoot } from '../cli/replay-search.ts';
import { ASSEMBLER } from '../support/asm.ts';
import { kcovbox } from '../support/command.ts';
import { missing } from '../support/tools.ts';

const PROGRAM = `#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
struct pair { char text[16]; long left, right; };
static _Alignas(4096) unsigned char space[8192];
int main(void) {
  struct pair *pair = (struct pair *)(space + 4096 - 24);
  pair->left = 1;
  getpid();
  pair->right = 2;
  getpid();
  pair->left = 3;
  getpid();
  return pair->left == 3 ? 0 : 1;
}
`;

describe.skipIf(missing('clang and lld', ASSEMBLER))('kcovbox debug', () => {
  const dir = mkdtempSync(join(tmpdir(), 'kcovbox-kinds-'));
  afterAll(() => rmSync(dir, { recursive: true, force: true }));
  writeFileSync(join(dir, 'pair.c'), PROGRAM);

  const debug = (capsule: string, files: readonly string[], ...commands: readonly string[]) => {
    const args = ['debug', capsule, ...files, ...commands.flatMap(command => ['-x', command])];
    const { status, stdout, stderr } = kcovbox(args, { cwd: dir });
    return { status, stderr, answers: stdout.split(/^\(kcovbox\) .*\n/m).slice(1) };
  };
  const record = (name: string, ...options: readonly string[]): string => {
    const path = join(dir, name);
    const args = ['run', ...options, '--cflags', '-O0', '--record', path, 'pair.c'];
    const { status, stderr } = kcovbox(args, { cwd: dir });
    if (status !== 0) throw new Error(stderr);
    return path;
  };

  test('a capsule of boot: from its first unit, both ways', () => {
    recordBoot(dir);
    const { status, stderr, answers } = debug(
      join(dir, 'b.kcapsule'),
      [],
      'stepi 3',
      'rstepi 2',
      'goto end',
      'info regs',
      'back',
      'stepi',
      'info threads',
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const [three, one, end, regs, begin, step, threads] = answers;
    expect(three).toMatch(/^unit 3, hart 0/m);
    expect(one).toMatch(/^unit 1, hart 0/m);
    expect(end).toContain('abc');
    expect(regs).toMatch(/^pc +[0-9a-f]{16}$/m);
    expect(begin).toMatch(/beginning of the run\nunit 0, /);
    expect(step).toMatch(/^unit 1, /m);
    expect(threads).toMatch(/^>hart 0/m);
  });

  test('a watch of an object in two pages, and who wrote it last', () => {
    const capsule = record('pair.kcapsule');
    const { status, stderr, answers } = debug(
      capsule,
      [],
      'break pair.c:14',
      'continue',
      'delete',
      'last-write *pair',
      'watch *pair',
      'back',
      'back',
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const [, , , last, , third, second] = answers;
    expect(last).toContain('pair.c:12');
    expect(third).toContain('right = 2');
    expect(third).toMatch(/before: .*left = 1, .*\n.*left = 3,/);
    expect(second).toMatch(/before: .*right = 0.*\n.*right = 2/);
  });

  test('a thin capsule: its images are given as files', () => {
    const whole = record('whole.kcapsule');
    const thin = join(dir, 'thin.kcapsule');
    const made = kcovbox(['capsule', 'thin', '-o', thin, whole], { cwd: dir });
    expect(made.status, made.stderr).toBe(0);
    expect(readFileSync(thin).length).toBeLessThan(20_000);
    const parts = join(dir, 'parts');
    expect(kcovbox(['capsule', 'extract', '-o', parts, whole], { cwd: dir }).status).toBe(0);
    const files = [join(parts, 'kernel.bin'), join(parts, 'initrd.bin')];
    const { status, stderr, answers } = debug(thin, files, 'break main', 'continue', 'backtrace');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(answers[2]).toMatch(/main at .*pair\.c:\d+/);
  });

  test('several harts: each has its place and its frames, forwards and back', () => {
    const capsule = record('harts.kcapsule', '--smp', '3', '--sched-seed', '7');
    const { status, stderr, answers } = debug(
      capsule,
      [],
      'break main',
      'continue',
      'info threads',
      'thread 2',
      'backtrace',
      'goto +1000',
      'goto -1000',
      'info threads',
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const [, , threads, , frames, , , again] = answers;
    expect(threads!.match(/hart \d/g)).toHaveLength(3);
    expect(frames).toContain('secondary_main');
    expect(again!.replace(/^>/gm, ' ')).toBe(threads!.replace(/^>/gm, ' '));
  });
});
