// Errors of building things: one line for the user, and where the compiler has its own words, those first.

/** Something outside kcovbox is missing or refused its job. `detail` is the tool's own output, shown before the line. */
export class ToolchainError extends Error {
  override readonly name: string = 'ToolchainError';
  readonly detail: string;
  constructor(message: string, detail = '') {
    super(message);
    this.detail = detail;
  }
}

/** The user's program does not compile: its fault, not ours. */
export class CompileError extends ToolchainError {
  override readonly name = 'CompileError';
}
