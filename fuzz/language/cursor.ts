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
  /** In quotes; \xNN stands for a byte, so a character is one byte. */
  string(): string;
  end(): void;
  error(why: string): FuzzError;
}

const WORD = /[A-Za-z_][\w$]*/y;
const NUMBER = /-?(?:0x[0-9a-fA-F]+|\d+)/y;
const STRING = /"((?:[^"\\]|\\x[0-9a-f]{2}|\\["\\])*)"/y;

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
  const near = (): string => (at < text.length ? `"${text.slice(at, at + 20)}"` : 'the end of the line');
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
      return found[0];
    },
    number() {
      const found = match(NUMBER);
      if (!found) throw error(`a number was expected at ${near()}`);
      const isNegative = found[0].startsWith('-');
      const size = BigInt(isNegative ? found[0].slice(1) : found[0]);
      if (size >= 1n << 64n) throw error(`${found[0]} has more than 64 bits`);
      return isNegative ? -size : size;
    },
    string() {
      const found = match(STRING);
      if (!found) throw error(`a text in quotes was expected at ${near()}`);
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
