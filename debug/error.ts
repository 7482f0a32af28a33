// A request to the debugger that cannot be met.
import { KcovboxError } from '../emulator/index.ts';

/** One line for the user. */
export class DebugError extends KcovboxError {
  constructor(message: string) {
    super('input', message);
  }
}

export const notMapped = (va: bigint): DebugError =>
  new DebugError(`nothing is mapped at 0x${va.toString(16)}`);
