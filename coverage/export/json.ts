/**
 * Our own JSON, format `kcovbox-coverage` version 1: all facts of the reports, for programs.
 * Addresses are hex strings.
 */
import { hex } from '../base/bytes.ts';
import { type Coverage, percent, type Share, type Totals } from '../model/coverage.ts';
import { encodeChunks } from './common.ts';

const DENOMINATORS = {
  pc: 'call sites of __sanitizer_cov_trace_pc',
  cmp: 'call sites of the comparison hooks',
  none: 'entries of functions',
} as const;

function totalsOf(totals: Totals, hasShare: boolean) {
  const { lines, functions, points } = totals;
  const share = (s: Share) => ({ covered: s.covered, total: s.total, percent: Number(percent(s)) });
  // Without a share, only what ran is known.
  const proven = (s: Share) => ({ ...share(s), ...(!hasShare && { percent: null }) });
  return {
    lines: { ...proven(lines), partly: lines.partly, unknown: lines.unknown },
    functions: { ...proven(functions), unknown: functions.unknown },
    points: share(points),
  };
}

export function exportJson(coverage: Coverage): Iterable<Uint8Array> {
  const { program, trace } = coverage;
  function* pieces(): Generator<string> {
    const head = {
      format: 'kcovbox-coverage',
      version: 1,
      dialect: trace.header.dialect,
      image: trace.header.image || program.elf.imageId,
      notes: trace.header.notes,
      denominators: DENOMINATORS[program.hooks],
      records: trace.count,
      lost: trace.lostTotal,
      filtered: trace.header.filtered === true,
      findings: trace.findings,
      tests: coverage.tests.map(test => ({
        name: test.name,
        points: test.points.length,
      })),
      totals: totalsOf(coverage.totals(), coverage.hasShare),
    };
    yield `${JSON.stringify(head).slice(0, -1)},\n"files":[`;
    let comma = '';
    for (const file of program.files) {
      const lines = [...file.lines]
        .sort(([a], [b]) => a - b)
        .map(([line, code]) => {
          const { state, hits, isLeast } = coverage.line(code);
          return { line, state, hits: hits ?? null, ...(isLeast && { atLeast: true }) };
        });
      const functions = file.functions.map(fn => {
        const { hits, isLeast } = coverage.functionCalls(fn);
        return {
          name: fn.name,
          line: fn.line,
          hits,
          ...(isLeast && { atLeast: true }),
          points: { covered: coverage.coveredPoints(fn.points), total: fn.points.length },
        };
      });
      yield `${comma}\n${JSON.stringify({ path: file.path, totals: totalsOf(coverage.fileTotals(file), coverage.hasShare), functions, lines })}`;
      comma = ',';
    }
    yield '\n],\n"points":[';
    comma = '';
    for (let point = 0; point < program.count; point++) {
      const [pc, call] = [hex(program.ret(point)), hex(program.call(point))];
      yield `${comma}\n{"pc":"${pc}","call":"${call}","hits":${JSON.stringify(coverage.hits[point])}}`;
      comma = ',';
    }
    yield '\n]}\n';
  }
  return encodeChunks(pieces());
}
