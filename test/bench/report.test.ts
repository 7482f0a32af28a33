// Tables and pictures of a bench report show goals beside measurements.

import { describe, expect, test } from 'vitest';
import { geometricMean, type Report, type Row } from '../../bench/bench.ts';
import { reportSvg, reportTable } from '../../bench/report.ts';
import { systems, WORKLOADS, workloadOf } from '../../bench/workloads.ts';

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

  test('has the ratio of a second run beside that of the first', () => {
    const rows = ['ash', 'awk'].map(name => ({
      ...row('mix', { 'kcovbox jit': 4, 'kcovbox jit again': 2, qemu: 2 }),
      workload: systems(1).find(w => w.name === name)!,
    }));
    const table = reportTable(report(...rows));
    expect(line(table, '| workload')).toContain('| x qemu | again x qemu |');
    expect(line(table, '| geometric mean')).toContain('| 0.50 (missed) | 1.00 (missed) |');
  });

  test('gives recording as a multiple of the elided calls, apart from the other rows', () => {
    const table = reportTable(
      report(
        row('mix', { 'kcovbox jit': 1, qemu: 2 }),
        row('kcov-elided', { 'kcovbox jit': 1 }),
        row('kcov-pc', { 'kcovbox jit': 1.5, qemu: 15 }),
      ),
    );
    expect(line(table, '| trace-pc, recording')).toContain('1.50 (missed) | 1.2 | 10.00 | 10.0');
    expect(line(table, '| geometric mean')).toContain('2.00');
  });

  test('keeps systems apart, with a mean and figures of their own', () => {
    const figures = {
      ...{ instructions: 300_000_000, compiledShare: 0.5, compiled: 1000, regions: 20, modules: 4 },
      ...{ bytesPerInsn: 25.4, microsPerInsn: 3.2, dropped: 2, evicted: 1 },
    };
    const table = reportTable(
      report(
        row('mix', { 'kcovbox jit': 1, qemu: 2 }),
        { ...row('ash', { 'kcovbox jit': 2, qemu: 1 }), figures },
        row('awk', { 'kcovbox jit': 1, qemu: 8 }),
      ),
    );
    const means = table.split('\n').filter(text => text.startsWith('| geometric mean'));
    expect(means.map(text => /\d\.\d\d/.exec(text)![0])).toEqual(['2.00', '2.00']);
    expect(line(table, '| shell')).toContain('0.50 (missed) | 1.2 | 2.0');
    expect(line(table, '| ash')).toBe('| ash | 300 | 150 | 50 | 1000 | 20 | 4 | 25 | 3 | 2 | 1 |');
  });

  test('has no goals for a program of the user', () => {
    const workload = workloadOf({ name: 'a.elf', path: '/tmp/b', args: ['-n', '3'] });
    const table = reportTable(report({ ...row('ash', { 'kcovbox jit': 2, qemu: 1 }), workload }));
    expect(line(table, '| a.elf')).toBe('| a.elf -n 3 | 2.00 | 1.00 | 0.50 | - | - |');
    expect(line(table, '| geometric mean')).toBe('| geometric mean |  |  | 0.50 | - | - |');
  });

  test('draws a bar for each ratio', () => {
    const svg = reportSvg(report(row('mix', { 'kcovbox jit': 1, qemu: 2 }), row('csr', { qemu: 2 })));
    expect(svg.match(/<rect/g)).toHaveLength(1);
    expect(svg).toContain('2.00x');
  });

  test.each([0.001, 190, 100_000])('keeps bars and their labels within the picture: %dx', times => {
    const svg = reportSvg(
      report(row('mix', { 'kcovbox jit': 1, qemu: 2 }), row('csr', { 'kcovbox jit': 1, qemu: times })),
    );
    const width = Number(/ width="(\d+)"/.exec(svg)![1]);
    const starts = [...svg.matchAll(/<rect x="([\d.-]+)"/g)].map(([, x]) => Number(x));
    const titles = [...svg.matchAll(/<text x="(\d+)"[^>]* text-anchor="end"/g)].map(([, x]) => Number(x));
    for (const [i, start] of starts.entries()) expect(start).toBeGreaterThan(titles[i]!);
    const labels = [...svg.matchAll(/<text x="([\d.]+)" y="\d+">([\d.]+x)</g)];
    expect(labels.length).toBe(2);
    for (const [, x, text] of labels) expect(Number(x) + 8 * text!.length).toBeLessThanOrEqual(width);
    const ends = [...svg.matchAll(/<rect x="([\d.-]+)" y="\d+" width="([\d.]+)"/g)];
    for (const [, x, wide] of ends) expect(Number(x) + Number(wide)).toBeLessThanOrEqual(width);
  });

  test('has no mean of nothing', () => {
    expect(geometricMean([undefined])).toBeUndefined();
    expect(geometricMean([2, undefined, 8])).toBeCloseTo(4);
  });
});
