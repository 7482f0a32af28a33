// Reads a line of text from left to right: descriptions and programs.
import { FuzzError } from './types.ts';

export interface Cursor {
  /** Takes `text` if it comes next. */
  has(text: string): boolean;
  /** The same. Errors: FuzzError when something else comes. */
  take(text: string): void;
  /** Would `has` take it? */
  sees(text: string): boolean;
  word(): string;
  number(): bigint;
  /** In quotes, ASCII; \xNN stands for a byte, so a character of the result is one byte. */
  string(): string;
  end(): void;
  error(why: string): FuzzError;
}

const WORD = /[A-Za-z_][\w$]*/y;
const NUMBER = /-?(?:0x[0-9a-fA-F]+|\d+)/y;
const NO_ASCII = /[^\0-\x7f]/u;
const STRING = /"((?:[^"\\]|\\x[0-9a-f]{2}|\\["\\])*)"/y;

/** Most characters of a name: the journal of a campaign names calls. */
export const NAME_MAX = 64;
/** Characters of a text in a message. */
const SHOWN_MAX = 20;

/** `where`: of the line, for errors. */
export function cursorOver(text: string, where: string): Cursor {
  let at = 0;
  const skip = (): void => {
    while (text[at] === ' ' || text[at] === '\t') at++;
  };
  const match = (pattern: RegExp): RegExpExecArray | undefined => {
    skip();
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) at += found[0].length;
    return found ?? undefined;
  };
  const error = (why: string): FuzzError => new FuzzError(`${where}: ${why}`);
  const near = (): string =>
    at < text.length ? JSON.stringify(text.slice(at, at + SHOWN_MAX)) : 'the end of the line';
  const sees = (wanted: string): boolean => {
    skip();
    return text.startsWith(wanted, at);
  };
  const has = (wanted: string): boolean => {
    if (!sees(wanted)) return false;
    at += wanted.length;
    return true;
  };
  return {
    sees,
    has,
    take(wanted) {
      if (!has(wanted)) throw error(`"${wanted}" was expected at ${near()}`);
    },
    word() {
      const found = match(WORD);
      if (!found) throw error(`a name was expected at ${near()}`);
      if (found[0].length > NAME_MAX)
        throw error(`"${found[0].slice(0, SHOWN_MAX)}" goes on: a name has at most ${NAME_MAX} characters`);
      return found[0];
    },
    number() {
      const found = match(NUMBER);
      if (!found) throw error(`a number was expected at ${near()}`);
      const isNegative = found[0].startsWith('-');
      const size = BigInt(isNegative ? found[0].slice(1) : found[0]);
      if (size >= 1n << 64n) throw error(`${found[0].slice(0, SHOWN_MAX)} has more than 64 bits`);
      return isNegative ? -size : size;
    },
    string() {
      const found = match(STRING);
      if (!found) throw error(`a text in quotes was expected at ${near()}`);
      const other = NO_ASCII.exec(found[1]!)?.[0];
      if (other) throw error(`${JSON.stringify(other)} is not ASCII: write its bytes as \\xNN`);
      return found[1]!.replace(/\\(?:x([0-9a-f]{2})|(.))/g, (_, hex?: string, plain?: string) =>
        hex === undefined ? plain! : String.fromCharCode(Number.parseInt(hex, 16)),
      );
    },
    end() {
      skip();
      if (at < text.length) throw error(`${near()} is too much`);
    },
    error,
  };
}
