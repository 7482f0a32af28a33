/**
 * ELF64 little-endian files: sections, symbols, build id, bytes at an address (System V gABI,
 * chapters 4 and 5).
 *
 * Nothing is trusted: offsets, counts and names are checked against the file, and a fault is one
 * line. Only the parts that a linked RISC-V image needs are read.
 *
 * emulator/machine/elf.ts, the loader's reader, says why there are two.
 *
 * Divergence: compressed sections (SHF_COMPRESSED) are refused by name, because inflating needs
 * host help; relocatable objects are refused, because their addresses and debug data are not final.
 */

import { Sha256 } from '../../emulator/base/sha256.ts';
import { type Addr, CoverageError, Cursor, countUpTo, hex, pcOf, stringAt } from '../base/bytes.ts';

export const SHF_ALLOC = 2;
export const SHF_EXECINSTR = 4;
const SHF_COMPRESSED = 0x800;
const SHT_SYMTAB = 2;
const SHT_NULL = 0;
const SHT_NOTE = 7;
const SHT_NOBITS = 8;
const ET_REL = 1;
const EM_RISCV = 243;
const STT_NOTYPE = 0;
const STT_OBJECT = 1;
export const STT_FUNC = 2;
const STT_FILE = 4;
const STT_GNU_IFUNC = 10;
const STB_LOCAL = 0;
const SHN_LORESERVE = 0xff00;
/** Longest name of a symbol or section that is shown, in bytes. */
const NAME_MAX = 4096;
/** Sections that lie in memory: every address is looked up in all of them. */
const LOADED_MAX = 4096;
/**
 * Contents of all sections in sizes of the file: some linkers make two string tables share their
 * bytes.
 */
const SHARED_MAX = 4;

export interface Section {
  index: number;
  name: string;
  type: number;
  flags: number;
  addr: Addr;
  offset: number;
  size: number;
  link: number;
  entsize: number;
}

export interface ElfSymbol {
  name: string;
  addr: Addr;
  size: number;
  type: number;
}

interface SymbolRows {
  addr: number[];
  size: number[];
  type: number[];
  nameAt: number[];
  fileAt: number[];
}

/**
 * Symbols of loaded sections in order of address, then size, then place in the table; names are
 * read on demand.
 */
export class SymbolTable {
  readonly count: number;
  readonly addr: Float64Array;
  readonly size: Float64Array;
  readonly type: Uint8Array;
  private readonly fileAt: Uint32Array;
  private readonly nameAt: Uint32Array;
  private readonly strings: Uint8Array;
  private readonly end: Addr;
  /** The last answer: mostly the next address is near. */
  private last = 0;

  /** `end`: of the loaded sections. */
  constructor(rows: SymbolRows, strings: Uint8Array, end: Addr) {
    this.end = end;
    const order = Array.from(rows.addr.keys());
    order.sort((a, b) => rows.addr[a]! - rows.addr[b]! || rows.size[a]! - rows.size[b]! || a - b);
    this.count = order.length;
    this.addr = Float64Array.from(order, i => rows.addr[i]!);
    this.size = Float64Array.from(order, i => rows.size[i]!);
    this.type = Uint8Array.from(order, i => rows.type[i]!);
    this.fileAt = Uint32Array.from(order, i => rows.fileAt[i]!);
    this.nameAt = Uint32Array.from(order, i => rows.nameAt[i]!);
    this.strings = strings;
  }

  name(index: number): string {
    return stringAt(this.strings, this.nameAt[index]!, NAME_MAX);
  }

  /** The source file (STT_FILE) of a local symbol; '' for a global one. */
  file(index: number): string {
    return stringAt(this.strings, this.fileAt[index]!, NAME_MAX);
  }

  get(index: number): ElfSymbol {
    return {
      name: this.name(index),
      addr: this.addr[index]!,
      size: this.size[index]!,
      type: this.type[index]!,
    };
  }

