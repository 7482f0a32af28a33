// The long dose of random call graphs; KCOVBOX_PROGRAMS and KCOVBOX_SEED choose another.

import { afterEach, expect, test, vi } from 'vitest';
import { Links } from '../../emulator/engine/jit/cache/links.ts';
import { searchGraphs } from '../support/call-graphs/search.ts';
import { seedFromEnvironment, seedText } from '../support/random.ts';

const SEED = seedFromEnvironment(0x9a4f);
const PROGRAMS = Number(process.env['KCOVBOX_PROGRAMS'] ?? 2000);

afterEach(() => void vi.restoreAllMocks());

test(`${PROGRAMS} call graphs, seed ${seedText(SEED)}`, { timeout: 3_600_000 }, () => {
  const { found, ...sums } = searchGraphs(SEED, PROGRAMS);
  console.info(`call graphs: seed ${seedText(SEED)}, ${JSON.stringify(sums)}`);
  expect(found, JSON.stringify(found)).toBeUndefined();
});

test('the search finds links to dropped modules', { timeout: 600_000 }, () => {
  vi.spyOn(Links.prototype, 'disconnect').mockImplementation(() => {});
  const { found, programs } = searchGraphs(0x200, 200);
  console.info(`links to dropped modules: program ${programs}, ${JSON.stringify(found)}`);
  expect(found).toBeDefined();
});
