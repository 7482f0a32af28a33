// A pool of worker processes on this machine. Each is `kcovbox experiment shard --trials -`, which
// gets one name of a trial, runs it, answers with its name, and gets the next.
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { trialId } from '../../experiment/plan.ts';
import type { PlannedTrial } from '../../experiment/schema.ts';
import { packageRoot, tell } from '../../toolchain/index.ts';
import { UserError } from '../io/fail.ts';
import { ENDING_SIGNALS, type EndingSignal, SIGNAL_STATUS } from '../io/signals.ts';
import type { Folder } from './folder.ts';

/** A trial whose worker dies more often than this is not tried again. */
const ATTEMPTS = 2;

/** Runs the trials in `jobs` processes. Errors: UserError when a worker reports one. */
export async function runPool(
  folder: Folder,
  trials: readonly PlannedTrial[],
  jobs: number,
  done: () => void,
): Promise<void> {
  const queue = trials.map(trialId);
  const attempts = new Map<string, number>();
  const workers = new Set<ChildProcess>();
  let failure: UserError | undefined;
  const fail = (error: UserError): void => {
    failure ??= error;
    queue.length = 0;
  };
  const stop = (signal: EndingSignal): void => {
    for (const worker of workers) worker.kill('SIGTERM');
    process.exit(SIGNAL_STATUS[signal]);
  };
  for (const signal of ENDING_SIGNALS) process.on(signal, stop);

  const runWorker = (): Promise<void> =>
    new Promise(resolve => {
      const worker = spawn(
        process.execPath,
        [join(packageRoot(), 'bin', 'kcovbox.cjs'), 'experiment', 'shard', folder.path, '--trials', '-'],
        { stdio: ['pipe', 'pipe', 'pipe'] },
      );
      workers.add(worker);
      let current: string | undefined;
      let errors = '';
      const next = (): void => {
        current = queue.shift();
        if (current === undefined) worker.stdin.end();
        else worker.stdin.write(`${current}\n`);
      };
      worker.stdin.on('error', () => {}); // its end says it too
      worker.stderr.on('data', chunk => (errors = `${errors}${chunk}`.slice(-65_536)));
      createInterface({ input: worker.stdout }).on('line', line => {
        if (line !== current) return;
        done();
        next();
      });
      worker.on('error', error => fail(new UserError(`cannot start a worker: ${error.message}`)));
      worker.on('close', (status, signal) => {
        workers.delete(worker);
        if (status !== 0) ended(current, status, signal, errors);
        resolve(queue.length > 0 ? runWorker() : undefined);
      });
      next();
    });

  /** A worker that a signal killed (out of memory, say) loses its trial, which runs again. */
  const ended = (
    trial: string | undefined,
    status: number | null,
    signal: string | null,
    errors: string,
  ): void => {
    const line =
      errors
        .trim()
        .split('\n')
        .at(-1)
        ?.replace(/^kcovbox: /, '') ?? '';
    if (signal === null || trial === undefined) {
      fail(new UserError(line || `a worker ended with status ${status}`, status ?? undefined));
      return;
    }
    const count = (attempts.get(trial) ?? 0) + 1;
    attempts.set(trial, count);
    if (count >= ATTEMPTS) {
      fail(new UserError(`trial ${trial}: ${signal} ended its worker ${count} times`));
      return;
    }
    tell(`kcovbox: ${signal} ended the worker of trial ${trial}; it runs again\n`);
    queue.unshift(trial);
  };

  try {
    await Promise.all(Array.from({ length: Math.min(jobs, trials.length) }, runWorker));
  } finally {
    for (const signal of ENDING_SIGNALS) process.off(signal, stop);
  }
  if (failure) throw failure;
}
