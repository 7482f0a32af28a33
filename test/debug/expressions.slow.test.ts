// The long search of expressions.guest.test.ts.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { Random, seedFromEnvironment, seedText } from '../support/random.ts';
import { searchExpressions } from './search/expressions.ts';

const PROGRAMS = Number(process.env['KCOVBOX_PROGRAMS'] ?? 60);
const dir = mkdtempSync(join(tmpdir(), 'kcovbox-expressions-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const seed = seedFromEnvironment(0xe8b1);

test(`${PROGRAMS} times 1,000 expressions, seed ${seedText(seed)}`, { timeout: 3_600_000 }, async () => {
  const random = new Random(seed);
  for (let n = 0; n < PROGRAMS; n++) {
    const own = random.u32();
    const found = await searchExpressions(dir, new Random(own), 1000);
    expect({ seed: seedText(own), found }).toEqual({ seed: seedText(own), found: [] });
  }
});
