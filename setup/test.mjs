// `npm test`: installs missing tools (including the oracles), then runs every test project but the
// slow one, and some tests on the other versions of Node.js. It ends with the slowest files, the
// failed tests and their messages, for a log that was cut, and the line `N passed, N failed`.
// Arguments are passed on to vitest, except for --failed-checks=N of .ci/run, which counts so many
// failures more.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { bundle, isFresh } from './bundle.mjs';
import { ensureNpm, ensurePackages, ROOT, say } from './ensure.mjs';
import { testKernels } from './kernels.mjs';
import { ensureNodes, NODE_TESTS, otherNodes } from './nodes.mjs';
import { BUILD, ORACLES } from './packages.mjs';
import { failureLines, slowestLines, vitest } from './vitest.mjs';

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

const projects = ['unit', 'guest', 'oracle'].flatMap(name => ['--project', name]);
const major = process.versions.node.split('.')[0];
const runs = [{ where: `Node.js ${major}`, ...vitest(process.execPath, [...projects, ...words]) }];
// A selection is for a person who looks for something; all of the tests include the other versions.
if (words.length === 0)
  for (const { major, path } of otherNodes()) {
    console.log(`\non Node.js ${major}: ${NODE_TESTS.join(' ')}`);
    runs.push({ where: `Node.js ${major}`, ...vitest(path, NODE_TESTS, { isAgain: true }) });
  }
const sum = count => runs.reduce((total, run) => total + count(run), 0);
const failed = failedChecks + sum(run => run.failures.length);
const skipped = sum(run => run.skipped);
if (words.length === 0) for (const line of ['', 'slowest files:', ...slowestLines(runs)]) console.log(line);
for (const line of failureLines(runs)) console.log(line);
if (skipped > 0) console.log(`${skipped} skipped, with the reasons above`);
console.log(`${sum(run => run.passed)} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
