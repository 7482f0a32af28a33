// The errors with a message for people: one line, lower case, with the object and the numbers. Any
// other exception is a defect of kcovbox.

/**
 * The subject of an error:
 * - `machine`: options, images, snapshots or memory that the emulator cannot use;
 * - `coverage`: a trace, an image or a selection that coverage cannot be read from;
 * - `input`: a file or an argument that is missing, damaged or of the wrong kind;
 * - `compile`: the user's program does not compile;
 * - `toolchain`: a compiler or another tool is missing, or a build of ours fails.
 */
export type ErrorKind = 'machine' | 'coverage' | 'input' | 'compile' | 'toolchain';

/**
 * The error that kcovbox throws for conditions that its user can correct. `message` is one line for
 * people.
 */
export class KcovboxError extends Error {
  /** The same for all kinds. */
  override readonly name = 'KcovboxError';
  /** The subject of the error. */
  readonly kind: ErrorKind;
  /** The output of the tool that failed, of several lines; '' if there is none. */
  readonly detail: string;

  constructor(kind: ErrorKind, message: string, detail = '') {
    super(message);
    this.kind = kind;
    this.detail = detail;
  }
}

/** Conditions caused by the emulator's inputs: options, images, input. */
export class HostError extends KcovboxError {
  constructor(message: string, detail = '') {
    super('machine', message, detail);
  }
}
