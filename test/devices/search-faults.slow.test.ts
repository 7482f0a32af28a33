// The search must find every fault.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, it } from 'vitest';
import { expectFound, FAULTS } from './search-faults.ts';

const directory = mkdtempSync(join(tmpdir(), 'kcovbox-faults-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

it.each(FAULTS)('the search finds: %s', (...fault) => expectFound(fault, directory));
