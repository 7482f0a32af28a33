// A program of two threads for the debuggers: a function that is one loop, another one that is
// called very often, and functions of the C library, which have no lines.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kcovbox } from '../support/command.ts';

/** More than the debugger keeps of a search. */
export const CALLS = 100_500;

const PROGRAM = `#include <pthread.h>
#include <string.h>
volatile int total;
static inline __attribute__((always_inline)) void bump(int n) {
    total += n;
    total ^= 1;
}
static void *worker(void *arg) {
    for (int i = 0; i < 20000; i++)
        bump(i);
    return arg;
}

__attribute__((noinline)) void hot(int i) { total += i; }
char from[100], to[100]; // of other files, too: their contents are not known
__attribute__((noinline)) int copy(volatile int *size) {
    total++;
    memcpy(to, from, (unsigned)*size);
    return to[0] + total;
}
int main(void) {
    pthread_t thread;
    volatile int size = 50;
    pthread_create(&thread, NULL, worker, NULL);
    for (int i = 0; i < ${CALLS}; i++)
        hot(i);
    pthread_join(thread, NULL);
    copy(&size);
    return 0;
}
`;

/** The line of the program with this text. */
export const lineOf = (text: string): number =>
  PROGRAM.split('\n').findIndex(line => line.includes(text)) + 1;

/** `hot.c` and `hot.kcapsule`, of a run on two harts. */
export interface Hot {
  readonly dir: string;
  readonly capsule: string;
  readonly source: string;
}

export function recordHot(): Hot {
  const dir = mkdtempSync(join(tmpdir(), 'kcovbox-hot-'));
  const [capsule, source] = [join(dir, 'hot.kcapsule'), join(dir, 'hot.c')];
  writeFileSync(source, PROGRAM);
  const ran = kcovbox(['run', '--smp', '2', '--record', capsule, 'hot.c'], { cwd: dir });
  if (ran.status !== 0) throw new Error(`status ${ran.status}: ${ran.stderr}`);
  return { dir, capsule, source };
}

export const removeHot = ({ dir }: Hot): void => rmSync(dir, { recursive: true, force: true });
