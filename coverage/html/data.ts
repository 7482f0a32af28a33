/** Gathers the data of the HTML report; page.ts has its shapes. */
import { addrOf, cleanPath, hex } from '../base/bytes.ts';
import { baseName, type ExportOptions } from '../export/common.ts';
import type { Coverage, Totals } from '../model/coverage.ts';
import type { LineCode, LineState } from '../model/lines.ts';
import type { ProgramFile } from '../model/program.ts';
import { NOT_RUN, RAN } from '../model/reach.ts';
import { testsReaching } from '../model/tests.ts';
import { filteredNote, halvesOf, KIND_CMP } from '../trace/trace.ts';
import { type Group, groupsOf, groupTotals, runsOfStates, stateNumber } from './groups.ts';
import type {
  CompareRow,
  GroupTotals,
  IndexFile,
  PageBlock,
  PageFile,
  PageFunction,
  PageIndex,
  Row7,
} from './page.ts';
import { addPaths } from './paths.ts';

/** Source text in the page at most, in characters; files with something covered come first. */
const SOURCE_BUDGET = 12_000_000;
const COMPARES_PER_LINE = 24;
const BLOCKS_PER_LINE = 16;
/** Tests of a point that are listed at most. */
const TESTS_PER_POINT = 64;

export interface PageData {
  index: PageIndex;
  /** In the order of `index.files`, made one at a time. */
  files: Iterable<PageFile>;
  functions: PageFunction[][];
}

function row({ lines, functions, points }: Totals): Row7 {
  return [
    lines.covered,
    lines.partly,
    lines.total,
    functions.covered,
    functions.total,
    points.covered,
    points.total,
  ];
}

/** Numbers of the tests that reached each point, at most so many. */
function testsOfPoints(coverage: Coverage): number[][] {
  const reached: number[][] = Array.from({ length: coverage.program.count }, () => []);
  for (const [i, { points }] of coverage.tests.entries())
    for (const point of points) if (reached[point]!.length < TESTS_PER_POINT) reached[point]!.push(i);
  return reached;
}

/** Numbers texts or lists in the order of their first appearance. */
class Numbered<T> {
  readonly list: T[] = [];
  private readonly known = new Map<string, number>();

  of(value: T): number {
    const key = String(value);
    let index = this.known.get(key);
    if (index === undefined) this.known.set(key, (index = this.list.push(value) - 1));
    return index;
  }
}

/** Hook calls of a file's lines with what is known of each. */
function pointsOf(coverage: Coverage, lines: readonly [number, LineCode][], reached: readonly number[][]) {
  const { program } = coverage;
  const numberOf = new Map<number, number>();
  const chains = new Numbered<string>();
  const sets = new Numbered<number[]>();
  const points: PageFile['points'] = [];
  const byLine: Record<number, number[]> = {};
  for (const [line, code] of lines) {
    if (code.points.length === 0) continue;
    byLine[line] = [...new Set(code.points)].map(point => {
      let number = numberOf.get(point);
      if (number !== undefined) return number;
      const entry: PageFile['points'][number] = [
        hex(program.call(point)),
        coverage.hits[point]!,
        chains.of(program.chain(point).join(' < ')),
        sets.of(reached[point]!),
      ];
      numberOf.set(point, (number = points.push(entry) - 1));
      return number;
    });
  }
  return { q: byLine, points, chains: chains.list, sets: sets.list };
}

/** The line's code, block by block, where not all of it is known to have run. */
function blocksOf(coverage: Coverage, { own, calls }: LineCode): PageBlock[] {
  const rows: PageBlock[] = [];
  for (const ranges of [own, calls]) {
    for (let k = 0; k < ranges.length; k += 2) {
      const [low, high] = [ranges[k]!, ranges[k + 1]!];
      const verdict = coverage.verdicts.at(low);
      if (!verdict) continue;
      for (const [i, block] of verdict.blocks.entries()) {
        if (block.high <= low || block.low >= high || block.isEdge) continue;
        const state = verdict.states[i] === RAN ? 0 : verdict.states[i] === NOT_RUN ? 2 : 3;
        const count = Number.isNaN(verdict.counts[i]!) ? -1 : verdict.counts[i]!;
        const [from, to] = [hex(Math.max(low, block.low)), hex(Math.min(high, block.high))];
        const last = rows[rows.length - 1];
        // Blocks in a row with one verdict are one row.
        if (last && last[1] === from && last[2] === state && last[3] === count) last[1] = to;
        else if (rows.length === BLOCKS_PER_LINE) return rows;
        else rows.push([from, to, state, count]);
      }
    }
  }
  return rows;
}

