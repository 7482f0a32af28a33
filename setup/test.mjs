// `npm test`: set up what is missing (the oracles too), then run every test project but the slow one.
// Ends with one line `N passed, N failed, N skipped`. Arguments are passed on to vitest.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { bundle, isFresh } from './bundle.mjs';
import { ensureNpm, ensurePackages, ROOT, say } from './ensure.mjs';
import { ensureNodes } from './nodes.mjs';
import { BUILD, ORACLES } from './packages.mjs';

ensureNpm();
ensurePackages(BUILD, 'compiling the guest');
ensurePackages(ORACLES, 'the oracles of the tests', { optional: true }); // a test without its oracle says so and is skipped
if (!ensureNodes()) say('no other Node.js for the tests (going on without)');
if (!isFresh()) await bundle();
// One build of each kernel before two workers would both start it.
for (const dialect of ['openbsd', 'netbsd', 'freebsd', 'linux']) {
  const command = [join(ROOT, 'bin', 'kcovbox.cjs'), 'build', 'kernel', '--dialect', dialect];
  const built = spawnSync(process.execPath, command, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] });
  if (built.status !== 0) process.exit(built.status ?? 125);
}

const report = join(ROOT, '.cache', `test-report-${process.pid}.json`);
mkdirSync(join(ROOT, '.cache'), { recursive: true });
const projects = ['unit', 'guest', 'oracle'].flatMap(name => ['--project', name]);
const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
const run = spawnSync(
  process.execPath,
  [vitest, 'run', ...projects, ...reporters, ...process.argv.slice(2)],
  {
    cwd: ROOT,
    stdio: 'inherit',
  },
);
let status = run.status ?? 1;
try {
  const { numPassedTests, numFailedTests, numPendingTests, testResults } = JSON.parse(
    readFileSync(report, 'utf8'),
  );
  // A file that could not even be loaded has no failed test of its own; count it as one.
  const broken = testResults.filter(
    file => file.status === 'failed' && file.assertionResults.length === 0,
  ).length;
  if (numPassedTests === 0) status ||= 1;
  console.log(`${numPassedTests} passed, ${numFailedTests + broken} failed, ${numPendingTests} skipped`);
} catch {
  say('vitest left no report');
  status ||= 1;
} finally {
  rmSync(report, { force: true });
}
process.exit(status);
