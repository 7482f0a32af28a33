// A pool of worker processes on this machine, each of which gets one trial after the other.
import { trialId } from '../../experiment/plan.ts';
import type { PlannedTrial } from '../../experiment/schema.ts';
import { tell } from '../../toolchain/index.ts';
import { UserError } from '../io/fail.ts';
import { ENDING_SIGNALS, type EndingSignal, SIGNAL_STATUS } from '../io/signals.ts';
import type { Folder } from './folder.ts';
import { KilledProcess, TrialProcess } from './trial-process.ts';

/** A trial whose worker dies more often than this is not tried again. */
const ATTEMPTS = 2;

/**
 * Runs the trials in `jobs` processes; `seen` hears of each that is done, and of a signal that ends
 * the command. Errors: UserError when a worker reports one.
 */
export async function runPool(
  folder: Folder,
  trials: readonly PlannedTrial[],
  jobs: number,
  seen: { readonly done: () => void; readonly interrupted: () => void },
): Promise<void> {
  const queue = trials.map(trialId);
  const attempts = new Map<string, number>();
  const workers = new Set<TrialProcess>();
  let failure: unknown;
  const fail = (error: unknown): void => {
    failure ??= error;
    queue.length = 0;
  };
  const stop = (signal: EndingSignal): void => {
    for (const worker of workers) worker.kill();
    seen.interrupted();
    process.exit(SIGNAL_STATUS[signal]);
  };
  for (const signal of ENDING_SIGNALS) process.on(signal, stop);

  /** A worker that a signal killed loses its trial, which runs again. */
  const ended = (trial: string, error: unknown): void => {
    if (!(error instanceof KilledProcess)) {
      fail(error);
      return;
    }
    const count = (attempts.get(trial) ?? 0) + 1;
    attempts.set(trial, count);
    if (count >= ATTEMPTS) {
      fail(new UserError(`trial ${trial}: ${error.signal} ended its worker ${count} times`));
      return;
    }
    tell(`kcovbox: ${error.signal} ended the worker of trial ${trial}; it runs again\n`);
    queue.unshift(trial);
  };

  const runWorker = async (): Promise<void> => {
    let worker: TrialProcess | undefined;
    for (let trial = queue.shift(); trial !== undefined; trial = queue.shift()) {
      if (!worker) workers.add((worker = new TrialProcess(folder.path)));
      try {
        await worker.run(trial);
        seen.done();
      } catch (error) {
        workers.delete(worker);
        worker = undefined;
        ended(trial, error);
      }
    }
    await worker?.end().catch(fail);
  };

  try {
    await Promise.all(Array.from({ length: Math.min(jobs, trials.length) }, runWorker));
  } finally {
    for (const signal of ENDING_SIGNALS) process.off(signal, stop);
  }
  if (failure) throw failure;
}
