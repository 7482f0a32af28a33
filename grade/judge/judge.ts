// One submission of a lab, judged: each check in its order, one score.
import type { CheckScore, LabCheck, LabScore } from '../schema.ts';
import { scoreOf } from '../score.ts';
import { asScore, decide } from './checks.ts';
import { bytesOf, type Files, type LabContents, type Submission } from './lab.ts';
import { Runs } from './runs.ts';
import type { Workshop } from './workshop.ts';

/** Of source files, beside the recorded runs. */
export const SOURCE = 'source';

export interface JudgeOptions {
  readonly workshop: Workshop;
  readonly solution?: Files | undefined;
  /** Takes the recorded runs of failures, with their sources; undefined: none are recorded. */
  readonly keep?: ((path: string, bytes: Uint8Array) => void) | undefined;
  /** Only these checks. */
  readonly only?: readonly string[] | undefined;
  readonly explains?: boolean;
  /** Told of each check when it is decided. */
  readonly decided?: (check: LabCheck, score: CheckScore) => void;
}

export const wantedOf = ({ manifest }: LabContents, only: readonly string[] | undefined): LabCheck[] =>
  manifest.checks.filter(({ id }) => !only || only.includes(id));

/** Judges the checks in their order. */
export async function judge(
  lab: LabContents,
  submission: Submission,
  options: JudgeOptions,
): Promise<LabScore> {
  const { workshop, keep, only, explains = false, decided } = options;
  const runs = new Runs(lab, submission, workshop, options.solution);
  const bench = { runs, solution: options.solution, explains };
  const scores: CheckScore[] = [];
  const absent = submission.missing;
  for (const check of wantedOf(lab, only)) {
    const decision =
      absent.length > 0
        ? ({
            status: 'fail',
            points: 0,
            why: `${absent.join(', ')} ${absent.length === 1 ? 'is' : 'are'} missing`,
          } as const)
        : await decide(bench, check);
    let score = asScore(check, decision);
    const failed = 'failed' in decision ? decision.failed : undefined;
    if (keep && failed) {
      const name = `${check.id}.kcapsule`;
      keep(name, await runs.record(failed));
      // The debugger looks for the student's files where the kernel has them.
      for (const [place, bytes] of runs.placed()) keep(`${SOURCE}/${place}`, bytes);
      score = { ...score, capsule: name };
    }
    scores.push(score);
    decided?.(check, score);
  }
  const { name, sha256 } = submission;
  const hash = (text: string): string => workshop.sha256(bytesOf(text));
  return scoreOf({ name: lab.name, sha256: lab.sha256 }, { name, sha256 }, scores, hash);
}
