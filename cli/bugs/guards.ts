// The sources of the kernel that have the guards of a bug.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../toolchain/index.ts';

function sourcesBelow(folder: string): string[] {
  return readdirSync(join(packageRoot(), folder), { withFileTypes: true }).flatMap(entry => {
    const path = `${folder}/${entry.name}`;
    return entry.isDirectory() ? sourcesBelow(path) : entry.name.endsWith('.c') ? [path] : [];
  });
}

/** Paths below the package's folder, in order. */
export function guardsOf(id: string): string[] {
  const guard = new RegExp(`\\bBUG\\(${id}\\)`);
  return sourcesBelow('kernel')
    .filter(path => guard.test(readFileSync(join(packageRoot(), path), 'utf8')))
    .sort();
}
