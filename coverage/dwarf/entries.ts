/**
 * Any entry of .debug_info with its attributes, for questions that are asked now and then: types
 * and variables. The walk over whole units is die.ts.
 */
import { CoverageError, Cursor } from '../base/bytes.ts';
import type { Unit } from './die.ts';
import type { Dwarf } from './dwarf.ts';
import { DW_FORM, readNumber, readString, skipForm } from './forms.ts';

/** Entries that one question may look at. */
const ENTRIES_MAX = 1_000_000;

interface Attribute {
  readonly form: number;
  readonly at: number;
  readonly implicit: number;
}

export interface Entry {
  readonly unit: Unit;
  readonly offset: number;
  readonly tag: number;
  readonly hasChildren: boolean;
  /** The offset behind the attributes. */
  readonly next: number;
  readonly attributes: ReadonlyMap<number, Attribute>;
}

export class Entries {
  readonly #dwarf: Dwarf;

  constructor(dwarf: Dwarf) {
    this.#dwarf = dwarf;
  }

  get dwarf(): Dwarf {
    return this.#dwarf;
  }

  /** Undefined for the null entry that ends a list. Errors: CoverageError outside of all units. */
  at(offset: number, unit = this.#dwarf.unitOf(offset)): Entry | undefined {
    const reader = this.#dwarf.reader(unit);
    const { cursor } = reader;
    cursor.seek(offset);
    const abbrev = reader.begin();
    if (!abbrev) return undefined;
    const attributes = new Map<number, Attribute>();
    for (let i = 0; i < abbrev.attributes.length; i += 3) {
      const [name, form, implicit] = abbrev.attributes.slice(i, i + 3) as [number, number, number];
      attributes.set(name, { form, at: cursor.at, implicit });
      skipForm(cursor, form, unit);
    }
    const { tag, hasChildren } = abbrev;
    return { unit, offset, tag, hasChildren, next: cursor.at, attributes };
  }

  /** The root entry of a unit. */
  root(unit: Unit): Entry | undefined {
    return this.at(unit.dieAt, unit);
  }

  /** Direct children. */
  *children(entry: Entry): Generator<Entry, undefined> {
    if (!entry.hasChildren) return;
    const { unit } = entry;
    let depth = 0;
    let at = entry.next;
    for (let n = 0; at < unit.end; n++) {
      if (n > ENTRIES_MAX) throw new CoverageError('.debug_info: too many entries');
      const child = this.at(at, unit);
      if (!child) {
        if (depth-- === 0) return;
        at++;
        continue;
      }
      if (depth === 0) yield child;
      const sibling = child.hasChildren ? this.reference(child, DW_AT_sibling) : undefined;
      if (sibling !== undefined && sibling > child.next && sibling <= unit.end) at = sibling;
      else {
        at = child.next;
        if (child.hasChildren) depth++;
      }
    }
  }

  number(entry: Entry, name: number): number | undefined {
    const found = entry.attributes.get(name);
    if (!found || isBlock(found.form)) return undefined;
    return readNumber(this.#cursor(found), found.form, entry.unit, found.implicit);
  }

  /** A constant with all of its 64 bits, sign-extended where the form is signed. */
  constant(entry: Entry, name: number): bigint | undefined {
    const found = entry.attributes.get(name);
    if (!found || isBlock(found.form)) return undefined;
    const cursor = this.#cursor(found);
    if (found.form === DW_FORM.sdata || found.form === DW_FORM.udata)
      return cursor.leb64(found.form === DW_FORM.sdata);
    if (found.form === DW_FORM.data8) return cursor.view.getBigInt64(cursor.take(8), true);
    return BigInt(readNumber(cursor, found.form, entry.unit, found.implicit));
  }

  /** An offset in .debug_info. */
  reference(entry: Entry, name: number): number | undefined {
    return this.number(entry, name);
  }

  text(entry: Entry, name: number): string {
    const found = entry.attributes.get(name);
    return found ? readString(this.#cursor(found), found.form, entry.unit, this.#dwarf.sections) : '';
  }

  /** The bytes of an expression; undefined if the attribute is of another class. */
  block(entry: Entry, name: number): Uint8Array | undefined {
    const found = entry.attributes.get(name);
    if (!found || !isBlock(found.form)) return undefined;
    const cursor = this.#cursor(found);
    const length = lengthOf(cursor, found.form);
    const at = cursor.take(length);
    return cursor.bytes.subarray(at, at + length);
  }

  /** The form of an attribute; 0 = absent. */
  form(entry: Entry, name: number): number {
    return entry.attributes.get(name)?.form ?? 0;
  }

  #cursor({ at }: Attribute): Cursor {
    return new Cursor(this.#dwarf.sections.info, '.debug_info', at);
  }
}

const DW_AT_sibling = 0x01;

const isBlock = (form: number): boolean =>
  form === DW_FORM.exprloc ||
  form === DW_FORM.block ||
  form === DW_FORM.block1 ||
  form === DW_FORM.block2 ||
  form === DW_FORM.block4;

function lengthOf(cursor: Cursor, form: number): number {
  if (form === DW_FORM.block1) return cursor.u8();
  if (form === DW_FORM.block2) return cursor.u16();
  if (form === DW_FORM.block4) return cursor.u32();
  return cursor.uleb();
}
