// The long search over hostile recordings; replay.guest.test.ts has the short one.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, test } from 'vitest';
import { seedFromEnvironment } from '../support/random.ts';
import { record, searchMutants } from './replay-search.ts';

const dir = mkdtempSync(join(tmpdir(), 'kcovbox-replay-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test('2,000 mutants end as recorded, or with one line of ours', () => {
  searchMutants(dir, record(dir), seedFromEnvironment(0xc0de), 2000);
});
