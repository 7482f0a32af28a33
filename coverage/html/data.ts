/** The data inside the HTML report, as small as rows of numbers can make it. `html-script.ts` reads exactly these shapes. */
import { addrOf, cleanPath } from '../base/bytes.ts';
import type { ExportOptions } from '../export/common.ts';
import { callPaths } from '../model/callpath.ts';
import type { Coverage, Totals } from '../model/coverage.ts';
import { hitsOf, type LineCode } from '../model/lines.ts';
import type { ProgramFile } from '../model/program.ts';
import { testsReaching } from '../model/tests.ts';
import { KIND_CMP } from '../trace/trace.ts';

/** Source text in the page at most, in characters; files with something covered come first. */
const SOURCE_BUDGET = 12_000_000;
const COMPARES_PER_LINE = 24;
const PATHS = 400;

/** lines covered, partly, total; functions covered, total; points covered, total */
type Row7 = [number, number, number, number, number, number, number];

interface PageFile {
  p: string;
  t: Row7;
  /** name, line, calls, points covered, points */
  f: [string, number, number, number, number][];
  /** line, state (0 covered, 1 partly, 2 uncovered, 3 unknown), hits, tests that reached it */
  l: [number, number, number, number[]][];
  /** comparisons by line: type, arg1, arg2, how often */
  c?: Record<number, [number, string, string, number][]>;
  s?: string;
}

export interface PageData {
  title: string;
  image: string;
  dialect: string;
  notes: Record<string, string>;
  hooks: 'pc' | 'cmp' | 'none';
  records: number;
  lost: number;
  findings: string[];
  tests: { name: string; points: number; only: number; lines: number }[];
  totals: Row7;
  files: PageFile[];
  names: string[];
  paths: {
    label: string;
    who: string;
    records: number;
    cut: boolean;
    /** name, depth, from, to, inline, file (-1), line */
    n: [number, number, number, number, number, number, number][];
  }[];
  morePaths: number;
}

