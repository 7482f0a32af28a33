/**
 * Functions and inlined calls by address (DWARF 5 §3.3), found lazily: opening an image reads only
 * the root entry of each unit; a unit's entries and line program are decoded when an address in it
 * is first asked for.
 */
import { type Addr, CoverageError, countUpTo, upperBound } from '../base/bytes.ts';
import type { Elf } from '../elf/elf.ts';
import { DieReader, DW_TAG, readUnitHeaders, type Unit } from './die.ts';
import { type Abbrev, readAbbrevs, type Sections } from './forms.ts';
import { fileSums, type LineTable, namesFile, readLineTable } from './line.ts';

/** A subprogram with code, or a call of one that was inlined. */
export interface Scope {
  unit: Unit;
  isInlined: boolean;
  /** low, high (exclusive), low, high, ... */
  ranges: Addr[];
  /** .debug_info offset of the entry itself. */
  offset: number;
  callFile: number;
  callLine: number;
  callColumn: number;
  children: Scope[];
}

/** The identity of a function, resolved through abstract origins and specifications. */
export interface FunctionName {
  name: string;
  linkageName: string;
  declFile: string;
  declLine: number;
}

interface UnitCode {
  functions: Scope[];
  /** Sorted by low: intervals of the functions. */
  lows: Float64Array;
  highs: Float64Array;
  owner: Scope[];
  /** The last answer in `lows`. */
  last: number;
}

/** Open lists of children: blocks and inlined calls. */
const NESTING_MAX = 1000;
/** Bytes of the lists of ranges of a unit's functions; several may share one. */
const RANGES_MAX = 1 << 26;
/** Tables may overlap in a hostile file; this many times their section is read. */
const OVERLAP_MAX = 4;

const EMPTY = new Uint8Array(0);
const HOLDS_FUNCTIONS = new Set<number>([
  DW_TAG.compile_unit,
  DW_TAG.skeleton_unit,
  DW_TAG.partial_unit,
  DW_TAG.namespace,
  DW_TAG.structure_type,
  DW_TAG.class_type,
  DW_TAG.lexical_block,
  DW_TAG.subprogram,
  DW_TAG.inlined_subroutine,
]);

function sectionsOf(elf: Elf): Sections {
  const data = (name: string) => elf.dataNamed(name) ?? EMPTY;
  return {
    info: data('.debug_info'),
    abbrev: data('.debug_abbrev'),
    line: data('.debug_line'),
    str: data('.debug_str'),
    lineStr: data('.debug_line_str'),
    strOffsets: data('.debug_str_offsets'),
    addr: data('.debug_addr'),
    ranges: data('.debug_ranges'),
    rnglists: data('.debug_rnglists'),
    loc: data('.debug_loc'),
    loclists: data('.debug_loclists'),
    listBytes: 0,
  };
}

/**
 * MD5 sums of the sources that an image was compiled from, by their paths; empty if the compiler
 * wrote none. Errors: CoverageError for a damaged section.
 */
export const sourceSums = (elf: Elf): Map<string, Set<string>> => fileSums(sectionsOf(elf));

/** The units of an image with the facts of their root entries. */
export interface Units {
  readonly units: readonly Unit[];
  /** Intervals of code, sorted by their beginnings, and the unit of each. */
  readonly lows: Float64Array;
  readonly highs: Float64Array;
  readonly owner: readonly Unit[];
}

export class Dwarf implements Units {
  readonly sections: Sections;
  readonly units: readonly Unit[];
  readonly lows: Float64Array;
  readonly highs: Float64Array;
  readonly owner: readonly Unit[];
  /** The last answer in `lows`: mostly the next address is near. */
  private last = 0;
  private readonly code = new Map<Unit, UnitCode>();
  private readonly lines = new Map<number, LineTable>();
  private readonly names = new Map<number, FunctionName>();
  private readonly abbrevs = new Map<number, Abbrev[]>();
  private abbrevBytes = 0;
  private lineBytes = 0;

