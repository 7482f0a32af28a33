// One run of a machine on behalf of a verb: slices of guest work between which console, signals and progress get their turn.
// Nothing here can change what the guest computes, except the input that the journal stamps.
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import { createMachine, type Machine, type MachineOptions, type RunResult } from '../emulator/index.ts';
import type { GuestConsole } from './console.ts';
import { EXIT_BUDGET, EXIT_KCOVBOX, EXIT_NO_START, EXIT_PANIC } from './fail.ts';
import { type GdbOptions, GdbServer } from './gdb.ts';

/** Guest instructions per slice: some tens of milliseconds. */
const SLICE = 20_000_000;
/** A slice in which fewer instructions ran than this was spent waiting; the host may rest. */
const IDLE_SLICE = 200_000;
const IDLE_MS = 10;

/** What kernel/boot/poweroff.c tells through the finisher beyond a program's own status. */
const STATUS_PANIC = 0xff7e;
const STATUS_NO_INIT = 0xff7f;

export interface SessionOptions {
  readonly machine: MachineOptions;
  readonly console: GuestConsole;
  readonly maxInsns?: number;
  /** Listen to standard input. */
  readonly input?: boolean;
  /** Offer the machine to a debugger. */
  readonly gdb?: GdbOptions;
  /** Called on the machine before its first instruction. */
  readonly prepare?: (machine: Machine) => void;
}

export interface SessionEnd {
  readonly machine: Machine;
  /** Exit status by the contract in the help text. */
  readonly status: number;
  readonly outcome: 'exit' | 'panic' | 'no-start' | 'budget' | 'halt' | 'interrupted';
  readonly wallSeconds: number;
}

/** Boots and runs until the guest ends, the budget is spent or the user interrupts. */
export async function runSession(options: SessionOptions): Promise<SessionEnd> {
  const { console: line } = options;
  const machine = createMachine({ ...options.machine, onConsole: byte => line.put(byte) });
  options.prepare?.(machine);
  let interrupted = false;
  const onSignal = (): void => {
    if (interrupted) process.exit(130); // a second Ctrl-C does not wait for the slice
    interrupted = true;
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  const start = process.hrtime.bigint();
  let result: RunResult | undefined;
  const gdb = options.gdb && (await GdbServer.listen(machine, options.gdb));
  // With a terminal the guest's idle time passes in pieces too, so that keys are seen.
  const duration = options.input ? SLICE : Number.POSITIVE_INFINITY;
  try {
    if (options.input) line.attachInput();
    await turn();
    let left = options.maxInsns ?? Number.POSITIVE_INFINITY;
    while (left > 0 && !interrupted && !line.quit) {
      // Only at a halt is the moment of delivery the guest's own, and the run the same whatever the host's timing.
      const typed = line.isTyped || result?.kind === 'halt' ? line.take() : [];
      if (typed.length > 0) machine.input(typed);
      const before = machine.spent;
      result = (gdb ?? machine).run(Math.min(SLICE, left), duration);
      const spent = machine.spent - before;
      left -= spent;
      line.flush();
      if (result.kind === 'reset') machine.reset();
      else if (result.kind === 'halt') {
        if (!options.input || line.inputEnded) break;
        await delay(IDLE_MS);
      } else if (result.kind !== 'budget') break;
      else if (gdb?.isStanding || (spent < IDLE_SLICE && options.input)) await delay(IDLE_MS);
      else await turn();
    }
  } finally {
    gdb?.close();
    line.close();
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
  const wallSeconds = Number(process.hrtime.bigint() - start) / 1e9;
  return { machine, wallSeconds, ...verdict(result, interrupted || line.quit) };
}

function verdict(
  result: RunResult | undefined,
  interrupted: boolean,
): Pick<SessionEnd, 'status' | 'outcome'> {
  if (interrupted) return { status: 130, outcome: 'interrupted' };
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

/** One line for the user about an end that is not the program's own. */
export function explain(end: SessionEnd): string | undefined {
  if (end.outcome === 'exit') return undefined;
  const at = `after ${end.machine.instret.toLocaleString('en-US')} instructions`; // costs 20 ms the first time
  switch (end.outcome) {
    case 'budget':
      return `the instruction budget is spent ${at}; raise --max-insns`;
    case 'panic':
      return `the guest kernel panicked ${at}`;
    case 'no-start':
      return 'the guest could not start the program';
    case 'halt':
      return `the guest waits for an interrupt that cannot come, ${at}`;
    case 'interrupted':
      return `interrupted ${at}`;
    default:
      return undefined;
  }
}