const isOpen = (state: LineState): boolean => state === 'partly' || state === 'unknown';

function pageFile(
  coverage: Coverage,
  file: ProgramFile,
  reached: readonly number[][],
  groups: readonly Group[],
): PageFile {
  const lines = [...file.lines].sort(([a], [b]) => a - b);
  const blocks: Record<number, PageBlock[]> = {};
  const page: PageFile = {
    l: lines.map(([line, code]) => {
      const { state, hits, isLeast } = coverage.line(code);
      if (isOpen(state)) blocks[line] = blocksOf(coverage, code);
      return [line, stateNumber(state), hits ?? -1, isLeast ? 1 : 0];
    }),
    ...pointsOf(coverage, lines, reached),
    k: blocks,
  };
  if (groups.length > 0)
    page.v = Object.fromEntries(groups.map((group, i) => [i, runsOfStates(group.coverage, file)]));
  return page;
}

function indexFile(coverage: Coverage, file: ProgramFile, groups: readonly Group[]): IndexFile {
  const totals = coverage.fileTotals(file);
  const entry: IndexFile = {
    p: file.path,
    t: row(totals),
    x: [totals.lines.unknown, totals.functions.unknown],
  };
  const reaching = groups
    .map((group, i) => groupTotals(i, group.coverage, file))
    .filter((totals): totals is GroupTotals => totals !== undefined);
  if (reaching.length > 0) entry.g = reaching;
  return entry;
}

/** Comparisons of one hook: a row by its type and operands. */
class CompareRows {
  /** The rows of the line, which other hooks may share. */
  readonly #rows: CompareRow[];
  readonly #known = new Map<number, { type: number; a: bigint; b: bigint; row: CompareRow }[]>();

  constructor(rows: CompareRow[]) {
    this.#rows = rows;
  }