  /** `known`: its units, read earlier. */
  constructor(elf: Elf, known?: Units) {
    this.sections = sectionsOf(elf);
    if (known) {
      ({ units: this.units, lows: this.lows, highs: this.highs, owner: this.owner } = known);
      return;
    }
    this.units = readUnitHeaders(this.sections);
    const intervals: { low: Addr; high: Addr; unit: Unit }[] = [];
    for (const unit of this.units) {
      this.reader(unit).readRoot();
      if (!unit.isCode) continue;
      for (let i = 0; i < unit.ranges.length; i += 2) {
        intervals.push({ low: unit.ranges[i]!, high: unit.ranges[i + 1]!, unit });
      }
      if (unit.ranges.length === 0 && unit.stmtList >= 0) {
        for (const { low, high } of this.lineTable(unit)!.sequences) intervals.push({ low, high, unit });
      }
    }
    intervals.sort((a, b) => a.low - b.low || a.high - b.high);
    this.lows = Float64Array.from(intervals, i => i.low);
    this.highs = Float64Array.from(intervals, i => i.high);
    this.owner = intervals.map(i => i.unit);
  }

  /** True if the image has debug information. */
  get isEmpty(): boolean {
    return this.units.length === 0;
  }

  /** Reads entries of a unit. */
  reader(unit: Unit): DieReader {
    // Unit versions differ in form sizes, so tables are shared only between units of one version.
    const key = unit.abbrevOffset * 16 + unit.version;
    let abbrevs = this.abbrevs.get(key);
    if (!abbrevs) {
      const read = readAbbrevs(this.sections, unit.abbrevOffset, unit);
      abbrevs = read.table;
      this.abbrevBytes += read.bytes;
      if (this.abbrevBytes > OVERLAP_MAX * this.sections.abbrev.length)
        throw new CoverageError('.debug_abbrev: tables of units overlap');
      this.abbrevs.set(key, abbrevs);
    }
    return new DieReader(this.sections, unit, abbrevs);
  }

  unitAt(addr: Addr): Unit | undefined {
    this.last = countUpTo(this.lows, addr, this.last);
    let index = this.last - 1;
    // Discarded functions leave overlapping ranges near 0; a few steps back find the one that holds
    // the address.
    for (let steps = 0; index >= 0 && steps < 64; index--, steps++) {
      if (addr < this.highs[index]!) return this.owner[index];
    }
    return undefined;
  }

  /** The units with code that name a file, so all that may have lines or functions of it. */
  unitsNaming(path: string): Set<Unit> {
    const names = ({ isCode, stmtList, compDir }: Unit): boolean =>
      isCode && stmtList >= 0 && namesFile(this.sections, stmtList, compDir, path);
    return new Set(this.units.filter(names));
  }

  lineTable(unit: Unit): LineTable | undefined {
    if (unit.stmtList < 0) return undefined;
    let table = this.lines.get(unit.stmtList);
    if (!table) {
      table = readLineTable(this.sections, unit.stmtList);
      this.lineBytes += table.end - unit.stmtList;
      if (this.lineBytes > OVERLAP_MAX * this.sections.line.length)
        throw new CoverageError('.debug_line: programs of units overlap');
      this.lines.set(unit.stmtList, table);
    }
    return table;
  }

  /** The functions of a unit that have code, with the calls inlined into them. */
  functions(unit: Unit): Scope[] {
    return this.codeOf(unit).functions;
  }

  /** The chain of scopes around an address, innermost first; empty where no function is known. */
  scopesAt(unit: Unit, addr: Addr): Scope[] {
    const code = this.codeOf(unit);
    const { lows, highs, owner } = code;
    code.last = countUpTo(lows, addr, code.last);
    let index = code.last - 1;
    for (let steps = 0; index >= 0 && addr >= highs[index]! && steps < 64; index--, steps++);
    let scope: Scope | undefined = index >= 0 && addr < highs[index]! ? owner[index] : undefined;
    const chain: Scope[] = [];
    while (scope) {
      chain.unshift(scope);
      scope = scope.children.find(child => covers(child.ranges, addr));
    }
    return chain;
  }

  private codeOf(unit: Unit): UnitCode {
    let code = this.code.get(unit);
    if (code) return code;
    const functions = this.readFunctions(unit);
    const intervals = functions.flatMap(scope => {
      const rows: { low: Addr; high: Addr; scope: Scope }[] = [];
      for (let i = 0; i < scope.ranges.length; i += 2)
        rows.push({ low: scope.ranges[i]!, high: scope.ranges[i + 1]!, scope });
      return rows;
    });
    intervals.sort((a, b) => a.low - b.low || a.high - b.high);
    code = {
      functions,
      lows: Float64Array.from(intervals, i => i.low),
      highs: Float64Array.from(intervals, i => i.high),
      owner: intervals.map(i => i.scope),
      last: 0,
    };
    this.code.set(unit, code);
    return code;
  }

