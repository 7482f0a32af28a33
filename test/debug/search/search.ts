// The search with GDB over many programs: the sums, or the first program that differs.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Random, seedText } from '../../support/random.ts';
import { type Compared, compareWithGdb } from './compare.ts';
import { randomProgram } from './program.ts';

const LEVELS = ['-O0', '-O1', '-O2'];
const SIZES = [1, 2, 4, 6];

export type Sums = { -readonly [K in keyof Omit<Compared, 'differences'>]: number };

const nameOf = (seed: number, size: number, cflags: string, smp: number): string =>
  `seed ${seedText(seed)}, size ${size}, ${cflags}, ${smp} harts`;

/**
 * Programs of the seeds from `seed` on. Errors: the differences of the first program that has any,
 * at the smallest size at which its seed has some.
 */
export async function searchWithGdb(seed: number, programs: number, moments = 12): Promise<Sums> {
  const sums: Sums = {
    stacks: 0, kernelStacks: 0, frames: 0, variables: 0, optimisedOut: 0, notRead: 0, skewed: 0, unknown: 0,
  }; // biome-ignore format: one row
  for (let i = 0; i < programs; i++) {
    const cflags = LEVELS[i % LEVELS.length]!;
    const smp = i % 4 === 3 ? 2 : 1;
    const one = (size: number) => compareProgram(seed + i, size, cflags, smp, moments);
    const size = SIZES[(seed + i) % SIZES.length]!;
    const found = await one(size);
    if (found.differences.length > 0) {
      for (const smaller of SIZES.filter(other => other < size)) {
        const { differences } = await one(smaller);
        if (differences.length > 0)
          throw new Error(`${nameOf(seed + i, smaller, cflags, smp)}:\n${differences.join('\n')}`);
      }
      throw new Error(`${nameOf(seed + i, size, cflags, smp)}:\n${found.differences.join('\n')}`);
    }
    for (const key of Object.keys(sums) as (keyof Sums)[])
      sums[key] += key === 'unknown' ? found.unknown.length : found[key];
  }
  return sums;
}

async function compareProgram(
  seed: number,
  size: number,
  cflags: string,
  smp: number,
  count: number,
): Promise<Compared> {
  const dir = mkdtempSync(join(tmpdir(), 'kcovbox-gdb-'));
  try {
    const random = new Random(seed);
    return await compareWithGdb(dir, random, { text: randomProgram(random, size), cflags, smp, count });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