  /** Counts it so many times, unless the line has rows enough. `hash`: of type and operands. */
  add(hash: number, type: number, a: bigint, b: bigint, times: number): void {
    const list = this.#known.get(hash);
    for (const known of list ?? [])
      if (known.type === type && known.a === a && known.b === b) {
        known.row[3] += times;
        return;
      }
    if (this.#rows.length >= COMPARES_PER_LINE) return;
    const row: CompareRow = [type, `0x${a.toString(16)}`, `0x${b.toString(16)}`, times];
    this.#rows.push(row);
    if (list) list.push({ type, a, b, row });
    else this.#known.set(hash, [{ type, a, b, row }]);
  }
}

const mix = (hash: number, half: number): number => Math.imul(hash, 0x01000193) ^ half;

/** Comparison operands by file and line of their call, each distinct pair with its count. */
function comparesOf({ trace, program }: Coverage): Map<string, Record<number, CompareRow[]>> {
  const files = new Map<string, Record<number, CompareRow[]>>();
  const places = new Map<number, CompareRows>();
  const placeOf = (point: number): CompareRows => {
    const call = program.sites.call[program.sites.find(addrOf(trace.pointPc[point]!))]!;
    const [frame] = program.symbolizer.frames(call);
    const path = cleanPath(frame!.file);
    const lines = files.get(path) ?? {};
    files.set(path, lines);
    return new CompareRows((lines[frame!.line] ??= []));
  };
  const [a, b] = [halvesOf(trace.cmpArg1), halvesOf(trace.cmpArg2)];
  let at = 0;
  for (const [i, point] of trace.records.entries()) {
    if (trace.pointKind[point] !== KIND_CMP) continue;
    const k = at++;
    let place = places.get(point);
    if (!place) places.set(point, (place = placeOf(point)));
    // Millions of comparisons have few rows: the hash keeps them from making text.
    const ofA = mix(mix(trace.cmpType[k]!, a[2 * k]!), a[2 * k + 1]!);
    place.add(
      mix(mix(ofA, b[2 * k]!), b[2 * k + 1]!),
      trace.cmpType[k]!,
      trace.cmpArg1[k]!,
      trace.cmpArg2[k]!,
      trace.times?.[i] ?? 1,
    );
  }
  return files;
}

function testRows(coverage: Coverage, groups: readonly Group[]): PageIndex['tests'] {
  const { program, tests } = coverage;
  const reached = testsReaching(tests, program.count);
  const linesOf = linesByPoint(coverage);
  return tests.map(({ name, points }) => {
    let only = 0;
    const lines = new Set<LineCode>();
    for (const point of points) {
      if (reached[point] === 1) only++;
      for (const line of linesOf[point]!) lines.add(line);
    }
    const group = groups.findIndex(each => each.kind === 'test' && each.name === name);
    return { name: name || 'unnamed', points: points.length, only, lines: lines.size, group };
  });
}

function linesByPoint({ program }: Coverage): LineCode[][] {
  const lines: LineCode[][] = Array.from({ length: program.count }, () => []);
  for (const file of program.files)
    for (const code of file.lines.values()) for (const point of code.points) lines[point]!.push(code);
  return lines;
}

/** Source texts by path, within the budget. */
function sourcesOf(files: readonly IndexFile[], options: ExportOptions): Map<string, string> {
  const sources = new Map<string, string>();
  let budget = SOURCE_BUDGET;
  for (const { p } of [...files].sort((a, b) => Number(b.t[5] > 0) - Number(a.t[5] > 0))) {
    const source = options.readSource?.(p);
    if (source === undefined || source.length > budget) continue;
    budget -= source.length;
    sources.set(p, source);
  }
  return sources;
}

export function pageData(coverage: Coverage, options: ExportOptions): PageData {
  const { trace, program } = coverage;
  const { groups, ungrouped } = groupsOf(coverage);
  const files = program.files.filter(file => file.path !== '');
  const totals = coverage.totals();
  const index: PageIndex = {
    title: options.title ?? `Coverage of ${baseName(program.elf.name)}`,
    image: trace.header.image || program.elf.imageId,
    dialect: trace.header.dialect,
    notes: trace.header.notes,
    hooks: program.hooks,
    counts: coverage.counts,
    hasShare: coverage.hasShare,
    records: trace.count,
    lost: trace.lostTotal,
    filtered: filteredNote(trace),
    findings: trace.findings,
    tests: testRows(coverage, groups),
    groups: groups.map(({ kind, name, coverage: { hasShare } }) => ({ kind, name, hasShare })),
    ungrouped,
    totals: row(totals),
    unknown: [totals.lines.unknown, totals.functions.unknown],
    files: files.map(file => indexFile(coverage, file, groups)),
    names: [],
    paths: [],
    morePaths: 0,
  };
  const numberOf = (name: string) => groups.findIndex(group => group.kind === 'test' && group.name === name);
  if (options.compare) index.compare = [numberOf(options.compare[0]), numberOf(options.compare[1])];
  addPaths(coverage, options, index, groups);
  const reached = testsOfPoints(coverage);
  const compares = comparesOf(coverage);
  const sources = sourcesOf(index.files, options);
  function* pages(): Generator<PageFile> {
    for (const file of files) {
      const page = pageFile(coverage, file, reached, groups);
      const [compared, source] = [compares.get(file.path), sources.get(file.path)];
      if (compared) page.c = compared;
      if (source !== undefined) page.s = source;
      yield page;
    }
  }
  const functions = files.map(file =>
    file.functions.map((fn): PageFunction => {
      const { hits, isLeast } = coverage.functionCalls(fn);
      const calls = hits > 0 && !coverage.counts ? -1 : hits;
      return [fn.name, fn.line, calls, coverage.coveredPoints(fn.points), fn.points.length, isLeast ? 1 : 0];
    }),
  );
  return { index, files: pages(), functions };
}
