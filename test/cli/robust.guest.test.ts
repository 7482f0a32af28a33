// The checking options of `kcovbox run`: one kernel with all of them reports every kind of bug, and
// impossible combinations are refused in one line. test/kernel/robust.slow.test.ts has each check
// alone.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { findTool, hasGlibc } from '../../toolchain/index.ts';
import { optionsFor, prebuilt } from '../support/kernels.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const PROVOKE = join(ROOT, 'guest-programs/tests/provoke.c');
const ALL = optionsFor(prebuilt('linux+kasan+ubsan+debug'));
const FAIL = optionsFor(prebuilt('linux+fail-nth'));
const dir = mkdtempSync(join(tmpdir(), 'kcovbox-robust-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const ready = hasGlibc() && findTool('clang') !== undefined;
if (!ready) console.warn('skipped: guest tests need clang-19 and libc6-dev-riscv64-cross');

function run(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  const command = join(ROOT, 'bin/kcovbox.cjs');
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, 'run', ...args], {
    encoding: 'utf8',
    input: '',
    timeout: 170_000,
  });
  return { status, stdout, stderr };
}

/** Writes a program that returns `expression`. */
function returning(expression: string, includes = '#include <unistd.h>'): string {
  const path = join(dir, 'program.c');
  writeFileSync(path, `#include <errno.h>\n${includes}\nint main(void) { return ${expression}; }\n`);
  return path;
}

describe.skipIf(!ready)('kernels that check themselves', () => {
  it('--kasan, --ubsan and --debug together: every kind of bug is reported, and the run goes on', () => {
    const bugs = ['heap-overflow', 'large-overflow', 'use-after-free', 'double-free', 'global-overflow'];
    const { status, stdout } = run(...ALL, PROVOKE, '--', ...bugs, 'shift', 'lock-circle');
    const reports = stdout.split('\n').filter(line => /^(BUG|UBSAN|WARNING|panic)/.test(line));
    expect(reports).toEqual([
      expect.stringMatching(
        /^BUG: KASAN: slab-out-of-bounds in do_heap_overflow\+0x[0-9a-f]+ {2}do_heap_overflow \(kernel\/opt\/provoke\/provoke\.c:\d+\)$/,
      ),
      expect.stringMatching(/^BUG: KASAN: slab-out-of-bounds in do_large_overflow\+/),
      expect.stringMatching(/^BUG: KASAN: slab-use-after-free in do_use_after_free\+/),
      expect.stringMatching(/^BUG: KASAN: double-free in do_double_free\+/),
      expect.stringMatching(/^UBSAN: array-index-out-of-bounds in opt\/provoke\/provoke\.c:\d+/),
      expect.stringMatching(/^BUG: KASAN: global-out-of-bounds in do_global_overflow\+/),
      expect.stringMatching(/^UBSAN: shift-out-of-bounds in opt\/provoke\/provoke\.c:\d+/),
      'WARNING: possible circular locking dependency detected',
    ]);
    expect(stdout).toContain('"provoke a" is taken while "provoke c" is held');
    expect(status).toBe(0);
  });

  it('--panic-on-warn ends the run at the first report with status 126', () => {
    const { status, stdout } = run(...ALL, '--panic-on-warn', PROVOKE, '--', 'heap-overflow', 'shift');
    expect(status).toBe(126);
    expect(stdout).toContain('panic: hart 0 thread 1 (provoke): KASAN: slab-out-of-bounds');
    expect(stdout).not.toContain('UBSAN');
  });

  it('--hung-task names the task and where it sleeps', () => {
    const { status, stdout } = run(...ALL, '--hung-task', '2', '--panic-on-warn', PROVOKE, '--', 'hang');
    expect(stdout).toMatch(
      /INFO: task provoke:1 blocked for more than [23] seconds\nbacktrace:\n(.*\n)*.*do_hang\+/,
    );
    expect(status).toBe(126);
  });

  it('--fail-nth refuses one allocation and says which; the program sees ENOMEM', () => {
    const program = returning('pipe((int[2]){0}) ? errno : 0');
    const attempt = (n: number): [number | null, string] => {
      const { status, stdout } = run(...FAIL, `${n}`, program);
      return [status, /\] (sys_\w+)\+/.exec(stdout)?.[1] ?? ''];
    };
    const found = [22, 24, 26, 28, 30, 60].map(attempt);
    expect(found).toContainEqual([12, 'sys_pipe2']);
    expect(found.at(-1)).toEqual([0, '']); // so many it does not need
  });

  it('impossible combinations are refused in one line', () => {
    const line = (...args: string[]): string => {
      const { status, stderr } = run(...args, returning('0'));
      expect(status).toBe(125);
      return stderr;
    };
    expect(line('--conf', 'kasan')).toBe(
      'kcovbox: --conf kasan names no personality; write for example openbsd+kasan\n',
    );
    expect(line('--dialect', 'linux', '--conf', 'openbsd+kasan')).toBe(
      'kcovbox: --conf openbsd+kasan is a kernel of openbsd, --dialect says linux\n',
    );
    expect(line('--conf', 'linux+openbsd')).toMatch(/names 2 personalities; a kernel has one\n$/);
    expect(line('--conf', 'openbsd+ubsan-trap', '--ubsan')).toMatch(/--ubsan=report or --ubsan=trap\n$/);
    expect(line('--ubsan=maybe')).toMatch(/Allowed choices are report, trap/);
    expect(line('--hung-task', '0')).toMatch(/expected seconds from 1 to 86400\n$/);
    expect(line('--fail-nth', 'x')).toMatch(/expected a number from 1 to 2147483647\n$/);
  });

  it('--conf chooses the headers of its personality', () => {
    const program = returning('KIOSETBUFSIZE == 0', '#include <sys/kcov.h>');
    expect(run('--conf', 'openbsd', program).status).toBe(0);
  });
});
