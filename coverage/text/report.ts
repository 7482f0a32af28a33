/**
 * Reports for a terminal: a tree with bars, a table of functions, annotated source. Pure text;
 * colours are injected.
 */
import { counted, visible } from '../../emulator/base/words.ts';
import { byText } from '../base/bytes.ts';
import type { FunctionCalls } from '../model/calls.ts';
import {
  addTotals,
  type Coverage,
  emptyTotals,
  percent,
  type Share,
  type Totals,
} from '../model/coverage.ts';
import type { LineVerdict } from '../model/lines.ts';
import type { ProgramFile, ProgramFunction } from '../model/program.ts';
import { filteredNote, KIND_EDGE } from '../trace/trace.ts';

/** How to colour; the plain palette leaves text alone. */
export interface Palette {
  good(text: string): string;
  warn(text: string): string;
  bad(text: string): string;
  dim(text: string): string;
  bold(text: string): string;
}

const same = (text: string) => text;
export const PLAIN: Palette = { good: same, warn: same, bad: same, dim: same, bold: same };

const WIDTH = 12;
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** A bar of eighths of a cell, so that one point of a thousand still shows. */
export function bar({ covered, total }: Share, palette: Palette, width = WIDTH): string {
  const ratio = total === 0 ? 0 : covered / total;
  const eighths = covered === 0 ? 0 : Math.max(1, Math.floor(ratio * width * 8));
  const full = '█'.repeat(eighths >> 3) + EIGHTHS[eighths & 7];
  const colour = ratio >= 0.75 ? palette.good : ratio >= 0.4 ? palette.warn : palette.bad;
  return colour(full) + palette.dim('·'.repeat(width - [...full].length));
}

function share(s: Share): string {
  const ofTotal = s.total === 0 ? '-' : `${percent(s)}%`;
  return `${ofTotal.padStart(7)} ${`${s.covered}/${s.total}`.padStart(11)}`;
}

interface Node {
  name: string;
  totals: Totals;
  children: Map<string, Node>;
}

function tree(coverage: Coverage): Node {
  const root: Node = { name: '', totals: emptyTotals(), children: new Map() };
  for (const file of coverage.program.files) {
    const totals = coverage.fileTotals(file);
    let node = root;
    addTotals(root.totals, totals);
    for (const part of (file.path || '(unknown)').split('/')) {
      let child = node.children.get(part);
      if (!child) {
        child = { name: part, totals: emptyTotals(), children: new Map() };
        node.children.set(part, child);
      }
      addTotals(child.totals, totals);
      node = child;
    }
  }
  return root;
}

/** Join directories that hold nothing but one directory. */
function squeeze(node: Node): Node {
  let current = node;
  while (current.children.size === 1) {
    const [only] = current.children.values();
    if (only!.children.size === 0) break;
    current = { ...only!, name: `${current.name}/${only!.name}` };
  }
  return current;
}

const notShown = (what: string, { covered }: Share): string =>
  `${covered} surely ran; the trace does not show which ${what} did not`;

/** Only lines that ran are known, so their share would always be 100 %. */
const withoutShare = ({ program }: Coverage, { lines }: Totals): string =>
  program.hooks === 'cmp' ? 'not recorded: the trace has comparisons only' : notShown('lines', lines);

export function* summaryLines(coverage: Coverage, palette: Palette): Generator<string> {
  const { trace, program } = coverage;
  const totals = coverage.totals();
  const parts = [counted(trace.count, 'record'), counted(coverage.tests.length, 'test')];
  if (trace.header.dialect) parts.unshift(trace.header.dialect);
  if (trace.lostTotal > 0) parts.push(palette.warn(`${trace.lostTotal} lost: the buffer was full`));
  yield `${palette.bold(visible(program.elf.name))}  ${palette.dim(parts.join(', '))}`;
  const hooks = program.hooks === 'cmp' ? 'compares' : 'points';
  const row = (name: string, text: string): string => `  ${name.padEnd(10)} ${text}`;
  const shared = (s: Share): string => `${bar(s, palette, 24)} ${share(s)}`;
  yield row('lines', coverage.hasShare ? shared(totals.lines) : palette.warn(withoutShare(coverage, totals)));
  yield row(
    'functions',
    coverage.hasShare ? shared(totals.functions) : palette.warn(notShown('functions', totals.functions)),
  );
  yield row(hooks, shared(totals.points));
  if (totals.lines.partly > 0)
    yield palette.dim(`  ${totals.lines.partly} of the covered lines ran only in part`);
  if (totals.lines.unknown > 0 && program.hooks !== 'cmp')
    yield palette.dim(
      `  ${counted(totals.lines.unknown, 'more line')} may have run or not: ` +
        (program.hooks === 'none' ? 'a copy that ran has no code for them' : 'the records do not show it'),
    );
  if (totals.functions.unknown > 0 && coverage.hasShare)
    yield palette.dim(
      `  ${counted(totals.functions.unknown, 'more function')} may have run or not: ` +
        (program.hooks === 'none'
          ? 'inlined code ran, and no call is proven'
          : 'the records do not show inlined code without a point'),
    );
  if (!coverage.counts && totals.lines.covered > 0)
    yield palette.dim('  no hit counts: the trace does not hold every execution');
  const edges = trace.countOf(KIND_EDGE);
  if (edges > 0)
    yield palette.warn(`  ${counted(edges, 'edge record')} not counted: an edge value has no line`);
  if (trace.header.filtered) yield palette.warn(`  filtered: ${filteredNote(trace)}`);
  for (const finding of trace.findings) yield palette.bad(`  finding: ${finding}`);
}

