// Two machines with the same options, one with the JIT and one with the interpreter, for `--engine lockstep`.

import { Lockstep } from '../engine/lockstep.ts';
import type { JournalEntry } from './journal.ts';
import { Machine, type RunResult } from './machine.ts';
import type { MachineOptions } from './options.ts';

const ENGINES = ['jit', 'interp'] as const;

/**
 * The pair. Give input to both machines (`subject` and `reference`) between runs. Only the subject's console is heard.
 */
export function createLockstep(options: MachineOptions): { pair: Lockstep<RunResult>; machine: Machine } {
  const make = (index: 0 | 1, replay: readonly JournalEntry[], loud: boolean): Machine => {
    const { onConsole, ...rest } = options;
    const heard = loud && onConsole ? { onConsole } : {};
    return Machine.create({ ...rest, ...heard, engine: ENGINES[index], replay });
  };
  const machine = make(0, options.replay ?? [], true);
  const pair = new Lockstep<RunResult>(machine, make(1, options.replay ?? [], false), {
    names: ENGINES,
    make: index => make(index, machine.journal.entries, false),
  });
  return { pair, machine };
}
