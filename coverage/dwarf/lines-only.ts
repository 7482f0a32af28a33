/**
 * An image with the part of its debug information that answers questions about lines: line
 * programs, functions and inlined calls with their ranges and names, call frames, symbols. Types,
 * variables and their places, and columns, are left out; they are three quarters of it. The result
 * is an ELF file with DWARF 4, so that every reader gives the same answers about lines
 * (test/coverage/lines-only.guest.test.ts).
 */
import { CoverageError } from '../base/bytes.ts';
import { Elf, type Section, SHF_ALLOC } from '../elf/elf.ts';
import { Bytes } from './bytes-out.ts';
import { DW_AT, DW_TAG, type Unit } from './die.ts';
import { Dwarf } from './dwarf.ts';
import { Entries, type Entry } from './entries.ts';
import { DW_FORM } from './forms.ts';
import { writeLinePrograms } from './line-out.ts';
import { usedSymbols } from './symbols-out.ts';

const VERSION = 4;
const ADDRESS_BYTES = 8;
const HEADER = 64;
const SECTION_HEADER = 64;
/** Sections that are copied; some others are written again. */
const COPIED = new Set(['.debug_ranges', '.debug_frame', '.shstrtab']);

interface Node {
  readonly entry: Entry;
  readonly children: readonly Node[];
  /** .debug_info offset of the entry with its name; 0 = none. */
  readonly origin: number;
  /** In the new .debug_info, when it is written. */
  at: number;
}

/** Attributes that are kept, with the form of each. */
const KEPT: readonly (readonly [attribute: number, form: number])[] = [
  [DW_AT.name, DW_FORM.string],
  [DW_AT.linkage_name, DW_FORM.string],
  [DW_AT.comp_dir, DW_FORM.string],
  [DW_AT.stmt_list, DW_FORM.sec_offset],
  [DW_AT.low_pc, DW_FORM.addr],
  [DW_AT.high_pc, DW_FORM.udata],
  [DW_AT.ranges, DW_FORM.sec_offset],
  [DW_AT.abstract_origin, DW_FORM.ref4],
  [DW_AT.specification, DW_FORM.ref4],
  [DW_AT.decl_file, DW_FORM.udata],
  [DW_AT.decl_line, DW_FORM.udata],
  [DW_AT.call_file, DW_FORM.udata],
  [DW_AT.call_line, DW_FORM.udata],
];

/** Functions and inlined calls below an entry; what else holds them is left out. */
function nodesBelow(entries: Entries, entry: Entry): Node[] {
  return [...entries.children(entry)].flatMap(child => {
    const below = child.hasChildren ? nodesBelow(entries, child) : [];
    if (child.tag !== DW_TAG.subprogram && child.tag !== DW_TAG.inlined_subroutine) return below;
    const origin =
      entries.reference(child, DW_AT.abstract_origin) ?? entries.reference(child, DW_AT.specification) ?? 0;
    return [{ entry: child, children: below, origin, at: 0 }];
  });
}

/** Writes .debug_info and .debug_abbrev. */
class Writer {
  readonly info = new Bytes();
  readonly abbrevs = new Bytes();
  readonly #entries: Entries;
  readonly #codes = new Map<string, number>();
  readonly #kept: ReadonlyMap<number, Node>;
  readonly #programs: ReadonlyMap<number, number>;
  #references: { readonly at: number; readonly target: number; readonly unit: number }[] = [];

  /** `programs`: the new places of line programs by the old ones. */
  constructor(entries: Entries, kept: ReadonlyMap<number, Node>, programs: ReadonlyMap<number, number>) {
    this.#entries = entries;
    this.#kept = kept;
    this.#programs = programs;
  }

  unit(root: Entry, nodes: readonly Node[]): void {
    const start = this.info.length;
    this.info.u32(0);
    this.info.u16(VERSION);
    this.info.u32(0);
    this.info.u8(ADDRESS_BYTES);
    this.#entry(root, nodes, start);
    this.info.set32(start, this.info.length - start - 4);
  }

