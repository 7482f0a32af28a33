// Puts images into guest RAM: ELF executables, Linux Images and raw binaries, placed by QEMU's
// rules for the virt board. Files may be hostile: an image that does not fit into RAM is refused
// with names and numbers.

import { HostError } from '../base/errors.ts';
import type { Bus } from '../bus/bus.ts';
import type { Ram } from '../bus/ram.ts';
import { type ElfSymbol, isElf, physical, readElf, type Segment } from './elf.ts';

/** A file that the host program has read; `name` is used in messages. */
export interface ImageFile {
  name: string;
  bytes: Uint8Array;
}

export interface LoadOption {
  image: ImageFile;
  /** Physical address; absent: that of the ELF file. */
  at?: number;
  /** Bytes as they are, even if they look like an ELF file. */
  raw: boolean;
}

export interface Loaded {
  /** Physical address of the first instruction. */
  entry: number;
  /** Lowest and highest address loaded, half-open. */
  start: number;
  end: number;
  /** The addresses that it occupies. */
  readonly ranges: readonly Range[];
  /** Read at the first use. */
  readonly symbols: ElfSymbol[];
  /** Physical address of a symbol, when the image is an ELF file that has it. */
  find(name: string): number | undefined;
  /** The physical address of code or data linked at a virtual address. */
  physical(va: bigint): number;
}

/** Physical addresses that an image occupies, half-open. */
export interface Range {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

const IMAGE_MAGIC = 0x0543_5352;
const IMAGE_HEADER_BYTES = 64;
const hex = (n: number): string => `0x${n.toString(16)}`;

/** Loads a firmware or kernel; raw files go to `base`. */
export function loadImage(ram: Ram, bus: Bus, file: ImageFile, base: number): Loaded {
  if (file.bytes.length === 0) throw new HostError(`${file.name}: is empty`);
  return isElf(file.bytes) ? loadElf(ram, bus, file) : loadRaw(ram, bus, file, base);
}

function loadElf(ram: Ram, bus: Bus, file: ImageFile): Loaded {
  const elf = readElf(file.bytes, file.name);
  let start = Infinity;
  let end = 0;
  const placed = elf.segments.flatMap((s, i) => aboveRamBase(ram, bus, s, i));
  for (const { index, at, memBytes } of placed)
    requireRam(ram, bus, `${file.name}: segment ${index}`, at, memBytes);
  const total = placed.reduce((sum, s) => sum + s.memBytes, 0);
  if (total > ram.bytes)
    throw new HostError(
      `${file.name}: its segments overlap: they have ${total} bytes in all, guest ram has ${ram.bytes}`,
    );
  for (const { at, data, memBytes } of placed) {
    ram.write(at, data);
    ram.fill(at + data.length, memBytes - data.length, 0);
    start = Math.min(start, at);
    end = Math.max(end, at + memBytes);
  }
  const entry = Number(physical(elf, elf.entry));
  if (!ram.has(entry, 2)) throw new HostError(`${file.name}: entry ${hex(entry)} is outside guest ram`);
  const find = (name: string): number | undefined => {
    const symbol = elf.symbols.find(s => s.name === name);
    return symbol && Number(physical(elf, symbol.value));
  };
  return {
    entry,
    start,
    end,
    ranges: placed.map(({ at, memBytes }) => ({ name: file.name, start: at, end: at + memBytes })),
    get symbols() {
      return elf.symbols;
    },
    find,
    physical: va => Number(physical(elf, va)),
  };
}

/** A segment, or the part of it that is loaded. */
interface Part {
  index: number;
  at: number;
  data: Uint8Array;
  memBytes: number;
}

/**
 * Below RAM this board has only devices and holes, and QEMU drops the part of an image in a hole.
 * So do we: GNU ld puts the headers of an image that is linked at the start of RAM into a page
 * below it.
 */
function aboveRamBase(ram: Ram, bus: Bus, { paddr, data, memBytes }: Segment, index: number): Part[] {
  const at = Number(paddr);
  const below = Math.min(ram.base - at, memBytes);
  if (below <= 0 || deviceAt(bus, at, below)) return [{ index, at, data, memBytes }];
  if (below === memBytes) return [];
  return [{ index, at: ram.base, data: data.subarray(below), memBytes: memBytes - below }];
}

function loadRaw(ram: Ram, bus: Bus, file: ImageFile, base: number): Loaded {
  const { name, bytes } = file;
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) {
    throw new HostError(`${name}: is compressed with gzip, unpack it first`);
  }
  let size = bytes.length;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (isLinuxImage(bytes)) {
    // image_size includes .bss, which the kernel clears itself but which must be free RAM
    // (Documentation/arch/riscv).
    size = Math.max(size, Number(view.getBigUint64(16, true)));
  } else if (!/\.(bin|img|raw)$/.test(name)) {
    throw new HostError(`${name} is neither an ELF file nor a Linux Image; raw code must be named *.bin`);
  }
  requireRam(ram, bus, name, base, size);
  ram.write(base, bytes);
  const range = { start: base, end: base + size };
  return {
    ...range,
    entry: base,
    ranges: [{ ...range, name }],
    symbols: [],
    find: () => undefined,
    physical: Number,
  };
}

