// Random call graphs between modules of the JIT (test/support/call-graphs): compiled, they leave
// what they leave interpreted, after any number of instructions. call-graphs.slow.test.ts has the
// long dose.

import { afterEach, expect, test, vi } from 'vitest';
import { DecodedPages } from '../../emulator/engine/interp/decoded-pages.ts';
import { Links } from '../../emulator/engine/jit/cache/links.ts';
import { describeOnce, dose } from '../support/again.ts';
import { searchGraphs } from '../support/call-graphs/search.ts';
import { seedFromEnvironment, seedText } from '../support/random.ts';

const SEED = seedFromEnvironment(0x100);
const PROGRAMS = Number(process.env['KCOVBOX_PROGRAMS'] ?? dose(6));
/** Faults are found early from here. */
const FAULT_SEED = 0x200;

afterEach(() => void vi.restoreAllMocks());

test(`compiled call graphs leave what interpreted ones leave, seed ${seedText(SEED)}`, {
  timeout: 120_000,
}, () => {
  const { found, regions } = searchGraphs(SEED, PROGRAMS);
  expect(found, JSON.stringify(found)).toBeUndefined();
  expect(regions).toBeGreaterThan(PROGRAMS);
});

describeOnce('the search finds', { timeout: 120_000 }, () => {
  test('a callee in the wrong place of a table, and makes the graph small', () => {
    const { add } = Links.prototype;
    vi.spyOn(Links.prototype, 'add').mockImplementation(function (this: Links, module) {
      add.call(this, module);
      for (const [i, { callers }] of module.callees.entries()) if (i > 0) callers.set(module, i - 1);
    });
    const { found, programs } = searchGraphs(FAULT_SEED, 30);
    console.info(`a callee in the wrong place: program ${programs}, ${JSON.stringify(found)}`);
    expect(found?.graph.functions.length).toBeLessThanOrEqual(4);
  });

  test('stores to translated pages that are not announced', () => {
    vi.spyOn(DecodedPages.prototype, 'protect').mockImplementation(() => {});
    const { found, programs } = searchGraphs(FAULT_SEED, 30, false);
    console.info(`stores that are not announced: program ${programs}`);
    expect(found).toBeDefined();
  });
});
