// Files that the reader gives to the page.
import type { Stranger, Texts } from '../protocol.ts';

/** Bytes, as for the command. */
const FILE_MAX = 2 ** 30;
/** Bytes of a source text. */
const TEXT_MAX = 2 ** 22;

/** Is it a source text, by its name? All else is a run. */
export const isText = ({ name }: File): boolean => /\.(c|h|cc|cpp|cxx|hh|hpp|inc|def|s|y|l)$/i.test(name);

/** Errors: one line with the name of the file. */
export async function textsOf(files: readonly File[]): Promise<Texts> {
  const texts: Texts[number][] = [];
  for (const file of files) {
    if (file.size > TEXT_MAX)
      throw new Error(`${file.name} has ${file.size} bytes; a source text has at most ${TEXT_MAX}`);
    texts.push({ name: file.name, text: await bytesOf(file) });
  }
  return texts;
}

/** Errors: one line with the name of the file. */
export async function bytesOf(file: File): Promise<Uint8Array> {
  if (file.size > FILE_MAX)
    throw new Error(`${file.name} has ${file.size} bytes; at most ${FILE_MAX} are possible`);
  try {
    return new Uint8Array(await file.arrayBuffer());
  } catch {
    throw new Error(`${file.name} cannot be read: open a file that is no folder`);
  }
}

/** The page has room for one run. */
export const onlyFirst = ({ name }: File, more: number): string =>
  `${name} is open; ${more} more ${more > 1 ? 'files are' : 'file is'} not: open one at a time`;

/** A line about texts that are no sources of the run; empty where there are none. */
export function strangersText([first, ...more]: readonly Stranger[]): string {
  if (!first) return '';
  if (more.length > 0)
    return `${first.name} and ${more.length} more are no sources of this run, and are not shown`;
  return first.isOther
    ? `${first.name} is not shown: this run was compiled from another text of this name`
    : `${first.name} is not shown: it is no source of this run`;
}
