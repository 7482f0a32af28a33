// Reports of earlier runs: each wrong field of a file is named.
import { expect, test } from 'vitest';
import { reportTable } from '../../bench/report.ts';
import { WORKLOADS } from '../../bench/workloads.ts';
import { parseReport } from '../../cli/bench/report-file.ts';

const REPORT = {
  machine: { cpu: 'cpu', cores: 1, os: 'os', node: 'v1', v8: '1' },
  rounds: 1,
  rows: [
    {
      workload: WORKLOADS.find(({ name }) => name === 'kcov-pc')!,
      cells: { 'kcovbox jit': { seconds: 1, samples: [1] }, qemu: { samples: [], note: 'not here' } },
      figures: {
        ...{ instructions: 1, compiledShare: 1, compiled: 1, regions: 1, modules: 1 },
        ...{ bytesPerInsn: 1, microsPerInsn: 1, dropped: 0, evicted: 0 },
      },
    },
  ],
};

test('a report is read as it was written', () => {
  expect(parseReport('r.json', JSON.stringify(REPORT))).toEqual(JSON.parse(JSON.stringify(REPORT)));
  expect(reportTable(parseReport('r.json', JSON.stringify(REPORT)))).toContain('not here');
});

const [row] = REPORT.rows;
test.each([
  ['rounds', { ...REPORT, rounds: 'x' }],
  ['machine.cpu', { ...REPORT, machine: { ...REPORT.machine, cpu: {} } }],
  ['rows.0.workload.title', { ...REPORT, rows: [{ ...row, workload: { name: 'x' } }] }],
  [
    'rows.0.cells.qemu.seconds',
    { ...REPORT, rows: [{ ...row, cells: { qemu: { seconds: -1, samples: [] } } }] },
  ],
  ['rows', { ...REPORT, rows: null }],
])('a wrong %s is named', (field, report) => {
  const read = (): unknown => parseReport('r.json', JSON.stringify(report));
  expect(read).toThrow(`report r.json: ${field}: `);
  expect(read).toThrow('; make one with kcovbox bench --json FILE');
});
