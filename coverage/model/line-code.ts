/**
 * The machine code of every source line in the functions that have points, from the line tables and
 * the inlined calls.
 */
import type { Addr } from '../base/bytes.ts';
import type { Scope } from '../dwarf/dwarf.ts';
import { ROW_END_SEQUENCE } from '../dwarf/line.ts';
import type { Symbolizer } from '../dwarf/symbolize.ts';
import type { CallSites } from '../elf/callsites.ts';
import type { CodeRange, ImageFlow } from '../elf/flow.ts';
import type { KeepPoint } from './keep.ts';
import { type LineCode, pairs } from './lines.ts';

/** A program whose points are placed. */
interface Placed {
  readonly sites: CallSites;
  readonly symbolizer: Symbolizer;
  /** Point of each site, -1 outside of a selection. */
  readonly pointOfSite: Int32Array;
  readonly flow: ImageFlow;
}

/** The lines of a file, by number. */
type LinesOf = (path: string) => (line: number) => LineCode | undefined;

/**
 * Adds the code of all lines in functions with one of `sites`, and answers with the lines that
 * `keep` selects; none without it. `linesOf` finds or makes lines, `onCopy` gets each inlined call.
 */
export function placeLines(
  program: Placed,
  sites: readonly number[],
  keep: KeepPoint | undefined,
  linesOf: LinesOf,
  onCopy: (copy: Scope) => void,
): Set<LineCode> {
  const { symbolizer, flow } = program;
  const shown = new Set<LineCode>();
  const ranges = new Map<CodeRange, boolean>();
  for (const site of sites) {
    const range = flow.rangeAt(program.sites.call[site]!);
    if (range) ranges.set(range, ranges.get(range) === true || program.pointOfSite[site]! >= 0);
  }
  for (const [range, hasPoint] of ranges) {
    const add = (code: LineCode, at: Addr): void => {
      if (keep && hasPoint && keep({ call: at, frames: symbolizer.frames(at) })) shown.add(code);
    };
    placeRows(program, range, linesOf, add);
    placeCalls(program, range, linesOf, onCopy, add);
  }
  return shown;
}

function placeRows(
  program: Placed,
  range: CodeRange,
  linesOf: LinesOf,
  show: (code: LineCode, at: Addr) => void,
): void {
  const { dwarf } = program.symbolizer;
  const unit = dwarf.unitAt(range.low);
  const table = unit && dwarf.lineTable(unit);
  if (!table) return;
  const [from, to] = table.range(range.low, range.high);
  const { address, file, line, flags } = table.rows;
  let site = program.sites.firstFrom(range.low);
  // Mostly the file of the row before.
  let last = -1;
  let lineOf = linesOf('');
  for (let row = from; row < to; row++) {
    if (flags[row]! & ROW_END_SEQUENCE || line[row] === 0) continue;
    const low = Math.max(address[row]!, range.low);
    const high = Math.min(address[row + 1]!, range.high);
    if (high <= low) continue;
    if (file[row] !== last) {
      last = file[row]!;
      lineOf = linesOf(table.cleanPath(last, unit.compDir));
    }
    const code = lineOf(line[row]!);
    if (!code) continue;
    addHome(code, range.low);
    site = addCode(program, code, low, high, site);
    show(code, low);
  }
}

/**
 * Add `[low, high)` to a line, hook calls apart. `site` is the first that may lie in it; returns
 * the next one.
 */
function addCode(
  { sites }: Pick<Placed, 'sites'>,
  code: LineCode,
  low: Addr,
  high: Addr,
  site: number,
): number {
  while (site > 0 && sites.ret[site - 1]! > low) site--;
  while (site < sites.count && sites.ret[site]! <= low) site++;
  let at = low;
  for (let i = site; i < sites.count && sites.start[i]! < high; i++) {
    if (sites.hook[i] !== 0) continue; // comparisons belong to the line that compares
    if (sites.start[i]! > at) code.own.push(at, sites.start[i]!);
    code.hooks.push(Math.max(at, sites.start[i]!), Math.min(high, sites.ret[i]!));
    at = sites.ret[i]!;
  }
  if (at < high) code.own.push(at, high);
  return site;
}

function addHome({ homes }: LineCode, home: Addr): void {
  if (homes[homes.length - 1] !== home) homes.push(home);
}

/** The line of an inlined call includes the inlined code. */
function placeCalls(
  program: Placed,
  range: CodeRange,
  linesOf: LinesOf,
  onCopy: (copy: Scope) => void,
  show: (code: LineCode, at: Addr) => void,
): void {
  const { dwarf } = program.symbolizer;
  const unit = dwarf.unitAt(range.low);
  const table = unit && dwarf.lineTable(unit);
  if (!table) return;
  const walk = (scope: Scope) => {
    if (scope.isInlined) onCopy(scope);
    if (scope.isInlined) {
      const code = linesOf(table.cleanPath(scope.callFile, unit.compDir))(scope.callLine);
      if (code) {
        code.calls.push(...scope.ranges);
        // The compiler may have moved a part of it into another function.
        for (const [low] of pairs(scope.ranges))
          addHome(code, low >= range.low && low < range.high ? range.low : low);
        show(code, scope.ranges[0]!);
      }
    }
    for (const child of scope.children) walk(child);
  };
  const [outermost] = dwarf.scopesAt(unit, range.low).slice(-1);
  if (outermost) walk(outermost);
}
