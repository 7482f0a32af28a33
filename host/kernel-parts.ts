// A kernel in three parts, for a page that loads each when it is of use: what is in memory, what
// names lines, and the rest of the debug information.
import { Elf, linesOnly } from '../coverage/index.ts';
import { readElf } from '../emulator/index.ts';

/** Bytes of the header of an ELF file. */
const HEADER = 64;

export interface KernelParts {
  /** The image up to the end of what is loaded. */
  readonly load: Uint8Array;
  /** The header and the end of an ELF file; the loaded part is between them. */
  readonly lines: Uint8Array;
  /** The image from there on, without what `lines` has too. */
  readonly rest: Uint8Array;
  /** Pieces of that: place in the image, place in the image with lines, bytes. */
  readonly copies: readonly (readonly [at: number, from: number, bytes: number])[];
}

/** Sections that the image with lines has as they are, by their places in both. */
function copiesOf(whole: Elf, lines: Elf, end: number): KernelParts['copies'] {
  const copies = whole.sections.flatMap(section => {
    const other = lines.section(section.name);
    const data = whole.data(section); // none of .bss
    const isCopy = section.offset >= end && data.length > 0 && other !== undefined;
    return isCopy && Buffer.from(data).equals(lines.data(other))
      ? [[section.offset, other.offset, data.length] as const]
      : [];
  });
  return copies.sort(([a], [b]) => a - b);
}

/** `path`: for errors. */
export function kernelParts(bytes: Uint8Array, path: string): KernelParts & { readonly elf: Elf } {
  const { segments } = readElf(bytes, path);
  const starts = segments.map(({ data }) => data.byteOffset - bytes.byteOffset);
  if (starts.some(start => start < HEADER)) throw new Error(`${path}: its header is loaded`);
  const end = Math.max(...segments.map(({ data }, i) => starts[i]! + data.length));
  const lines = linesOnly(bytes, end, path);
  const elf = new Elf(lines, path);
  const copies = copiesOf(new Elf(bytes, path), elf, end);
  let at = end;
  const rest = copies.map(([place, , size]) => {
    const before = bytes.subarray(at, place);
    at = place + size;
    return before;
  });
  return {
    load: bytes.subarray(0, end),
    lines: Buffer.concat([lines.subarray(0, HEADER), lines.subarray(end)]),
    rest: Buffer.concat([...rest, bytes.subarray(at)]),
    copies,
    elf,
  };
}
