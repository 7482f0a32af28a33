// Measurements stay where the figures of a workload cannot be taken, as of one that is too long.
import { afterAll, expect, test, vi } from 'vitest';
import { runBench } from '../../bench/bench.ts';
import { workloadOf } from '../../bench/workloads.ts';

// Files of tests share their modules: this one loads them again, with those below replaced, and
// the next file loads its own.
vi.hoisted(() => vi.resetModules());
afterAll(() => void vi.resetModules());

vi.mock('../../bench/system/figures.ts', () => ({
  figuresOf: () => Promise.reject(new Error('too long')),
}));

vi.mock('../../bench/engines.ts', async importOriginal => {
  const real = await importOriginal<typeof import('../../bench/engines.ts')>();
  const ENGINES = [{ name: real.OURS, missing: () => undefined, command: () => Promise.resolve([]) }];
  return { ...real, ENGINES, measure: () => Promise.resolve({ seconds: 2, check: '7' }) };
});

test('the reason is a note of the row', async () => {
  const workloads = [workloadOf({ name: 'program', path: '/program', args: [] })];
  const { rows } = await runBench({ rounds: 1, workloads, engines: [] });
  expect(rows[0]!.cells).toEqual({ 'kcovbox jit': { samples: [2], seconds: 2, note: 'too long' } });
  expect(rows[0]!.figures).toBeUndefined();
});
