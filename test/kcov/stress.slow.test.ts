// A million random operations on kcov descriptors by eight threads, on one and on four harts, also
// with KASAN and lockdep; see stress.h for what must hold.

import { describe, expect, it } from 'vitest';
import { DIALECTS, type Dialect, findTool, hasGlibc } from '../../toolchain/index.ts';
import { failures, initrd, kernel, program, run } from '../kernel/boot.ts';

const ready = hasGlibc() && findTool('clang') !== undefined;
if (!ready) console.warn('skipped: guest tests need clang-19 and libc6-dev-riscv64-cross');

describe.skipIf(!ready).each([...DIALECTS])('%s under stress', dialect => {
  it.each([
    ['the device', 'device', 4, 1_000_000, 11, '', ''],
    ['the device', 'device', 1, 1_000_000, 13, '', ''],
    ['C hooks', 'off', 4, 100_000, 12, '', ''],
    ['C hooks', 'off', 1, 100_000, 14, '', ''],
    ['the device', 'device', 4, 100_000, 15, 'remote', ''],
    ['C hooks', 'off', 4, 50_000, 16, 'remote', ''],
    ['the device', 'device', 4, 1_000_000, 17, '', '+kasan+lockdep'],
  ] as const)(
    'keeps its invariants: %s (kcov %s), %i harts, %i operations, seed %i %s%s',
    async (_, kcov, harts, operations, seed, remote, conf) => {
      const bytes = await program(`kcov-conformance/${dialect}-stress.c`, dialect as Dialect);
      const { text, status } = run(
        await kernel(`${dialect}${conf}`),
        initrd({ 'bin/stress': bytes }),
        `init=/bin/stress -- ${operations} ${seed} 8 ${remote}`,
        { engine: 'jit', harts, kcov, schedSeed: BigInt(seed), ramBytes: 256 << 20 },
        400_000_000_000,
      );
      expect(failures(text)).toEqual([]);
      expect(status).toBe(0);
    },
  );
});
