// The fingerprints of what a submission's own tests make the kernel do.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Submission } from '../../grade/judge/lab.ts';
import { Runs } from '../../grade/judge/runs.ts';
import { tracedChecks, traceOf, withTrace } from '../../grade/judge/trace.ts';
import { tracePrint } from '../../grade/similarity.ts';
import type { Lab } from '../../host/lab/lab.ts';
import { workshop } from '../../host/lab/workshop.ts';
import { packageRoot } from '../../toolchain/index.ts';

export async function printOf(lab: Lab, submission: Submission): Promise<Set<number>> {
  const self = readFileSync(join(packageRoot(), 'guest-programs', 'kcov-self.h'), 'utf8');
  const own = workshop(() => {});
  const traces: (readonly string[])[] = [];
  for (const spec of tracedChecks({ lab })) {
    const runs = new Runs(lab, withTrace(submission, spec.program, self), own);
    traces.push(await traceOf(runs, spec));
  }
  return tracePrint(traces);
}
