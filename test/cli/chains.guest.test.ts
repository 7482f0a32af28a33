// Every engine, 1 and 4 harts, every version of Node.js: one chain of run hashes.
// chains.slow.test.ts has 100 runs of each.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { searchChains } from './chains.ts';

const dir = mkdtempSync(join(tmpdir(), 'kcovbox-chains-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test('a program has one chain', { timeout: 600_000 }, () => {
  for (const links of searchChains(dir, 1)) expect(links).toBeGreaterThan(3);
});
