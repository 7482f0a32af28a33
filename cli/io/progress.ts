// On a terminal, one line that is written over.
import { standardError, tell } from '../../toolchain/index.ts';

/** Milliseconds between two states of it. */
const PROGRESS_MS = 200;

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
      tell(`\r\x1b[K${text}`);
    },
    clear: () => tell('\r\x1b[K'),
  };
}
