// The memory of a ladder of snapshots is bounded: pages of RAM and blocks of disks, each counted
// once however many rungs share it.
import { expect, test } from 'vitest';
import { Ladder } from '../../emulator/debug/timeline/ladder.ts';
import type { Snapshot } from '../../emulator/machine/snapshot.ts';

const KIB = 1024;

/** A rung with so many blocks of a disk and pages of its own, besides some that all share. */
function rungAt(spent: number, blocks: number, pages: number): Snapshot {
  const own = Array.from({ length: blocks }, (_, n) => [n, new Uint8Array(4 * KIB)] as const);
  return {
    pages: new Map([
      [1000, SHARED],
      ...Array.from({ length: pages }, (_, n) => [n, new Uint8Array(4 * KIB)] as const),
    ]),
    rest: { spent, devices: { virtio0: { registers: {}, backend: [[1000, SHARED_BLOCK], ...own] } } },
  } as unknown as Snapshot;
}

const SHARED = new Uint8Array(4 * KIB);
const SHARED_BLOCK = new Uint8Array(4 * KIB);
const SHARED_CHUNKS = 2;

test.each([
  ['pages', 0, 2],
  ['blocks of a disk', 2, 0],
  ['both', 1, 1],
])('%s: rungs are dropped until their memory fits', (_, blocks, pages) => {
  const ladder = new Ladder(256 * KIB, 1000);
  for (let unit = 0; unit < 400_000; unit += 1000) {
    if (!ladder.wants(unit)) continue;
    ladder.add(rungAt(unit, blocks, pages));
    expect(ladder.bytes).toBeLessThanOrEqual(256 * KIB);
  }
  const chunks = ladder.rungs.length * (blocks + pages);
  expect(ladder.bytes).toBe((chunks + SHARED_CHUNKS) * 4 * KIB);
  expect(ladder.rungs.length).toBeGreaterThan(10);
});
