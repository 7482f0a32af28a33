// Folders of the cache.
import { accessSync, constants, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

/**
 * Makes a folder with those above it. `mkdirSync` with `recursive` never returns where a folder
 * exists but takes no new ones and says ENOENT, as /proc does.
 */
export function makeFolders(path: string): void {
  if (isFolder(path)) return;
  if (dirname(path) !== path) makeFolders(dirname(path));
  try {
    mkdirSync(path);
  } catch (error) {
    if (!isFolder(path)) throw error; // else another process made it
  }
}

/** As `makeFolders`, and an error where files cannot be written. */
export function makeWritable(path: string): void {
  makeFolders(path);
  accessSync(path, constants.W_OK);
}