  /**
   * If several symbols cover an address, the largest is used, and the last of equals:
   * llvm-symbolizer's choice. A symbol without a size reaches to the next one, or to the end of
   * the image. -1 if none.
   */
  indexAt(addr: Addr): number {
    this.last = countUpTo(this.addr, addr, this.last);
    const index = this.last - 1;
    if (index < 0) return -1;
    const size = this.size[index]!;
    const end = size === 0 ? this.end : this.addr[index]! + size;
    return addr < end || addr === this.addr[index] ? index : -1;
  }

  at(addr: Addr): ElfSymbol | undefined {
    const index = this.indexAt(addr);
    return index < 0 ? undefined : this.get(index);
  }

  /** Every symbol with exactly this name. */
  named(name: string): ElfSymbol[] {
    const found: ElfSymbol[] = [];
    for (let i = 0; i < this.count; i++) if (this.name(i) === name) found.push(this.get(i));
    return found;
  }
}

/** A SHA-256 of the bytes that it is given one after the other. */
interface Hash {
  update(bytes: Uint8Array): void;
  hex(): string;
}

export class Elf {
  readonly bytes: Uint8Array;
  readonly name: string;
  readonly machine: number;
  readonly type: number;
  readonly entry: Addr;
  readonly sections: Section[];
  private symbolTable: SymbolTable | undefined;
  private id: string | undefined;
  private lazyCodeHash: string | undefined;

  private readonly newHash: () => Hash;

  /**
   * `name` is used in error texts; `newHash` makes a SHA-256, where the host has a fast one. Throws
   * `CoverageError` unless the file is a linked RISC-V ELF64 file.
   */
  constructor(bytes: Uint8Array, name = 'image', newHash: () => Hash = () => new Sha256()) {
    this.bytes = bytes;
    this.newHash = newHash;
    this.name = name;
    const header = new Cursor(bytes, name);
    if (bytes.length < 64) throw new CoverageError(`${name} is not an ELF file: only ${bytes.length} bytes`);
    if (header.u32() !== 0x464c457f) throw new CoverageError(`${name} is not an ELF file: wrong magic`);
    if (header.u8() !== 2) throw new CoverageError(`${name} is not a 64-bit ELF file`);
    if (header.u8() !== 1) throw new CoverageError(`${name} is not a little-endian ELF file`);
    header.seek(16);
    this.type = header.u16();
    this.machine = header.u16();
    header.seek(24);
    this.entry = header.addr();
    header.seek(40);
    const tableAt = header.u64();
    header.seek(58);
    if (this.machine !== EM_RISCV)
      throw new CoverageError(`${name} is not a RISC-V ELF file (machine ${this.machine})`);
    if (this.type === ET_REL) throw new CoverageError(`${name} is a relocatable object; link it first`);
    this.sections = this.readSections(tableAt, header.u16(), header.u16(), header.u16());
  }

  private readSections(tableAt: number, entsize: number, count: number, namesIndex: number): Section[] {
    if (tableAt === 0) return [];
    if (entsize !== 64)
      throw new CoverageError(`${this.name}: section headers of ${entsize} bytes, expected 64`);
    const table = new Cursor(this.bytes, `${this.name} section headers`);
    if (count === 0) {
      // More than 0xff00 sections: the count is in the first header (gABI "e_shnum").
      table.seek(tableAt);
      table.take(32);
      count = table.u64();
    }
    if (tableAt + count * 64 > this.bytes.length) {
      throw new CoverageError(
        `${this.name} is truncated: ${count} section headers at 0x${tableAt.toString(16)} end after its ${this.bytes.length} bytes`,
      );
    }
    const rows: (Section & { nameAt: number })[] = [];
    for (let index = 0; index < count; index++) {
      table.seek(tableAt + index * 64);
      const nameAt = table.u32();
      const type = table.u32();
      const flags = table.u64();
      const addr = table.addr();
      const offset = table.u64();
      const size = table.u64();
      const link = table.u32();
      table.take(12);
      rows.push({ index, name: '', nameAt, type, flags, addr, offset, size, link, entsize: table.u64() });
    }
    this.checkSizes(rows);
    const names = rows[namesIndex];
    if (names) {
      const bytes = this.data(names);
      for (const row of rows) row.name = stringAt(bytes, row.nameAt, NAME_MAX);
    }
    return rows;
  }

