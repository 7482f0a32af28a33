// RAM of a random call graph, beyond that of the shapes: page tables that the program changes.

import { RAM_BASE } from '../flat.ts';
import { FIRST_PAGE, INIT, pte, SCATTERED, satp, TABLES } from '../shapes/program.ts';

export const STACK = RAM_BASE + 0x1f_0000;
/** Two values of satp. */
export const ROOTS = INIT + 0x840;
/** Two tables of each level. */
const [ROOT, MIDDLE, OTHER_MIDDLE] = [TABLES, TABLES + 0x1000, TABLES + 0x2000];
const [LEAVES, OTHER_LEAVES, OTHER_ROOT] = [TABLES + 0x3000, TABLES + 0x4000, TABLES + 0x5000];
const PAGES = 8;
/** Bytes of a table that a buffer of records may take. */
export const TABLE_END = LEAVES + 0x800;

const leaf = (table: number, i: number): number => table + 8 * (FIRST_PAGE + i);
const leavesOf = (table: number): number[] => Array.from({ length: PAGES }, (_, i) => leaf(table, i));
const ALL_LEAVES = [...leavesOf(LEAVES), ...leavesOf(OTHER_LEAVES)];

/** Entries of the page tables, and where two values for each of them are. */
export const SWAPS = [
  { entries: [MIDDLE], values: INIT + 0x800 },
  { entries: [ROOT + 8], values: INIT + 0x810 },
  { entries: ALL_LEAVES, values: INIT + 0x820 },
  { entries: ALL_LEAVES, values: INIT + 0x830 },
] as const;

/** `isUser`: the pages are for U-mode. */
export function writeTables(put: (pa: number, value: bigint) => void, isUser: boolean): void {
  const u = isUser ? 0x10 : 0;
  const pairs = [
    [pte(LEAVES, 1), pte(OTHER_LEAVES, 1)],
    [pte(MIDDLE, 1), pte(OTHER_MIDDLE, 1)],
    [pte(SCATTERED + 0x3000, 0xc7 | u), 0n],
    // Clean and not accessed; a page of the table itself.
    [pte(SCATTERED + 0x5000, 0x47 | u), pte(LEAVES, 0xc7 | u)],
  ] as const;
  for (const [i, [one, other]] of pairs.entries()) {
    put(SWAPS[i]!.values, one);
    put(SWAPS[i]!.values + 8, other);
  }
  for (const [i, [root, middle]] of (
    [
      [ROOT, MIDDLE],
      [OTHER_ROOT, OTHER_MIDDLE],
    ] as const
  ).entries()) {
    put(ROOTS + 8 * i, satp(root));
    put(root, pte(0, 0xc7 | u));
    put(root + 8, pte(middle, 1));
    put(root + 16, pte(RAM_BASE, 0xcf | u));
  }
  put(MIDDLE, pte(LEAVES, 1));
  put(OTHER_MIDDLE, pte(OTHER_LEAVES, 1));
  for (let i = 0; i < PAGES; i++) {
    put(leaf(LEAVES, i), pte(SCATTERED + 0x2000 * ((i * 5) % PAGES), 0xc7 | u));
    // One page that is neither accessed nor dirty.
    const flags = i === 2 ? 0x07 : 0xc7;
    put(leaf(OTHER_LEAVES, i), pte(SCATTERED + 0x1000 + 0x2000 * ((i * 3) % PAGES), flags | u));
  }
}
