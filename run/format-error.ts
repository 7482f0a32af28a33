// The error for a file that does not have the format of its kind.
import { KcovboxError } from '../emulator/base/errors.ts';

/**
 * A file does not follow its schema; the message is the rest of a sentence that begins with the
 * file's name.
 */
export class FormatError extends KcovboxError {
  constructor(message: string) {
    super('input', message);
  }
}
