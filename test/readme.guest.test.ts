// What the README shows is what the commands print.
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

test('every console block of the README prints what stands under it', () => {
  const { status, stderr } = spawnSync(process.execPath, [join(ROOT, 'setup', 'readme.mjs')], {
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  expect(status).toBe(0);
});
