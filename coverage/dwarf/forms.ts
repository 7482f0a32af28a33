/**
 * DWARF attribute forms and abbreviations (DWARF 5 §7.5): how to read one value, and how to skip
 * one fast.
 *
 * A `Sections` record holds the byte ranges the forms refer to. Values come back as numbers or
 * strings; block forms come back as the offset and size of the block. Supplementary files
 * (DW_FORM_*_sup, DW_FORM_GNU_*_alt) are not read.
 */
import { CoverageError, type Cursor, Cursor as Reader, stringAt } from '../base/bytes.ts';

export const DW_FORM = {
  addr: 0x01, block2: 0x03, block4: 0x04, data2: 0x05, data4: 0x06, data8: 0x07, string: 0x08, block: 0x09,
  block1: 0x0a, data1: 0x0b, flag: 0x0c, sdata: 0x0d, strp: 0x0e, udata: 0x0f, ref_addr: 0x10, ref1: 0x11,
  ref2: 0x12, ref4: 0x13, ref8: 0x14, ref_udata: 0x15, indirect: 0x16, sec_offset: 0x17, exprloc: 0x18,
  flag_present: 0x19, strx: 0x1a, addrx: 0x1b, ref_sup4: 0x1c, strp_sup: 0x1d, data16: 0x1e, line_strp: 0x1f,
  ref_sig8: 0x20, implicit_const: 0x21, loclistx: 0x22, rnglistx: 0x23, ref_sup8: 0x24, strx1: 0x25, strx2: 0x26,
  strx3: 0x27, strx4: 0x28, addrx1: 0x29, addrx2: 0x2a, addrx3: 0x2b, addrx4: 0x2c,
} as const; // biome-ignore format: the table mirrors DWARF 5 table 7.6

/** The facts about a unit that its forms need. */
export interface FormContext {
  version: number;
  addressSize: number;
  /** 4 for 32-bit DWARF, 8 for 64-bit DWARF. */
  offsetSize: number;
  /** Offset of the unit in .debug_info: the base of DW_FORM_ref1..8. */
  offset: number;
  strOffsetsBase: number;
  addrBase: number;
}

export interface Sections {
  info: Uint8Array;
  abbrev: Uint8Array;
  line: Uint8Array;
  str: Uint8Array;
  lineStr: Uint8Array;
  strOffsets: Uint8Array;
  addr: Uint8Array;
  ranges: Uint8Array;
  rnglists: Uint8Array;
  loc: Uint8Array;
  loclists: Uint8Array;
  /** Bytes of lists of ranges that were read so far: entries may share a long one. */
  listBytes: number;
}

/** A word of an index table (`.debug_addr`, `.debug_str_offsets`), checked. */
function tableWord(bytes: Uint8Array, what: string, at: number, size: number): number {
  const cursor = new Reader(bytes, what);
  cursor.seek(at);
  return size === 8 ? cursor.addr() : cursor.u32();
}

export function addressAt(sections: Sections, context: FormContext, index: number): number {
  return tableWord(sections.addr, '.debug_addr', context.addrBase + index * 8, 8);
}

function stringIndexed(sections: Sections, context: FormContext, index: number): string {
  const size = context.offsetSize;
  const at = tableWord(
    sections.strOffsets,
    '.debug_str_offsets',
    context.strOffsetsBase + index * size,
    size,
  );
  return stringAt(sections.str, at);
}

/**
 * The form behind DW_FORM_indirect. A second indirection would be legal but useless, and could
 * exhaust the stack.
 */
function indirectForm(cursor: Cursor): number {
  const form = cursor.uleb();
  if (form === DW_FORM.indirect) throw new CoverageError(`${cursor.what}: DW_FORM_indirect leads to itself`);
  return form;
}

