/** A word as a POSIX shell needs it. */
export const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

/** A path as an argument: one that begins with `-` would be an option. */
export const pathWord = (path: string): string => shellWord(path.startsWith('-') ? `./${path}` : path);
