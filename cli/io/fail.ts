// How the command fails: one line on stderr (after a tool's own output, if any) and an exit status
// for scripts. Statuses 0..124 and 126..255 belong to the guest program; see docs/architecture.md
// and `kcovbox run --help`.

import { KcovboxError } from '../../emulator/base/errors.ts';
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

const escaped = (c: string): string => `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`;

/**
 * Text for a terminal: control characters become visible escapes, so that names in files and the
 * guest's text cannot move the cursor or set the title. `keep`: characters that stay, such as a
 * line feed.
 */
export function printable(text: string, keep = ''): string {
  return text.replace(/[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu, c => (keep.includes(c) ? c : escaped(c)));
}

/** The same for a line with our colours: tabs and colours stay. */
export function printableLine(line: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a colour begins with one
  return line.replace(/\u001b\[[\d;]*m|[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu, found =>
    found.length > 1 || found === '\t' ? found : escaped(found),
  );
}

/**
 * Prints what went wrong and gives the exit status. A stack trace is shown only with KCOVBOX_DEBUG
 * set.
 */
export function report(error: unknown): number {
  if (error instanceof QuietEnd) return error.status;
  if (!(error instanceof Error)) {
    tell(`kcovbox: ${printable(String(error))}\n`);
    return EXIT_KCOVBOX;
  }
  if (process.env['KCOVBOX_DEBUG']) tell(`${error.stack}\n`);
  const detail = error instanceof KcovboxError ? error.detail : '';
  if (detail) tell(`${printable(detail, '\n\t')}\n`);
  const message = error instanceof KcovboxError ? error.message : systemMessage(error);
  const line = printable(message.replaceAll('\n', ' '));
  const system = (error as NodeJS.ErrnoException).code;
  if (error instanceof KcovboxError || system) tell(`kcovbox: ${line}\n`);
  else tell(`kcovbox: internal error: ${line} (please report it; KCOVBOX_DEBUG=1 shows where)\n`);
  if (error instanceof KcovboxError && error.kind === 'compile') return EXIT_COMPILE;
  return error instanceof UserError ? error.status : EXIT_KCOVBOX;
}