  /**
   * Readers visit each section once: the work must be proportional to the file, even if sections
   * overlap.
   */
  private checkSizes(rows: readonly Section[]): void {
    const limit = this.bytes.length;
    let total = 0;
    let loaded = 0;
    for (const { type, flags, offset, size } of rows) {
      if (type === SHT_NULL || type === SHT_NOBITS) continue;
      if (offset + size <= limit) total += size;
      if (flags & SHF_ALLOC) loaded++;
    }
    if (total > SHARED_MAX * limit)
      throw new CoverageError(
        `${this.name} is damaged: its sections overlap, ${total} bytes of contents in a file of ${limit}`,
      );
    if (loaded > LOADED_MAX)
      throw new CoverageError(
        `${this.name} has ${loaded} loaded sections, at most ${LOADED_MAX} are possible`,
      );
  }

  section(name: string): Section | undefined {
    return this.sections.find(section => section.name === name);
  }

  /** The bytes of a section; empty for one without file contents. */
  data(section: Section): Uint8Array {
    if (section.type === SHT_NOBITS) return this.bytes.subarray(0, 0);
    if (section.flags & SHF_COMPRESSED) {
      throw new CoverageError(
        `${this.name}: section ${section.name} is compressed; link without --compress-debug-sections`,
      );
    }
    if (section.offset + section.size > this.bytes.length) {
      throw new CoverageError(
        `${this.name} is truncated: section ${section.name || section.index} [0x${section.offset.toString(16)}, ` +
          `0x${(section.offset + section.size).toString(16)}) lies outside its ${this.bytes.length} bytes`,
      );
    }
    return this.bytes.subarray(section.offset, section.offset + section.size);
  }

  dataNamed(name: string): Uint8Array | undefined {
    const section = this.section(name);
    return section && this.data(section);
  }

  executableSections(): Section[] {
    const wanted = SHF_ALLOC | SHF_EXECINSTR;
    return this.sections.filter(s => (s.flags & wanted) === wanted && s.type !== SHT_NOBITS && s.size > 0);
  }

  /** Loaded sections with contents that are no code. */
  dataSections(): Section[] {
    return this.sections.filter(
      s => (s.flags & SHF_ALLOC) !== 0 && !(s.flags & SHF_EXECINSTR) && s.type !== SHT_NOBITS && s.size > 0,
    );
  }

  isExecutable(addr: Addr): boolean {
    return this.executableSections().some(s => addr >= s.addr && addr < s.addr + s.size);
  }

  /** `count` bytes at an address of a loaded section, or undefined if the image has none there. */
  read(addr: Addr, count: number): Uint8Array | undefined {
    for (const section of this.sections) {
      if (!(section.flags & SHF_ALLOC) || section.type === SHT_NOBITS) continue;
      const at = addr - section.addr;
      if (at >= 0 && at + count <= section.size) return this.data(section).subarray(at, at + count);
    }
    return undefined;
  }

  /** Functions with code in the file, in order of address. */
  functions(): { name: string; start: bigint; code: Uint8Array }[] {
    const found: { name: string; start: bigint; code: Uint8Array }[] = [];
    const { symbols } = this;
    for (let i = 0; i < symbols.count; i++) {
      const { name, addr, size, type } = symbols.get(i);
      const code = type === STT_FUNC && size > 0 ? this.read(addr, size) : undefined;
      if (code) found.push({ name, start: pcOf(addr), code });
    }
    return found;
  }

