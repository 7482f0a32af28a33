// The long run of chains.guest.test.ts: 1,800 runs with three versions of Node.js.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { searchChains } from './chains.ts';

const RUNS = Number(process.env['KCOVBOX_RUNS'] ?? 100);
const dir = mkdtempSync(join(tmpdir(), 'kcovbox-chains-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test(`a program has one chain in ${RUNS} runs of each kind`, { timeout: 14_400_000 }, () => {
  for (const links of searchChains(dir, RUNS)) expect(links).toBeGreaterThan(3);
});
