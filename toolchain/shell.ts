// Words for /bin/sh.

/** A word between quotes, as any POSIX shell reads it from a file. */
export const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;