/** The covered tree with bars and percentages. */
export function* treeReport(coverage: Coverage, palette: Palette = PLAIN): Generator<string> {
  yield* summaryLines(coverage, palette);
  yield '';
  const rows: { label: string; node: Node; isFile: boolean }[] = [];
  const walk = (node: Node, indent: string) => {
    for (const child of [...node.children.values()].sort((a, b) => byText(a.name, b.name))) {
      const row = squeeze(child);
      const isFile = row.children.size === 0;
      rows.push({ label: `${indent}${visible(row.name) || '/'}${isFile ? '' : '/'}`, node: row, isFile });
      walk(row, `${indent}  `);
    }
  };
  walk(tree(coverage), '');
  const width = Math.max(20, ...rows.map(row => row.label.length));
  yield palette.dim(
    `${''.padEnd(width)}  ${'lines'.padEnd(WIDTH + 20)}  ${'functions'.padStart(19)}  ${'points'.padStart(19)}`,
  );
  for (const { label, node, isFile } of rows) {
    const { lines, functions, points } = node.totals;
    const name = isFile ? label.padEnd(width) : palette.bold(label.padEnd(width));
    const ofLines = coverage.hasShare
      ? `${bar(lines, palette)} ${share(lines)}`
      : (coverage.program.hooks === 'cmp' ? 'not recorded' : `${lines.covered} ran`).padEnd(WIDTH + 20);
    const ofFunctions = coverage.hasShare ? share(functions) : `${functions.covered} ran`.padStart(19);
    yield `${name}  ${ofLines}  ${ofFunctions}  ${share(points)}`;
  }
}

/** The count of a function: exact, or a proven minimum (`>=1`). */
const callsOf = ({ hits, isLeast }: FunctionCalls): string => (isLeast ? `>=${hits}` : String(hits));

const described = (calls: FunctionCalls): string =>
  calls.isLeast ? `${callsOf(calls)} calls` : counted(calls.hits, 'call');

export function* functionReport(coverage: Coverage, palette: Palette = PLAIN): Generator<string> {
  yield* summaryLines(coverage, palette);
  yield '';
  yield palette.dim(`${'points'.padEnd(WIDTH + 20)} ${'calls'.padStart(10)}  function`);
  for (const file of coverage.program.files) {
    for (const fn of file.functions) {
      const s = { covered: coverage.coveredPoints(fn.points), total: fn.points.length };
      const calls = callsOf(coverage.functionCalls(fn)).padStart(10);
      yield `${bar(s, palette)} ${share(s)} ${calls}  ${visible(fn.name)} ${palette.dim(`${visible(file.path)}:${fn.line}`)}`;
    }
  }
}

/**
 * Source lines `[line, last]` of a function: to its last instrumented line and closing brace, short
 * of the next function.
 */
export function functionExtent(
  file: ProgramFile,
  fn: ProgramFunction,
  source: readonly string[],
): { first: number; last: number } {
  const next = file.functions.find(other => other.line > fn.line)?.line ?? Number.MAX_SAFE_INTEGER;
  let last = fn.line;
  for (const line of file.lines.keys()) if (line >= fn.line && line < next) last = Math.max(last, line);
  for (let line = last; line < next && line <= source.length; line++) {
    if (line > fn.line && source[line - 1]!.startsWith('}')) {
      last = line;
      break;
    }
  }
  return { first: fn.line, last };
}

const MARK = { covered: '+', partly: '~', uncovered: '-', unknown: '?' } as const;

/**
 * The count of a line: exact; a proven minimum (`>=3`); or, if the trace has no counts, whether it
 * was seen.
 */
function countOf({ state, hits, isLeast }: LineVerdict): string {
  if (state === 'unknown') return '?';
  if (hits === undefined) return 'seen';
  return isLeast ? `>=${hits}` : String(hits);
}

/**
 * Source of the covered functions with a mark and a count before every instrumented line: `+`
 * covered, `~` partly, `-` not, `?` unknown. A file whose source cannot be read is listed with its
 * line numbers only. `wanted`: functions that are shown in any case.
 */
export function* annotateCoverage(
  coverage: Coverage,
  readSource: (path: string) => string | undefined,
  palette: Palette = PLAIN,
  wanted: (fn: ProgramFunction) => boolean = () => false,
): Generator<string> {
  const colour = {
    covered: palette.good,
    partly: palette.warn,
    uncovered: palette.bad,
    unknown: palette.dim,
  };
  for (const file of coverage.program.files) {
    const functions = file.functions.filter(
      fn => fn.line > 0 && (wanted(fn) || coverage.functionState(fn) === 'covered'),
    );
    if (functions.length === 0) continue;
    const text = readSource(file.path);
    const source = text?.split(/\r?\n/) ?? [];
    yield `${palette.bold(visible(file.path))}${text === undefined ? palette.dim('  (source not found)') : ''}`;
    for (const fn of functions) {
      const s = { covered: coverage.coveredPoints(fn.points), total: fn.points.length };
      const calls = described(coverage.functionCalls(fn));
      yield `${bar(s, palette)} ${share(s)} points  ${palette.bold(visible(fn.name))}  ${calls}`;
      const { first, last } = functionExtent(file, fn, source);
      for (let line = first; line <= last; line++) {
        const code = file.lines.get(line);
        if (!code && text === undefined) continue;
        const body = visible((source[line - 1] ?? '').replaceAll('\t', '        '));
        if (!code) yield palette.dim(`${String(line).padStart(6)}            ${body}`.trimEnd());
        else {
          const verdict = coverage.line(code);
          const { state } = verdict;
          const mark = colour[state](`${countOf(verdict).padStart(8)} ${MARK[state]}`);
          yield `${palette.dim(String(line).padStart(6))} ${mark} ${body}`.trimEnd();
        }
      }
      yield '';
    }
  }
}
