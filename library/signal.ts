// The signals of callers that end long work.
import { hasParts, is } from '../emulator/base/arguments.ts';

/**
 * An `AbortSignal`, by the parts of it that are used: so the types of this module need neither
 * those of the DOM nor those of Node.js.
 */
export interface Signal {
  readonly aborted: boolean;
  /** The argument of `AbortController.abort`. */
  readonly reason: unknown;
  /** Throws `reason` if the signal is aborted. */
  throwIfAborted(): void;
  /** Calls `listener` when the signal is aborted. */
  addEventListener(type: 'abort', listener: () => void): void;
  /** Calls it no more. */
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** @internal */
export const SIGNAL = is('an AbortSignal', value =>
  hasParts(value, 'aborted', 'throwIfAborted', 'addEventListener', 'removeEventListener'),
);
