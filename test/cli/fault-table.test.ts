// The table of `faults sweep`, from made-up rows.
import { expect, it } from 'vitest';
import { sweepTable } from '../../cli/faults/table.ts';
import type { Sweep, SweepRow } from '../../run/faults/sweep.ts';

const rowOf = (line: string): SweepRow =>
  ({ fault: { device: 'edu', kind: 'irq-stuck', at: 1 }, outcome: 'other', status: 0, line }) as SweepRow;

/** The last cell of the one row. */
function shown(line: string): string {
  const sweep = { rows: [rowOf(line)], counts: new Map([['edu', { irq: 1 }]]), without: {} };
  const text = sweepTable(sweep as unknown as Sweep, fault => fault);
  return /^edu:irq-stuck .* 0 {7}(.*)$/m.exec(text)![1]!;
}

it('the end of a long line is not cut without a sign', () => {
  const most = 'x'.repeat(64);
  expect(shown(most)).toBe(most);
  expect(shown(`${most}y`)).toBe(`${'x'.repeat(61)}...`);
  expect(shown('irq 12 (edu@4010000): 10000 interrupts in a row, the line is disabled')).toBe(
    'irq 12 (edu@4010000): 10000 interrupts in a row, the line is...',
  );
});
