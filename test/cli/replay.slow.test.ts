// The long search over hostile capsules; replay.guest.test.ts has the short one.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { seedFromEnvironment } from '../support/random.ts';
import { record, recordBoot, searchInBatches } from './replay-search.ts';

const dir = mkdtempSync(join(tmpdir(), 'kcovbox-replay-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test('10,000 mutants of a capsule of boot are the same run, or refused', { timeout: 7_200_000 }, () => {
  const same = searchInBatches(dir, recordBoot(dir), seedFromEnvironment(0xc0de), 10_000);
  expect(same).toBeGreaterThan(100);
});

test('500 mutants of a capsule of run', { timeout: 7_200_000 }, () => {
  searchInBatches(dir, record(dir), seedFromEnvironment(0xc0df), 500, 20);
});
