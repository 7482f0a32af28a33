// Tables and pictures of a bench report show goals beside measurements.

import { describe, expect, test } from 'vitest';
import { geometricMean, type Report, type Row } from '../../bench/bench.ts';
import { reportSvg, reportTable } from '../../bench/report.ts';
import { WORKLOADS } from '../../bench/workloads.ts';

const row = (name: string, seconds: Record<string, number>): Row => ({
  workload: WORKLOADS.find(w => w.name === name)!,
  cells: Object.fromEntries(Object.entries(seconds).map(([e, s]) => [e, { seconds: s, samples: [s] }])),
});
const report = (...rows: Row[]): Report => ({
  machine: { cpu: 'cpu', cores: 1, os: 'os', node: 'v1', v8: '1' },
  rounds: 1,
  rows,
});
const line = (text: string, start: string): string => text.split('\n').find(l => l.startsWith(start))!;

describe('a report', () => {
  test('marks a ratio below what was promised, and no other', () => {
    const table = reportTable(
      report(
        row('mix', { 'kcovbox jit': 2, qemu: 3 }),
        row('sieve', { 'kcovbox jit': 1, qemu: 4 }),
        row('sha256', { 'kcovbox jit': 2, qemu: 1 }),
      ),
    );
    expect(line(table, '| integer mix')).toContain('1.50 (missed)');
    expect(line(table, '| sieve')).toContain('| 4.00 |');
    expect(line(table, '| SHA-256')).toContain('| 0.50 |');
  });

  test('gives recording as a multiple of the elided calls, apart from the other rows', () => {
    const table = reportTable(
      report(
        row('mix', { 'kcovbox jit': 1, qemu: 2 }),
        row('kcov-elided', { 'kcovbox jit': 1 }),
        row('kcov-pc', { 'kcovbox jit': 1.5, qemu: 15 }),
      ),
    );
    expect(line(table, '| trace-pc, recording')).toContain('1.50 (missed) | 1.2 | 10.00 | 6.0');
    expect(line(table, '| geometric mean')).toContain('2.00');
  });

  test('draws a bar for each ratio', () => {
    const svg = reportSvg(report(row('mix', { 'kcovbox jit': 1, qemu: 2 }), row('csr', { qemu: 2 })));
    expect(svg.match(/<rect/g)).toHaveLength(1);
    expect(svg).toContain('2.00x');
  });

  test('has no mean of nothing', () => {
    expect(geometricMean([undefined])).toBeUndefined();
    expect(geometricMean([2, undefined, 8])).toBeCloseTo(4);
  });
});
