/**
 * Debugging information entries (DWARF 5 §2, §7.5): unit headers, and the few attributes that
 * describe functions.
 *
 * A `DieReader` holds one unit and reads one entry at a time into its own fields, so that walking a
 * unit allocates nothing.
 */
import { type Addr, CoverageError, Cursor } from '../base/bytes.ts';
import {
  type Abbrev,
  DW_FORM,
  type FormContext,
  readAddress,
  readNumber,
  readString,
  type Sections,
  skipForm,
} from './forms.ts';
import { readRanges4, readRanges5, rnglistOffset } from './ranges.ts';

export const DW_TAG = {
  class_type: 0x02,
  lexical_block: 0x0b,
  compile_unit: 0x11,
  structure_type: 0x13,
  inlined_subroutine: 0x1d,
  subprogram: 0x2e,
  namespace: 0x39,
  partial_unit: 0x3c,
  skeleton_unit: 0x4a,
} as const;

export const DW_AT = {
  sibling: 0x01,
  name: 0x03,
  stmt_list: 0x10,
  low_pc: 0x11,
  high_pc: 0x12,
  comp_dir: 0x1b,
  abstract_origin: 0x31,
  decl_file: 0x3a,
  decl_line: 0x3b,
  specification: 0x47,
  ranges: 0x55,
  call_column: 0x57,
  call_file: 0x58,
  call_line: 0x59,
  linkage_name: 0x6e,
  str_offsets_base: 0x72,
  addr_base: 0x73,
  rnglists_base: 0x74,
  MIPS_linkage_name: 0x2007,
} as const;

const DW_UT_type = 0x02;
const DW_UT_skeleton = 0x04;
const DW_UT_split_compile = 0x05;
const DW_UT_split_type = 0x06;

/** A unit of .debug_info with the facts of its root entry. */
export interface Unit extends FormContext {
  index: number;
  /** Offset of the root entry and of the byte after the unit. */
  dieAt: number;
  end: number;
  abbrevOffset: number;
  isCode: boolean;
  rnglistsBase: number;
  name: string;
  compDir: string;
  /** Offset of the line program, -1 if none. */
  stmtList: number;
  lowPc: Addr;
  ranges: Addr[];
}

export function readUnitHeaders(sections: Sections): Unit[] {
  const cursor = new Cursor(sections.info, '.debug_info');
  const units: Unit[] = [];
  while (cursor.at < cursor.end) {
    const offset = cursor.at;
    let size = cursor.u32();
    const offsetSize = size === 0xffffffff ? 8 : 4;
    if (offsetSize === 8) size = cursor.u64();
    const end = cursor.at + size;
    if (end > cursor.end)
      throw new CoverageError(`.debug_info: unit at 0x${offset.toString(16)} ends after the section`);
    const version = cursor.u16();
    if (version < 2 || version > 5) {
      throw new CoverageError(`.debug_info: unit at 0x${offset.toString(16)} has unknown version ${version}`);
    }
    const word = () => (offsetSize === 8 ? cursor.u64() : cursor.u32());
    const unitType = version >= 5 ? cursor.u8() : 1;
    let addressSize = version >= 5 ? cursor.u8() : 0;
    const abbrevOffset = word();
    if (version < 5) addressSize = cursor.u8();
    if (unitType === DW_UT_skeleton || unitType === DW_UT_split_compile) cursor.take(8);
    const isType = unitType === DW_UT_type || unitType === DW_UT_split_type;
    if (isType) cursor.take(8 + offsetSize);
    const header = { offset, version, addressSize, offsetSize, abbrevOffset, dieAt: cursor.at, end };
    // Before the root entry is read, the bases are directly after the headers of their tables
    // (§7.26, §7.27).
    const bases = { strOffsetsBase: 8, addrBase: 8, rnglistsBase: 0 };
    const facts = { isCode: !isType, name: '', compDir: '', stmtList: -1, lowPc: 0, ranges: [] };
    units.push({ index: units.length, ...header, ...bases, ...facts });
    cursor.seek(end);
  }
  return units;
}

/**
 * Attributes that matter only in the root entry; their forms are remembered because bases come in
 * any order.
 */
interface Pending {
  at: number;
  form: number;
}

export class DieReader {
  readonly unit: Unit;
  readonly cursor: Cursor;
  private readonly sections: Sections;
  private readonly abbrevs: Abbrev[];

  tag = 0;
  hasChildren = false;
  dieOffset = 0;
  sibling = 0;
  name = '';
  linkageName = '';
  lowPc = 0;
  hasLow = false;
  highPc = 0;
  hasHigh = false;
  ranges: Pending | undefined;
  /**
   * .debug_info offset of the entry that holds the name: abstract origin or specification; 0 if
   * none.
   */
  origin = 0;
  declFile = 0;
  declLine = 0;
  callFile = 0;
  callLine = 0;
  callColumn = 0;

  constructor(sections: Sections, unit: Unit, abbrevs: Abbrev[]) {
    this.sections = sections;
    this.unit = unit;
    this.abbrevs = abbrevs;
    this.cursor = new Cursor(sections.info, '.debug_info', unit.dieAt, unit.end);
  }

  /**
   * The abbreviation of the entry at the cursor; undefined for the null entry that ends a list of
   * children.
   */
  begin(): Abbrev | undefined {
    this.dieOffset = this.cursor.at;
    const code = this.cursor.uleb();
    if (code === 0) return undefined;
    const abbrev = this.abbrevs[code];
    if (!abbrev) {
      throw new CoverageError(
        `.debug_info: entry at 0x${this.dieOffset.toString(16)} has unknown abbreviation ${code}`,
      );
    }
    return abbrev;
  }

