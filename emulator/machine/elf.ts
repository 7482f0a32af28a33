// Reads ELF64 executables for RISC-V into segments and symbols.
// Specification: System V ABI, "Object Files"; RISC-V ELF psABI. The file is hostile input: every
// offset, count and size in it is checked against the file before use, and every error is a
// HostError of one line. The loader, not this module, decides where segments may lie in memory.
//
// coverage/elf/elf.ts is another reader, on purpose. This one reads the execution view (gABI,
// chapter 5): segments, for files that may be stripped, where a damaged symbol table costs names
// only. That one reads the linking view (chapter 4): sections, of which a report must not name a
// wrong one, so damage is an error there. They share no rule, only the constants of the headers.

import { HostError } from '../base/errors.ts';

export interface Segment {
  /** Physical address; loaders use this one. */
  paddr: bigint;
  vaddr: bigint;
  /** Contents; the rest up to `memBytes` is zero. */
  data: Uint8Array;
  memBytes: number;
}

export interface ElfSymbol {
  name: string;
  value: bigint;
  size: bigint;
  kind: 'func' | 'object' | 'other';
}

export interface Elf {
  /** e_entry of the file: a virtual address. */
  entry: bigint;
  segments: Segment[];
  /** Read at the first use. */
  readonly symbols: ElfSymbol[];
}

const EHDR_BYTES = 64;
const PHDR_BYTES = 56;
const SHDR_BYTES = 64;
const SYM_BYTES = 24;
const EM_RISCV = 243;
const PT_LOAD = 1;
const SHT_SYMTAB = 2;
/** Larger than any guest memory. */
const SIZE_MAX = 2 ** 36;
/**
 * Limits: the number of symbols that are read, and the bytes of a name. A larger table is read in
 * part.
 */
const SYMBOLS_MAX = 2 ** 20;
const NAME_MAX = 4096;
/** Largest table of names, in bytes: it becomes one string, and the names are slices of it. */
const NAMES_MAX = 2 ** 28;

const MACHINES: Record<number, string> = {
  3: 'i386',
  8: 'mips',
  20: 'powerpc',
  21: 'powerpc64',
  40: 'arm',
  62: 'x86-64',
  183: 'aarch64',
  258: 'loongarch',
};

export function isElf(file: Uint8Array): boolean {
  return file[0] === 0x7f && file[1] === 0x45 && file[2] === 0x4c && file[3] === 0x46;
}

/** `name` is used in messages only. */
export function readElf(file: Uint8Array, name: string): Elf {
  const fail = (what: string): never => {
    throw new HostError(`${name}: ${what}`);
  };
  if (file.length === 0) fail('is empty');
  if (!isElf(file)) fail('is not an elf file');
  if (file.length < EHDR_BYTES)
    fail(`is truncated: ${file.length} bytes, the header alone has ${EHDR_BYTES}`);
  if (file[4] !== 2) fail('is a 32-bit elf file, 64-bit wanted');
  if (file[5] !== 1) fail('is a big-endian elf file, little-endian wanted');
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const machine = view.getUint16(18, true);
  if (machine !== EM_RISCV)
    fail(`is for machine ${machine}${MACHINES[machine] ? ` (${MACHINES[machine]})` : ''}, riscv wanted`);
  const type = view.getUint16(16, true);
  if (type === 1) fail('is an object file, not linked');
  if (type !== 2 && type !== 3) fail(`has elf type ${type}, an executable wanted`);
  let symbols: ElfSymbol[] | undefined;
  return {
    entry: view.getBigUint64(24, true),
    segments: readSegments(file, view, fail),
    get symbols() {
      return (symbols ??= readSymbols(file, view));
    },
  };
}

/**
 * True if [at, at + bytes) is inside the file. All are non-negative numbers, possibly beyond 2^53.
 */
function inside(file: Uint8Array, at: number, bytes: number): boolean {
  return at + bytes <= file.length;
}

