// The JSON that the commands print about coverage follows its published schema, for traces of
// every kind; a name has one type.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SCHEMAS } from '../../run/schemas.ts';
import { kcovbox, ROOT } from '../support/command.ts';

const cwd = mkdtempSync(join(tmpdir(), 'kcovbox-json-'));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const HELLO = join(ROOT, 'examples', 'hello.c');
const LINUX = join(ROOT, 'guest-programs', 'linux-kcov.c');

function run(...args: string[]): string {
  const { status, stdout, stderr } = kcovbox(args, { cwd });
  expect(status, stderr).toBe(0);
  return stdout;
}
const file = (name: string): unknown => JSON.parse(readFileSync(join(cwd, name), 'utf8'));

beforeAll(() => {
  run('run', '--trace', '--cover', 'calls.kcov', HELLO);
  run('run', '--dialect', 'linux', '--trace', '--cover', 'unique.kcov', HELLO);
  run('run', '--dialect', 'linux', '--cover', 'cmp.kcov', LINUX, '--', '1');
  run('run', '--dialect', 'linux', '--exact', '--cover', 'exact.json', HELLO);
  run('cov', 'filter', '--syscall', '64', '-o', 'part.kcov', 'calls.kcov');
  run('cov', 'merge', '-o', 'mixed.kcov', 'calls.kcov', 'part.kcov');
});

const TRACES: readonly (readonly [name: string, filtered: boolean])[] = [
  ['calls', false],
  ['unique', false],
  ['cmp', false],
  ['part', true],
  ['mixed', true],
];

test.each(TRACES)('%s.kcov: export, stats and symbolize', (name, filtered) => {
  run('cov', 'export', '-o', `${name}.json`, `${name}.kcov`);
  expect(SCHEMAS.coverage.parse(file(`${name}.json`)).filtered).toBe(filtered);
  const stats = JSON.parse(run('cov', 'stats', '--json', `${name}.kcov`));
  expect(SCHEMAS['coverage-stats'].parse(stats).filtered).toBe(filtered);
  const records = run('cov', 'export', '--format', 'csv', `${name}.kcov`).split('\n').slice(1, 9);
  const input = records.map(record => `${record.split(',')[2]}\n`).join('');
  const lines = kcovbox(['symbolize', '--json'], { cwd, input }).stdout;
  for (const line of lines.trimEnd().split('\n')) SCHEMAS.symbolized.parse(JSON.parse(line));
});

test('a file of exact counts', () => {
  expect(SCHEMAS.coverage.parse(file('exact.json')).filtered).toBe(false);
});

test.each([
  ['calls.kcov', 'part.kcov', false, true],
  ['part.kcov', 'calls.kcov', true, false],
  ['calls.kcov', 'calls.kcov', false, false],
])('the difference of %s and %s', (a, b, filteredA, filteredB) => {
  const diff = SCHEMAS['coverage-diff'].parse(JSON.parse(run('cov', 'diff', '--json', a, b)));
  expect(diff).toMatchObject({ filteredA, filteredB });
});
