// Folders among the temporary files. They go with this process where it ends before the work does
// for which they are.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atEnd } from './ending.ts';

/** How to stop the removal at the end of the process, by path. */
const folders = new Map<string, () => void>();

/** Path of a new folder whose name begins so; it is there until `removeTemporaryFolder`. */
export function makeTemporaryFolder(prefix: string): string {
  let path: string | undefined;
  const release = atEnd(() => {
    if (path === undefined) return;
    try {
      // A tool that was ended just now may still make a file in it.
      rmSync(path, { recursive: true, force: true, maxRetries: 5 });
    } catch {}
  });
  try {
    path = mkdtempSync(join(tmpdir(), prefix));
  } catch (error) {
    release();
    throw error;
  }
  folders.set(path, release);
  return path;
}

/** Removes one that was made above. */
export function removeTemporaryFolder(path: string): void {
  rmSync(path, { recursive: true, force: true });
  folders.get(path)?.();
  folders.delete(path);
}
