// Pairs of submissions that are alike: in their text, and in what their own tests make the kernel
// do.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Submission, textOf } from '../../grade/judge/lab.ts';
import { Runs } from '../../grade/judge/runs.ts';
import { tracedChecks, traceOf, withTrace } from '../../grade/judge/trace.ts';
import type { CheckStatus, LabScore } from '../../grade/schema.ts';
import { alike, codePrint, type Likeness, TRACE_LEAST, tracePrint } from '../../grade/similarity.ts';
import { type Lab, readFolder } from '../../host/lab/lab.ts';
import { workshop } from '../../host/lab/workshop.ts';
import { packageRoot } from '../../toolchain/index.ts';

export interface Alike {
  readonly code: readonly Likeness[];
  readonly coverage: readonly Likeness[];
}

const sourcesOf = (files: ReadonlyMap<string, Uint8Array>): string[] =>
  [...files].filter(([name]) => /\.[ch]$/.test(name)).map(([, bytes]) => textOf(bytes));

async function printOf(lab: Lab, submission: Submission, self: string): Promise<Set<number>> {
  const traces: (readonly string[])[] = [];
  for (const spec of tracedChecks({ lab })) {
    const runs = new Runs(
      lab,
      withTrace(submission, spec.program, self),
      workshop(() => {}),
    );
    traces.push(await traceOf(runs, spec));
  }
  return tracePrint(traces);
}

/** A program that does not end would spend its whole budget again. */
const UNTRACED: readonly CheckStatus[] = ['budget', 'compile', 'error'];

/** Pairs that share at least `least` percent. `scores`: of the submissions, in their order. */
export async function alikeOf(
  lab: Lab,
  submissions: readonly Submission[],
  scores: readonly LabScore[],
  least: number,
): Promise<Alike> {
  const codes = new Map(submissions.map(({ name, files }) => [name, codePrint(sourcesOf(files))]));
  const code = alike(codes, codePrint(sourcesOf(lab.starter)), least);
  const whole = submissions.filter(
    ({ missing }, i) => missing.length === 0 && !UNTRACED.includes(scores[i]!.status),
  );
  if (whole.length < 2) return { code, coverage: [] };
  const self = readFileSync(join(packageRoot(), 'guest-programs', 'kcov-self.h'), 'utf8');
  const prints = new Map<string, Set<number>>();
  for (const submission of whole) prints.set(submission.name, await printOf(lab, submission, self));
  const starter = { ...whole[0]!, files: readFolder(join(lab.folder, 'starter')) };
  const given = await printOf(lab, starter, self);
  return { code, coverage: alike(prints, given, least, TRACE_LEAST) };
}
