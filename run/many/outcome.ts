// The outcome of one of many runs, from its console and its end, compared with a usual run.
import { HostError, type RunResult } from '../../emulator/index.ts';
import { verdict } from '../verdict.ts';

/** From harmless to bad. */
export const OUTCOMES = ['ok', 'other', 'error', 'hang', 'report', 'panic'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Meanings for tables and help texts. */
export const OUTCOME_TEXT: Readonly<Record<Outcome, string>> = {
  ok: 'same output and status as without a fault',
  other: 'same status, other output',
  error: 'the program ended with another status',
  hang: 'the program did not end within the budget, or waits for what cannot come',
  report: 'the kernel reported an error of its own: KASAN, UBSAN, lockdep, hung task, protocol',
  panic: 'the kernel panicked',
};

/** Outcomes that a driver must not have, whatever its device does. */
export const isBad = (outcome: Outcome): boolean => OUTCOMES.indexOf(outcome) >= OUTCOMES.indexOf('hang');

/** An ended run: its whole console output, and how it ended. */
export interface Ended {
  readonly text: string;
  readonly result: RunResult | undefined;
  /** Violations of the device's protocol rules, one line each. */
  readonly violations: readonly string[];
}

export interface Judged {
  readonly outcome: Outcome;
  /** Exit status of the command. */
  readonly status: number;
  /** The line of the console that tells most; '' when there is none. */
  readonly line: string;
}

/** Reports of the kernel's checkers, the line with the facts first (docs/kernel.md, section 7). */
const REPORTS = [
  /^BUG: .*/m,
  /^UBSAN: .*/m,
  /^lock order reversal: .*/m,
  /^WARNING: .*/m,
  /^INFO: task .* blocked .*/m,
];
const PANIC = /^panic: .*/m;

const find = (patterns: readonly RegExp[], text: string): string | undefined =>
  patterns.map(pattern => pattern.exec(text)?.[0]).find(line => line !== undefined);

/** The line that tells most about an error of the kernel: a report, or its panic. */
export const reportLine = (text: string): string | undefined => find([...REPORTS, PANIC], text);

/** Judges a run by the one without a fault. */
export function judge(run: Ended, without: Ended): Judged {
  const { status, outcome } = verdict(run.result);
  const report = find(REPORTS, run.text) ?? run.violations[0];
  if (outcome === 'panic') return { outcome: 'panic', status, line: report ?? find([PANIC], run.text) ?? '' };
  if (report !== undefined) return { outcome: 'report', status, line: report };
  const line = difference(run.text, without.text);
  if (outcome === 'budget' || outcome === 'halt') return { outcome: 'hang', status, line };
  if (status !== verdict(without.result).status) return { outcome: 'error', status, line };
  return { outcome: run.text === without.text ? 'ok' : 'other', status, line };
}

/** The first line that the other text does not have at its place. */
function difference(text: string, other: string): string {
  const [a, b] = [text.split('\n'), other.split('\n')];
  return a.find((line, i) => line !== b[i] && line.trim() !== '') ?? '';
}

/** A line without its numbers: reports of one bug differ in addresses and threads. */
export const kindOf = (line: string): string => line.replace(/0x[0-9a-f]+|[0-9a-f]{8,}|\d+/g, 'N');

/** `how`: what the run was without. Errors: HostError when there is nothing to compare with. */
export function checkEnds(without: Ended, how = 'without a fault'): void {
  const { outcome } = verdict(without.result);
  if (outcome !== 'exit')
    throw new HostError(
      `the program does not end by itself ${how} (${outcome}): other runs are compared with that one`,
    );
}
