// Frames and variables of random programs as `kcovbox debug` shows them, beside GDB's.
// gdb-search.slow.test.ts has the long dose.
import { describe, expect, test } from 'vitest';
import { ASSEMBLER } from '../support/asm.ts';
import { seedFromEnvironment, seedText } from '../support/random.ts';
import { missing } from '../support/tools.ts';
import { GDB } from './gdb-talk.ts';
import { searchWithGdb } from './search/search.ts';

describe.skipIf(missing('gdb-multiarch', GDB) || missing('clang and lld', ASSEMBLER))('kcovbox debug', () => {
  const seed = seedFromEnvironment(0x9db);

  test(`has the frames and variables of GDB, seed ${seedText(seed)}`, async () => {
    const sums = await searchWithGdb(seed, 4, 9);
    console.info(JSON.stringify(sums));
    expect(sums.stacks).toBeGreaterThanOrEqual(36);
    expect(sums.kernelStacks).toBeGreaterThan(5);
    expect(sums.stacks - sums.kernelStacks).toBeGreaterThan(5);
    expect(sums.variables).toBeGreaterThan(200);
    expect(sums.skewed).toBeGreaterThan(sums.stacks / 3);
    expect(sums.unknown + sums.notRead).toBeLessThan(sums.variables / 20);
  });
});
