/**
 * Compares two coverages of one image: the points that only the first, or only the second, reached.
 */
import { byText, CoverageError } from '../base/bytes.ts';
import { type Palette, PLAIN } from '../text/report.ts';
import { FILTERED } from '../trace/trace.ts';
import { type Coverage, shortId } from './coverage.ts';
import { didRun } from './lines.ts';
import type { Program, ProgramFunction } from './program.ts';

export interface DiffFunction {
  name: string;
  file: string;
  line: number;
  onlyA: number;
  onlyB: number;
  both: number;
  total: number;
}

export interface DiffLine {
  file: string;
  line: number;
}

export interface CoverageDiff {
  /** Filtered traces may have run code that counts for the other one alone. */
  filteredA: boolean;
  filteredB: boolean;
  points: { onlyA: number; onlyB: number; both: number; neither: number };
  /** Functions in which the two differ. */
  functions: DiffFunction[];
  linesOnlyA: DiffLine[];
  linesOnlyB: DiffLine[];
}

function checkComparable(a: Program, b: Program): void {
  if (a === b) return;
  const [one, other] = [a.elf.imageId, b.elf.imageId];
  throw new CoverageError(
    one === other
      ? 'the coverages are of two Image objects or two selections: measure both with one Image and one selection'
      : `the coverages are of different images, ${shortId(one)} and ${shortId(other)}: give two of one image`,
  );
}

export function diffCoverage(a: Coverage, b: Coverage): CoverageDiff {
  checkComparable(a.program, b.program);
  const points = { onlyA: 0, onlyB: 0, both: 0, neither: 0 };
  const kindOf = (point: number) => {
    const inA = a.hits[point]! > 0;
    const inB = b.hits[point]! > 0;
    return inA ? (inB ? 'both' : 'onlyA') : inB ? 'onlyB' : 'neither';
  };
  for (let point = 0; point < a.program.count; point++) points[kindOf(point)]++;
  const functions = a.program.functions.map((fn: ProgramFunction) => {
    const row = {
      name: fn.name,
      file: fn.file,
      line: fn.line,
      onlyA: 0,
      onlyB: 0,
      both: 0,
      neither: 0,
      total: fn.points.length,
    };
    for (const point of fn.points) row[kindOf(point)]++;
    const { neither: _, ...rest } = row;
    return rest;
  });
  const linesOnlyA: DiffLine[] = [];
  const linesOnlyB: DiffLine[] = [];
  for (const file of a.program.files) {
    for (const [line, code] of [...file.lines].sort(([x], [y]) => x - y)) {
      // A line that is unknown in one of the two is not a difference.
      const [inA, inB] = [a.line(code).state, b.line(code).state];
      if (didRun(inA) && inB === 'uncovered') linesOnlyA.push({ file: file.path, line });
      if (didRun(inB) && inA === 'uncovered') linesOnlyB.push({ file: file.path, line });
    }
  }
  const differing = functions.filter(fn => fn.onlyA + fn.onlyB > 0);
  differing.sort((x, y) => byText(x.file, y.file) || x.line - y.line || byText(x.name, y.name));
  const [filteredA, filteredB] = [a, b].map(({ trace }) => trace.header.filtered === true) as [
    boolean,
    boolean,
  ];
  return { filteredA, filteredB, points, functions: differing, linesOnlyA, linesOnlyB };
}

/** `a.c:3-5,9` for runs of lines. */
export function lineRuns(lines: readonly DiffLine[]): string[] {
  const byFile = new Map<string, number[]>();
  for (const { file, line } of lines) byFile.set(file, [...(byFile.get(file) ?? []), line]);
  return [...byFile].map(([file, numbers]) => {
    const runs: string[] = [];
    for (let i = 0; i < numbers.length; ) {
      let j = i;
      while (numbers[j + 1] === numbers[j]! + 1) j++;
      runs.push(i === j ? `${numbers[i]}` : `${numbers[i]}-${numbers[j]}`);
      i = j + 1;
    }
    return `${file}:${runs.join(',')}`;
  });
}

export function* diffReport(
  diff: CoverageDiff,
  nameA: string,
  nameB: string,
  palette: Palette = PLAIN,
): Generator<string> {
  const { onlyA, onlyB, both, neither } = diff.points;
  yield `points  ${palette.bad(`only ${nameA}: ${onlyA}`)}  ${palette.good(`only ${nameB}: ${onlyB}`)}  both: ${both}  neither: ${neither}`;
  if (diff.filteredA) yield palette.warn(`${nameA} is filtered: ${FILTERED}`);
  if (diff.filteredB) yield palette.warn(`${nameB} is filtered: ${FILTERED}`);
  if (diff.functions.length === 0) {
    yield 'the two cover the same points';
    return;
  }
  yield '';
  yield palette.dim(
    `${'only A'.padStart(8)}${'only B'.padStart(8)}${'both'.padStart(8)}${'of'.padStart(8)}  function`,
  );
  for (const fn of diff.functions) {
    const a = fn.onlyA ? palette.bad(String(fn.onlyA).padStart(8)) : palette.dim('-'.padStart(8));
    const b = fn.onlyB ? palette.good(String(fn.onlyB).padStart(8)) : palette.dim('-'.padStart(8));
    yield `${a}${b}${String(fn.both).padStart(8)}${String(fn.total).padStart(8)}  ${fn.name} ${palette.dim(`${fn.file}:${fn.line}`)}`;
  }
  for (const [name, lines, colour] of [
    [nameA, diff.linesOnlyA, palette.bad],
    [nameB, diff.linesOnlyB, palette.good],
  ] as const) {
    if (lines.length === 0) continue;
    yield '';
    yield `lines covered only by ${name} (${lines.length}):`;
    for (const run of lineRuns(lines)) yield `  ${colour(run)}`;
  }
}
