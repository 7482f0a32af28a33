// How a run ended, from the machine at its end: one computation for the command, the library and
// the page, whose capsules must have the same bytes.
import { type Machine, stateHash } from '../emulator/index.ts';
import type { RunOutcome } from './schema.ts';

/** `end` and `status`: the verdict. `consoleHash`: SHA-256 of everything that was printed. */
export function outcomeOf(
  machine: Machine,
  { end, status, consoleHash }: Pick<RunOutcome, 'end' | 'status' | 'consoleHash'>,
): RunOutcome {
  const { instret, time, kcovRecords: records } = machine;
  const state = stateHash(machine);
  const { interval, links } = machine.hasher!.result(state);
  const runHash = { interval, links: [...links] };
  return { end, status, instret, time, stateHash: state, runHash, consoleHash, records };
}
