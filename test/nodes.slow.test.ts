// All unit tests and tests with a guest on the other versions of Node.js. `npm test` runs those
// that NODE_TESTS of setup/nodes.mjs names.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT } from './support/command.ts';
import { nodeVersions } from './support/nodes.ts';

const VITEST = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');

describe('all unit tests and tests with a guest', () => {
  const [, ...others] = nodeVersions();
  test.each(others)('on Node.js $major', { timeout: 7_200_000 }, ({ path }) => {
    const args = [VITEST, 'run', '--project', 'unit', '--project', 'guest', '--reporter=dot'];
    const { status, stdout, stderr } = spawnSync(path, args, {
      cwd: ROOT,
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    });
    expect(status, `${stdout}${stderr}`.slice(-10_000)).toBe(0);
  });
});
