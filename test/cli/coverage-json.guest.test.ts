// The JSON that the commands print about coverage follows its published schema, for traces of
// every kind; a name has one type.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SCHEMAS } from '../../run/schemas.ts';
import { kcovbox, kcovboxLines, ROOT } from '../support/command.ts';

const cwd = mkdtempSync(join(tmpdir(), 'kcovbox-json-'));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const HELLO = join(ROOT, 'examples', 'hello.c');
const LINUX = join(ROOT, 'guest-programs', 'linux-kcov.c');

/** Standard outputs of command lines that go well, by the line; all run in one process. */
const printed = new Map<string, string>();
const printedBy = (line: string): string => printed.get(line)!;
const file = (name: string): unknown => JSON.parse(readFileSync(join(cwd, name), 'utf8'));

const TRACES: readonly (readonly [name: string, filtered: boolean])[] = [
  ['calls', false],
  ['unique', false],
  ['cmp', false],
  ['part', true],
  ['mixed', true],
];

const DIFFS: readonly (readonly [a: string, b: string, filteredA: boolean, filteredB: boolean])[] = [
  ['calls.kcov', 'part.kcov', false, true],
  ['part.kcov', 'calls.kcov', true, false],
  ['calls.kcov', 'calls.kcov', false, false],
];

beforeAll(() => {
  const lines = [
    `run --trace --cover calls.kcov ${HELLO}`,
    `run --dialect linux --trace --cover unique.kcov ${HELLO}`,
    `run --dialect linux --cover cmp.kcov ${LINUX} -- 1`,
    `run --dialect linux --exact --cover exact.json ${HELLO}`,
    'cov filter --syscall 64 -o part.kcov calls.kcov',
    'cov merge -o mixed.kcov calls.kcov part.kcov',
    ...TRACES.flatMap(([name]) => [
      `cov export -o ${name}.json ${name}.kcov`,
      `cov stats --json ${name}.kcov`,
      `cov export --format csv ${name}.kcov`,
    ]),
    ...DIFFS.map(([a, b]) => `cov diff --json ${a} ${b}`),
  ];
  const ran = kcovboxLines(
    lines.map(line => line.split(' ')),
    { cwd },
  );
  for (const [i, { status, stdout, stderr }] of ran.entries()) {
    expect(status, `${lines[i]}: ${stderr}`).toBe(0);
    printed.set(lines[i]!, stdout);
  }
});

test.each(TRACES)('%s.kcov: export, stats and symbolize', (name, filtered) => {
  expect(SCHEMAS.coverage.parse(file(`${name}.json`)).filtered).toBe(filtered);
  const stats = JSON.parse(printedBy(`cov stats --json ${name}.kcov`));
  expect(SCHEMAS['coverage-stats'].parse(stats).filtered).toBe(filtered);
  // So many that they fit no other kernel of the cache.
  const records = printedBy(`cov export --format csv ${name}.kcov`).trimEnd().split('\n').slice(1, 101);
  const input = records.map(record => `${record.split(',')[2]}\n`).join('');
  const lines = kcovbox(['symbolize', '--json'], { cwd, input }).stdout;
  for (const line of lines.trimEnd().split('\n')) SCHEMAS.symbolized.parse(JSON.parse(line));
});

test('a file of exact counts', () => {
  expect(SCHEMAS.coverage.parse(file('exact.json')).filtered).toBe(false);
});

test.each(DIFFS)('the difference of %s and %s', (a, b, filteredA, filteredB) => {
  const diff = SCHEMAS['coverage-diff'].parse(JSON.parse(printedBy(`cov diff --json ${a} ${b}`)));
  expect(diff).toMatchObject({ filteredA, filteredB });
});