function readSegments(file: Uint8Array, view: DataView, fail: (what: string) => never): Segment[] {
  const at = Number(view.getBigUint64(32, true));
  const entryBytes = view.getUint16(54, true);
  const count = view.getUint16(56, true);
  if (count === 0) fail('has no program headers');
  if (entryBytes !== PHDR_BYTES) fail(`has program headers of ${entryBytes} bytes, ${PHDR_BYTES} wanted`);
  if (!inside(file, at, count * PHDR_BYTES)) fail('is truncated: program headers end after the file');
  const segments: Segment[] = [];
  for (let i = 0; i < count; i++) {
    const p = at + i * PHDR_BYTES;
    if (view.getUint32(p, true) !== PT_LOAD) continue;
    const offset = Number(view.getBigUint64(p + 8, true));
    const fileBytes = Number(view.getBigUint64(p + 32, true));
    const memBytes = Number(view.getBigUint64(p + 40, true));
    if (!inside(file, offset, fileBytes)) fail(`is truncated: segment ${i} ends after the file`);
    if (memBytes < fileBytes)
      fail(`segment ${i} has ${fileBytes} bytes in the file but ${memBytes} in memory`);
    if (memBytes > SIZE_MAX) fail(`segment ${i} has ${memBytes} bytes, more than any guest memory`);
    if (memBytes === 0) continue;
    segments.push({
      vaddr: view.getBigUint64(p + 16, true),
      paddr: view.getBigUint64(p + 24, true),
      data: file.subarray(offset, offset + fileBytes),
      memBytes,
    });
  }
  if (segments.length === 0) fail('has nothing to load');
  return segments;
}

/** The sections' headers; none when the table is damaged. */
function readSections(file: Uint8Array, view: DataView) {
  const at = Number(view.getBigUint64(40, true));
  const count = view.getUint16(60, true);
  if (view.getUint16(58, true) !== SHDR_BYTES || !inside(file, at, count * SHDR_BYTES)) return [];
  return Array.from({ length: count }, (_, i) => {
    const s = at + i * SHDR_BYTES;
    return {
      type: view.getUint32(s + 4, true),
      offset: Number(view.getBigUint64(s + 24, true)),
      bytes: Number(view.getBigUint64(s + 32, true)),
      link: view.getUint32(s + 40, true),
    };
  });
}

/**
 * Symbols are a convenience: a damaged table gives fewer of them, not an error. Only the first
 * table is read: the ABI allows one, and a file could otherwise name its table 65,535 times.
 */
function readSymbols(file: Uint8Array, view: DataView): ElfSymbol[] {
  const sections = readSections(file, view);
  const table = sections.find(({ type }) => type === SHT_SYMTAB);
  const names = table && sections[table.link];
  if (!names || !inside(file, table.offset, table.bytes) || !inside(file, names.offset, names.bytes))
    return [];
  if (names.bytes > NAMES_MAX) return [];
  // Slices of one string share its memory, however many symbols name the same bytes.
  const text = new TextDecoder('latin1').decode(file.subarray(names.offset, names.offset + names.bytes));
  const symbols: ElfSymbol[] = [];
  const end = table.offset + Math.min(table.bytes, SYMBOLS_MAX * SYM_BYTES);
  for (let s = table.offset; s + SYM_BYTES <= end; s += SYM_BYTES) {
    const name = cString(text, view.getUint32(s, true));
    if (name === '') continue;
    const info = view.getUint8(s + 4) & 0xf;
    symbols.push({
      name,
      value: view.getBigUint64(s + 8, true),
      size: view.getBigUint64(s + 16, true),
      kind: info === 2 ? 'func' : info === 1 ? 'object' : 'other',
    });
  }
  return symbols;
}

/** The text from an offset to the next NUL; '' if there is none within NAME_MAX characters. */
function cString(text: string, from: number): string {
  const limit = Math.min(text.length, from + NAME_MAX);
  let end = from;
  while (end < limit && text.charCodeAt(end) !== 0) end++;
  return end < limit ? text.slice(from, end) : '';
}

/**
 * The physical address of a virtual one, through the segment that contains it; unchanged if none
 * does.
 */
export function physical(elf: Elf, address: bigint): bigint {
  for (const s of elf.segments) {
    if (address >= s.vaddr && address < s.vaddr + BigInt(s.memBytes)) return address - s.vaddr + s.paddr;
  }
  return address;
}