/** The size in bytes of a form whose size does not depend on its value; -1 for the others. */
export function fixedSize(form: number, context: FormContext): number {
  switch (form) {
    case DW_FORM.flag_present:
    case DW_FORM.implicit_const:
      return 0;
    case DW_FORM.data1:
    case DW_FORM.ref1:
    case DW_FORM.flag:
    case DW_FORM.strx1:
    case DW_FORM.addrx1:
      return 1;
    case DW_FORM.data2:
    case DW_FORM.ref2:
    case DW_FORM.strx2:
    case DW_FORM.addrx2:
      return 2;
    case DW_FORM.strx3:
    case DW_FORM.addrx3:
      return 3;
    case DW_FORM.data4:
    case DW_FORM.ref4:
    case DW_FORM.ref_sup4:
    case DW_FORM.strx4:
    case DW_FORM.addrx4:
      return 4;
    case DW_FORM.data8:
    case DW_FORM.ref8:
    case DW_FORM.ref_sig8:
    case DW_FORM.ref_sup8:
      return 8;
    case DW_FORM.data16:
      return 16;
    case DW_FORM.addr:
      return context.addressSize;
    case DW_FORM.ref_addr:
      return context.version <= 2 ? context.addressSize : context.offsetSize;
    case DW_FORM.strp:
    case DW_FORM.line_strp:
    case DW_FORM.sec_offset:
    case DW_FORM.strp_sup:
      return context.offsetSize;
    default:
      return -1;
  }
}

export function skipForm(cursor: Cursor, form: number, context: FormContext): void {
  const size = fixedSize(form, context);
  if (size >= 0) {
    cursor.take(size);
    return;
  }
  switch (form) {
    case DW_FORM.string:
      cursor.skipString();
      return;
    case DW_FORM.block1:
      cursor.take(cursor.u8());
      return;
    case DW_FORM.block2:
      cursor.take(cursor.u16());
      return;
    case DW_FORM.block4:
      cursor.take(cursor.u32());
      return;
    case DW_FORM.block:
    case DW_FORM.exprloc:
      cursor.take(cursor.uleb());
      return;
    case DW_FORM.indirect:
      skipForm(cursor, indirectForm(cursor), context);
      return;
    case DW_FORM.sdata:
    case DW_FORM.udata:
    case DW_FORM.ref_udata:
    case DW_FORM.strx:
    case DW_FORM.addrx:
    case DW_FORM.loclistx:
    case DW_FORM.rnglistx:
      cursor.skipLeb();
      return;
    default:
      throw new CoverageError(`${cursor.what}: unknown DWARF form 0x${form.toString(16)}`);
  }
}

/** Read a string form; '' for any other. */
export function readString(cursor: Cursor, form: number, context: FormContext, sections: Sections): string {
  switch (form) {
    case DW_FORM.string:
      return cursor.string();
    case DW_FORM.strp:
      return stringAt(sections.str, offsetWord(cursor, context));
    case DW_FORM.line_strp:
      return stringAt(sections.lineStr, offsetWord(cursor, context));
    case DW_FORM.strx:
      return stringIndexed(sections, context, cursor.uleb());
    case DW_FORM.strx1:
      return stringIndexed(sections, context, cursor.u8());
    case DW_FORM.strx2:
      return stringIndexed(sections, context, cursor.u16());
    case DW_FORM.strx3:
      return stringIndexed(sections, context, cursor.u24());
    case DW_FORM.strx4:
      return stringIndexed(sections, context, cursor.u32());
    case DW_FORM.indirect:
      return readString(cursor, indirectForm(cursor), context, sections);
    default:
      skipForm(cursor, form, context);
      return '';
  }
}

function offsetWord(cursor: Cursor, context: FormContext): number {
  return context.offsetSize === 8 ? cursor.u64() : cursor.u32();
}

/**
 * Read a constant, offset or flag form; 0 for a form that is none. References within a unit come
 * back as .debug_info offsets.
 */
