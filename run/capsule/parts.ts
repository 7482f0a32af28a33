// The parts that a capsule may have: one list, in the order in which they are stored. A name that
// is not in it is refused, so no file can choose where anything is written.
import { CONSOLE_KEPT, INPUT_MAX, LOADS_MAX, SLOTS } from './limits.ts';

const MIB = 2 ** 20;
/** Contents of all parts together: what a reader may have to hold. */
export const TOTAL_MAX = 1024 * MIB;
/** Largest image. */
const IMAGE_MAX = 1024 * MIB;

export interface PartRow {
  readonly name: string;
  /** Most bytes of its contents. */
  readonly max: number;
  readonly doc: string;
  /** An image of the guest: a thin capsule has only its hash. */
  readonly isImage?: true;
}

export const MANIFEST = 'manifest.json';

const numbered = (count: number, row: (n: number) => PartRow): PartRow[] =>
  Array.from({ length: count }, (_, n) => row(n));
const image = (name: string, doc: string): PartRow => ({ name, max: IMAGE_MAX, doc, isImage: true });

export const PARTS: readonly PartRow[] = [
  { name: MANIFEST, max: 4 * MIB, doc: 'the run description, the outcome, the list of the other parts' },
  { name: 'console.txt', max: CONSOLE_KEPT, doc: 'what the guest printed: the first MiB of it' },
  { name: 'journal.jsonl', max: 128 * MIB, doc: 'arrivals of input, one per line' },
  { name: 'input.bin', max: INPUT_MAX, doc: 'the bytes of the input' },
  image('kernel.bin', 'the kernel'),
  image('initrd.bin', 'the initial RAM file system; of a run, with the program'),
  image('bios.bin', 'the firmware'),
  image('dtb.bin', 'the device tree'),
  ...numbered(LOADS_MAX, n => image(`load${n}.bin`, 'an image of -device loader')),
  ...numbered(SLOTS, n => image(`drive${n}.bin`, 'a drive')),
];

const ROWS = new Map(PARTS.map((row, rank) => [row.name, { ...row, rank }]));

/** The row of `name` with its place in the order; undefined: no part has that name. */
export const partRow = (name: string): (PartRow & { readonly rank: number }) | undefined => ROWS.get(name);
