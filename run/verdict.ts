// How a run ended, as an exit status that scripts can rely on (docs/exit-status.md).
import type { RunResult } from '../emulator/index.ts';
import type { RunOutcome } from './schema.ts';

/** kcovbox itself failed, or the guest waits for an interrupt that cannot come. */
export const EXIT_KCOVBOX = 125;
/** Of the latter, on standard error. */
export const HALTED = 'the guest waits for an interrupt that cannot come';
/** The instruction budget is spent. */
export const EXIT_BUDGET = 124;
/** The guest kernel panicked. */
const EXIT_PANIC = 126;
/** The guest could not start the program. */
const EXIT_NO_START = 127;

/** Codes of kernel/boot/poweroff.c for the finisher, besides a program's own status. */
const STATUS_PANIC = 0xff7e;
const STATUS_NO_INIT = 0xff7f;

export interface Verdict {
  readonly status: number;
  readonly outcome: RunOutcome['end'];
}

/**
 * `result` of the last piece; undefined when there was none. `signalStatus`: of the signal that
 * ended the run, where the guest had not ended it already; 0 = none.
 */
export function verdict(result: RunResult | undefined, signalStatus = 0): Verdict {
  const isOver = result?.kind === 'exit' || result?.kind === 'panic';
  if (signalStatus && !isOver) return { status: signalStatus, outcome: 'interrupted' };
  switch (result?.kind) {
    case 'exit':
      if (result.status === STATUS_PANIC) return { status: EXIT_PANIC, outcome: 'panic' };
      if (result.status === STATUS_NO_INIT) return { status: EXIT_NO_START, outcome: 'no-start' };
      return { status: result.status & 0xff, outcome: 'exit' };
    case 'panic':
      return { status: EXIT_PANIC, outcome: 'panic' };
    case 'halt':
      return { status: EXIT_KCOVBOX, outcome: 'halt' };
    default:
      return { status: EXIT_BUDGET, outcome: 'budget' };
  }
}