  end(): void {
    this.abbrevs.u8(0);
    for (const { at, target, unit } of this.#references)
      this.info.set32(at, this.#kept.get(target)!.at - unit);
    this.#references = [];
  }

  #entry(entry: Entry, children: readonly Node[], unit: number): void {
    const kept = children.filter(({ entry: child }) => this.#kept.has(child.offset));
    const attributes = KEPT.filter(([name]) => entry.attributes.has(name));
    this.info.uleb(this.#code(entry.tag, kept.length > 0, attributes));
    for (const [name, form] of attributes) this.#attribute(entry, name, form, unit);
    for (const child of kept) {
      child.at = this.info.length;
      this.#entry(child.entry, child.children, unit);
    }
    if (kept.length > 0) this.info.u8(0);
  }

  #code(tag: number, hasChildren: boolean, attributes: typeof KEPT): number {
    const key = `${tag} ${hasChildren} ${attributes.join(' ')}`;
    let code = this.#codes.get(key);
    if (code !== undefined) return code;
    code = this.#codes.size + 1;
    this.#codes.set(key, code);
    for (const word of [code, tag]) this.abbrevs.uleb(word);
    this.abbrevs.u8(hasChildren ? 1 : 0);
    for (const word of [...attributes.flat(), 0, 0]) this.abbrevs.uleb(word);
    return code;
  }

  #attribute(entry: Entry, name: number, form: number, unit: number): void {
    const { info } = this;
    const value = this.#entries.number(entry, name) ?? 0;
    if (form === DW_FORM.string) info.text(this.#entries.text(entry, name));
    else if (form === DW_FORM.addr) info.u64(BigInt(value));
    else if (form === DW_FORM.udata) info.uleb(name === DW_AT.high_pc ? this.#size(entry, value) : value);
    else {
      if (form === DW_FORM.ref4) this.#references.push({ at: info.length, target: value, unit });
      info.u32(name === DW_AT.stmt_list ? this.#programs.get(value)! : value);
    }
  }

  /** Of the code, from the end or the size. */
  #size(entry: Entry, high: number): number {
    if (this.#entries.form(entry, DW_AT.high_pc) !== DW_FORM.addr) return high;
    return high - (this.#entries.number(entry, DW_AT.low_pc) ?? 0);
  }
}

function isCode({ attributes }: Entry): boolean {
  return attributes.has(DW_AT.ranges) || (attributes.has(DW_AT.low_pc) && attributes.has(DW_AT.high_pc));
}

/** The entries with code, and those that name them. */
function keptOf(all: readonly Node[]): Map<number, Node> {
  const byOffset = new Map<number, Node>();
  const note = (node: Node): void => {
    byOffset.set(node.entry.offset, node);
    node.children.forEach(note);
  };
  all.forEach(note);
  const kept = new Map<number, Node>();
  const keep = (node: Node): void => {
    if (kept.has(node.entry.offset)) return;
    kept.set(node.entry.offset, node);
    const origin = byOffset.get(node.origin);
    if (origin) keep(origin);
    else if (node.origin !== 0) throw new CoverageError('.debug_info: a function is named outside its unit');
  };
  for (const node of byOffset.values()) if (isCode(node.entry)) keep(node);
  return kept;
}

/** The numbers of the files that kept entries name. */
function filesOf(
  entries: Entries,
  nodes: readonly Node[],
  kept: ReadonlyMap<number, Node>,
  files = new Set<number>(),
): Set<number> {
  for (const { entry, children } of nodes) {
    if (!kept.has(entry.offset)) continue;
    for (const attribute of [DW_AT.decl_file, DW_AT.call_file]) {
      const file = entries.number(entry, attribute);
      if (file) files.add(file);
    }
    filesOf(entries, children, kept, files);
  }
  return files;
}

/** Contents by name. */
function debugSections(elf: Elf): [string, Uint8Array][] {
  const dwarf = new Dwarf(elf);
  const entries = new Entries(dwarf);
  const units = dwarf.units.map((unit: Unit) => {
    if (unit.version > VERSION)
      throw new CoverageError(`${elf.name} has DWARF ${unit.version}: compile it with -gdwarf-${VERSION}`);
    const root = entries.root(unit)!;
    return { root, nodes: nodesBelow(entries, root) };
  });
  // A function of C is named in its own unit, so references are within it.
  const kept = new Map(units.flatMap(({ nodes }) => [...keptOf(nodes)]));
  const named = new Map<number, Set<number>>();
  for (const { root, nodes } of units) {
    const program = entries.number(root, DW_AT.stmt_list);
    // Units may share a program.
    if (program !== undefined)
      named.set(program, new Set([...(named.get(program) ?? []), ...filesOf(entries, nodes, kept)]));
  }
  const { line, offsets } = writeLinePrograms(dwarf.sections, named);
  const writer = new Writer(entries, kept, offsets);
  for (const { root, nodes } of units) writer.unit(root, nodes);
  writer.end();
  return [
    ['.debug_info', writer.info.take()],
    ['.debug_abbrev', writer.abbrevs.take()],
    ['.debug_line', line],
  ];
}

/**
 * `loaded`: the length of the beginning of the file that holds all loaded sections; it stays as it
 * is but for the ELF header. Errors: CoverageError.
 */
export function linesOnly(bytes: Uint8Array, loaded: number, name = 'image'): Uint8Array {
  const elf = new Elf(bytes, name);
  const symbols = usedSymbols(elf);
  const isKept = (section: Section): boolean =>
    section.index === 0 || (section.flags & SHF_ALLOC) !== 0 || COPIED.has(section.name);
  const written = new Map([...debugSections(elf), ['.symtab', symbols.table], ['.strtab', symbols.strings]]);
  const sections = elf.sections.filter(section => isKept(section) || written.has(section.name));
  const out = new Bytes();
  out.bytes(bytes.subarray(0, loaded));
  const places = sections.map(section => {
    const isLoaded = section.index === 0 || (section.flags & SHF_ALLOC) !== 0;
    if (isLoaded) return { offset: section.offset, size: section.size };
    out.align(8);
    const offset = out.length;
    const data = written.get(section.name) ?? elf.data(section);
    out.bytes(data);
    return { offset, size: data.length };
  });
  out.align(8);
  const table = out.length;
  const old = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const tableBefore = Number(old.getBigUint64(40, true));
  const indexOf = (index: number): number => sections.findIndex(section => section.index === index);
  for (const [i, { index, link }] of sections.entries()) {
    const from = tableBefore + index * SECTION_HEADER;
    const row = Uint8Array.from(bytes.subarray(from, from + SECTION_HEADER));
    const view = new DataView(row.buffer);
    view.setBigUint64(24, BigInt(places[i]!.offset), true);
    view.setBigUint64(32, BigInt(places[i]!.size), true);
    view.setUint32(40, Math.max(0, indexOf(link)), true);
    if (sections[i]!.name === '.symtab') view.setUint32(44, symbols.locals, true);
    out.bytes(row);
  }
  const result = out.take();
  const header = new DataView(result.buffer, 0, HEADER);
  header.setBigUint64(40, BigInt(table), true);
  header.setUint16(60, sections.length, true);
  header.setUint16(62, indexOf(header.getUint16(62, true)), true);
  return result;
}
