// Random programs on a target, executed twice and on both engines, with points and comparisons in
// turn: records, values and all else that an execution tells are the same.
import { expect } from 'vitest';
import { type Executor, HALVES, type Program } from '../../fuzz/index.ts';
import { seedText } from '../support/random.ts';

export interface Agreed {
  points: number;
  comparisons: number;
  /** Faults of devices that have happened. */
  faults: number;
}

/** `next` draws a program; `seed` is for messages. */
export function executionsAgree(
  compiled: Executor,
  interpreted: Executor,
  next: () => Program,
  { programs, seed }: { readonly programs: number; readonly seed: number },
): Agreed {
  const observe = (executor: Executor, program: Program, mode: 'pc' | 'cmp') => {
    const execution = executor.execute(program, mode);
    const count = execution.calls.at(-1)?.end ?? 0;
    const { buffer } = executor.area.slice(2, 2 + HALVES[mode] * count);
    return { ...execution, count, records: Buffer.from(buffer).toString('latin1') };
  };
  const agreed: Agreed = { points: 0, comparisons: 0, faults: 0 };
  for (let n = 0; n < programs; n++) {
    const program = next();
    const mode = n % 2 ? 'cmp' : 'pc';
    const first = observe(compiled, program, mode);
    const where = `program ${n}, seed ${seedText(seed)}`;
    expect(observe(interpreted, program, mode), where).toEqual(first);
    expect(observe(compiled, program, mode), where).toEqual(first);
    agreed[mode === 'pc' ? 'points' : 'comparisons'] += first.count;
    agreed.faults += first.faults.length;
  }
  return agreed;
}
