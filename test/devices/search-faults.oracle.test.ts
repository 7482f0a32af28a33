// The search must find faults: here the first one of each file, with seeds that show it soon; all,
// with the seeds of every search, in search-faults.slow.test.ts.
// A fault whose text is no longer in its file fails and must be renewed.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { expectFound, FAULTS, sourceOf } from './search-faults.ts';

const directory = mkdtempSync(join(tmpdir(), 'kcovbox-faults-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

it.each(FAULTS)('%s: the sources are those that it was written for', (_, file, from) => {
  expect(sourceOf(file)).toContain(from);
});

const firsts = new Map([...FAULTS].reverse().map(fault => [fault[1], fault]));
it.each([...firsts.values()])('the search finds: %s', (...fault) => expectFound(fault, directory, true));
