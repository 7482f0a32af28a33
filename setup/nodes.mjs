// The Node.js versions besides the present one that kcovbox must run on. They are npm packages that
// hold nothing but the executable, pinned with their hashes in setup/nodes/package-lock.json; they
// are no dependency of kcovbox.
//   node setup/nodes.mjs                     installs them
//   node setup/nodes.mjs --list              prints as JSON those installed and those expected
//   node setup/nodes.mjs --run FILE...       runs these test files with vitest on each version
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT, say } from './ensure.mjs';

const LOCK = join(ROOT, 'setup', 'nodes');
const HOME = join(ROOT, '.cache', 'nodes');
const MAJORS = [22, 24];

const executable = major =>
  join(HOME, 'node_modules', `node${major}-${process.platform}-${process.arch}`, 'bin', 'node');

/** The versions that are installed: `{ major, path }`. */
export const otherNodes = () =>
  MAJORS.map(major => ({ major, path: executable(major) })).filter(({ path }) => existsSync(path));

/** Versions that have a package for this platform, so that tests without them are a failure. */
const expectedMajors = () => {
  const { optionalDependencies } = JSON.parse(readFileSync(join(LOCK, 'package.json'), 'utf8'));
  return MAJORS.filter(major => `node${major}-${process.platform}-${process.arch}` in optionalDependencies);
};

/**
 * Arguments of vitest: `npm test` runs these on each version with KCOVBOX_AGAIN set: the unit
 * tests, but those that are the same everywhere, and with smaller doses (test/support/again.ts),
 * the recorded runs with their hashes, and the wrong command lines (vitest.config.ts). The tests of
 * the tarball and of whole runs start each version themselves; `npm run test:slow` has all tests
 * (test/nodes.slow.test.ts).
 */
export const NODE_TESTS = ['--project', 'unit', '--project', 'guest'];

/** Installs the versions of the lock file; false when this platform or network has none. */
export function ensureNodes() {
  const isCurrent = ['package.json', 'package-lock.json'].every(
    name =>
      existsSync(join(HOME, name)) &&
      readFileSync(join(HOME, name), 'utf8') === readFileSync(join(LOCK, name), 'utf8'),
  );
  if (isCurrent && otherNodes().length === MAJORS.length) return true;
  say(`installing Node.js ${MAJORS.join(' and ')} for the tests ...`);
  mkdirSync(HOME, { recursive: true });
  for (const name of ['package.json', 'package-lock.json']) copyFileSync(join(LOCK, name), join(HOME, name));
  const command = ['ci', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'];
  const run = spawnSync('npm', command, { cwd: HOME, stdio: ['ignore', 'ignore', 'inherit'] });
  return run.status === 0 && otherNodes().length === MAJORS.length;
}

if (process.argv[1] !== fileURLToPath(import.meta.url)) {
  // Imported by setup/test.mjs.
} else if (process.argv[2] === '--list') {
  console.log(JSON.stringify({ installed: otherNodes(), expected: expectedMajors() }));
} else {
  if (!ensureNodes()) {
    say('Node.js 22 and 24 cannot be installed here');
    process.exit(1);
  }
  const [flag, ...files] = process.argv.slice(2);
  let failed = 0;
  if (flag === '--run')
    for (const { major, path } of otherNodes()) {
      say(`on Node.js ${major}`);
      const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
      const run = spawnSync(path, [vitest, 'run', '--reporter=default', ...files], {
        cwd: ROOT,
        stdio: 'inherit',
      });
      if (run.status !== 0) failed++;
    }
  process.exit(failed === 0 ? 0 : 1);
}