  /**
   * Walk the entries of a unit. `parents` holds, for each open list of children, the scope that new
   * scopes belong to.
   */
  private readFunctions(unit: Unit): Scope[] {
    const functions: Scope[] = [];
    const before = this.sections.listBytes;
    if (!unit.isCode) return functions;
    const reader = this.reader(unit);
    const { cursor } = reader;
    const parents: (Scope | undefined)[] = [];
    while (cursor.at < unit.end) {
      const abbrev = reader.begin();
      if (!abbrev) {
        parents.pop();
        if (parents.length === 0) break;
        continue;
      }
      let inside = parents[parents.length - 1];
      const { tag } = abbrev;
      if (tag === DW_TAG.subprogram || tag === DW_TAG.inlined_subroutine) {
        reader.read(abbrev);
        const scope = this.scopeOf(reader, unit);
        if (this.sections.listBytes - before > RANGES_MAX)
          throw new CoverageError(`.debug_info: a unit reads more than ${RANGES_MAX} bytes of ranges`);
        if (scope) {
          if (inside) inside.children.push(scope);
          else functions.push(scope);
          inside = scope;
        }
      } else if (!abbrev.hasChildren || HOLDS_FUNCTIONS.has(tag)) reader.skip(abbrev);
      else {
        const sibling = reader.skipNotingSibling(abbrev);
        if (sibling > cursor.at) {
          cursor.seek(sibling);
          continue;
        }
      }
      if (abbrev.hasChildren) parents.push(inside);
      if (parents.length > NESTING_MAX)
        throw new CoverageError(`.debug_info: entries are nested more than ${NESTING_MAX} deep`);
    }
    return functions;
  }

  private scopeOf(reader: DieReader, unit: Unit): Scope | undefined {
    const ranges = reader.rangesOfEntry();
    if (ranges.length === 0) return undefined;
    return {
      unit,
      isInlined: reader.tag === DW_TAG.inlined_subroutine,
      ranges,
      offset: reader.dieOffset,
      callFile: reader.callFile,
      callLine: reader.callLine,
      callColumn: reader.callColumn,
      children: [],
    };
  }

  /** The unit that has a .debug_info offset. Errors: CoverageError if none has. */
  unitOf(offset: number): Unit {
    const unit = this.units[upperBound(this.units.length, offset, i => this.units[i]!.offset) - 1];
    if (!unit || offset < unit.dieAt || offset >= unit.end) {
      throw new CoverageError(`.debug_info: reference to 0x${offset.toString(16)} points outside any unit`);
    }
    return unit;
  }

  /** Name and declaration of the function entry at a .debug_info offset. */
  functionName(offset: number, depth = 0): FunctionName {
    const known = this.names.get(offset);
    if (known) return known;
    const result: FunctionName = { name: '', linkageName: '', declFile: '', declLine: 0 };
    const unit = this.unitOf(offset);
    const reader = this.reader(unit);
    reader.cursor.seek(offset);
    const abbrev = reader.begin();
    if (abbrev) {
      reader.read(abbrev);
      result.name = reader.name;
      result.linkageName = reader.linkageName;
      if (reader.declFile > 0 || (unit.version >= 5 && reader.declLine > 0)) {
        result.declFile = this.lineTable(unit)?.path(reader.declFile, unit.compDir) ?? '';
      }
      result.declLine = reader.declLine;
      if (reader.origin !== 0 && depth < 8) {
        const origin = this.functionName(reader.origin, depth + 1);
        result.name ||= origin.name;
        result.linkageName ||= origin.linkageName;
        result.declFile ||= origin.declFile;
        result.declLine ||= origin.declLine;
      }
    }
    this.names.set(offset, result);
    return result;
  }
}

function covers(ranges: Addr[], addr: Addr): boolean {
  for (let i = 0; i < ranges.length; i += 2) if (addr >= ranges[i]! && addr < ranges[i + 1]!) return true;
  return false;
}
