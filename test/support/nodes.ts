// The Node.js versions that tests run kcovbox on: the present one and those of setup/nodes.mjs.
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'vitest';

const SETUP = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), 'setup', 'nodes.mjs');

export interface NodeVersion {
  readonly major: number;
  readonly path: string;
}

/** The versions of setup/nodes.mjs. Errors: one that exists for this platform is not installed. */
export function otherNodeVersions(): readonly NodeVersion[] {
  const { stdout } = spawnSync(process.execPath, [SETUP, '--list'], { encoding: 'utf8' });
  const { installed, expected } = JSON.parse(stdout) as {
    readonly installed: readonly NodeVersion[];
    readonly expected: readonly number[];
  };
  const missing = expected.filter(major => !installed.some(node => node.major === major));
  if (missing.length > 0)
    throw new Error(`Node.js ${missing.join(' and ')} is not installed; run: node setup/nodes.mjs`);
  return installed;
}

/**
 * The present version first, for a file of tests. A platform that has no package of the others gets
 * a skipped test for each.
 */
export function nodeVersions(): readonly NodeVersion[] {
  const others = otherNodeVersions();
  for (const major of [22, 24])
    if (!others.some(node => node.major === major)) {
      const reason = `Node.js ${major}: npm has no package for ${process.platform}-${process.arch}`;
      console.warn(`skipped: ${reason}`);
      test.skip(reason, () => {});
    }
  return [{ major: Number(process.versions.node.split('.')[0]), path: process.execPath }, ...others];
}
