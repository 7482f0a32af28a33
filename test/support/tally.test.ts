// The end of `npm test` repeats what failed, wherever it did: a CI log may have lost the rest.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { failureLines, slowestLines, vitest } from '../../setup/vitest.mjs';
import { ROOT } from './command.ts';

/** Runs vitest on files of these contents, which find its package from inside the checkout. */
function run(files: Readonly<Record<string, string>>) {
  mkdirSync(join(ROOT, '.cache'), { recursive: true });
  const folder = mkdtempSync(join(ROOT, '.cache', 'tally-'));
  try {
    writeFileSync(join(folder, 'vitest.config.mjs'), 'export default {};\n');
    for (const [name, body] of Object.entries(files))
      writeFileSync(
        join(folder, name),
        `import { beforeAll, describe, expect, it } from 'vitest';\n${body}\n`,
      );
    return vitest(process.execPath, ['--root', folder], { cwd: folder, stdio: 'ignore' });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test('counts tests, and has every kind of failure with its file, name and message', () => {
  const tally = run({
    'good.test.mjs': "it('is good', () => {}); it.skip('is skipped', () => {});",
    'bad.test.mjs':
      "describe('a group', () => { it('differs', () => expect({ a: 1 }).toEqual({ a: 2 })); });",
    'broken.test.mjs': "throw new Error('cannot be loaded');",
    'hook.test.mjs':
      "describe('set up', () => { beforeAll(() => { throw new Error('no set-up'); }); it('never', () => {}); });",
    'stray.test.mjs':
      "it('leaves a promise', async () => { Promise.reject(new Error('nobody waits')); await new Promise(done => setTimeout(done, 50)); });",
  });
  expect([tally.passed, tally.skipped]).toEqual([2, 2]);
  const seen = tally.failures.map(({ file, name, message }) => [file, name, message[0]]);
  expect(seen.sort((a, b) => String(a[0]).localeCompare(String(b[0])))).toEqual([
    ['bad.test.mjs', 'a group > differs', 'AssertionError: expected { a: 1 } to deeply equal { a: 2 }'],
    ['broken.test.mjs', '(the file)', 'Error: cannot be loaded'],
    ['hook.test.mjs', 'set up', 'Error: no set-up'],
    [undefined, '(an error outside of tests)', 'Error: nobody waits'],
  ]);
  const difference = tally.failures.find(failure => failure.file === 'bad.test.mjs')?.message;
  expect(difference?.[1]).toMatch(/^at .*bad\.test\.mjs:2:\d+$/);
  expect(difference).toContain('+   "a": 1,');
  expect(tally.files.map(({ file }) => file).sort()).toEqual(
    ['bad', 'broken', 'good', 'hook', 'stray'].map(name => `${name}.test.mjs`),
  );
  expect(tally.files.find(({ file }) => file === 'stray.test.mjs')?.seconds).toBeGreaterThanOrEqual(0.05);
});

test('a run without a test, or without a tally, is a failure', () => {
  expect(run({})).toMatchObject({ passed: 0, failures: [{ message: ['vitest ended with status 1'] }] });
});

test('the slowest files come first', () => {
  const files = [
    { file: 'a.test.ts', seconds: 1.2 },
    { file: 'b.test.ts', seconds: 120 },
    { file: 'c.test.ts', seconds: 3 },
  ];
  expect(slowestLines([{ where: 'Node.js 20', files }], 2)).toEqual([
    '  120 s  b.test.ts (Node.js 20)',
    '    3 s  c.test.ts (Node.js 20)',
  ]);
});

test('the end names the Node.js of each failure, and is bounded', () => {
  const failure = { file: 'a.test.ts', name: 'a name', message: ['Error: why', 'x'.repeat(5000)] };
  expect(failureLines([{ where: 'Node.js 20', failures: [] }])).toEqual([]);
  expect(
    failureLines([
      { where: 'Node.js 20', failures: [] },
      { where: 'Node.js 22', failures: [failure] },
    ]),
  ).toEqual([
    '',
    'failed:',
    '',
    'a.test.ts > a name (Node.js 22)',
    '    Error: why',
    `    ${'x'.repeat(300)} ...`,
    '',
  ]);
  const long = { ...failure, message: Array.from({ length: 1000 }, (_, i) => `line ${i}`) };
  const lines = failureLines([{ where: 'Node.js 24', failures: Array(70).fill(long) }]);
  expect(lines.length).toBe(2 + 50 * 23 + 3);
  expect(lines).toContain('    ... and 980 more lines');
  expect(lines.at(-2)).toBe('... and 20 more');
});
