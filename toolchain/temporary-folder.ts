// Folders among the temporary files. They go with this process where it ends before the work does
// for which they are there.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folders = new Set<string>();

/** Path of a new folder whose name begins so; it is there until `removeTemporaryFolder`. */
export function makeTemporaryFolder(prefix: string): string {
  const path = mkdtempSync(join(tmpdir(), prefix));
  if (folders.size === 0) process.on('exit', removeTemporaryFolders);
  folders.add(path);
  return path;
}

/** Removes one that was made above. */
export function removeTemporaryFolder(path: string): void {
  rmSync(path, { recursive: true, force: true });
  folders.delete(path);
  if (folders.size === 0) process.off('exit', removeTemporaryFolders);
}

/** The same for all of them, before an end that runs no listeners, as that by a signal. */
export function removeTemporaryFolders(): void {
  for (const path of folders)
    try {
      // A tool that was ended just now may still make a file in it.
      rmSync(path, { recursive: true, force: true, maxRetries: 5 });
    } catch {}
}
