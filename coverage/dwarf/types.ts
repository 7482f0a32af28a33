/**
 * Types of variables (DWARF 5 §5), as far as C has them. Members are read when they are asked for,
 * because a pointer leads to everything.
 */
import type { Entries, Entry } from './entries.ts';

export type Type =
  | { readonly kind: 'base'; readonly name: string; readonly bytes: number; readonly encoding: Encoding }
  | { readonly kind: 'pointer'; readonly name: string; readonly bytes: 8; readonly to: () => Type }
  | {
      readonly kind: 'struct';
      readonly name: string;
      readonly bytes: number;
      readonly members: () => readonly Member[];
    }
  | {
      readonly kind: 'array';
      readonly name: string;
      readonly bytes: number;
      readonly of: Type;
      readonly count: number;
    }
  | {
      readonly kind: 'enum';
      readonly name: string;
      readonly bytes: number;
      readonly isSigned: boolean;
      readonly names: ReadonlyMap<bigint, string>;
    }
  | { readonly kind: 'function'; readonly name: string; readonly bytes: 0 }
  | { readonly kind: 'void'; readonly name: 'void'; readonly bytes: 0 };

export type Encoding = 'signed' | 'unsigned' | 'signed char' | 'unsigned char' | 'float' | 'complex' | 'bool';

export interface Member {
  /** '' for an anonymous struct or union. */
  readonly name: string;
  readonly type: Type;
  readonly offset: number;
  /** Of a bit field: its bits, counted from the lowest bit at `offset`. */
  readonly bits?: { readonly first: number; readonly count: number };
}

export const VOID: Type = { kind: 'void', name: 'void', bytes: 0 };
export const LONG: Type = { kind: 'base', name: 'long', bytes: 8, encoding: 'signed' };
export const UNSIGNED_LONG: Type = { kind: 'base', name: 'unsigned long', bytes: 8, encoding: 'unsigned' };

const TAG = {
  array: 0x01,
  class: 0x02,
  enumeration: 0x04,
  member: 0x0d,
  pointer: 0x0f,
  structure: 0x13,
  subroutine: 0x15,
  typedef: 0x16,
  union: 0x17,
  subrange: 0x21,
  base: 0x24,
  const: 0x26,
  enumerator: 0x28,
  volatile: 0x35,
  restrict: 0x37,
  atomic: 0x47,
} as const;
const AT = {
  name: 0x03,
  byteSize: 0x0b,
  bitSize: 0x0d,
  constValue: 0x1c,
  upperBound: 0x2f,
  count: 0x37,
  location: 0x38,
  encoding: 0x3e,
  type: 0x49,
  dataBitOffset: 0x6b,
} as const;
const DEPTH_MAX = 64;
const COUNT_MAX = 2 ** 32;
const MEMBERS_MAX = 10_000;
const DIMENSIONS_MAX = 32;
const PREFIX: Readonly<Record<number, string>> = { [TAG.union]: 'union ', [TAG.structure]: 'struct ' };

export class Types {
  readonly #entries: Entries;
  readonly #known = new Map<number, Type>();
  #named: Map<string, number> | undefined;

  constructor(entries: Entries) {
    this.#entries = entries;
  }

  /** The type that an entry's DW_AT_type names; void without one. */
  of(entry: Entry): Type {
    const at = this.#entries.reference(entry, AT.type);
    return at === undefined ? VOID : this.at(at);
  }

