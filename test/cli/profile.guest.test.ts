// `run` and `boot` keep a profile of what was hot. It makes later runs faster, and no byte of their
// results depends on it, whatever its file holds. KCOVBOX_SEED.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findTool, hasGlibc } from '../../toolchain/index.ts';
import { kcovbox } from '../support/command.ts';
import { useOwnCache } from '../support/own-cache.ts';
import { Random, seedFromEnvironment, seedText } from '../support/random.ts';

const ready = hasGlibc() && findTool('clang') !== undefined;
if (!ready) console.warn('skipped: guest tests need clang-19 and libc6-dev-riscv64-cross');

const SEED = seedFromEnvironment(0x9201f);
const DAMAGES = 6;
const dir = mkdtempSync(join(tmpdir(), 'kcovbox-profile-'));
const at = (name: string): string => join(dir, name);
afterAll(() => {
  delete process.env['KCOVBOX_CACHE'];
  rmSync(dir, { recursive: true, force: true });
});

/** Functions that call each other for some ten million instructions. */
const SOURCE = `#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int main(void) {
  static int numbers[20000];
  static char text[20000 * 12];
  unsigned seed = 1, sum = 0;
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < 20000; i++) numbers[i] = (seed = seed * 1103515245 + 12345) >> 8;
    qsort(numbers, 20000, sizeof *numbers, compare);
    char *end = text;
    for (int i = 0; i < 20000; i++) end += sprintf(end, "%d,", numbers[i]);
    for (char *p = strtok(text, ","); p; p = strtok(0, ",")) sum = sum * 31 + atoi(p);
  }
  printf("%u\\n", sum);
  return 0;
}
`;

const run = (...more: string[]) => {
  const args = ['run', ...more, '--result', at('r.json'), at('work')];
  const end = kcovbox(args, { cwd: dir });
  const { host, ...facts } = JSON.parse(readFileSync(at('r.json'), 'utf8'));
  return { ...end, facts };
};
const folder = (): string => at('cache/profile');
const files = (): string[] => {
  try {
    return readdirSync(folder());
  } catch {
    return [];
  }
};
const path = (): string => join(folder(), files()[0]!);

beforeAll(() => {
  useOwnCache(at('cache'));
  writeFileSync(at('work.c'), SOURCE);
  if (ready) expect(kcovbox(['build', '-o', at('work'), at('work.c')], { cwd: dir }).status).toBe(0);
});

describe.runIf(ready)('a profile', () => {
  let cold: ReturnType<typeof run>;

  test('is not kept by a run with --cold', () => {
    cold = run('--cold');
    expect(cold).toMatchObject({ status: 0, stderr: '' });
    expect(files()).toEqual([]);
  });

  test('is kept by others, and what they compute is the same', () => {
    for (const engine of ['interp', 'jit']) {
      expect(run('--engine', engine)).toEqual(cold);
      expect(files()).toHaveLength(engine === 'jit' ? 1 : 0);
    }
    const first = readFileSync(path());
    expect(run()).toEqual(cold);
    // It has learnt little that is new, so the file stays.
    expect(readFileSync(path()).equals(first)).toBe(true);
  });

  test('is listed with the cache', () => {
    expect(kcovbox(['cache', 'ls'], { cwd: dir }).stdout).toContain('profile-');
  });

  test(`changes nothing when it is damaged, ${seedText(SEED)}`, () => {
    const random = new Random(SEED);
    const whole = readFileSync(path());
    const name = path();
    const mutants: (() => Buffer)[] = [
      () => Buffer.alloc(0),
      () => whole.subarray(0, random.below(whole.length)),
      () => Buffer.concat([whole, whole]),
      () => Buffer.concat([whole.subarray(0, 18), Buffer.alloc(whole.length - 18, 0xff)]),
      ...Array.from({ length: DAMAGES }, () => () => {
        const bytes = Buffer.from(whole);
        for (let i = 0; i < 2000; i++) bytes[18 + random.below(bytes.length - 18)] = random.below(256);
        return bytes;
      }),
    ];
    for (const make of mutants) {
      writeFileSync(name, make());
      expect(run()).toEqual(cold);
    }
    rmSync(name);
    mkdirSync(name);
    expect(run()).toEqual(cold);
  });
});
