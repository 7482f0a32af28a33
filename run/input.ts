// Input from outside: the journal as lines of text and their bytes, and its form in a run
// description.
import type { RunDescription } from './schema.ts';

/** One arrival, as the emulator's journal has it. */
export interface Arrival {
  readonly at: number;
  readonly port: 'uart' | 'console' | 'break' | 'resize';
  readonly bytes: ArrayLike<number> & Iterable<number>;
}

export type InputDescription = RunDescription['input'];
/** In hexadecimal. */
export type Sha256 = (bytes: Uint8Array | string) => string;

/** The bytes of all arrivals that have any that the guest reads, in order. */
export function inputBytes(journal: readonly Arrival[]): Uint8Array {
  const typed = journal.filter(({ port }) => port === 'uart' || port === 'console');
  const all = new Uint8Array(typed.reduce((sum, { bytes }) => sum + bytes.length, 0));
  let at = 0;
  for (const { bytes } of typed) {
    all.set(bytes, at);
    at += bytes.length;
  }
  return all;
}

/**
 * One JSON object per line, with the number of bytes in place of the bytes (`arrival` in
 * capsule/schema.ts).
 */
export function journalLines(journal: readonly Arrival[]): Uint8Array {
  const lines = journal.map(({ at, port, bytes }) => {
    const [rows = 0, rowsHigh = 0, cols = 0, colsHigh = 0] = bytes;
    if (port === 'break') return JSON.stringify({ at, port });
    if (port === 'resize')
      return JSON.stringify({ at, port, rows: rows | (rowsHigh << 8), cols: cols | (colsHigh << 8) });
    return JSON.stringify({ at, port, bytes: bytes.length });
  });
  return new TextEncoder().encode(lines.map(line => `${line}\n`).join(''));
}

/**
 * The arrival of a stream follows from the run, by the rule of its delivery, so that its bytes and
 * the place of its end describe it; interactive input has times, too.
 */
export function describeInput(
  journal: readonly Arrival[],
  rule: 'interactive' | 'idle-64k' | 'poll-64k',
  sha256: Sha256,
): InputDescription {
  const bytes = inputBytes(journal);
  const facts = { bytes: bytes.length, sha256: sha256(bytes) };
  if (journal.length === 0) return { kind: 'none', ...facts, rule: null, endAt: null, journal: null };
  if (rule === 'interactive')
    return { kind: 'interactive', ...facts, rule: null, endAt: null, journal: sha256(journalLines(journal)) };
  const endAt = journal.some(({ port }) => port === 'break') ? bytes.length : null;
  return { kind: 'stream', ...facts, rule, endAt, journal: null };
}
