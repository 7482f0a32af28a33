// Runs vitest for setup/test.mjs, and says what failed.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './ensure.mjs';

const SUPPORT = join(ROOT, 'test', 'support');
const NO_TALLY = { passed: 0, skipped: 0, failures: [], files: [] };

/**
 * Runs vitest with the Node.js at `node`; `{ passed, skipped, failures, files }` as
 * test/support/tally.ts writes it. A run that failed without a failed test, or without any test,
 * has one failure. `isAgain`: the same tests ran on another version (test/support/again.ts).
 */
export function vitest(node, args, { cwd = ROOT, stdio = 'inherit', isAgain = false } = {}) {
  const path = join(ROOT, '.cache', `tally-${process.pid}.json`);
  mkdirSync(join(ROOT, '.cache'), { recursive: true });
  const reporters = ['default', join(SUPPORT, 'second-attempts.ts'), join(SUPPORT, 'tally.ts')];
  const script = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
  const command = [script, 'run', ...reporters.map(name => `--reporter=${name}`), ...args];
  const env = { ...process.env, KCOVBOX_TALLY: path, ...(isAgain && { KCOVBOX_AGAIN: '1' }) };
  const { status, signal } = spawnSync(node, command, { cwd, stdio, env });
  const tally = read(path);
  if (tally.failures.length > 0 || (status === 0 && tally.passed > 0)) return tally;
  const message = [status === 0 ? 'no test ran' : `vitest ended with ${signal ?? `status ${status}`}`];
  return { ...tally, failures: [{ name: args.join(' '), message }] };
}

function read(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return NO_TALLY;
  } finally {
    rmSync(path, { force: true });
  }
}

/** The files that take longest, as lines; for a limit on the time of all tests. */
export const slowestLines = (runs, count = 30) =>
  runs
    .flatMap(({ where, files }) => files.map(file => ({ where, ...file })))
    .sort((a, b) => b.seconds - a.seconds)
    .slice(0, count)
    .map(({ where, file, seconds }) => `${seconds.toFixed(0).padStart(5)} s  ${file} (${where})`);

/** Bounds of what `failureLines` repeats; all of it is above, where vitest printed it. */
const TESTS = 50;
const LINES = 20;
const COLUMNS = 300;

const cut = line => (line.length > COLUMNS ? `${line.slice(0, COLUMNS)} ...` : line);

/** The failures of `{ where, failures }` runs as lines: file, name, start of the message. */
export function failureLines(runs) {
  const all = runs.flatMap(({ where, failures }) => failures.map(failure => ({ where, ...failure })));
  const shown = all.slice(0, TESTS).flatMap(({ where, file, name, message }) => {
    const more = message.length > LINES ? [`... and ${message.length - LINES} more lines`] : [];
    const body = [...message.slice(0, LINES), ...more];
    return [
      '',
      cut(`${[file, name].filter(Boolean).join(' > ')} (${where})`),
      ...body.map(line => `    ${cut(line)}`),
    ];
  });
  if (all.length === 0) return [];
  const rest = all.length > TESTS ? ['', `... and ${all.length - TESTS} more`] : [];
  return ['', 'failed:', ...shown, ...rest, ''];
}
