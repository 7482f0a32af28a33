// One run of a kernel with historical bugs: the canaries, and what detected the bug.
import type { MachineOptions } from '../../emulator/index.ts';
import { Guest } from '../many/guest.ts';
import { type Ended, reportLine } from '../many/outcome.ts';
import { verdict } from '../verdict.ts';
import { type Canary, type CanaryTable, readCanaries } from './canaries.ts';
import type { Detector } from './row.ts';

export interface BugOutcome {
  /** Of the command, as `kcovbox run` would end. */
  readonly status: number;
  /** undefined: nothing saw a bug. */
  readonly detected: Detector | undefined;
  /** The line of the console that tells most. */
  readonly line: string;
  readonly canaries: readonly Canary[];
  readonly ended: Ended;
}

/** A trigger's own line about a wrong result (bugs/trigger.h). */
const WRONG = /^wrong: .*/m;

function detect(text: string, outcome: string): { detected: Detector | undefined; line: string } {
  const report = reportLine(text);
  if (report !== undefined) {
    const detected = report.startsWith('BUG: KASAN')
      ? 'kasan'
      : report.startsWith('UBSAN')
        ? 'ubsan'
        : 'panic';
    return { detected, line: report };
  }
  if (outcome === 'panic') return { detected: 'panic', line: '' };
  if (outcome === 'budget' || outcome === 'halt') return { detected: 'hang', line: 'it does not end' };
  const line = WRONG.exec(text)?.[0];
  return { detected: line === undefined ? undefined : 'result', line: line ?? '' };
}

/** Nanoseconds of the guest after which it waits for what cannot come. */
const TIME_MAX = 600e9;

/** Runs the machine from power-on to its end, or for `maxInsns` instructions and exceptions. */
export async function runWithCanaries(
  machine: MachineOptions,
  table: CanaryTable,
  maxInsns: number,
): Promise<BugOutcome> {
  const guest = new Guest(machine);
  const ended = await guest.runToEnd(maxInsns, TIME_MAX);
  const { status, outcome } = verdict(ended.result);
  const canaries = readCanaries(guest.machine, table);
  return { status, ...detect(ended.text, outcome), canaries, ended };
}
