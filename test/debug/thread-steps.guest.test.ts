// Steps of a thread: other threads run the same function meanwhile, and it may change its hart.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { ASSEMBLER } from '../support/asm.ts';
import { kcovbox } from '../support/command.ts';
import { missing } from '../support/tools.ts';

/** Each thread gives the hart to the others between two lines. */
const YIELDING = `#include <pthread.h>
#include <sched.h>
volatile long last;
__attribute__((noinline)) static void work(long id) {
    for (int i = 0; i < 5; i++) {
        last = id;
        sched_yield();
        last = -id;
    }
}
static void *start(void *x) { work((long)x); return 0; }
int main(void) {
    pthread_t threads[3];
    for (long i = 0; i < 3; i++) pthread_create(&threads[i], 0, start, (void *)(i + 1));
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    return 0;
}
`;

/** The child has the same addresses as its parent. */
const FORKING = `#include <sys/wait.h>
#include <unistd.h>
volatile int me;
int main(void) {
    int pid, status = 0;
    me = 1;
    pid = fork();
    if (pid == 0) {
        me = 2;
        me = 22;
        _exit(0);
    }
    me = 3;
    waitpid(pid, &status, 0);
    me = 4;
    me = 5;
    return 0;
}
`;

/** The main thread sleeps on one hart and may wake on another one. */
const WANDERING = `#include <pthread.h>
volatile long counter;
static void *start(void *x) {
    for (int i = 0; i < 3000; i++) counter += (long)x;
    return 0;
}
int main(void) {
    for (int round = 0; round < 12; round++) {
        pthread_t threads[3];
        for (long i = 0; i < 3; i++) pthread_create(&threads[i], 0, start, (void *)(i + 1));
        pthread_join(threads[0], 0);
        pthread_join(threads[1], 0);
        pthread_join(threads[2], 0);
        counter = round;
    }
    return 0;
}
`;

describe.skipIf(missing('clang and lld', ASSEMBLER))('kcovbox debug', () => {
  const dir = mkdtempSync(join(tmpdir(), 'kcovbox-threads-'));
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  function record(name: string, source: string, ...options: string[]): string {
    writeFileSync(join(dir, `${name}.c`), source);
    const capsule = `${name}.kcapsule`;
    const ran = kcovbox(['run', ...options, '--record', capsule, `${name}.c`], { cwd: dir });
    if (ran.status !== 0) throw new Error(`status ${ran.status}: ${ran.stderr}`);
    return capsule;
  }
  const answers = (capsule: string, ...commands: string[]): string[] => {
    const words = ['debug', capsule, ...commands.flatMap(command => ['-x', command])];
    const { stdout } = kcovbox(words, { cwd: dir });
    return stdout.split(/^\(kcovbox\) .*\n/m).slice(1);
  };
  const lineOf = (text = ''): string => /: (\w+ at [\w.]+:\d+)$/m.exec(text)?.[1] ?? text;

  test('next and finish stay in their thread on one hart', () => {
    const capsule = record('yields', YIELDING);
    const steps = Array.from({ length: 6 }, () => ['next', 'print id']).flat();
    const all = answers(capsule, 'break work', 'continue', 'continue', 'continue', 'delete', ...steps);
    const ids = all.slice(5).filter(answer => answer.startsWith('id = '));
    expect(ids).toEqual(Array.from({ length: 6 }, () => 'id = 3\n'));
    const lines = all.slice(5).filter(answer => !answer.startsWith('id = '));
    expect(lines.map(lineOf)).toContain('work at yields.c:8');
    const back = answers(
      capsule,
      ...['break work', 'continue', 'continue', 'continue', 'delete'],
      ...['next 3', 'info regs', 'rnext', 'rnext', 'print id', 'finish', 'info regs'],
    );
    expect(back[9]).toBe('id = 3\n');
    const tp = (text = ''): string | undefined => /tp +([0-9a-f]{16})/.exec(text)?.[1];
    expect(tp(back[11])).toBe(tp(back[6]));
    expect(lineOf(back[10])).toMatch(/^start at/);
  });

  test('next over waitpid() stays in the parent', () => {
    const capsule = record('forks', FORKING);
    const places = answers(capsule, 'break forks.c:13', 'continue', 'delete', 'next', 'next', 'next');
    expect(places.slice(3).map(lineOf)).toEqual([14, 15, 16].map(line => `main at forks.c:${line}`));
  });

  test('next over pthread_join() follows the thread to another hart', () => {
    const capsule = record('wanders', WANDERING, '--smp', '4');
    const rounds = Array.from({ length: 12 }, () => ['next 3', 'break wanders.c:10', 'continue', 'delete']);
    const commands = ['break wanders.c:10', 'continue', 'delete', ...rounds.flat()];
    const steps = answers(capsule, ...commands).filter((_, i) => i % 4 === 3);
    expect(steps.map(lineOf)).toEqual(steps.map(() => 'main at wanders.c:13'));
    const harts = steps.map(step => /hart (\d)/.exec(step)?.[1]);
    expect(new Set(harts).size).toBeGreaterThan(1);
  });

  test('lines that other threads pass meanwhile do not hold up a step back', () => {
    const capsule = record('busy', WANDERING, '--smp', '4');
    const before = Date.now();
    const places = answers(capsule, 'break busy.c:13', 'continue', 'delete', 'rstep', 'rstep', 'rstep');
    expect(places.slice(3).map(lineOf)).toEqual([12, 11, 10].map(line => `main at busy.c:${line}`));
    expect(Date.now() - before).toBeLessThan(15_000);
  });
});
