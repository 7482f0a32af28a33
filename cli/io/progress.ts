// On a terminal, one line that is written over; in a log, a line from time to time.
import { standardError, tell } from '../../toolchain/index.ts';

/** Milliseconds between two states of it. */
const PROGRESS_MS = 200;
/** In a log. The first one is as late, so that short work leaves none. */
const LOG_MS = 10_000;

/**
 * The text in one line of the terminal as it is now: a line that wraps could not be written over.
 * The last column stays free, because some terminals wrap when it is filled.
 */
export const fitting = (text: string, columns: number | undefined): string =>
  columns !== undefined && columns > 0 && text.length >= columns ? text.slice(0, columns - 1) : text;

export interface ProgressLine {
  /** `isLast`: also when another one was shown just now. */
  show(text: string, isLast?: boolean): void;
  clear(): void;
}

/** Is it so many milliseconds since the last yes, or since the beginning? `isDue`: now, too. */
function atMostEach(milliseconds: number, isDue: boolean): () => boolean {
  const step = BigInt(milliseconds) * 1_000_000n;
  let last = isDue ? 0n : process.hrtime.bigint();
  return () => {
    const now = process.hrtime.bigint();
    if (now - last < step) return false;
    last = now;
    return true;
  };
}

/** `logs`: work of minutes and hours, which says where it is without a terminal, too. */
export function progressLine({ logs = false } = {}): ProgressLine {
  const isTerminal = standardError().isTTY;
  if (!isTerminal && !logs) return { show: () => {}, clear: () => {} };
  const isTime = atMostEach(isTerminal ? PROGRESS_MS : LOG_MS, isTerminal);
  if (!isTerminal)
    return {
      show(text) {
        if (isTime()) tell(`kcovbox: ${text}\n`);
      },
      clear: () => {},
    };
  return {
    show(text, isLast = false) {
      if (isTime() || isLast) tell(`\r\x1b[K${fitting(text, standardError().columns)}`);
    },
    clear: () => tell('\r\x1b[K'),
  };
}
