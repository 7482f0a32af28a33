// Two engines over one interval of a run: where a replay leaves its recording, only hashes of the
// recording are left, and the other engine is what can be compared with, instruction by
// instruction.

import { HostError } from '../base/errors.ts';
import { Divergence } from '../engine/lockstep.ts';
import { createMachine } from './engine-pair.ts';
import { Machine } from './machine.ts';
import type { MachineOptions } from './options.ts';

/**
 * Runs to unit `from`, and then both engines side by side from a snapshot of there to unit `to`.
 * Returns the first instruction after which they differ, as an error that describes it; undefined:
 * they do not. `options`: with the whole input in `replay`.
 */
export function compareEngines(options: MachineOptions, from: number, to: number): Divergence | undefined {
  const { onConsole, runHash, engine, ...rest } = options;
  const machine = Machine.create({ ...rest, engine: engine === 'interp' ? 'interp' : 'jit' });
  // A call may end early, when devices had much work.
  while (machine.spent < from) {
    const { kind } = machine.run(from - machine.spent);
    if (kind !== 'budget') throw new HostError(`the run ends at unit ${machine.spent}, before unit ${from}`);
  }
  const pair = createMachine({ ...rest, engine: 'lockstep' });
  pair.load(machine.snapshot());
  try {
    while (pair.spent < to && pair.run(to - pair.spent).kind === 'budget');
    return undefined;
  } catch (error) {
    if (error instanceof Divergence) return error;
    throw error;
  }
}
