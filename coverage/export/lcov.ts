/**
 * lcov tracefiles with the old function records (`FN:line,name`), which every lcov from 1.x to 2.x reads; the newer FNL/FNA make
 * 1.16 say "no data found". No branch records: a trace-pc build does not prove source branches.
 */
import { byText } from '../base/bytes.ts';
import type { Coverage } from '../model/coverage.ts';
import type { ProgramFile, ProgramFunction } from '../model/program.ts';
import { type ExportOptions, encodeChunks, rooted } from './common.ts';

/** lcov keeps letters, digits and underscores of a test name, with a warning for the rest; spare the user the warning. */
function testName(coverage: Coverage): string {
  return coverage.tests
    .map(test => test.name.replace(/[^A-Za-z0-9_]/g, '_'))
    .filter(name => name !== '')
    .join('_')
    .slice(0, 200);
}

/** One row per name: lcov knows a function of a file by name alone. */
function functionRows(coverage: Coverage, file: ProgramFile): { name: string; line: number; hits: number }[] {
  const rows = new Map<string, { name: string; line: number; hits: number }>();
  for (const fn of file.functions as ProgramFunction[]) {
    if (fn.line === 0) continue;
    const hits = coverage.functionHits(fn);
    const row = rows.get(fn.name);
    if (row) row.hits = Math.max(row.hits, hits);
    else rows.set(fn.name, { name: fn.name, line: fn.line, hits });
  }
  return [...rows.values()].sort((a, b) => a.line - b.line || byText(a.name, b.name));
}

export function exportLcov(coverage: Coverage, options: ExportOptions): Iterable<Uint8Array> {
  const name = testName(coverage);
  function* pieces(): Generator<string> {
    for (const file of coverage.program.files) {
      const functions = functionRows(coverage, file);
      if (file.path === '' || (functions.length === 0 && file.lines.size === 0)) continue;
      let text = `TN:${name}\nSF:${rooted(file.path, options.sourceRoot)}\n`;
      for (const fn of functions) text += `FN:${fn.line},${fn.name}\n`;
      for (const fn of functions) text += `FNDA:${fn.hits},${fn.name}\n`;
      text += `FNF:${functions.length}\nFNH:${functions.filter(fn => fn.hits > 0).length}\n`;
      const lines = [...file.lines].sort(([a], [b]) => a - b);
      let covered = 0;
      for (const [line, points] of lines) {
        const hits = coverage.lineHits(points);
        if (hits > 0) covered++;
        text += `DA:${line},${hits}\n`;
      }
      yield `${text}LF:${lines.length}\nLH:${covered}\nend_of_record\n`;
    }
  }
  return encodeChunks(pieces());
}