  /** `unsigned int`, `struct node`, `size_t`. */
  named(name: string): Type | undefined {
    if (!this.#named) {
      this.#named = new Map();
      for (const unit of this.#entries.dwarf.units) {
        const root = this.#entries.root(unit);
        if (!root) continue;
        for (const child of this.#entries.children(root)) this.#note(child, this.#named);
      }
    }
    const at = this.#named.get(name.replace(/\s+/g, ' ').trim());
    return at === undefined ? undefined : this.at(at);
  }

  #note(entry: Entry, named: Map<string, number>): void {
    const { tag } = entry;
    const isType = [TAG.base, TAG.typedef, TAG.structure, TAG.union, TAG.enumeration].includes(tag as never);
    if (!isType) return;
    const name = this.#entries.text(entry, AT.name);
    if (name === '' || (tag !== TAG.typedef && this.#entries.number(entry, AT.byteSize) === undefined))
      return;
    const prefix = tag === TAG.enumeration ? 'enum ' : (PREFIX[tag] ?? '');
    if (!named.has(prefix + name)) named.set(prefix + name, entry.offset);
  }

  at(offset: number, depth = 0): Type {
    const known = this.#known.get(offset);
    if (known) return known;
    const entry = depth > DEPTH_MAX ? undefined : this.#entries.at(offset);
    const type = entry ? this.#read(entry, depth) : VOID;
    this.#known.set(offset, type);
    return type;
  }

  #inner(entry: Entry, depth: number): Type {
    const at = this.#entries.reference(entry, AT.type);
    return at === undefined ? VOID : this.at(at, depth + 1);
  }

  #read(entry: Entry, depth: number): Type {
    const name = this.#entries.text(entry, AT.name);
    const bytes = this.#entries.number(entry, AT.byteSize) ?? 0;
    let members: Member[] | undefined;
    switch (entry.tag) {
      case TAG.base:
        return {
          kind: 'base',
          name,
          bytes,
          encoding: encodingOf(this.#entries.number(entry, AT.encoding) ?? 0),
        };
      case TAG.pointer: {
        const to = (): Type => this.of(entry);
        const of = this.#entries.reference(entry, AT.type);
        return { kind: 'pointer', name: `${this.#nameAt(of)} *`, bytes: 8, to };
      }
      case TAG.structure:
      case TAG.class:
      case TAG.union:
        return {
          kind: 'struct',
          name: `${PREFIX[entry.tag] ?? ''}${name || '{...}'}`,
          bytes,
          members: () => (members ??= this.#members(entry)),
        };
      case TAG.enumeration:
        return {
          kind: 'enum',
          name: `enum ${name}`,
          bytes,
          isSigned: isSigned(this.of(entry)),
          names: this.#enumerators(entry),
        };
      case TAG.array:
        return this.#array(entry, depth);
      case TAG.subroutine:
        return { kind: 'function', name: 'function', bytes: 0 };
      case TAG.typedef: {
        const inner = this.#inner(entry, depth);
        return inner.kind === 'void' ? inner : ({ ...inner, name } as Type);
      }
      case TAG.const:
      case TAG.volatile:
      case TAG.restrict:
      case TAG.atomic:
        return this.#inner(entry, depth);
      default:
        return VOID;
    }
  }

  /** A name without reading what the type is made of: a struct may point to itself. */
  #nameAt(offset: number | undefined, depth = 0): string {
    const entry = offset === undefined || depth > DEPTH_MAX ? undefined : this.#entries.at(offset);
    if (!entry) return 'void';
    const inner = (): string => this.#nameAt(this.#entries.reference(entry, AT.type), depth + 1);
    const name = this.#entries.text(entry, AT.name);
    if (entry.tag === TAG.pointer) return `${inner()} *`;
    if (entry.tag === TAG.array) return `${inner()} []`;
    if (entry.tag === TAG.subroutine) return 'function';
    if ([TAG.const, TAG.volatile, TAG.restrict, TAG.atomic].includes(entry.tag as never)) return inner();
    if (entry.tag === TAG.enumeration) return `enum ${name}`;
    return `${PREFIX[entry.tag] ?? ''}${name || '{...}'}`;
  }

  #members(entry: Entry): Member[] {
    const members: Member[] = [];
    for (const child of this.#entries.children(this.#complete(entry))) {
      if (child.tag !== TAG.member) continue;
      if (members.length >= MEMBERS_MAX) break;
      const name = this.#entries.text(child, AT.name);
      const type = this.of(child);
      const count = this.#entries.number(child, AT.bitSize);
      const first = this.#entries.number(child, AT.dataBitOffset);
      const offset = this.#entries.number(child, AT.location) ?? Math.floor((first ?? 0) / 8);
      const isField = count !== undefined && count >= 0 && count <= 64;
      const bits = isField ? { bits: { first: (first ?? 0) % 8, count } } : {};
      members.push({ name, type, offset, ...bits });
    }
    return members;
  }

  /** A declaration's members are with the definition, in another unit perhaps. */
  #complete(entry: Entry): Entry {
    if (this.#entries.number(entry, AT.byteSize) !== undefined) return entry;
    const name = `${PREFIX[entry.tag] ?? ''}${this.#entries.text(entry, AT.name)}`;
    this.named(name);
    const at = this.#named?.get(name);
    return (at === undefined ? undefined : this.#entries.at(at)) ?? entry;
  }

  #enumerators(entry: Entry): Map<bigint, string> {
    const names = new Map<bigint, string>();
    for (const child of this.#entries.children(entry))
      if (child.tag === TAG.enumerator)
        names.set(this.#entries.constant(child, AT.constValue) ?? 0n, this.#entries.text(child, AT.name));
    return names;
  }

  #array(entry: Entry, depth: number): Type {
    const counts: number[] = [];
    for (const child of this.#entries.children(entry)) {
      if (child.tag !== TAG.subrange || counts.length >= DIMENSIONS_MAX) continue;
      const count = this.#entries.number(child, AT.count);
      const last = this.#entries.number(child, AT.upperBound);
      counts.push(Math.min(COUNT_MAX, count ?? (last === undefined ? 0 : last + 1)));
    }
    let type = this.#inner(entry, depth);
    for (const count of counts.toReversed())
      type = { kind: 'array', name: `${type.name} [${count}]`, bytes: type.bytes * count, of: type, count };
    return type;
  }
}

/** Does a value of the type have a sign? */
export function isSigned(type: Type): boolean {
  if (type.kind === 'enum') return type.isSigned;
  return type.kind === 'base' && (type.encoding === 'signed' || type.encoding === 'signed char');
}

/** DWARF 5 table 7.11; `char` is unsigned on RISC-V (psABI). */
function encodingOf(encoding: number): Encoding {
  if (encoding === 0x02) return 'bool';
  if (encoding === 0x03) return 'complex';
  if (encoding === 0x04) return 'float';
  if (encoding === 0x06) return 'signed char';
  if (encoding === 0x08) return 'unsigned char';
  return encoding === 0x05 ? 'signed' : 'unsigned';
}

export const pointerTo = (type: Type): Type => ({
  kind: 'pointer',
  name: `${type.name} *`,
  bytes: 8,
  to: () => type,
});
