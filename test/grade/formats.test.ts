// Results in the forms of other tools, also with names that a hostile student chose.
import { expect, test } from 'vitest';
import { z } from 'zod';
import { classroom50, csv, gradescope, junit } from '../../grade/formats.ts';
import { classPage } from '../../grade/page.ts';
import { labScore } from '../../grade/schema.ts';
import { scoreOf, share, worst } from '../../grade/score.ts';
import { sha256 } from '../../toolchain/index.ts';

const HOSTILE = '=cmd("x"),</table><script>alert(1)</script>\n\u0007';
const LAB = { name: '01-x', sha256: sha256('lab') };
const score = (name: string) =>
  scoreOf(
    LAB,
    { name, sha256: sha256('files') },
    [
      { id: 'a', says: 'says <a>', status: 'pass', points: 60, of: 60, why: 'as expected' },
      {
        id: 'b',
        says: 'says b',
        status: 'part',
        points: 13,
        of: 40,
        why: `why & ${HOSTILE}`,
        path: ['x: ran 1'],
      },
    ],
    sha256,
  );

test('the score is one number and one hash, which the name of a folder does not change', () => {
  const first = score('ada');
  expect(labScore.parse(first)).toEqual(first);
  expect(first).toMatchObject({ points: 73, of: 100, status: 'part' });
  expect(score('bob').sha256).toBe(first.sha256);
  const other = scoreOf(
    LAB,
    first.submission,
    [{ ...first.checks[0]!, points: 59 }, first.checks[1]!],
    sha256,
  );
  expect(other.sha256).not.toBe(first.sha256);
});

test('a submission is called by its worst check; a part of the points is rounded down', () => {
  expect(worst(['pass', 'part', 'budget', 'fail'])).toBe('budget');
  expect(worst(['pass', 'skipped'])).toBe('skipped');
  expect(worst([])).toBe('pass');
  expect([share(40, 1, 3), share(40, 3, 3), share(40, 4, 3), share(40, 0, 3)]).toEqual([13, 40, 40, 0]);
});

const PAIR = { a: HOSTILE, b: 'b', percent: 99, shared: 3 };
test('neither XML, HTML nor CSV lets a name out of its place', () => {
  const scores = [score(HOSTILE)];
  for (const text of [junit(scores), classPage('t', scores, { code: [PAIR], coverage: [PAIR] })]) {
    expect(text).not.toContain('<script');
  }
  expect(csv(scores).split('\r\n')[1]).toMatch(/^"'=cmd\(""x""\),/);
  expect(junit(scores)).toContain('tests="2" failures="1" errors="0" skipped="0"');
});

/**
 * The rules of schemas/result-v1.schema.json of Classroom 50, as of November 2026: no other members
 * but those of a test. Its optional `graded_at` and `submitted_by` are a clock and the runner's.
 */
const resultV1 = z.strictObject({
  schema: z.literal('classroom50/result/v1'),
  classroom: z.string().min(1),
  assignment: z.string().min(1),
  assignment_type: z.enum(['individual', 'group']),
  owner: z.string().min(1),
  submission: z.string().regex(/^submit\//),
  commit: z.string().min(1),
  release: z.string().min(1),
  review: z.string().min(1),
  datetime: z.string().regex(/^\d{4}-\d{2}-\d{2}T([01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/),
  score: z.int().min(0),
  'max-score': z.int().min(0),
  tests: z.array(
    z.looseObject({
      'test-name': z.string().min(1),
      passed: z.boolean(),
      score: z.int().min(0),
      'max-score': z.int().min(0),
    }),
  ),
});

test('the result of Classroom 50 follows its schema, and no score is above its maximum', () => {
  const result = resultV1.parse(
    classroom50(score('ada'), {
      classroom: 'os',
      owner: 'ada',
      submission: 'submit/2026-11-24T12-00-00Z-abcdef0',
      commit: 'https://example.org/c',
      release: 'https://example.org/r',
      review: 'https://example.org/c',
      datetime: '2026-11-24T12:00:00Z',
    }),
  );
  expect(result.score).toBe(73);
  expect(result.tests.map(({ passed }) => passed)).toEqual([true, false]);
  for (const check of [...result.tests, result]) expect(check.score).toBeLessThanOrEqual(check['max-score']);
});

const visibility = z.enum(['hidden', 'after_due_date', 'after_published', 'visible']);
const format = z.enum(['text', 'html', 'simple_format', 'md', 'ansi']);
/** The members that Gradescope describes; it publishes no schema. */
const gradescopeResults = z.strictObject({
  score: z.number(),
  execution_time: z.number().optional(),
  output: z.string(),
  output_format: format,
  test_output_format: format,
  test_name_format: format,
  visibility,
  stdout_visibility: visibility,
  extra_data: z.looseObject({}),
  tests: z.array(
    z.strictObject({
      score: z.number(),
      max_score: z.number(),
      status: z.enum(['passed', 'failed']),
      name: z.string(),
      name_format: format,
      number: z.string(),
      output: z.string(),
      output_format: format,
      tags: z.array(z.string()),
      visibility,
      extra_data: z.looseObject({}),
    }),
  ),
});

test('the results of Gradescope have the members of its description', () => {
  expect(gradescopeResults.safeParse(gradescope(score('ada'))).error).toBeUndefined();
});

test('the results of Gradescope add up', () => {
  const result = gradescope(score('ada')) as { score: number; tests: { score: number; output: string }[] };
  expect(result.tests.reduce((sum, check) => sum + check.score, 0)).toBe(result.score);
  expect(result.tests[1]!.output).toContain('x: ran 1');
});
