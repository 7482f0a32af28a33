// Whether a program has crashed the guest, and the title of that.
import type { Execution, Executor } from '../executor/executor.ts';
import type { Mode } from '../executor/records.ts';
import { titleOf, violationTitle } from '../executor/title.ts';
import type { Program } from '../program/program.ts';

/** The title of what went wrong in an execution; undefined: nothing did. */
export const crashOf = (program: Program, execution: Execution): string | undefined =>
  titleOf(execution.end, execution.console, openCall(program, execution)) ??
  violationOf(execution.violations, execution.faults);

/** The name of the call in which an execution ended: the last one that has not returned, or has. */
function openCall({ calls }: Program, { calls: called }: Execution): string | undefined {
  const open = called.findLastIndex(({ hasBegun, value }) => hasBegun && value === undefined);
  return calls[open < 0 ? called.length - 1 : open]?.type.name;
}

/**
 * The first rule of a device that was violated. A device that has failed has told its driver what
 * is not true, so what the driver does to it then says nothing.
 */
function violationOf(violations: Execution['violations'], faults: Execution['faults']): string | undefined {
  const first = violations.find(({ device }) => faults.every(fault => fault.device !== device));
  return first && violationTitle(first.device, first.rule);
}

export interface Examined {
  readonly execution: Execution;
  readonly title: string | undefined;
  /** Executions besides the one. */
  readonly more: number;
}

/**
 * Executes a program. If a call sleeps without end because of a fault, it hangs: many calls do so
 * without one, so the program is executed without its faults, too.
 */
export function examine(executor: Executor, program: Program, mode: Mode, settles: boolean): Examined {
  const execution = executor.execute(program, mode, settles);
  const title = crashOf(program, execution);
  const isLost = title === undefined && execution.end === 'asleep' && execution.faults.length > 0;
  if (!isLost) return { execution, title, more: 0 };
  const { end } = executor.execute({ ...program, faults: undefined }, mode, settles);
  const hung = end === 'asleep' ? undefined : titleOf('hang', '', openCall(program, execution));
  // The records of the first execution are gone.
  return { execution: executor.execute(program, mode, settles), title: hung, more: 2 };
}
