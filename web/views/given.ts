// Files that the reader gives to the page.

/** Bytes, as for the command. */
const FILE_MAX = 2 ** 30;

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
