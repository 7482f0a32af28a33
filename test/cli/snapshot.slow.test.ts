// The long search of snapshot.guest.test.ts: at random moments of a run with processes, pipes and
// coverage, on 1, 2 and 4 harts, saving and going on in a new process gives the result of the whole
// run, more than ten million instructions later. KCOVBOX_SEED, KCOVBOX_RUNS.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { kcovbox } from '../support/command.ts';
import { Random, seedFromEnvironment, seedText } from '../support/random.ts';

const SEED = seedFromEnvironment(0x54b);
const RUNS = Number(process.env['KCOVBOX_RUNS'] || 300);
const AFTER = 10_000_000;
const dir = mkdtempSync(join(tmpdir(), 'kcovbox-snapshots-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const SOURCE = `#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
  int ends[2], sum = 0, n;
  pipe(ends);
  for (int child = 0; child < 4; child++)
    if (fork() == 0) {
      for (volatile int i = 0; i < 2000 * child; i++) ;
      write(ends[1], &child, sizeof child);
      _exit(0);
    }
  for (int child = 0; child < 4; child++) { read(ends[0], &n, sizeof n); sum += n; printf("%d\\n", n); }
  while (wait(0) > 0) ;
  fflush(stdout);
  for (volatile int i = 0; i < 3000000; i++) ;
  return sum;
}
`;
const at = (name: string): string => join(dir, name);
const run = (...args: string[]) => kcovbox(['run', ...args], { cwd: dir, timeout: 300_000 });
/** The facts of a result, without the host's. */
function facts(name: string): { outcome: { instret: number } } {
  const { host, ...rest } = JSON.parse(readFileSync(at(name), 'utf8'));
  return rest;
}

test(`${RUNS} moments of runs`, { timeout: 1e8 }, () => {
  writeFileSync(at('pipes.c'), SOURCE);
  const random = new Random(SEED);
  for (let i = 0; i < RUNS; i++) {
    const note = `moment ${i} of seed ${seedText(SEED)}`;
    const guest = ['--smp', random.pick(['1', '2', '4']), '--sched-seed', `${i % 5}`, at('pipes.c')];
    const result = (name: string) => ['--result', at(name)];
    expect(run(...result('whole.json'), ...guest).status, note).toBe(6);
    const whole = facts('whole.json');
    const moment = 1 + random.below(whole.outcome.instret - AFTER);
    const [first, second] = random.oneIn(2) ? ['jit', 'interp'] : ['interp', 'jit'];
    const place = ['--snapshot', at('s.ksnap'), '--snapshot-at', `${moment}`];
    expect(run('--engine', first!, ...place, ...result('saved.json'), ...guest).status, note).toBe(6);
    const on = ['--from', at('s.ksnap'), ...result('on.json')];
    expect(run('--engine', second!, ...on, ...guest).status, note).toBe(6);
    expect(facts('saved.json'), note).toEqual(whole);
    expect(facts('on.json'), note).toEqual(whole);
  }
});
