// The builds that the runs of all submissions have in common, made once before the class is
// judged: its processes would each make them at the start.
import type { LabCheck } from '../schema.ts';
import { mutantKernels } from './checks.ts';
import type { Files, LabContents } from './lab.ts';
import { type RunSpec, Runs } from './runs.ts';
import type { Workshop } from './workshop.ts';

const isRun = (check: LabCheck): check is Extract<LabCheck, RunSpec> => 'program' in check;

/**
 * Builds the kernel and the program of each check for the starter, which leaves the objects of all
 * files but the student's in the cache, and the kernels with faults. A failure is none yet: the
 * build is tried again where a check needs it, and there it has a reason.
 */
export async function buildShared(lab: LabContents, workshop: Workshop, solution?: Files): Promise<void> {
  const starter = { name: 'starter', files: lab.starter, sha256: lab.sha256, missing: [], ignored: [] };
  const runs = new Runs(lab, starter, workshop, solution);
  const attempt = async (build: () => Promise<unknown>): Promise<void> => {
    try {
      await build();
    } catch {}
  };
  for (const check of lab.manifest.checks) {
    if (!isRun(check)) continue;
    await attempt(() => runs.prepare(check, check.kind === 'kcov' ? { dialect: check.dialect } : {}));
    if (check.kind === 'mutants')
      await attempt(() => mutantKernels({ runs, solution, explains: false }, check));
  }
}
