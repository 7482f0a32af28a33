// How the command fails: one line on stderr (after a tool's own output, if any) and an exit status
// for scripts. Statuses 0..124 and 126..255 belong to the guest program; see docs/architecture.md
// and `kcovbox run --help`.

import { KcovboxError } from '../../emulator/base/errors.ts';
import { visible } from '../../emulator/base/words.ts';
import { EXIT_KCOVBOX } from '../../run/verdict.ts';
import { systemMessage, tell } from '../../toolchain/index.ts';

/** The user's program does not compile. */
export const EXIT_COMPILE = 123;

/** An error that the user can correct; the message is one line: what, where, what to do. */
export class UserError extends KcovboxError {
  readonly status: number;
  constructor(message: string, status: number = EXIT_KCOVBOX) {
    super('input', message);
    this.status = status;
  }
}

/** Ends the command without a message, because the user caused it (`| head`). */
export class QuietEnd extends Error {
  override readonly name = 'QuietEnd';
  readonly status: number;
  constructor(status: number) {
    super(`status ${status}`);
    this.status = status;
  }
}

/** `visible` for a line with our colours: tabs and colours stay. */
export function printableLine(line: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a colour begins with one
  const parts = line.split(/(\u001b\[[\d;]*m)/);
  return parts.map((part, i) => (i % 2 === 1 ? part : visible(part, '\t'))).join('');
}

/**
 * Prints what went wrong and gives the exit status. A stack trace is shown only with KCOVBOX_DEBUG
 * set.
 */
export function report(error: unknown): number {
  if (error instanceof QuietEnd) return error.status;
  if (!(error instanceof Error)) {
    tell(`kcovbox: ${visible(String(error))}\n`);
    return EXIT_KCOVBOX;
  }
  if (process.env['KCOVBOX_DEBUG']) tell(`${error.stack}\n`);
  const detail = error instanceof KcovboxError ? error.detail : '';
  if (detail) tell(`${visible(detail, '\n\t')}\n`);
  const message = error instanceof KcovboxError ? error.message : systemMessage(error);
  const line = visible(message.replaceAll('\n', ' '));
  const system = (error as NodeJS.ErrnoException).code;
  if (error instanceof KcovboxError || system) tell(`kcovbox: ${line}\n`);
  else tell(`kcovbox: internal error: ${line} (please report it; KCOVBOX_DEBUG=1 shows where)\n`);
  if (error instanceof KcovboxError && error.kind === 'compile') return EXIT_COMPILE;
  return error instanceof UserError ? error.status : EXIT_KCOVBOX;
}
