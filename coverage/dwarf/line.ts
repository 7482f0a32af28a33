/**
 * DWARF line programs, versions 2 to 5 (DWARF 5 §6.2): the state machine, its file table, and rows
 * by address.
 *
 * Rows are columns of numbers, because a kernel has a million of them. The result equals
 * `llvm-dwarfdump --debug-line` row for row; the look-up follows llvm-symbolizer: the last row at
 * or below the address in the sequence that covers it.
 */
import { type Addr, CoverageError, Cursor, cleanPath, upperBound } from '../base/bytes.ts';
import { DW_FORM, type FormContext, readNumber, readString, type Sections, skipForm } from './forms.ts';

export const ROW_IS_STMT = 1;
export const ROW_BASIC_BLOCK = 2;
export const ROW_END_SEQUENCE = 4;
export const ROW_PROLOGUE_END = 8;
export const ROW_EPILOGUE_BEGIN = 16;

interface FileEntry {
  name: string;
  dir: number;
  /** MD5 of its contents, in hexadecimal: DW_LNCT_MD5 of version 5. */
  md5?: string;
}

interface LineHeader {
  version: number;
  end: number;
  programAt: number;
  minInstLength: number;
  defaultIsStmt: boolean;
  lineBase: number;
  lineRange: number;
  opcodeBase: number;
  opcodeLengths: number[];
  dirs: string[];
  files: FileEntry[];
}

/** Growable columns of rows. */
class Rows {
  count = 0;
  address = new Float64Array(256);
  line = new Uint32Array(256);
  column = new Uint32Array(256);
  file = new Uint32Array(256);
  discriminator = new Uint32Array(256);
  isa = new Uint32Array(256);
  flags = new Uint8Array(256);

  grow(): void {
    const size = this.address.length * 2;
    const wider = <T extends Float64Array | Uint32Array | Uint8Array>(from: T, to: T): T => {
      to.set(from);
      return to;
    };
    this.address = wider(this.address, new Float64Array(size));
    this.line = wider(this.line, new Uint32Array(size));
    this.column = wider(this.column, new Uint32Array(size));
    this.file = wider(this.file, new Uint32Array(size));
    this.discriminator = wider(this.discriminator, new Uint32Array(size));
    this.isa = wider(this.isa, new Uint32Array(size));
    this.flags = wider(this.flags, new Uint8Array(size));
  }
}

export interface Sequence {
  low: Addr;
  /** Exclusive. */
  high: Addr;
  /** Row indices `[first, last]`; `last` is the end_sequence row. */
  first: number;
  last: number;
}

export interface LineRow {
  address: Addr;
  line: number;
  column: number;
  file: number;
  discriminator: number;
  isa: number;
  flags: number;
}

/** One line table: its rows, sequences in order of their end, and file names. */
export class LineTable {
  readonly rows: Rows;
  readonly sequences: Sequence[];
  readonly version: number;
  /** The offset of the next program in .debug_line. */
  readonly end: number;
  readonly header: Readonly<Pick<LineHeader, 'version' | 'dirs' | 'files'>>;
  /** The answers of `path` and `cleanPath`, for one directory: mostly there is no other. */
  private readonly paths = new Map<number, string>();
  private readonly clean = new Map<number, string>();
  private pathsFrom = '';

  constructor(header: LineHeader, rows: Rows, sequences: Sequence[]) {
    this.header = header;
    this.rows = rows;
    this.version = header.version;
    this.end = header.end;
    this.sequences = sequences.sort((a, b) => a.high - b.high || a.first - b.first);
  }

  row(index: number): LineRow {
    const { address, line, column, file, discriminator, isa, flags } = this.rows;
    return {
      address: address[index]!,
      line: line[index]!,
      column: column[index]!,
      file: file[index]!,
      discriminator: discriminator[index]!,
      isa: isa[index]!,
      flags: flags[index]!,
    };
  }

  /** Index of the row that describes `addr`, or -1. */
  find(addr: Addr): number {
    const at = upperBound(this.sequences.length, addr, i => this.sequences[i]!.high);
    const sequence = this.sequences[at];
    if (!sequence || addr < sequence.low) return -1;
    // If rows share an address, the last one is used: compilers emit corrections.
    const count = sequence.last - sequence.first - 1;
    const next = upperBound(count, addr, i => this.rows.address[sequence.first + 1 + i]!);
    return sequence.first + next;
  }

