// `run` goes on from a kept state behind the boot. The result must be that of a run that boots, in
// every byte: with any program, arguments, environment, input, options and engine.
// booted.slow.test.ts has more of them. KCOVBOX_SEED, KCOVBOX_RUNS.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DIALECTS, findTool, hasGlibc } from '../../toolchain/index.ts';
import { kcovbox } from '../support/command.ts';
import { useOwnCache } from '../support/own-cache.ts';
import { Random, seedFromEnvironment, seedText } from '../support/random.ts';

const ready = hasGlibc() && findTool('clang') !== undefined;
if (!ready) console.warn('skipped: guest tests need clang-19 and libc6-dev-riscv64-cross');

const SEED = seedFromEnvironment(0xb007);
const RUNS = Number(process.env['KCOVBOX_RUNS'] || 3);
const dir = mkdtempSync(join(tmpdir(), 'kcovbox-booted-'));
const at = (name: string): string => join(dir, name);
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const SOURCE = `#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
int main(int argc, char **argv) {
  struct timespec t;
  unsigned noise = 0, sum = 0;
  int c;
  for (int i = 0; i < argc; i++) printf("[%s]", argv[i]);
  printf("%s\\n", getenv("WORD") ? getenv("WORD") : "-");
  while ((c = getchar()) != EOF) sum = sum * 31 + c;
  if (fork() == 0) { usleep(200); _exit(7); }
  wait(0);
  getrandom(&noise, sizeof noise, 0);
  clock_gettime(CLOCK_MONOTONIC, &t);
  printf("%u %u %ld\\n", sum, noise, t.tv_nsec);
  return argc;
}
`;

const run = (args: readonly string[], input = '') => kcovbox(['run', ...args], { cwd: dir, input });
const cache = (): string => at('cache/booted');
/** A machine whose state is not in the package. */
const OWN = ['-m', '64M'];
const kept = (): string[] => readdirSync(cache()).filter(name => name.startsWith('booted-'));

beforeAll(() => {
  useOwnCache(at('cache'));
  writeFileSync(at('words.c'), SOURCE);
  writeFileSync(at('five.c'), 'int main(void) { return 5; }\n');
  for (const name of ['words', 'five'])
    expect(kcovbox(['build', '-o', at(name), at(`${name}.c`)], { cwd: dir }).status).toBe(0);
}, 300_000);
afterAll(() => {
  delete process.env['KCOVBOX_CACHE'];
});

/** A run that is chosen at random: options of the machine, and of the program. */
function choice(random: Random): { machine: string[]; program: string[]; input: string } {
  const word = (): string => random.pick(['', 'a', 'two words', 'q"uote', '\\', 'x'.repeat(2000), '--', 'ü']);
  const machine = [
    ...['--dialect', random.pick(DIALECTS)],
    ...(random.oneIn(3) ? ['--smp', `${1 + random.below(4)}`] : []),
    ...(random.oneIn(4) ? ['-m', random.pick(['64M', '512M'])] : []),
    ...(random.oneIn(6) ? ['--kcov', random.pick(['off', 'guest'])] : []),
    ...(random.oneIn(6) ? ['--cpu', 'max'] : []),
    ...(random.oneIn(6) ? ['--icount', '3'] : []),
    ...(random.oneIn(6) ? ['--append', 'panic_on_warn'] : []),
  ];
  const words = Array.from({ length: random.below(4) }, word);
  const env = random.oneIn(2) ? ['--env', `WORD=${word()}`] : [];
  const program = [...env, at(random.oneIn(4) ? 'five' : 'words'), '--', ...words];
  return { machine, program, input: random.pick(['', 'abc\n', 'y'.repeat(random.below(100_000))]) };
}

describe.skipIf(!ready)('behind the boot', () => {
  test(`${RUNS} runs have the results of runs that boot`, { timeout: 1e8 }, () => {
    const random = new Random(SEED);
    for (let i = 0; i < RUNS; i++) {
      const { machine, program, input } = choice(random);
      const budget = random.oneIn(2) ? ['--max-insns', `${1 + random.below(4_000_000)}`] : [];
      const note = `run ${i} of seed ${seedText(SEED)}: ${machine.join(' ')}`;
      // Keeps the state, with another program.
      expect(run([...machine, at('five')]).status, note).toBe(5);
      const ran = (name: string, ...how: string[]) => {
        const end = run([...machine, ...how, ...budget, '--result', at(name), ...program], input);
        const { host, ...facts } = JSON.parse(readFileSync(at(name), 'utf8'));
        return { ...end, facts };
      };
      const cold = ran('cold.json', '--cold', '--engine', random.pick(['jit', 'interp', 'lockstep']));
      expect([budget.length > 0 ? 124 : cold.status, cold.status], note).toContain(cold.status);
      expect(ran('warm.json', '--engine', random.pick(['jit', 'interp'])), note).toEqual(cold);
    }
    expect(kept().length).toBeGreaterThan(0);
    expect(kept().length).toBeLessThanOrEqual(16);
  });

  test('a damaged state is made again, with a word; the run is the same', () => {
    rmSync(cache(), { recursive: true, force: true });
    const wanted = run([...OWN, '--cold', '--result', '-', at('five')]);
    expect(run([...OWN, '--result', '-', at('five')])).toEqual(wanted);
    const [name = ''] = kept();
    const good = readFileSync(join(cache(), name));
    const damage: [string, Uint8Array][] = [
      ['a bit', good.map((byte, i) => (i === good.length >> 1 ? byte ^ 1 : byte))],
      ['its end', good.subarray(0, good.length - 1)],
      ['nothing left', new Uint8Array(0)],
      ['a forged time', Buffer.from(good.toString('latin1').replaceAll('"spent":', '"spent":-'), 'latin1')],
    ];
    for (const [what, bytes] of damage) {
      writeFileSync(join(cache(), name), bytes);
      const { stderr, ...end } = run([...OWN, '--result', '-', at('five')]);
      expect({ ...end, stderr: '' }, what).toEqual(wanted);
      expect(stderr, what).toMatch(/^kcovbox: the saved boot .*is damaged.*; it is made again\n$/);
      expect(readFileSync(join(cache(), name)).equals(good), what).toBe(true);
    }
    // Reading a pipe would wait for its writer.
    rmSync(join(cache(), name));
    execFileSync('mkfifo', [join(cache(), name)]);
    expect(run([...OWN, '--result', '-', at('five')])).toEqual(wanted);
    // A whole file that is about something else.
    writeFileSync(join(cache(), name), 'kcovbox booted 1\n{}\n{}\n');
    expect(run([...OWN, '--result', '-', at('five')])).toEqual(wanted);
    expect(readFileSync(join(cache(), name)).equals(good)).toBe(true);
    expect(run([...OWN, '--result', '-', at('five')])).toEqual(wanted);
  });

  test('cache ls and cache prune know the states; what is used once is not kept', () => {
    rmSync(cache(), { recursive: true, force: true });
    for (const once of [['--seed', '5'], ['--sched-seed', '5'], ['--cold'], ['--engine', 'lockstep']])
      expect(run([...OWN, ...once, at('five')]).status).toBe(5);
    expect(() => kept()).toThrow();
    expect(run([...OWN, at('five')]).status).toBe(5);
    const [name = ''] = kept();
    expect(kcovbox(['cache', 'ls'], { cwd: dir }).stdout).toContain(`booted   ${name}`);
    utimesSync(join(cache(), name), new Date(0), new Date(0));
    expect(kcovbox(['cache', 'prune'], { cwd: dir }).status).toBe(0);
    expect(kept()).toEqual([]);
  });
});