function row(totals: Totals): Row7 {
  const { lines, functions, points } = totals;
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

const STATES = { covered: 0, partly: 1, uncovered: 2, unknown: 3 } as const;

/** Tests of a line that are listed at most. */
const TESTS_PER_LINE = 64;

/** Numbers of the tests that reached each point, at most so many. */
function testsOfPoints(coverage: Coverage): number[][] {
  const reached: number[][] = Array.from({ length: coverage.program.count }, () => []);
  if (coverage.tests.length < 2) return reached;
  for (const [i, { points }] of coverage.tests.entries())
    for (const point of points) if (reached[point]!.length < TESTS_PER_LINE) reached[point]!.push(i);
  return reached;
}

function pageFile(coverage: Coverage, file: ProgramFile, reached: readonly number[][]): PageFile {
  const lines = [...file.lines].sort(([a], [b]) => a - b);
  return {
    p: file.path,
    t: row(coverage.fileTotals(file)),
    f: file.functions.map(fn => {
      const covered = coverage.coveredPoints(fn.points);
      return [fn.name, fn.line, coverage.functionHits(fn), covered, fn.points.length];
    }),
    l: lines.map(([line, code]) => {
      const verdict = coverage.line(code);
      const tests = [...new Set(code.points.flatMap(point => reached[point]!))].sort((a, b) => a - b);
      return [line, STATES[verdict.state], hitsOf(verdict), tests.slice(0, TESTS_PER_LINE)];
    }),
  };
}

type CompareRow = [number, string, string, number];

/** Comparison operands by place of their call, each distinct pair with its count. */
function addCompares(coverage: Coverage, files: Map<string, PageFile>): void {
  const { trace, program } = coverage;
  /** By trace point: the rows of its line, and those of them that are known by text. */
  const places = new Map<number, { rows: CompareRow[]; known: Map<string, CompareRow> }>();
  const placeOf = (point: number) => {
    const call = program.sites.call[program.sites.find(addrOf(trace.pointPc[point]!))]!;
    const [frame] = program.symbolizer.frames(call);
    const file = files.get(cleanPath(frame!.file));
    let rows: CompareRow[] = [];
    if (file && frame!.line > 0) {
      file.c ??= {};
      rows = file.c[frame!.line] ??= [];
    }
    return { rows, known: new Map<string, CompareRow>() };
  };
  let at = 0;
  for (const point of trace.records) {
    if (trace.pointKind[point] !== KIND_CMP) continue;
    const k = at++;
    let place = places.get(point);
    if (!place) {
      place = placeOf(point);
      places.set(point, place);
    }
    const [a, b] = [`0x${trace.cmpArg1[k]!.toString(16)}`, `0x${trace.cmpArg2[k]!.toString(16)}`];
    const key = `${trace.cmpType[k]} ${a} ${b}`;
    const known = place.known.get(key);
    if (known) known[3]++;
    else if (place.rows.length < COMPARES_PER_LINE) {
      const entry: CompareRow = [trace.cmpType[k]!, a, b, 1];
      place.known.set(key, entry);
      place.rows.push(entry);
    }
  }
}

function addPaths(
  coverage: Coverage,
  options: ExportOptions,
  data: PageData,
  fileIndex: Map<string, number>,
): void {
  const { trace, program } = coverage;
  const nameIndex = new Map<string, number>();
  const nameOf = (name: string) => {
    let index = nameIndex.get(name);
    if (index === undefined) {
      index = data.names.length;
      nameIndex.set(name, index);
      data.names.push(name);
    }
    return index;
  };
  const placeOf = new Map<number, [number, number]>();
  const place = (point: number): [number, number] => {
    let found = placeOf.get(point);
    if (!found) {
      const [frame] = program.frames(point);
      found = [fileIndex.get(frame!.file) ?? -1, frame!.line];
      placeOf.set(point, found);
    }
    return found;
  };
  const paths = callPaths(coverage);
  data.morePaths = Math.max(0, paths.length - PATHS);
  for (const path of paths.slice(0, PATHS)) {
    const s = trace.sources[path.source]!;
    const call =
      s.syscall < 0
        ? 'outside system calls'
        : (options.syscallName?.(s.syscall) ?? `system call ${s.syscall}`);
    const remote = s.context === 'remote' ? `remote 0x${s.handle.toString(16)}` : '';
    const who = [s.test, `process ${s.process}, thread ${s.thread}`, remote]
      .filter(text => text !== '')
      .join(' · ');
    data.paths.push({
      label: s.context === 'remote' && s.syscall < 0 ? 'remote section' : call,
      who,
      records: path.records,
      cut: path.isCut,
      n: path.nodes.map(n => [nameOf(n.name), n.depth, n.from, n.to, n.inline ? 1 : 0, ...place(n.point)]),
    });
  }
}

function testRows(coverage: Coverage): PageData['tests'] {
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
    return { name: name || 'unnamed', points: points.length, only, lines: lines.size };
  });
}

function linesByPoint({ program }: Coverage): LineCode[][] {
  const lines: LineCode[][] = Array.from({ length: program.count }, () => []);
  for (const file of program.files)
    for (const code of file.lines.values()) for (const point of code.points) lines[point]!.push(code);
  return lines;
}

export function pageData(coverage: Coverage, options: ExportOptions): PageData {
  const { trace, program } = coverage;
  const reached = testsOfPoints(coverage);
  const files = program.files.filter(file => file.path !== '').map(file => pageFile(coverage, file, reached));
  const byPath = new Map(files.map(file => [file.p, file]));
  addCompares(coverage, byPath);
  let budget = SOURCE_BUDGET;
  for (const file of [...files].sort((a, b) => Number(b.t[5] > 0) - Number(a.t[5] > 0))) {
    const source = options.readSource?.(file.p);
    if (source === undefined || source.length > budget) continue;
    budget -= source.length;
    file.s = source;
  }
  const data: PageData = {
    title: options.title ?? `Coverage of ${program.elf.name}`,
    image: trace.header.image || program.elf.imageId,
    dialect: trace.header.dialect,
    notes: trace.header.notes,
    hooks: program.hooks,
    records: trace.records.length,
    lost: trace.lostTotal,
    findings: trace.findings,
    tests: testRows(coverage),
    totals: row(coverage.totals()),
    files,
    names: [],
    paths: [],
    morePaths: 0,
  };
  addPaths(coverage, options, data, new Map(files.map((file, i) => [file.p, i])));
  return data;
}