  /**
   * Row indices `[from, to)` of the rows that touch `[low, high)` in the sequence covering `low`;
   * empty if none does.
   */
  range(low: Addr, high: Addr): [number, number] {
    const from = this.find(low);
    if (from < 0) return [0, 0];
    let to = from + 1;
    while (
      to < this.rows.count &&
      !(this.rows.flags[to - 1]! & ROW_END_SEQUENCE) &&
      this.rows.address[to]! < high
    )
      to++;
    return [from, to];
  }

  /** `path` without `./` and the like; cached, because reports ask for it once per row. */
  cleanPath(file: number, compDir: string): string {
    this.askFrom(compDir);
    let clean = this.clean.get(file);
    if (clean === undefined) this.clean.set(file, (clean = cleanPath(this.path(file, compDir))));
    return clean;
  }

  /**
   * The path of a file number, absolute where the compiler wrote an absolute one. '' if there is no
   * such file.
   */
  path(file: number, compDir: string): string {
    this.askFrom(compDir);
    let path = this.paths.get(file);
    if (path === undefined) this.paths.set(file, (path = pathIn(this.header, file, compDir)));
    return path;
  }

  private askFrom(compDir: string): void {
    if (compDir === this.pathsFrom) return;
    this.paths.clear();
    this.clean.clear();
    this.pathsFrom = compDir;
  }
}

function pathIn(header: LineTable['header'], file: number, compDir: string): string {
  const { version, files, dirs } = header;
  const entry = files[version >= 5 ? file : file - 1];
  if (!entry) return '';
  if (entry.name.startsWith('/')) return entry.name;
  const dir = (version >= 5 ? dirs[entry.dir] : entry.dir > 0 ? dirs[entry.dir - 1] : '') ?? '';
  const whole = joinPath(dir, entry.name);
  // In version 5 directory 0 *is* the compilation directory.
  if (dir.startsWith('/') || (version >= 5 && entry.dir === 0)) return whole;
  return joinPath(compDir, whole);
}

function joinPath(dir: string, name: string): string {
  if (dir === '') return name;
  return dir.endsWith('/') ? dir + name : `${dir}/${name}`;
}

function hexOf(cursor: Cursor, count: number): string {
  const at = cursor.take(count);
  return Array.from(cursor.bytes.subarray(at, at + count), byte => byte.toString(16).padStart(2, '0')).join(
    '',
  );
}

/** Directory and file lists of version 5 (§6.2.4.1): self-describing rows of forms. */
function readEntries(cursor: Cursor, context: FormContext, sections: Sections): FileEntry[] {
  const format: [number, number][] = [];
  for (let n = cursor.u8(); n > 0; n--) format.push([cursor.uleb(), cursor.uleb()]);
  const entries: FileEntry[] = [];
  const count = cursor.uleb();
  if (count > cursor.end - cursor.at) throw new CoverageError(`.debug_line: absurd entry count ${count}`);
  for (let i = 0; i < count; i++) {
    const entry: FileEntry = { name: '', dir: 0 };
    for (const [content, form] of format) {
      if (content === 1) entry.name = readString(cursor, form, context, sections);
      else if (content === 2) entry.dir = readNumber(cursor, form, context);
      else if (content === 5 && form === DW_FORM.data16) entry.md5 = hexOf(cursor, 16);
      else skipForm(cursor, form, context);
    }
    entries.push(entry);
  }
  return entries;
}

function readOldLists(cursor: Cursor, header: LineHeader): void {
  for (let dir = cursor.string(); dir !== ''; dir = cursor.string()) header.dirs.push(dir);
  for (let name = cursor.string(); name !== ''; name = cursor.string()) {
    header.files.push({ name, dir: cursor.uleb() });
    cursor.skipLeb();
    cursor.skipLeb();
  }
}

