// The errors that have a message for people: one line, lower case, naming the thing and the numbers.
// Anything else that is thrown is a defect of ours.

/**
 * What an error is about:
 * - `machine`: options, images, snapshots or memory that the emulator cannot use;
 * - `coverage`: a trace, an image or a selection that coverage cannot be read from;
 * - `input`: a file or an argument that is missing, damaged or of the wrong kind;
 * - `compile`: the user's program does not compile;
 * - `toolchain`: a compiler or another tool is missing, or a build of ours fails.
 */
export type ErrorKind = 'machine' | 'coverage' | 'input' | 'compile' | 'toolchain';

/** The one error that kcovbox throws for what its user can mend. `message` is one line for people. */
export class KcovboxError extends Error {
  override readonly name = 'KcovboxError';
  /** What the error is about. */
  readonly kind: ErrorKind;
  /** The output of the tool that failed, of several lines; '' where there is none. */
  readonly detail: string;

  constructor(kind: ErrorKind, message: string, detail = '') {
    super(message);
    this.kind = kind;
    this.detail = detail;
  }
}

/** Conditions caused by what the emulator was given: options, images, input. */
export class HostError extends KcovboxError {
  constructor(message: string, detail = '') {
    super('machine', message, detail);
  }
}
