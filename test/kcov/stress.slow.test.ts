// A million random operations on kcov descriptors by eight threads on four harts; see stress.h for what must hold.

import { describe, expect, it } from 'vitest';
import { DIALECTS, type Dialect, hasGlibc, TOOLS, which } from '../../toolchain/index.ts';
import { failures, initrd, kernel, program, run } from '../kernel/boot.ts';

const ready = hasGlibc() && which(TOOLS.clang) !== undefined;
if (!ready) console.warn('skipped: guest tests need clang-19 and libc6-dev-riscv64-cross');
const OPERATIONS = 250_000;

describe.skipIf(!ready).each([...DIALECTS])('%s under stress', dialect => {
  it.each([
    ['the device', 'device', 11],
    ['C hooks', 'off', 12],
  ] as const)('keeps its invariants: %s', async (_, kcov, seed) => {
    const bytes = await program(`kcov-conformance/${dialect}-stress.c`, dialect as Dialect);
    const operations = kcov === 'device' ? OPERATIONS : OPERATIONS / 10;
    const { text, status } = run(
      await kernel(dialect),
      initrd({ 'bin/stress': bytes }),
      `init=/bin/stress -- ${operations} ${seed} 8`,
      { engine: 'interp', harts: 4, kcov, schedSeed: BigInt(seed), ramBytes: 256 << 20 },
      20_000_000_000,
    );
    expect(failures(text)).toEqual([]);
    expect(status).toBe(0);
  });
});
