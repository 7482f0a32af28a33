// The failure of a run that is looked for in its forks: a line of the console, the exit status, or
// that the run does not end.
import type { RunResult } from '../../emulator/index.ts';
import { reportLine } from '../many/outcome.ts';
import type { RunOutcome } from '../schema.ts';
import { verdict } from '../verdict.ts';

export type Failure =
  | { readonly kind: 'line'; readonly text: string; readonly matches: (line: string) => boolean }
  | { readonly kind: 'status'; readonly status: number }
  /** Of a run that has spent its budget, waits without end, or was interrupted. */
  | { readonly kind: 'hang' };

/** Numbers differ between two failures of one kind. */
const masked = (line: string): string => line.replace(/0x[0-9a-f]+|\d+/gi, '#');

/** A console line that `pattern` matches; its flags g and y would make the answers depend on it. */
export function lineFailure(pattern: RegExp): Failure {
  const plain = new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, ''));
  const text = `a console line matches /${pattern.source}/`;
  return { kind: 'line', text, matches: line => plain.test(line) };
}

/**
 * The failure that an outcome is: the first report of the kernel, or its panic, where numbers do
 * not count; else a status that is not 0; else a hang. Undefined: the run ended well. `console`:
 * its beginning.
 */
export function failureOf(
  { end, status }: Pick<RunOutcome, 'end' | 'status'>,
  console: string,
): Failure | undefined {
  const report = reportLine(console);
  if (report !== undefined) {
    const wanted = masked(report);
    return { kind: 'line', text: `the line "${report}"`, matches: line => masked(line) === wanted };
  }
  if (end === 'budget' || end === 'halt' || end === 'interrupted') return { kind: 'hang' };
  return status === 0 ? undefined : { kind: 'status', status };
}

/** For people: "exit status 1". */
export function failureText(failure: Failure): string {
  if (failure.kind === 'line') return failure.text;
  return failure.kind === 'hang' ? 'the run does not end' : `exit status ${failure.status}`;
}

/** Is this end the failure? Lines are looked at as they are printed. */
export function failsAt(failure: Failure, result: RunResult): boolean {
  // A reboot is another end, and would start the same run again.
  if (failure.kind === 'line' || result.kind === 'reset') return false;
  const { status, outcome } = verdict(result);
  const isHang = outcome === 'budget' || outcome === 'halt';
  return failure.kind === 'hang' ? isHang : !isHang && status === failure.status;
}