  skip(abbrev: Abbrev): void {
    if (abbrev.bytes >= 0) {
      this.cursor.take(abbrev.bytes);
      return;
    }
    const { attributes } = abbrev;
    for (let i = 0; i < attributes.length; i += 3) skipForm(this.cursor, attributes[i + 1]!, this.unit);
  }

  /** Step over an entry and return its DW_AT_sibling, or 0 where it has none. */
  skipNotingSibling(abbrev: Abbrev): number {
    let sibling = 0;
    const { attributes } = abbrev;
    for (let i = 0; i < attributes.length; i += 3) {
      if (attributes[i] === DW_AT.sibling) sibling = readNumber(this.cursor, attributes[i + 1]!, this.unit);
      else skipForm(this.cursor, attributes[i + 1]!, this.unit);
    }
    return sibling;
  }

  /** Read the attributes of a function-like entry into the fields. */
  read(abbrev: Abbrev): void {
    const { cursor, unit, sections } = this;
    this.tag = abbrev.tag;
    this.hasChildren = abbrev.hasChildren;
    this.name = this.linkageName = '';
    this.lowPc = this.highPc = this.origin = this.sibling = 0;
    this.hasLow = this.hasHigh = false;
    this.ranges = undefined;
    this.declFile = this.declLine = this.callFile = this.callLine = this.callColumn = 0;
    let highIsSize = false;
    const { attributes } = abbrev;
    for (let i = 0; i < attributes.length; i += 3) {
      const form = attributes[i + 1]!;
      const implicit = attributes[i + 2]!;
      switch (attributes[i]) {
        case DW_AT.name:
          this.name = readString(cursor, form, unit, sections);
          break;
        case DW_AT.linkage_name:
        case DW_AT.MIPS_linkage_name:
          this.linkageName = readString(cursor, form, unit, sections);
          break;
        case DW_AT.low_pc:
          this.lowPc = readAddress(cursor, form, unit, sections);
          this.hasLow = true;
          break;
        case DW_AT.high_pc:
          highIsSize = form !== DW_FORM.addr && !(form >= DW_FORM.addrx1 || form === DW_FORM.addrx);
          this.highPc = readAddress(cursor, form, unit, sections);
          this.hasHigh = true;
          break;
        case DW_AT.ranges:
          this.ranges = { at: cursor.at, form };
          skipForm(cursor, form, unit);
          break;
        case DW_AT.abstract_origin:
        case DW_AT.specification:
          this.origin = readNumber(cursor, form, unit, implicit);
          break;
        case DW_AT.decl_file:
          this.declFile = readNumber(cursor, form, unit, implicit);
          break;
        case DW_AT.decl_line:
          this.declLine = readNumber(cursor, form, unit, implicit);
          break;
        case DW_AT.call_file:
          this.callFile = readNumber(cursor, form, unit, implicit);
          break;
        case DW_AT.call_line:
          this.callLine = readNumber(cursor, form, unit, implicit);
          break;
        case DW_AT.call_column:
          this.callColumn = readNumber(cursor, form, unit, implicit);
          break;
        case DW_AT.sibling:
          this.sibling = readNumber(cursor, form, unit, implicit);
          break;
        default:
          skipForm(cursor, form, unit);
      }
    }
    if (highIsSize) this.highPc += this.lowPc;
  }

  /** The address ranges of the entry just read. */
  rangesOfEntry(): Addr[] {
    if (this.ranges) return this.rangeList(this.ranges);
    return this.hasLow && this.hasHigh && this.highPc > this.lowPc ? [this.lowPc, this.highPc] : [];
  }

  private rangeList({ at, form }: Pending): Addr[] {
    const { unit, sections } = this;
    const value = readNumber(new Cursor(sections.info, '.debug_info', at), form, unit);
    if (unit.version < 5) return readRanges4(sections, value, unit.lowPc);
    const offset =
      form === DW_FORM.rnglistx ? rnglistOffset(sections, unit, unit.rnglistsBase, value) : value;
    return readRanges5(sections, unit, offset, unit.lowPc);
  }

  /** Fill in the unit from its root entry; leaves the cursor after it. */
  readRoot(): void {
    const { cursor, unit, sections } = this;
    cursor.seek(unit.dieAt);
    const abbrev = this.begin();
    if (!abbrev) return;
    const { attributes } = abbrev;
    const seen = new Map<number, Pending>();
    for (let i = 0; i < attributes.length; i += 3) {
      seen.set(attributes[i]!, { at: cursor.at, form: attributes[i + 1]! });
      skipForm(cursor, attributes[i + 1]!, unit);
    }
    const after = cursor.at;
    const number = (attribute: number, missing: number) => {
      const found = seen.get(attribute);
      if (!found) return missing;
      return readNumber(new Cursor(sections.info, '.debug_info', found.at), found.form, unit);
    };
    const string = (attribute: number) => {
      const found = seen.get(attribute);
      if (!found) return '';
      return readString(new Cursor(sections.info, '.debug_info', found.at), found.form, unit, sections);
    };
    unit.strOffsetsBase = number(DW_AT.str_offsets_base, unit.strOffsetsBase);
    unit.addrBase = number(DW_AT.addr_base, unit.addrBase);
    unit.rnglistsBase = number(DW_AT.rnglists_base, unit.rnglistsBase);
    unit.stmtList = number(DW_AT.stmt_list, -1);
    unit.name = string(DW_AT.name);
    unit.compDir = string(DW_AT.comp_dir);
    unit.isCode &&= abbrev.tag === DW_TAG.compile_unit || abbrev.tag === DW_TAG.skeleton_unit;
    cursor.seek(unit.dieAt);
    const again = this.begin();
    if (again) this.read(again);
    unit.lowPc = this.lowPc;
    unit.ranges = this.rangesOfEntry();
    cursor.seek(after);
  }
}
