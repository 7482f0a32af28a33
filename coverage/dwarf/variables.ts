/** Variables by scope (DWARF 5 §4.1): those of a function around an address, and global ones. */
import { type Addr, addrOf } from '../base/bytes.ts';
import type { Unit } from './die.ts';
import type { Scope } from './dwarf.ts';
import type { Entries, Entry } from './entries.ts';
import { DW_FORM } from './forms.ts';
import {
  type FrameView,
  fromList4,
  fromList5,
  type LocationContext,
  locate,
  loclistOffset,
  type Place,
} from './location.ts';
import { isSigned, type Type, Types } from './types.ts';

const TAG = { parameter: 0x05, block: 0x0b, variable: 0x34 } as const;
const AT = {
  location: 0x02,
  name: 0x03,
  lowPc: 0x11,
  constValue: 0x1c,
  origin: 0x31,
  frameBase: 0x40,
  specification: 0x47,
  loclistsBase: 0x8c,
} as const;
const DEPTH_MAX = 32;
/** Of a scope. */
const VARIABLES_MAX = 1000;

const isVariable = ({ tag }: Entry): boolean => tag === TAG.parameter || tag === TAG.variable;

export interface Variable {
  readonly name: string;
  readonly isParameter: boolean;
  readonly type: Type;
  /** Undefined: optimised out here. */
  place(view: FrameView, pc: bigint): Place | undefined;
}

export class Variables {
  readonly entries: Entries;
  readonly types: Types;
  #globals: Map<string, Entry[]> | undefined;

  constructor(entries: Entries) {
    this.entries = entries;
    this.types = new Types(entries);
  }

