// The kinds of trial: a program that runs many times, and a campaign of the fuzzer.
import type { PlannedTrial } from '../../experiment/schema.ts';
import type { FinishedTrial } from '../../experiment/trial.ts';
import type { Folder } from './folder.ts';
import type { Progress } from './program.ts';

/** Runs one trial to its end. The code of the other kind is not loaded. */
export async function runTrial(
  folder: Folder,
  planned: PlannedTrial,
  progress: Progress = () => {},
): Promise<FinishedTrial> {
  const { plan } = folder;
  if (plan.kind === 'program') {
    const { runProgramTrial } = await import('./program.ts');
    return runProgramTrial(folder, plan, planned, progress);
  }
  const { runCampaignTrial } = await import('./campaign.ts');
  return runCampaignTrial(folder, plan, planned, progress);
}