export function isLinuxImage(bytes: Uint8Array): boolean {
  if (bytes.length < IMAGE_HEADER_BYTES) return false;
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(56, true) === IMAGE_MAGIC;
}

/**
 * QEMU's -device loader: an ELF file at its own addresses, or plain bytes at an address. Returns
 * the addresses that it occupies.
 */
export function loadExtra(ram: Ram, bus: Bus, { image, at, raw }: LoadOption): readonly Range[] {
  const { name, bytes } = image;
  if (!raw && isElf(bytes)) return loadElf(ram, bus, image).ranges;
  if (at === undefined) throw new HostError(`${name}: is not an elf file, so the loader needs addr=`);
  requireRam(ram, bus, name, at, bytes.length);
  ram.write(at, bytes);
  return [{ name, start: at, end: at + bytes.length }];
}

/**
 * Refuses images that lie over one another, as QEMU does: one of them would be damaged. Segments of
 * one image may, as ELF does not forbid it.
 *
 * Why comparing with one range is enough: in the order of their starts, let r be the first that
 * meets an earlier one x of another image, and `last` the earlier one that ends last. Then `last`
 * contains the start of r too. If it were of the image of r, `last` and x would have met before.
 */
export function requireDisjoint(images: readonly (readonly Range[])[]): void {
  const ranges = images
    .flatMap((image, index) => image.map(range => ({ ...range, index })))
    .filter(({ start, end }) => start < end);
  ranges.sort((a, b) => a.start - b.start);
  let last = ranges[0];
  for (const range of ranges) {
    if (range.index !== last!.index && range.start < last!.end) {
      const text = ({ name, start, end }: Range): string => `${name} at ${hex(start)}..${hex(end)}`;
      throw new HostError(
        `${text(range)} lies over ${text(last!)}; move one of them (more ram moves an initrd)`,
      );
    }
    if (range.end > last!.end) last = range;
  }
}

const FDT_MAGIC = 0xd00d_feed;

/** A device tree blob, with the size from its header. Throws HostError if it is not one. */
export function checkFdt({ name, bytes }: ImageFile): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 40 || view.getUint32(0) !== FDT_MAGIC)
    throw new HostError(`${name}: is not a device tree blob (make one with dtc -O dtb)`);
  const size = view.getUint32(4);
  if (size < 40 || size > bytes.length)
    throw new HostError(`${name}: is truncated: ${bytes.length} bytes, its header says ${size}`);
  return bytes.subarray(0, size);
}

/**
 * Loads the initial RAM disk after the kernel and below the device tree. Returns its addresses.
 */
export function loadInitrd(ram: Ram, bus: Bus, file: ImageFile, at: number, limit: number): Range {
  const size = file.bytes.length;
  if (size === 0) throw new HostError(`${file.name}: is empty`);
  requireRam(ram, bus, file.name, at, size);
  if (at + size > limit) {
    throw new HostError(
      `${file.name}: ${size} bytes at ${hex(at)} do not fit below the device tree at ${hex(limit)}`,
    );
  }
  ram.write(at, file.bytes);
  return { name: file.name, start: at, end: at + size };
}

function requireRam(ram: Ram, bus: Bus, what: string, at: number, bytes: number): void {
  if (ram.has(at, bytes)) return;
  const device = deviceAt(bus, at, bytes);
  const range = `${hex(at)}..${hex(at + bytes)}`;
  if (device) throw new HostError(`${what} at ${range} lies over the device ${device}`);
  throw new HostError(
    `${what} at ${range} is outside guest ram ${hex(ram.base)}..${hex(ram.base + ram.bytes)}`,
  );
}

/** The name of a device in this range. */
function deviceAt(bus: Bus, at: number, bytes: number): string | undefined {
  return bus.mappings.find(m => at < m.end && m.base < at + bytes)?.device.name;
}
