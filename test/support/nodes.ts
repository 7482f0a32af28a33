// The Node.js versions that tests run kcovbox on: the present one and those of setup/nodes.mjs.
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SETUP = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), 'setup', 'nodes.mjs');

export interface NodeVersion {
  readonly major: number;
  readonly path: string;
}

/** The present version first; a version that is not installed is named on the console. */
export function nodeVersions(): readonly NodeVersion[] {
  const { stdout } = spawnSync(process.execPath, [SETUP, '--list'], { encoding: 'utf8' });
  const others = JSON.parse(stdout) as NodeVersion[];
  for (const major of [22, 24])
    if (!others.some(node => node.major === major))
      console.warn(`skipped: Node.js ${major} is not installed (node setup/nodes.mjs)`);
  return [{ major: Number(process.versions.node.split('.')[0]), path: process.execPath }, ...others];
}
