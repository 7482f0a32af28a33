// The long searches of docs/oracles.md start as the page says: `node --import tsx`, for which tsx
// is a dependency, because Node.js 20 does not read TypeScript.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../support/command.ts';

const page = readFileSync(join(ROOT, 'docs', 'oracles.md'), 'utf8');

it.each([
  ['test/devices/search/main.ts', ['SEED', 'PROGRAMS'], ['de71', '2'], 0, /^seed de71: 2 programs/],
  ['test/devices/hostile/main.ts', ['blk', 'FIRST_SEED', 'RUNS'], ['none', '1', '1'], 2, /^drivers: .*blk/],
] as const)('node --import tsx %s', (program, words, args, status, output) => {
  expect(page).toContain(`\nnode --import tsx ${[program, ...words].join(' ')}\n`);
  const run = spawnSync(process.execPath, ['--import', 'tsx', program, ...args], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  expect([run.status, run.stdout + run.stderr]).toEqual([status, expect.stringMatching(output)]);
});