  get symbols(): SymbolTable {
    this.symbolTable ??= this.readSymbols();
    return this.symbolTable;
  }

  private readSymbols(): SymbolTable {
    const rows: SymbolRows = { addr: [], size: [], type: [], nameAt: [], fileAt: [] };
    const section = this.sections.find(s => s.type === SHT_SYMTAB);
    const loaded = this.sections.filter(s => (s.flags & SHF_ALLOC) !== 0);
    const end = loaded.reduce((most, s) => Math.max(most, s.addr + s.size), Number.NEGATIVE_INFINITY);
    if (!section) return new SymbolTable(rows, new Uint8Array(0), end);
    const stringsOf = this.sections[section.link];
    const strings = stringsOf ? this.data(stringsOf) : new Uint8Array(0);
    const table = new Cursor(this.data(section), `${this.name} symbol table`);
    const keep = new Set([STT_NOTYPE, STT_OBJECT, STT_FUNC, STT_GNU_IFUNC]);
    let fileAt = 0;
    for (let at = 24; at + 24 <= table.end; at += 24) {
      table.seek(at);
      const nameAt = table.u32();
      const info = table.u8();
      const type = info & 15;
      table.u8();
      const home = table.u16();
      if (type === STT_FILE) fileAt = nameAt;
      if (!keep.has(type) || !this.isLoaded(home) || isMappingSymbol(strings, nameAt)) continue;
      rows.nameAt.push(nameAt);
      rows.type.push(type);
      rows.fileAt.push(info >> 4 === STB_LOCAL ? fileAt : 0);
      rows.addr.push(table.addr());
      rows.size.push(table.u64());
    }
    return new SymbolTable(rows, strings, end);
  }

  private isLoaded(sectionIndex: number): boolean {
    if (sectionIndex === 0 || sectionIndex >= SHN_LORESERVE) return false;
    return ((this.sections[sectionIndex]?.flags ?? 0) & SHF_ALLOC) !== 0;
  }

  /** The GNU build id in hex, if the linker wrote one. */
  get buildId(): string | undefined {
    for (const section of this.sections) {
      if (section.type !== SHT_NOTE) continue;
      const note = new Cursor(this.data(section), `${this.name} ${section.name}`);
      while (note.at + 12 <= note.end) {
        const nameSize = note.u32();
        const size = note.u32();
        const type = note.u32();
        const name = stringAt(note.bytes, note.take((nameSize + 3) & ~3), 8);
        const at = note.take(Math.min((size + 3) & ~3, note.end - note.at));
        if (type !== 3 || name !== 'GNU') continue;
        return [...note.bytes.subarray(at, at + size)].map(b => b.toString(16).padStart(2, '0')).join('');
      }
    }
    return undefined;
  }

  /**
   * The identity of the image in a trace: `build-id:HEX`, or `sha256:HEX` over address and bytes of
   * the executable sections, which stripping does not change.
   */
  get imageId(): string {
    if (this.id === undefined) {
      const build = this.buildId;
      this.id = build ? `build-id:${build}` : this.codeHash;
    }
    return this.id;
  }

  get codeHash(): string {
    return (this.lazyCodeHash ??= this.hashCode());
  }

  private hashCode(): string {
    const hash = this.newHash();
    for (const section of this.executableSections()) {
      hash.update(new TextEncoder().encode(`${hex(section.addr)} ${section.size}\n`));
      hash.update(this.data(section));
    }
    return `sha256:${hash.hex()}`;
  }
}

/** RISC-V psABI mapping symbols (`$x`, `$d`), and nameless ones, are of no interest to readers. */
function isMappingSymbol(strings: Uint8Array, at: number): boolean {
  const first = strings[at] ?? 0;
  if (first === 0) return true;
  if (first === 0x2e) return stringAt(strings, at, 4) === '.L0 ';
  if (first !== 0x24) return false;
  const kind = strings[at + 1];
  return kind === 0x78 || kind === 0x64;
}
