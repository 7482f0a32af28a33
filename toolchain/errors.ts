// Errors of building things: one line for the user, and where the compiler has its own words, those
// first.
import { KcovboxError } from '../emulator/base/errors.ts';

/**
 * Something outside kcovbox is missing or refused its job. `detail`: the tool's own output, shown
 * before the line.
 */
export class ToolchainError extends KcovboxError {
  constructor(message: string, detail = '') {
    super('toolchain', message, detail);
  }
}

/** The user's program does not compile: its fault, not ours. */
export class CompileError extends KcovboxError {
  constructor(message: string, detail = '') {
    super('compile', message, detail);
  }
}
