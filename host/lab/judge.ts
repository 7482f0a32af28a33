// One submission of a lab, judged: each check in its order, one score.
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { CheckScore, LabCheck, LabScore } from '../../grade/schema.ts';
import { scoreOf } from '../../grade/score.ts';
import { requireBuildTools, writeWhole } from '../../toolchain/index.ts';
import { asScore, type Bench, decide } from './checks.ts';
import { type Files, hashText, type Lab, readFolder, type Submission } from './lab.ts';
import { Runs } from './runs.ts';

/** Of source files, beside the recorded runs. */
export const SOURCE = 'source';

export interface JudgeOptions {
  readonly solution?: Files | undefined;
  /** Folder of the recorded runs of failures; undefined: none are recorded. */
  readonly capsules?: string | undefined;
  /** Only these checks. */
  readonly only?: readonly string[] | undefined;
  readonly explains?: boolean;
  readonly say?: (line: string) => void;
  /** Told of each check when it is decided. */
  readonly decided?: (check: LabCheck, score: CheckScore) => void;
}

/** The teacher's solution of a lab; undefined where it is not: on the machines of students. */
export function solutionOf(lab: Lab, teacher = join(lab.folder, 'teacher')): Files | undefined {
  const folder = join(teacher, 'solution');
  return existsSync(folder) ? readFolder(folder) : undefined;
}

/** Kinds of checks that compile nothing. */
const WITHOUT_TOOLS: readonly LabCheck['kind'][] = ['style', 'answers'];

/**
 * Judges the checks in their order. Errors: ToolchainError, before the first check, if a tool is
 * missing that one of them needs: that is nobody's score.
 */
export async function judge(lab: Lab, submission: Submission, options: JudgeOptions = {}): Promise<LabScore> {
  const { capsules, only, explains = false, say = () => {}, decided } = options;
  const runs = new Runs(lab, submission, say, options.solution);
  const bench: Bench = { runs, solution: options.solution, explains };
  const scores: CheckScore[] = [];
  const absent = submission.missing;
  const wanted = lab.manifest.checks.filter(({ id }) => !only || only.includes(id));
  if (absent.length === 0 && wanted.some(({ kind }) => !WITHOUT_TOOLS.includes(kind))) requireBuildTools();
  for (const check of wanted) {
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
    if (capsules !== undefined && failed) {
      const name = `${check.id}.kcapsule`;
      mkdirSync(capsules, { recursive: true });
      writeWhole(join(capsules, name), await runs.record(failed));
      // The debugger looks for the student's files where the kernel has them.
      for (const [place, bytes] of runs.placed()) writeWhole(join(capsules, SOURCE, place), bytes);
      score = { ...score, capsule: name };
    }
    scores.push(score);
    decided?.(check, score);
  }
  const { name, sha256 } = submission;
  return scoreOf({ name: lab.name, sha256: lab.sha256 }, { name, sha256 }, scores, hashText);
}
