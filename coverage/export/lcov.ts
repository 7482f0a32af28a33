/**
 * lcov tracefiles with the old function records (`FN:line,name`), which every lcov from 1.x to 2.x
 * reads; the newer FNL/FNA make 1.16 say "no data found". No branch records: a trace-pc build does
 * not prove source branches.
 *
 * Each test has its own sections, as lcov writes them (`TN:`), up to `MOST_TESTS`; beyond that, and
 * for a trace with one, there is one section for each file. A line or function that is unknown has
 * no record, and a trace of comparisons has no lines: readers would show those that ran as 100 %. A
 * control character of a name, which may be a line feed, is written as `\\xNN`: the format has no
 * escape.
 */
import { visible } from '../../emulator/base/words.ts';
import { byText } from '../base/bytes.ts';
import { Coverage } from '../model/coverage.ts';
import { didRun, hitsOf } from '../model/lines.ts';
import type { ProgramFile, ProgramFunction } from '../model/program.ts';
import { filterTrace } from '../trace/ops.ts';
import { type ExportOptions, encodeChunks, rooted } from './common.ts';

/** More would multiply the size of the file without use. */
const MOST_TESTS = 64;

/** One row per name: lcov knows a function of a file by name alone. */
function functionRows(
  whole: Coverage,
  part: Coverage,
  file: ProgramFile,
): { name: string; line: number; hits: number }[] {
  const rows = new Map<string, { name: string; line: number; hits: number }>();
  for (const fn of file.functions as ProgramFunction[]) {
    const state = whole.functionState(fn);
    if (fn.line === 0 || state === 'unknown') continue;
    // The part of one test may leave open what all tests together prove: another test shows it.
    if (state === 'covered' && part.functionState(fn) === 'unknown') continue;
    const { hits } = part.functionCalls(fn);
    const name = visible(fn.name);
    const row = rows.get(name);
    if (row) row.hits = Math.max(row.hits, hits);
    else rows.set(name, { name, line: fn.line, hits });
  }
  return [...rows.values()].sort((a, b) => a.line - b.line || byText(a.name, b.name));
}

/**
 * Hits by line: the facts that one test proves, restricted to those that all tests together
 * confirm.
 */
function lineRows(whole: Coverage, parts: readonly Coverage[], file: ProgramFile): Map<number, number>[] {
  const rows = parts.map(() => new Map<number, number>());
  if (whole.program.hooks === 'cmp') return rows;
  for (const [line, code] of [...file.lines].sort(([a], [b]) => a - b)) {
    const verdict = whole.line(code);
    if (verdict.state === 'unknown') continue;
    const ran = didRun(verdict.state);
    let isShown = false;
    for (const [i, part] of parts.entries()) {
      const mine = part.line(code);
      if (ran && mine.state === 'unknown') continue;
      rows[i]!.set(line, ran ? hitsOf(mine) : 0);
      if (didRun(mine.state)) isShown = true;
    }
    // Proven only by all tests together: it is attributed to a test that leaves it open.
    if (ran && !isShown) {
      const open = parts.findIndex(part => part.line(code).state === 'unknown');
      rows[Math.max(0, open)]!.set(line, hitsOf(verdict));
    }
  }
  return rows;
}

function section(
  whole: Coverage,
  part: Coverage,
  file: ProgramFile,
  lines: Map<number, number>,
  name: string,
  options: ExportOptions,
): string {
  const functions = functionRows(whole, part, file);
  if (functions.length === 0 && lines.size === 0) return '';
  let text = `TN:${name}\nSF:${visible(rooted(file.path, options))}\n`;
  for (const fn of functions) text += `FN:${fn.line},${fn.name}\n`;
  for (const fn of functions) text += `FNDA:${fn.hits},${fn.name}\n`;
  text += `FNF:${functions.length}\nFNH:${functions.filter(fn => fn.hits > 0).length}\n`;
  let covered = 0;
  for (const [line, hits] of [...lines].sort(([a], [b]) => a - b)) {
    if (hits > 0) covered++;
    text += `DA:${line},${hits}\n`;
  }
  return `${text}LF:${lines.size}\nLH:${covered}\nend_of_record\n`;
}

/**
 * lcov keeps letters, digits and underscores of a test name, with a warning for the rest; two names
 * stay two.
 */
function testNames(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map(name => {
    const plain = name.replace(/[^A-Za-z0-9_]/g, '_').slice(0, 200);
    let unique = plain;
    for (let n = 2; taken.has(unique); n++) unique = `${plain}_${n}`;
    taken.add(unique);
    return unique;
  });
}

/** The coverage of each test, under its name; the whole under all names where they are too many. */
function testCoverages(whole: Coverage): { names: string[]; parts: Coverage[] } {
  const { tests, trace, program } = whole;
  const names = testNames(tests.map(test => test.name));
  if (tests.length <= 1) return { names: [names[0] ?? ''], parts: [whole] };
  if (tests.length > MOST_TESTS) return { names: [`${tests.length}_tests`], parts: [whole] };
  const of = (name: string) => new Coverage(filterTrace(trace, { source: s => s.test === name }), program);
  return { names, parts: tests.map(test => of(test.name)) };
}

export function exportLcov(coverage: Coverage, options: ExportOptions): Iterable<Uint8Array> {
  const { names, parts } = testCoverages(coverage);
  function* pieces(): Generator<string> {
    for (const file of coverage.program.files) {
      if (file.path === '') continue;
      const rows = lineRows(coverage, parts, file);
      for (const [i, part] of parts.entries())
        yield section(coverage, part, file, rows[i]!, names[i]!, options);
    }
  }
  return encodeChunks(pieces());
}