function readHeader(cursor: Cursor, sections: Sections): LineHeader {
  let size = cursor.u32();
  const offsetSize = size === 0xffffffff ? 8 : 4;
  if (offsetSize === 8) size = cursor.u64();
  const end = cursor.at + size;
  if (end > sections.line.length) {
    throw new CoverageError(`.debug_line: program of 0x${size.toString(16)} bytes ends after the section`);
  }
  const version = cursor.u16();
  if (version < 2 || version > 5) throw new CoverageError(`.debug_line: version ${version} is unknown`);
  const addressSize = version >= 5 ? cursor.u8() : 8;
  if (version >= 5) cursor.u8();
  const headerSize = offsetSize === 8 ? cursor.u64() : cursor.u32();
  const programAt = cursor.at + headerSize;
  const minInstLength = cursor.u8();
  if (version >= 4) cursor.u8(); // maximum operations per instruction: no VLIW here
  const defaultIsStmt = cursor.u8() !== 0;
  const lineBase = cursor.i8();
  const lineRange = cursor.u8() || 1;
  const opcodeBase = cursor.u8();
  const opcodeLengths = [0];
  for (let i = 1; i < opcodeBase; i++) opcodeLengths.push(cursor.u8());
  const fields = { minInstLength, defaultIsStmt, lineBase, lineRange, opcodeBase, opcodeLengths };
  const header: LineHeader = { version, end, programAt, ...fields, dirs: [], files: [] };
  if (version < 5) readOldLists(cursor, header);
  else {
    const context = { version, addressSize, offsetSize, offset: 0, strOffsetsBase: 0, addrBase: 0 };
    header.dirs = readEntries(cursor, context, sections).map(entry => entry.name);
    header.files = readEntries(cursor, context, sections);
  }
  return header;
}

/** Decode the line program at `offset` of .debug_line. */
export function readLineTable(sections: Sections, offset: number): LineTable {
  const cursor = new Cursor(sections.line, '.debug_line');
  cursor.seek(offset);
  const header = readHeader(cursor, sections);
  const rows = new Rows();
  const sequences: Sequence[] = [];
  cursor.end = header.end;
  cursor.seek(header.programAt);
  new LineMachine(header, rows, sequences).run(cursor);
  return new LineTable(header, rows, sequences);
}

/** Does the file table of the program at `offset` have the path, as `cleanPath` gives it? */
export function namesFile(sections: Sections, offset: number, compDir: string, path: string): boolean {
  const cursor = new Cursor(sections.line, '.debug_line');
  cursor.seek(offset);
  const header = readHeader(cursor, sections);
  // Version 5 counts files from 0, the older ones from 1.
  return header.files.some(
    (_, i) => cleanPath(pathIn(header, header.version >= 5 ? i : i + 1, compDir)) === path,
  );
}

/** The registers of §6.2.2 and the opcodes of §6.2.5. */
class LineMachine {
  private readonly header: LineHeader;
  private readonly rows: Rows;
  private readonly sequences: Sequence[];
  private address = 0;
  private file = 1;
  private line = 1;
  private column = 0;
  private discriminator = 0;
  private isa = 0;
  private flags = 0;
  private first = 0;

  constructor(header: LineHeader, rows: Rows, sequences: Sequence[]) {
    this.header = header;
    this.rows = rows;
    this.sequences = sequences;
  }

  run(cursor: Cursor): void {
    const { opcodeBase, lineRange, lineBase, minInstLength } = this.header;
    const end = cursor.end;
    const bytes = cursor.bytes;
    this.reset();
    while (cursor.at < end) {
      const opcode = bytes[cursor.at++]!;
      if (opcode >= opcodeBase) {
        const adjusted = opcode - opcodeBase;
        this.address += ((adjusted / lineRange) | 0) * minInstLength;
        this.line += lineBase + (adjusted % lineRange);
        this.append();
      } else if (opcode === 0) this.extended(cursor);
      else this.standard(opcode, cursor);
    }
  }

  private reset(): void {
    this.address = 0;
    this.file = 1;
    this.line = 1;
    this.column = 0;
    this.discriminator = 0;
    this.isa = 0;
    this.flags = this.header.defaultIsStmt ? ROW_IS_STMT : 0;
    this.first = this.rows.count;
  }