  /** Parameters and variables of a scope whose blocks are around `pc`, innermost first. */
  of(scope: Scope, pc: bigint): Variable[] {
    const entry = this.entries.at(scope.offset);
    if (!entry) return [];
    return [...this.#inside(entry, addrOf(pc), 0), ...this.#missing(entry)];
  }

  /**
   * Those that only the abstract instance has (DWARF 5 §3.3.8.2): compilers leave variables that
   * were optimised out away where a call was inlined.
   */
  #missing(entry: Entry): Variable[] {
    const { entries } = this;
    const abstract = this.#origin(entry);
    if (abstract === entry) return [];
    const concrete = new Set<number>();
    const collect = (parent: Entry, depth: number): void => {
      for (const child of entries.children(parent)) {
        const origin = isVariable(child) ? entries.reference(child, AT.origin) : undefined;
        if (origin !== undefined) concrete.add(origin);
        else if (child.tag === TAG.block && depth < DEPTH_MAX) collect(child, depth + 1);
      }
    };
    collect(entry, 0);
    const missing: Variable[] = [];
    for (const child of entries.children(abstract))
      if (isVariable(child) && !concrete.has(child.offset) && missing.length < VARIABLES_MAX)
        missing.push(this.#variable(child));
    return missing.filter(({ name }) => name !== '');
  }

  /** A variable with a fixed address: that of `unit`, where several files have one. */
  global(name: string, unit?: Unit): Variable | undefined {
    if (!this.#globals) {
      this.#globals = new Map();
      for (const unit of this.entries.dwarf.units) {
        const root = this.entries.root(unit);
        if (!root) continue;
        for (const child of this.entries.children(root)) {
          if (child.tag !== TAG.variable || !this.entries.block(child, AT.location)) continue;
          const known = this.#nameOf(child);
          if (known !== '') this.#globals.set(known, [...(this.#globals.get(known) ?? []), child]);
        }
      }
    }
    const all = this.#globals.get(name) ?? [];
    const entry = all.find(known => known.unit === unit) ?? all[0];
    return entry && this.#variable(entry);
  }

  get globalNames(): string[] {
    this.global('');
    return [...this.#globals!.keys()];
  }

  /** DW_AT_frame_base of the function that a scope is in. */
  frameBase(scope: Scope, view: Omit<FrameView, 'frameBase'>): bigint | undefined {
    const entry = this.entries.at(scope.offset);
    const expression = entry && this.entries.block(entry, AT.frameBase);
    if (!expression) return undefined;
    const place = locate(expression, { ...view, frameBase: () => undefined }, this.#context(scope.unit));
    if (place?.kind === 'register') return view.register(place.n);
    if (place?.kind === 'memory') return place.va;
    return place?.kind === 'value' ? place.value : undefined;
  }

  #context(unit: Unit): LocationContext {
    const integer = (offset: number) => {
      const type = this.types.at(unit.offset + offset);
      if (type.kind !== 'base' || type.encoding === 'float' || type.bytes < 1 || type.bytes > 8)
        return undefined;
      return { bytes: type.bytes, isSigned: isSigned(type) };
    };
    return { sections: this.entries.dwarf.sections, unit, integer };
  }

  #inside(entry: Entry, pc: Addr, depth: number): Variable[] {
    const own: Variable[] = [];
    const inner: Variable[] = [];
    if (depth > DEPTH_MAX) return own;
    for (const child of this.entries.children(entry)) {
      if (own.length + inner.length >= VARIABLES_MAX) break;
      if (isVariable(child)) own.push(this.#variable(child));
      else if (child.tag === TAG.block && this.#covers(child, pc))
        inner.push(...this.#inside(child, pc, depth + 1));
    }
    return [...inner, ...own].filter(({ name }) => name !== '');
  }

  #covers(entry: Entry, pc: Addr): boolean {
    const reader = this.entries.dwarf.reader(entry.unit);
    reader.cursor.seek(entry.offset);
    const abbrev = reader.begin();
    if (!abbrev) return false;
    reader.read(abbrev);
    const ranges = reader.rangesOfEntry();
    for (let i = 0; i < ranges.length; i += 2) if (pc >= ranges[i]! && pc < ranges[i + 1]!) return true;
    return false;
  }

  #nameOf(entry: Entry): string {
    return this.entries.text(entry, AT.name) || this.entries.text(this.#origin(entry), AT.name);
  }

  #origin(entry: Entry): Entry {
    const at = this.entries.reference(entry, AT.origin) ?? this.entries.reference(entry, AT.specification);
    return (at === undefined ? undefined : this.entries.at(at)) ?? entry;
  }

  #variable(entry: Entry): Variable {
    const origin = this.#origin(entry);
    const typed = this.entries.form(entry, 0x49) ? entry : origin;
    const place = (view: FrameView, pc: bigint): Place | undefined => {
      const value = this.entries.constant(entry, AT.constValue);
      if (value !== undefined) return { kind: 'value', value };
      const bytes = this.entries.block(entry, AT.constValue);
      if (bytes) return { kind: 'bytes', bytes };
      const expression = this.#expression(entry, pc);
      return expression && locate(expression, view, this.#context(entry.unit));
    };
    const { types } = this;
    return {
      name: this.#nameOf(entry),
      isParameter: entry.tag === TAG.parameter,
      get type() {
        return types.of(typed);
      },
      place,
    };
  }

  #expression(entry: Entry, pc: bigint): Uint8Array | undefined {
    const { entries } = this;
    const own = entries.block(entry, AT.location);
    if (own) return own;
    const value = entries.number(entry, AT.location);
    if (value === undefined) return undefined;
    const { unit } = entry;
    const { sections } = entries.dwarf;
    if (unit.version < 5) return fromList4(sections, value, pc, unit.lowPc);
    const root = entries.root(unit);
    const base = (root && entries.number(root, AT.loclistsBase)) ?? 0;
    const isIndex = entries.form(entry, AT.location) === DW_FORM.loclistx;
    const offset = isIndex ? loclistOffset(sections, unit, base, value) : value;
    return fromList5(sections, unit, offset, pc, unit.lowPc);
  }
}
