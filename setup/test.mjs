// `npm test`: installs missing tools (including the oracles), then runs every test project but the
// slow one, and some tests on the other versions of Node.js. Its last line is `N passed, N failed`.
// Arguments are passed on to vitest, except for --failed-checks=N of .ci/run, which counts so many
// failures more.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { bundle, isFresh } from './bundle.mjs';
import { ensureNpm, ensurePackages, ROOT, say } from './ensure.mjs';
import { testKernels } from './kernels.mjs';
import { ensureNodes, NODE_TESTS, otherNodes } from './nodes.mjs';
import { BUILD, ORACLES } from './packages.mjs';

ensureNpm();
ensurePackages(BUILD, 'compiling the guest');
// A test without its oracle says so and is skipped.
ensurePackages(ORACLES, 'the oracles of the tests', { optional: true });
// Where npm has them for this platform, tests fail without them.
if (!ensureNodes()) say('no other Node.js for the tests');
if (!isFresh()) await bundle();
/** Ends the tests with the status of a step that failed. */
function step(...command) {
  const { status } = spawnSync(process.execPath, command, {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status !== 0) process.exit(status ?? 125);
}

// One build of each kernel before two workers would both start it, and before any test is timed.
for (const conf of testKernels()) step(join(ROOT, 'bin', 'kcovbox.cjs'), 'build', 'kernel', '--conf', conf);
step(join(ROOT, 'setup', 'web.mjs'), '--if-stale');

const CHECKS = '--failed-checks=';
const failedChecks = Number(process.argv.find(word => word.startsWith(CHECKS))?.slice(CHECKS.length) ?? 0);
const words = process.argv.slice(2).filter(word => !word.startsWith(CHECKS));

/** Runs vitest with this Node.js; what it counted. */
function vitest(node, args) {
  const report = join(ROOT, '.cache', `test-report-${process.pid}.json`);
  mkdirSync(join(ROOT, '.cache'), { recursive: true });
  const reporters = [
    '--reporter=default',
    `--reporter=${join(ROOT, 'test', 'support', 'second-attempts.ts')}`,
    '--reporter=json',
    `--outputFile.json=${report}`,
  ];
  const script = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
  const { status } = spawnSync(node, [script, 'run', ...reporters, ...args], { cwd: ROOT, stdio: 'inherit' });
  try {
    const { numPassedTests, numFailedTests, numPendingTests, testResults } = JSON.parse(
      readFileSync(report, 'utf8'),
    );
    // A file that could not even be loaded has no failed test of its own, nor has an error outside
    // of tests; each counts as one.
    const broken = testResults.filter(
      file => file.status === 'failed' && file.assertionResults.length === 0,
    ).length;
    const known = numFailedTests + broken;
    const failed = known || (status === 0 && numPassedTests > 0 ? 0 : 1);
    return { passed: numPassedTests, failed, skipped: numPendingTests };
  } catch {
    say('vitest left no report');
    return { passed: 0, failed: 1, skipped: 0 };
  } finally {
    rmSync(report, { force: true });
  }
}

const projects = ['unit', 'guest', 'oracle'].flatMap(name => ['--project', name]);
const counts = [vitest(process.execPath, [...projects, ...words])];
// A selection is for a person who looks for something; all of the tests include the other versions.
if (words.length === 0)
  for (const { major, path } of otherNodes())
    for (const args of NODE_TESTS) {
      console.log(`\non Node.js ${major}: ${args.join(' ')}`);
      counts.push(vitest(path, args));
    }
const sum = name => counts.reduce((total, count) => total + count[name], 0);
const failed = failedChecks + sum('failed');
if (sum('skipped') > 0) console.log(`${sum('skipped')} skipped, with the reasons above`);
console.log(`${sum('passed')} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
