// On a terminal, one line that is written over.
import { standardError, tell } from '../../toolchain/index.ts';

/** Milliseconds between two states of it. */
const PROGRESS_MS = 200;

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

export function progressLine(): ProgressLine {
  if (!standardError().isTTY) return { show: () => {}, clear: () => {} };
  let last = 0n;
  return {
    show(text, isLast = false) {
      const now = process.hrtime.bigint();
      if (!isLast && now - last < BigInt(PROGRESS_MS) * 1_000_000n) return;
      last = now;
      tell(`\r\x1b[K${fitting(text, standardError().columns)}`);
    },
    clear: () => tell('\r\x1b[K'),
  };
}
