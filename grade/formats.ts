// Results in the forms of other tools, each from scores alone. None has a date or a duration: the
// same submissions give the same bytes.
import type { CheckScore, LabScore } from './schema.ts';

const XML: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
export const xml = (text: string): string =>
  text.replace(/[&<>"]/g, c => XML[c]!).replace(/[^\t\n\x20-\ud7ff\ue000-\ufffd]/g, '?');

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);
const isGood = ({ status }: CheckScore): boolean => status === 'pass' || status === 'skipped';

/** JUnit's XML, as CI services read it: one suite for each submission. */
export function junit(scores: readonly LabScore[]): string {
  const suites = scores.map(({ submission, checks, lab }) => {
    const cases = checks.map(check => {
      const name = `<testcase classname="${xml(lab.name)}" name="${xml(`${check.id}: ${check.says}`)}"`;
      const message = `message="${xml(check.why)}"`;
      if (check.status === 'skipped') return `    ${name}><skipped ${message}/></testcase>\n`;
      if (isGood(check)) return `    ${name}/>\n`;
      const kind = check.status === 'error' ? 'error' : 'failure';
      return `    ${name}><${kind} type="${check.status}" ${message}/></testcase>\n`;
    });
    const count = (wanted: (check: CheckScore) => boolean): number => checks.filter(wanted).length;
    const errors = count(({ status }) => status === 'error');
    const skipped = count(({ status }) => status === 'skipped');
    const failures = count(check => !isGood(check)) - errors;
    const counts = `tests="${checks.length}" failures="${failures}" errors="${errors}" skipped="${skipped}"`;
    return `  <testsuite name="${xml(submission.name)}" ${counts}>\n${cases.join('')}  </testsuite>\n`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suites.join('')}</testsuites>\n`;
}

/** The words of a check for the student, in a few lines. */
export const outputOf = ({ why, path = [], try: commands = [] }: CheckScore): string =>
  [why, ...path.map(line => `  ${line}`), ...commands.map(line => `  $ ${line}`)].join('\n');

/** `results.json` of Gradescope's autograder. */
export const gradescope = (score: LabScore): object => ({
  score: score.points,
  output: `${score.lab.name}: ${score.points} of ${score.of}; hash ${score.sha256}`,
  output_format: 'text',
  test_output_format: 'text',
  test_name_format: 'text',
  visibility: 'visible',
  stdout_visibility: 'hidden',
  tests: score.checks.map((check, i) => ({
    name: `${check.id}: ${check.says}`,
    name_format: 'text',
    number: `${i + 1}`,
    score: check.points,
    max_score: check.of,
    status: isGood(check) ? 'passed' : 'failed',
    output: outputOf(check),
    output_format: 'text',
    tags: [check.status],
    visibility: 'visible',
    extra_data: { capsule: check.capsule ?? null, try: check.try ?? [] },
  })),
  extra_data: { kcovbox: { sha256: score.sha256, lab: score.lab, submission: score.submission } },
});

/** Facts of a submission that its repository knows. */
export interface Classroom {
  readonly classroom: string;
  /** Default: the lab's name. */
  readonly assignment?: string | undefined;
  readonly owner: string;
  readonly submission: string;
  readonly commit: string;
  readonly release: string;
  readonly review: string;
  /** Of the submission, UTC: `2026-11-24T12:00:00Z`. */
  readonly datetime: string;
}

/**
 * `result.json` of Classroom 50, schema classroom50/result/v1. Only `tests` may have more members.
 */
export const classroom50 = (score: LabScore, facts: Classroom): object => ({
  schema: 'classroom50/result/v1',
  classroom: facts.classroom,
  assignment: facts.assignment ?? score.lab.name,
  assignment_type: 'individual',
  owner: facts.owner,
  submission: facts.submission,
  commit: facts.commit,
  release: facts.release,
  review: facts.review,
  datetime: facts.datetime,
  score: score.points,
  'max-score': score.of,
  tests: score.checks.map(check => ({
    'test-name': `${check.id}: ${check.says}`,
    passed: isGood(check),
    score: check.points,
    'max-score': check.of,
    output: outputOf(check),
    kcovbox: { status: check.status, sha256: score.sha256 },
  })),
});

/** A field that a spreadsheet must not take for a formula. */
function csvField(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** One row for each submission, one column for each check. */
export function csv(scores: readonly LabScore[]): string {
  const ids = scores[0]?.checks.map(({ id }) => id) ?? [];
  const rows = scores.map(({ submission, points, of, status, checks, sha256 }) =>
    [submission.name, points, of, status, ...checks.map(check => check.points), sha256].map(String),
  );
  const head = ['submission', 'points', 'of', 'status', ...ids, 'sha256'];
  return [head, ...rows].map(row => `${row.map(csvField).join(',')}\r\n`).join('');
}

/** Mean and median of the points, for a class. */
export function summary(scores: readonly LabScore[]): { mean: string; median: number } {
  const points = scores.map(score => score.points).sort((a, b) => a - b);
  const mean = points.length === 0 ? 0 : sum(points) / points.length;
  return { mean: mean.toFixed(1), median: points[points.length >> 1] ?? 0 };
}
