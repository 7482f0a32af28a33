// Errors of building things: one line for the user, and where the compiler has its own words, those first.

/** Something outside kcovbox is missing or refused its job. `detail` is the tool's own output, shown before the line. */
export class ToolchainError extends Error {
  readonly detail: string;
  constructor(message: string, detail = '') {
    super(message);
    this.name = 'ToolchainError';
    this.detail = detail;
  }
}
