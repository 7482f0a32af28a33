// The file of an experiment: each mistake is one line with the file, the line and the column.
import { expect, test } from 'vitest';
import { parseExperiment } from '../../cli/experiment/read.ts';

const GOOD = `name: good
program: { source: a.c, vary: [seed] }
variants: { plain: {}, more: { harts: 2 } }
trials: 10
budget: { executions: 5 }
bugs:
  crash: { console: 'panic: .*' }
`;

const read = (text: string) => parseExperiment('x.yaml', text);

test('a file that is right', () => {
  expect(read(GOOD).file).toMatchObject({ name: 'good', trials: 10, budget: { executions: 5 } });
});

test.each([
  ['name: [', /^x\.yaml:\d+:\d+: /],
  ['name: a\nname: b', /^x\.yaml:2:1: .*unique/],
  ['', /^x\.yaml:1:1: the file: /],
  [
    GOOD.replace('trials: 10', 'trails: 10'),
    /^x\.yaml:4:1: trails: there is no such key; docs\/research\.md/,
  ],
  [GOOD.replace('harts: 2', 'harts: 9'), /^x\.yaml:3:32: variants\.more\.harts: .*8/],
  [GOOD.replace('harts: 2', 'schedule: pct:17'), /^x\.yaml:3:32: variants\.more\.schedule: /],
  [GOOD.replace('harts: 2', 'cores: 2'), /^x\.yaml:3:32: variants\.more\.cores: there is no such key/],
  [GOOD.replace('{ executions: 5 }', '{}'), /^x\.yaml:5:1: budget: expected one of executions/],
  [GOOD.replace('5 }', '5, instructions: 3 }'), /^x\.yaml:5:1: budget: expected one of/],
  [
    GOOD.replace('trials: 10', 'seeds: [1, 2, 0x1]'),
    /^x\.yaml:4:15: seeds\.2: seed 1 is that of trial 0 too/,
  ],
  [GOOD.replace('trials: 10', 'seeds: [1]\ntrials: 1'), /^x\.yaml:4:1: seeds: trials and seeds both say/],
  [GOOD.replace('trials: 10\n', ''), /trials is missing; 20 are usual/],
  [GOOD.replace('trials: 10', 'trials: 0'), /^x\.yaml:4:1: trials: /],
  [GOOD.replace("'panic: .*'", "'('"), /^x\.yaml:7:12: bugs\.crash\.console: Invalid regular expression/],
  [GOOD.replace("{ console: 'panic: .*' }", '{}'), /^x\.yaml:7:3: bugs\.crash: expected one of console/],
  [
    GOOD.replace('variants:', 'baseline: best\nvariants:'),
    /^x\.yaml:3:1: baseline: there is no variant "best"/,
  ],
  [GOOD.replace('{ plain: {}, more: { harts: 2 } }', '{}'), /^x\.yaml:3:1: variants: there is no variant/],
  [
    GOOD.replace(/bugs:[\s\S]*/, 'stop-when-found: true\n'),
    /^x\.yaml:6:1: stop-when-found: there are no bugs/,
  ],
  [GOOD.replace('more: {', '__proto__: {'), /^x\.yaml:3:24: __proto__: it cannot be a name/],
  [GOOD.replace('more: {', '../up: {'), /^x\.yaml:3:24: variants\.\.\.\/up: expected lower-case letters/],
  [GOOD.replace(/^budget.*\n/m, ''), /^x\.yaml:1:1: budget: it is missing$/],
  [`${GOOD}---\n${GOOD}`, /^x\.yaml:8:1: a second document begins here/],
  [GOOD.replace('a.c,', 'a.c, args: [a, "b\\0"],'), /^x\.yaml:2:35: program\.args\.1: it has a NUL/],
  [GOOD.replace('a.c,', 'a.c, input: "\\ud800",'), /^x\.yaml:2:25: program\.input: .*surrogate/],
  [GOOD.replace('name: good', 'name: ../up'), /^x\.yaml:1:1: name: expected lower-case letters/],
])('%j', (text, message) => {
  let line = '';
  try {
    read(text);
  } catch (error) {
    line = (error as Error).message;
  }
  expect(line).toMatch(message);
  expect(line).not.toMatch(/\n/);
});

test('standard input may have any character', () => {
  const { file } = read(GOOD.replace('a.c,', 'a.c, input: "a\\0b",'));
  expect(file).toMatchObject({ program: { input: 'a\0b' } });
});

test('a million aliases are refused, not expanded', () => {
  const bomb = Array.from(
    { length: 9 },
    (_, i) => `a${i}: &a${i} [${`*a${i - 1}, `.repeat(9).slice(0, -2)}]`,
  );
  bomb[0] = 'a0: &a0 [x, x, x, x, x, x, x, x, x]';
  expect(() => read(`${bomb.join('\n')}\n${GOOD}`)).toThrow(/^x\.yaml: its aliases make it too large$/);
});
