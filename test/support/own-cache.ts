// A cache for the tests of one file: empty, but for the kernels and objects that are there.

import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { cacheDir, objectDir } from '../../toolchain/index.ts';

/** Makes the folder, and sets KCOVBOX_CACHE, which the caller removes behind its tests. */
export function useOwnCache(path: string): void {
  const shared = { kernel: join(cacheDir(), 'kernel'), objects: objectDir() };
  mkdirSync(path);
  for (const [name, folder] of Object.entries(shared)) {
    mkdirSync(folder, { recursive: true });
    symlinkSync(folder, join(path, name));
  }
  process.env['KCOVBOX_CACHE'] = path;
}
