// Where things lie in the memory of a privileged program, and which registers it uses.

export const RAM = 0x8000_0000;
export const PAGE = 4096;
/** Steps of the program, at most. */
export const CODE_BYTES = 0x2_0000;
/** The S-mode handler; two pages of snippets and functions; tables; data. */
export const S_HANDLER = RAM + CODE_BYTES;
export const SNIPPETS = S_HANDLER + PAGE;
export const SNIPPET_BYTES = 0x100;
/** One crosses into the second page; the last four lie in the upper half of a page table. */
export const ROOTS = SNIPPETS + 3 * PAGE;
export const ROOT_COUNT = 3;
export const LEVEL1 = ROOTS + ROOT_COUNT * PAGE;
export const LEVEL0 = LEVEL1 + 2 * PAGE;
export const LEVEL0_COUNT = 4;
export const DATA = LEVEL0 + LEVEL0_COUNT * PAGE;
export const DATA_PAGES = 8;
/**
 * A page above all data, with snippets in its upper half: code that appears above the boundary of
 * flat regions.
 */
export const HIGH = DATA + DATA_PAGES * PAGE;
export const IMAGE_BYTES = HIGH + PAGE - RAM;
/**
 * The virtual window: 2 MiB of 4 KiB pages for S, 2 MiB for U. Nothing is there physically, here
 * and on QEMU.
 */
export const WINDOW = 0xc000_0000;

/** Physical addresses of the snippets. */
export const SNIPPET_AT: readonly number[] = [
  ...Array.from({ length: 14 }, (_, i) => SNIPPETS + i * SNIPPET_BYTES),
  SNIPPETS + PAGE - 16,
  ...Array.from({ length: 4 }, (_, i) => SNIPPETS + PAGE + (1 + i) * SNIPPET_BYTES),
  ...Array.from({ length: 4 }, (_, i) => HIGH + PAGE / 2 + i * SNIPPET_BYTES),
  ...Array.from({ length: 4 }, (_, i) => LEVEL0 + PAGE / 2 + i * SNIPPET_BYTES),
];
/** Leaf functions that snippets call, eight words each. */
export const FUNCTION_WORDS = 8;
export const FUNCTION_AT: readonly number[] = Array.from(
  { length: 8 },
  (_, i) => SNIPPETS + 2 * PAGE + i * 4 * FUNCTION_WORDS,
);
/** Values, pointers. */
export const VALUES = [10, 11, 12, 13, 14, 15];
export const POINTERS = [16, 17, 18, 19];
/** Bits of sstatus in registers: SUM, FS, half of it, MXR, SPIE and SPP. */
export const STATUS_BITS = [
  { register: 21, bits: 1 << 18 },
  { register: 22, bits: 3 << 13 },
  { register: 23, bits: 1 << 13 },
  { register: 24, bits: 1 << 19 },
  { register: 25, bits: (1 << 5) | (1 << 8) },
] as const;

/** Bytes of a queue: four descriptors, both rings and the status of a disk. */
export const QUEUE_BYTES = 128;
export const QUEUE = { SIZE: 4, AVAIL: 64, USED: 80, STATUS: 120 } as const;
/** Of the disk; the first half has instructions, the second page table entries. */
export const DISK_BYTES = 2048;
/** Header of a disk's request. */
export const DISK_HEADER = DATA + PAGE - 16;
