// From the outcomes of the checks to one number and one hash. Neither depends on the host: points
// are integers, and the hash covers what was decided and why, in canonical form.
import { canonicalJson } from '../run/canonical.ts';
import type { CheckScore, CheckStatus, LabScore } from './schema.ts';

/** From good to bad; what a submission is called is the worst of its checks. */
const RANK: readonly CheckStatus[] = ['pass', 'skipped', 'part', 'fail', 'budget', 'compile', 'error'];

export const worst = (statuses: readonly CheckStatus[]): CheckStatus =>
  RANK[Math.max(0, ...statuses.map(status => RANK.indexOf(status)))]!;

/** Points for `done` of `all` parts, rounded down. */
export const share = (points: number, done: number, all: number): number =>
  Math.floor((points * Math.min(done, all)) / all);

export function scoreOf(
  lab: LabScore['lab'],
  submission: LabScore['submission'],
  checks: readonly CheckScore[],
  sha256: (text: string) => string,
): LabScore {
  const sum = (pick: (check: CheckScore) => number): number =>
    checks.reduce((n, check) => n + pick(check), 0);
  const body = {
    format: 'kcovbox lab score' as const,
    version: 1 as const,
    lab,
    submission,
    points: sum(check => check.points),
    of: sum(check => check.of),
    status: worst(checks.map(check => check.status)),
    checks: [...checks],
  };
  const decided = checks.map(({ id, status, points, of, why }) => ({ id, status, points, of, why }));
  // The name of the folder that a submission lies in is not part of what was submitted.
  const hashed = { ...body, submission: submission.sha256, checks: decided };
  return { ...body, sha256: sha256(canonicalJson(hashed)) };
}
