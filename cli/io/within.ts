// Whether an output would lie in a folder that the command reads.
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { behindLinks } from './output.ts';

/** The path without links, of which the last folders need not be there. */
function realPath(path: string): string {
  if (existsSync(path) || dirname(path) === path) return realpathSync(path);
  return join(realPath(dirname(path)), relative(dirname(path), path));
}

/**
 * Is `output` the folder, or in it? False for paths that are not there or cannot be used: they are
 * refused where they are opened.
 */
export function isWithin(output: string, folder: string): boolean {
  if (output === '-') return false;
  try {
    const way = relative(realpathSync(folder), realPath(behindLinks(resolve(output))));
    return way.split('/')[0] !== '..';
  } catch {
    return false;
  }
}