export function readNumber(cursor: Cursor, form: number, context: FormContext, implicit = 0): number {
  switch (form) {
    case DW_FORM.data1:
    case DW_FORM.flag:
    case DW_FORM.addrx1:
      return cursor.u8();
    case DW_FORM.data2:
    case DW_FORM.addrx2:
      return cursor.u16();
    case DW_FORM.addrx3:
      return cursor.u24();
    case DW_FORM.data4:
    case DW_FORM.addrx4:
      return cursor.u32();
    case DW_FORM.data8:
    case DW_FORM.addr:
      return context.addressSize === 8 || form === DW_FORM.data8 ? cursor.addr() : cursor.u32();
    case DW_FORM.sdata:
      return cursor.sleb();
    case DW_FORM.udata:
    case DW_FORM.addrx:
    case DW_FORM.rnglistx:
    case DW_FORM.loclistx:
      return cursor.uleb();
    case DW_FORM.sec_offset:
    case DW_FORM.ref_addr:
      return offsetWord(cursor, context);
    case DW_FORM.ref1:
      return context.offset + cursor.u8();
    case DW_FORM.ref2:
      return context.offset + cursor.u16();
    case DW_FORM.ref4:
      return context.offset + cursor.u32();
    case DW_FORM.ref8:
      return context.offset + cursor.u64();
    case DW_FORM.ref_udata:
      return context.offset + cursor.uleb();
    case DW_FORM.implicit_const:
      return implicit;
    case DW_FORM.flag_present:
      return 1;
    case DW_FORM.indirect:
      return readNumber(cursor, indirectForm(cursor), context);
    default:
      skipForm(cursor, form, context);
      return 0;
  }
}

const ADDRESS_INDEX = new Set<number>([
  DW_FORM.addrx, DW_FORM.addrx1, DW_FORM.addrx2, DW_FORM.addrx3, DW_FORM.addrx4,
]); // biome-ignore format: one row

/** Read an address form, through `.debug_addr` where the form is an index. */
export function readAddress(cursor: Cursor, form: number, context: FormContext, sections: Sections): number {
  const value = readNumber(cursor, form, context);
  return ADDRESS_INDEX.has(form) ? addressAt(sections, context, value) : value;
}

export interface Abbrev {
  tag: number;
  hasChildren: boolean;
  /** Triples of attribute, form, implicit constant. */
  attributes: number[];
  /** Bytes of the whole DIE after its code where all forms have a fixed size, else -1. */
  bytes: number;
}

/** Of an entry, which may take a single byte; compilers use some thirty. */
const ATTRIBUTES_MAX = 256;

/**
 * The abbreviations at `offset`, by code. Codes are dense in practice, so a sparse array serves.
 */
export function readAbbrevs(
  sections: Sections,
  offset: number,
  context: FormContext,
): { readonly table: Abbrev[]; readonly bytes: number } {
  const cursor = new Reader(sections.abbrev, '.debug_abbrev');
  cursor.seek(offset);
  const table: Abbrev[] = [];
  for (;;) {
    const code = cursor.uleb();
    if (code === 0) return { table, bytes: cursor.at - offset };
    if (code > 1_000_000) throw new CoverageError(`.debug_abbrev: absurd code ${code}`);
    const tag = cursor.uleb();
    const hasChildren = cursor.u8() !== 0;
    const attributes: number[] = [];
    let bytes = 0;
    for (;;) {
      const attribute = cursor.uleb();
      const form = cursor.uleb();
      const implicit = form === DW_FORM.implicit_const ? cursor.sleb() : 0;
      if (attribute === 0 && form === 0) break;
      if (attributes.length >= 3 * ATTRIBUTES_MAX)
        throw new CoverageError(`.debug_abbrev: code ${code} has more than ${ATTRIBUTES_MAX} attributes`);
      attributes.push(attribute, form, implicit);
      const size = fixedSize(form, context);
      bytes = bytes < 0 || size < 0 ? -1 : bytes + size;
    }
    table[code] = { tag, hasChildren, attributes, bytes };
  }
}
