// Calls that do not go on as compilers lay them out: early returns, functions that never return,
// longjmp, signal handlers.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ASSEMBLER } from '../support/asm.ts';
import { kcovbox } from '../support/command.ts';
import { missing } from '../support/tools.ts';

/** The compiler puts the prologue of even() behind the test. */
const PROGRAM = `#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <unistd.h>
volatile long sink;
static jmp_buf home;
__attribute__((noinline)) int odd(int n) { return n & 1; }
__attribute__((noinline)) int even(int n) {
    if (n == 0)
        return 1;
    return odd(n - 1) + n;
}
__attribute__((noinline)) void jump(int n) {
    if (n == 0)
        longjmp(home, 7);
    jump(n - 1);
    sink = n;
}
__attribute__((noinline)) long pair(long n, int depth) {
    if (depth > 0)
        n += pair(n + 1, depth - 1);
    if (depth > 0)
        n += pair(n + 2, depth - 1);
    n += sink;
    return n ^ 5;
}
static void handler(int signal) {
    sink = signal;
    sink += 1;
}
static inline __attribute__((always_inline)) long twice(long x) {
    sink += x;
    return 2 * x;
}
static void *start(void *x) { return (void *)twice((long)x); }
__attribute__((noinline, noreturn)) void leave(int status) {
    sink = status;
    _exit(status);
}
int main(void) {
    sink = even(2);
    sink = even(0);
    sink = pair(1, 2);
    if (setjmp(home) == 0)
        jump(2);
    sink = 99;
    signal(SIGUSR1, handler);
    sink = *(volatile int *)&sink;
    kill(getpid(), SIGUSR1);
    sink = 100;
    sink = twice(sink) + 1;
    pthread_t thread;
    pthread_create(&thread, 0, start, (void *)3);
    pthread_join(thread, 0);
    leave(0);
}
`;

describe.skipIf(missing('clang and lld', ASSEMBLER))('kcovbox debug', () => {
  const dir = mkdtempSync(join(tmpdir(), 'kcovbox-calls-'));
  afterAll(() => rmSync(dir, { recursive: true, force: true }));
  beforeAll(() => {
    writeFileSync(join(dir, 'calls.c'), PROGRAM);
    for (const level of ['O0', 'O2']) {
      const capsule = `${level}.kcapsule`;
      const ran = kcovbox(['run', `--cflags=-${level}`, '--record', capsule, 'calls.c'], { cwd: dir });
      if (ran.status !== 0) throw new Error(`status ${ran.status}: ${ran.stderr}`);
    }
  });
  const answers = (level: string, ...commands: string[]): string[] => {
    const words = ['debug', `${level}.kcapsule`, ...commands.flatMap(command => ['-x', command])];
    const { stdout } = kcovbox(words, { cwd: dir, timeout: 60_000 });
    return stdout.split(/^\(kcovbox\) .*\n/m).slice(1);
  };
  /** Behind the commands `to`. */
  const places = (level: string, to: readonly string[], ...commands: string[]): string[] =>
    answers(level, ...to, 'delete', ...commands)
      .slice(to.length + 1)
      .map(text => /: (\w+) at [\w./]+:(\d+)$/m.exec(text)?.slice(1).join(' ') ?? text);
  const line = (text: string): number => PROGRAM.split('\n').findIndex(one => one.includes(text)) + 1;

  test('a call that returns before the prologue counts, and a step stops in it', () => {
    for (const level of ['O0', 'O2']) {
      expect(answers(level, 'when even')[0]).toMatch(/^it ran 2 times\n/);
      const to = [`break calls.c:${line('sink = even(0)')}`, 'continue'];
      expect(places(level, to, 'step', 'finish')).toEqual([
        `even ${line('if (n == 0)')}`,
        `main ${line('sink = even(0)')}`,
      ]);
    }
  });

  test('the way back from a first instruction leads to its own call', () => {
    const to = [`break calls.c:${line('sink = even(0)')}`, 'continue', 'step'];
    expect(places('O2', to, 'rfinish')).toEqual([`main ${line('sink = even(0)')}`]);
  });

  test('longjmp returns to a caller further out', () => {
    for (const level of ['O0', 'O2']) {
      const to = [`break calls.c:${line('longjmp(home')}`, 'continue'];
      expect(places(level, to, 'next')).toEqual([`main ${line('sink = 99')}`]);
      expect(places(level, to, 'finish')).toEqual([`main ${line('sink = 99')}`]);
    }
  });

  test('a signal handler was called by the code that it interrupted', () => {
    for (const level of ['O0', 'O2']) {
      const to = [`break calls.c:${line('sink += 1;')}`, 'continue'];
      const [, , , calls = ''] = answers(level, ...to, 'delete', 'backtrace');
      const names = [...calls.matchAll(/^.{4} (\S+) at/gm)].map(([, name]) => name);
      expect(names.slice(0, 3)).toEqual(['handler', '__kill', 'main']);
      expect(places(level, to, 'finish', 'next', 'next').at(-1)).toBe(`main ${line('sink = 100')}`);
      const back = places(level, to, 'rfinish', 'rnext').at(-1);
      expect(back).toBe(`main ${line('kill(getpid()')}`);
    }
  });

  test('a call that is the last instruction of its function has a way back', () => {
    const lines = ['leave(0)', 'pthread_join', 'pthread_create'].map(line);
    for (const level of ['O0', 'O2']) {
      const way = places(level, ['break leave', 'continue'], 'rnext', 'rnext', 'rnext');
      for (const place of way.slice(1)) expect(lines).toContain(Number(/\d+$/.exec(place)?.[0]));
    }
  });

  test('in an epilogue the caller is known', () => {
    const end = line('return odd(n - 1)') + 1;
    const [, , , , calls = ''] = answers(
      'O0',
      `break calls.c:${end}`,
      'continue',
      'delete',
      'stepi 3',
      'backtrace',
    );
    expect(calls).toMatch(/^> 0 {2}even at .*\n {2}1 {2}main at/);
  });

  test('an inlined call is left for the function that it is in', () => {
    for (const level of ['O0', 'O2']) {
      const to = [`break calls.c:${line('sink += x')}`, 'continue'];
      expect(answers(level, ...to, 'delete', 'finish')[3]).toMatch(/: main at /);
      expect(places(level, to, 'rfinish')).toEqual([`main ${line('sink = twice')}`]);
      const [back = ''] = answers(level, ...to, 'continue', 'delete', 'rfinish').slice(4);
      expect(back).not.toMatch(/^unit 0,|beginning/m);
    }
  });

  test('behind an epilogue in the midst of a function its callers are known', () => {
    for (const level of ['O0', 'O2']) {
      const way = Array(7).fill(['continue', 'backtrace']).flat();
      const all = answers(level, `break calls.c:${line('n += sink')}`, ...way);
      const depths = all
        .filter((_, i) => i % 2 === 0)
        .slice(1)
        .map(calls => calls.match(/pair at/g)?.length);
      expect(depths).toEqual([3, 3, 2, 3, 3, 2, 1]);
      for (const calls of all.filter((_, i) => i % 2 === 0).slice(1)) expect(calls).toContain('main at');
    }
  });
});
