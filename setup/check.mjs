// `npm run check`: the checks that every commit must pass, in under a minute. The exit status is
// the number of failed steps. A missing tool is installed; where it cannot be, that is a failure: a
// check that did not run proves nothing.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { ensureNpm, ensurePackages, ROOT } from './ensure.mjs';
import { CHECKS } from './packages.mjs';

ensureNpm();
ensurePackages(CHECKS, 'checking the sources');
const bin = name => join(ROOT, 'node_modules', '.bin', name);
const node = (...path) => [process.execPath, join(ROOT, ...path)];

/** For .ci/run, where `npm test` follows: it runs the same unit tests. */
const WITHOUT_TESTS = '--without-unit-tests';

/** Steps of one row run side by side. */
const STEPS = [
  [
    ['format and lint', bin('biome'), 'check', '.'],
    ['types', bin('tsc'), '--noEmit', '-p', '.'],
    ['types of the page', bin('tsc'), '--noEmit', '-p', 'web'],
    ['types of the HTML report', bin('tsc'), '--noEmit', '-p', 'coverage/html/client'],
    ["types of an experiment's report", bin('tsc'), '--noEmit', '-p', 'experiment/html/client'],
    ['C format', ...node('setup', 'format-c.mjs')],
    ['unused exports and files', bin('knip'), '--no-progress'],
    ['documents and their links', bin('vitepress'), 'build', 'docs'],
  ],
  ...(process.argv.includes(WITHOUT_TESTS)
    ? []
    : [[['unit tests', bin('vitest'), 'run', '--project', 'unit', '--reporter=dot']]]),
];

/** Runs one step; what it prints is shown when it is over, in one piece. */
function run([name, command, ...args]) {
  const start = Date.now();
  return new Promise(done => {
    const child = spawn(command, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
    const output = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => output.push(chunk));
    const end = (isGood, text) => {
      const seconds = ((Date.now() - start) / 1000).toFixed(1);
      if (!isGood) process.stdout.write(text);
      console.log(`${isGood ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`);
      done(isGood);
    };
    child.on('error', error => end(false, `kcovbox: ${command}: ${error.message}\n`));
    child.on('close', status => end(status === 0, Buffer.concat(output)));
  });
}

let failed = 0;
for (const row of STEPS) for (const isGood of await Promise.all(row.map(run))) if (!isGood) failed++;
process.exit(failed);