  private append(): void {
    const rows = this.rows;
    const at = rows.count;
    if (at === rows.address.length) rows.grow();
    rows.address[at] = this.address;
    rows.line[at] = this.line;
    rows.column[at] = this.column;
    rows.file[at] = this.file;
    rows.discriminator[at] = this.discriminator;
    rows.isa[at] = this.isa;
    rows.flags[at] = this.flags;
    rows.count = at + 1;
    this.discriminator = 0;
    this.flags &= ROW_IS_STMT;
  }

  private standard(opcode: number, cursor: Cursor): void {
    const { minInstLength, opcodeBase, lineRange, opcodeLengths } = this.header;
    switch (opcode) {
      case 1: // DW_LNS_copy
        this.append();
        return;
      case 2: // DW_LNS_advance_pc
        this.address += cursor.uleb() * minInstLength;
        return;
      case 3: // DW_LNS_advance_line
        this.line += cursor.sleb();
        return;
      case 4: // DW_LNS_set_file
        this.file = cursor.uleb();
        return;
      case 5: // DW_LNS_set_column
        this.column = cursor.uleb();
        return;
      case 6: // DW_LNS_negate_stmt
        this.flags ^= ROW_IS_STMT;
        return;
      case 7: // DW_LNS_set_basic_block
        this.flags |= ROW_BASIC_BLOCK;
        return;
      case 8: // DW_LNS_const_add_pc
        this.address += (((255 - opcodeBase) / lineRange) | 0) * minInstLength;
        return;
      case 9: // DW_LNS_fixed_advance_pc: not scaled
        this.address += cursor.u16();
        return;
      case 10: // DW_LNS_set_prologue_end
        this.flags |= ROW_PROLOGUE_END;
        return;
      case 11: // DW_LNS_set_epilogue_begin
        this.flags |= ROW_EPILOGUE_BEGIN;
        return;
      case 12: // DW_LNS_set_isa
        this.isa = cursor.uleb();
        return;
      default:
        for (let n = opcodeLengths[opcode] ?? 0; n > 0; n--) cursor.skipLeb();
    }
  }

  private extended(cursor: Cursor): void {
    const size = cursor.uleb();
    const next = cursor.at + size;
    if (size === 0 || next > cursor.end) {
      if (size !== 0) cursor.overrun();
      return;
    }
    switch (cursor.u8()) {
      case 1: // DW_LNE_end_sequence
        this.flags |= ROW_END_SEQUENCE;
        this.append();
        this.closeSequence();
        this.reset();
        break;
      case 2: // DW_LNE_set_address
        this.address = size - 1 === 8 ? cursor.addr() : cursor.u32();
        break;
      case 3: // DW_LNE_define_file
        this.header.files.push({ name: cursor.string(), dir: cursor.uleb() });
        break;
      case 4: // DW_LNE_set_discriminator
        this.discriminator = cursor.uleb();
        break;
    }
    cursor.seek(next);
  }

  private closeSequence(): void {
    const last = this.rows.count - 1;
    const low = this.rows.address[this.first]!;
    const high = this.rows.address[last]!;
    if (low < high) this.sequences.push({ low, high, first: this.first, last });
  }
}

/** Every line table of the section in file order, without needing .debug_info. */
export function* allLineTables(sections: Sections): Generator<{ offset: number; table: LineTable }> {
  for (let offset = 0; offset < sections.line.length; ) {
    const table = readLineTable(sections, offset);
    yield { offset, table };
    if (table.end <= offset) return;
    offset = table.end;
  }
}

/**
 * The MD5 sums of files as they were compiled, by the paths that `LineTable.cleanPath` gives. A
 * path has several sums if units were compiled from different contents of it. Only version 5 has
 * sums, and only some compilers write them (clang does). Errors: CoverageError.
 */
export function fileSums(sections: Sections): Map<string, Set<string>> {
  const sums = new Map<string, Set<string>>();
  for (let offset = 0; offset < sections.line.length; ) {
    const cursor = new Cursor(sections.line, '.debug_line');
    cursor.seek(offset);
    const header = readHeader(cursor, sections);
    for (const [file, { md5 }] of header.files.entries()) {
      if (md5 === undefined) continue;
      const path = cleanPath(pathIn(header, file, header.dirs[0] ?? ''));
      const known = sums.get(path);
      if (known) known.add(md5);
      else sums.set(path, new Set([md5]));
    }
    if (header.end <= offset) break;
    offset = header.end;
  }
  return sums;
}
