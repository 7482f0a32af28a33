// The journal of a capsule: journal.jsonl has one arrival per line, input.bin their bytes.
import { FormatError } from '../format-error.ts';
import type { Arrival } from '../input.ts';
import { firstIssue } from '../issue.ts';
import { type ArrivalLine, arrival } from './schema.ts';

/** More than a person types in weeks; reading them takes seconds. */
export const ARRIVALS_MAX = 1_000_000;
/** Longer than any line that is written. */
const LINE_MAX = 120;
const LF = 10;

function damaged(why: string): never {
  throw new FormatError(`is damaged: journal.jsonl: ${why}`);
}

/** Lines of bytes, one at a time: a file of brackets shall not become a tree of arrays. */
function* linesOf(bytes: Uint8Array): Generator<string> {
  const decoder = new TextDecoder();
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(LF, at);
    if (end < 0 || end - at > LINE_MAX) damaged(`the line at byte ${at} has no end`);
    yield decoder.decode(bytes.subarray(at, end));
    at = end + 1;
  }
}

function parse(text: string, n: number): ArrivalLine {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    damaged(`line ${n} is not JSON`);
  }
  const line = arrival.safeParse(value);
  if (!line.success) damaged(`line ${n}: ${firstIssue(line.error)}`);
  return line.data;
}

export interface JournalLimits {
  /** Virtual time at which the run ended. */
  readonly end: number;
  readonly hasConsole: boolean;
}

/**
 * The arrivals. Errors: FormatError with the number of the first line that is wrong; time is linear
 * in the number of lines.
 */
export function readJournal(lines: Uint8Array, input: Uint8Array, limits: JournalLimits): Arrival[] {
  const journal: Arrival[] = [];
  let last = 0;
  let taken = 0;
  for (const text of linesOf(lines)) {
    const n = journal.length + 1;
    if (n > ARRIVALS_MAX) damaged(`it has more than ${ARRIVALS_MAX} lines`);
    const line = parse(text, n);
    if (line.at < last) damaged(`line ${n}: at: ${line.at} is before the line in front of it`);
    if (line.at > limits.end) damaged(`line ${n}: at: ${line.at} is after the end of the run`);
    if ((line.port === 'console' || line.port === 'resize') && !limits.hasConsole)
      damaged(`line ${n}: port: the machine has no virtio console`);
    last = line.at;
    if (line.port === 'resize') {
      const { at, port, rows, cols } = line;
      journal.push({ at, port, bytes: [rows & 255, rows >> 8, cols & 255, cols >> 8] });
    } else if (line.port === 'break') {
      journal.push({ ...line, bytes: [] });
    } else {
      if (line.bytes > input.length - taken) damaged(`line ${n}: bytes: input.bin has no ${line.bytes} more`);
      journal.push({ ...line, bytes: input.subarray(taken, taken + line.bytes) });
      taken += line.bytes;
    }
  }
  if (taken !== input.length) damaged(`it takes ${taken} of the ${input.length} bytes of input.bin`);
  return journal;
}
