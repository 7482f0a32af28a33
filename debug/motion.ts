// Motions of the debugger, and the reasons why they end.
import type { InPieces, RunResult } from '../emulator/index.ts';

/** The reason why the run stands. */
export type Reason =
  /** `note`: what the user did not ask for. */
  | { readonly kind: 'step'; readonly note?: string }
  | { readonly kind: 'breakpoint'; readonly id: number; readonly note?: string }
  | {
      readonly kind: 'watch';
      readonly id: number;
      readonly before: string;
      readonly after: string;
      readonly note?: string;
    }
  | { readonly kind: 'end'; readonly result: RunResult }
  | { readonly kind: 'begin' };

/** Yields from time to time, with the machine somewhere on the way. */
export type Motion = InPieces<Reason>;

export type Direction = 'forward' | 'back';
