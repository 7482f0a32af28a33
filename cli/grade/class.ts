// A class: the scores of all submissions, and the pairs that are alike.
import { join } from 'node:path';
import type { Files, Submission } from '../../grade/judge/lab.ts';
import { needsTools } from '../../grade/judge/portable.ts';
import { buildShared } from '../../grade/judge/shared.ts';
import type { CheckStatus, LabScore } from '../../grade/schema.ts';
import type { Lab } from '../../host/lab/lab.ts';
import { workshop } from '../../host/lab/workshop.ts';
import { requireBuildTools, writeWhole } from '../../toolchain/index.ts';
import { progressLine } from '../io/progress.ts';
import { type Alike, alikeOf } from './alike.ts';
import { judgeApart, needsOwnProcess } from './apart.ts';
import { type Answer, answer, type Class, type Task, Workers } from './workers.ts';

export interface ClassOptions {
  readonly teacher: string | undefined;
  readonly solution: Files | undefined;
  /** Folder of results; undefined: none are written. */
  readonly output: string | undefined;
  readonly records: boolean;
  readonly jobs: number;
  /** Percent from which two submissions are alike. */
  readonly least: number;
}

/** The workers of now, for a command that a signal ends. */
let running: Workers | undefined;
export const endWorkers = async (): Promise<void> => running?.end();

type Share = (tasks: readonly Task[], done: (task: number, answer: Answer) => void) => Promise<void>;

/** A program that does not end would spend its whole budget again. */
const UNTRACED: readonly CheckStatus[] = ['budget', 'compile', 'error'];

export async function judgeClass(
  lab: Lab,
  submissions: readonly Submission[],
  options: ClassOptions,
): Promise<{ scores: LabScore[]; pairs: Alike }> {
  const { solution, output, records, least } = options;
  const jobs = Math.min(options.jobs, submissions.length);
  const isWhole = ({ missing }: Submission): boolean => missing.length === 0;
  if (submissions.some(isWhole) && lab.manifest.checks.some(needsTools)) requireBuildTools();
  const all: Class = { lab, solution, explains: output !== undefined, records };
  if (jobs > 1)
    await buildShared(
      lab,
      workshop(() => {}),
      solution,
    );
  running = jobs > 1 ? new Workers(all, jobs) : undefined;
  const here: Share = async (tasks, done) => {
    for (const [i, task] of tasks.entries()) done(i, await answer(all, task));
  };
  const share: Share = (tasks, done) => running?.share(tasks, done) ?? here(tasks, done);
  try {
    const scores = needsOwnProcess(lab)
      ? await judgeEachApart(lab, submissions, options, jobs)
      : await judgeShared(submissions, share, records ? output : undefined);
    const whole = submissions.filter((one, i) => isWhole(one) && !UNTRACED.includes(scores[i]!.status));
    const prints = async (traced: readonly Submission[]): Promise<Set<number>[]> => {
      const found: Set<number>[] = [];
      await share(
        traced.map(submission => ({ kind: 'trace', submission })),
        (i, { print }) => (found[i] = print!),
      );
      return found;
    };
    return { scores, pairs: await alikeOf(lab, submissions, whole, least, prints) };
  } finally {
    await running?.end();
    running = undefined;
  }
}

function showing(all: number): { one(): void; clear(): void } {
  const progress = progressLine({ logs: true });
  let done = 0;
  return {
    one: () => progress.show(`${++done} of ${all} submissions`, done === all),
    clear: () => progress.clear(),
  };
}

async function judgeShared(
  submissions: readonly Submission[],
  share: Share,
  output: string | undefined,
): Promise<LabScore[]> {
  const scores: LabScore[] = [];
  const progress = showing(submissions.length);
  await share(
    submissions.map(submission => ({ kind: 'judge', submission })),
    (i, { score, files = [] }) => {
      scores[i] = score!;
      const { name } = submissions[i]!;
      if (output !== undefined)
        for (const [path, bytes] of files) writeWhole(join(output, name, path), bytes);
      progress.one();
    },
  );
  progress.clear();
  return scores;
}

async function judgeEachApart(
  lab: Lab,
  submissions: readonly Submission[],
  { teacher, records, output }: ClassOptions,
  jobs: number,
): Promise<LabScore[]> {
  const scores: LabScore[] = [];
  const progress = showing(submissions.length);
  const waiting = submissions.entries();
  const work = async (): Promise<void> => {
    for (const [i, submission] of waiting) {
      const folder = output !== undefined && records ? join(output, submission.name) : undefined;
      scores[i] = await judgeApart(lab, submission, teacher, folder);
      progress.one();
    }
  };
  await Promise.all(Array.from({ length: jobs }, work));
  progress.clear();
  return scores;
}
