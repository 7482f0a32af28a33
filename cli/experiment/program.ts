// Trials of a program on this host.
import type { MachineOptions } from '../../emulator/index.ts';
import type { PlannedTrial, ProgramPlan } from '../../experiment/schema.ts';
import { type FinishedTrial, type Recording, Trial } from '../../experiment/trial.ts';
import { formatCapsule } from '../../host/capsule.ts';
import { machineOptions } from '../../host/machine.ts';
import { choiceOf, guestOf } from '../../host/replay.ts';
import type { RunDescription, RunOutcome } from '../../run/index.ts';
import type { Folder } from './folder.ts';

export type Progress = (executions: number, instructions: number) => void;

/** `choiceOf` takes the budget of a recorded run, or where that ended. */
export const NOT_ENDED = { time: Number.POSITIVE_INFINITY } as RunOutcome;

function machineFor(folder: Folder, run: RunDescription): MachineOptions {
  const images = new Map([
    ['kernel.bin', folder.image(run.images.kernel.sha256)],
    ['initrd.bin', folder.image(run.images.initrd)],
  ]);
  return machineOptions(guestOf(run, images, ''), choiceOf(run, NOT_ENDED, 'jit'));
}

function capsule(folder: Folder, { run, outcome, journal, printed }: Recording): Uint8Array {
  const images = new Map([
    ['kernel.bin', folder.image(run.images.kernel.sha256)],
    ['initrd.bin', folder.image(run.images.initrd)],
  ]);
  return formatCapsule({ run, outcome, journal, printed, images }, true, 'of a bug');
}

/** Seconds of the processor. */
export function usedCpu(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** Runs one trial of a program to its end. */
export const runProgramTrial = (
  folder: Folder,
  plan: ProgramPlan,
  planned: PlannedTrial,
  progress: Progress,
): Promise<FinishedTrial> =>
  new Trial(plan, planned, {
    machineFor: run => machineFor(folder, run),
    capsule: recording => capsule(folder, recording),
    cpuSeconds: usedCpu,
    progress,
  }).run();
