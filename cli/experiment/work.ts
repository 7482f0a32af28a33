// `kcovbox experiment work`: takes trials from the queue that `submit redis` filled, until it is
// empty. Trials run in processes of their own, so that this one can renew its claims on them.
import { availableParallelism } from 'node:os';
import { type Command, Option } from 'commander';
import { counted } from '../../emulator/index.ts';
import { trialId } from '../../experiment/plan.ts';
import { tell } from '../../toolchain/index.ts';
import { UserError } from '../io/fail.ts';
import { writeTo } from '../io/output.ts';
import { pathWord } from '../io/shell-word.ts';
import { type EndingSignal, SIGNAL_STATUS, whileSignals } from '../io/signals.ts';
import { parseWithin } from '../io/values.ts';
import type { Folder } from './folder.ts';
import { openResults } from './open.ts';
import {
  type Address,
  checkServer,
  loadQueue,
  queueName,
  serverName,
  type TrialQueue,
  urlOption,
  within,
} from './queue.ts';
import { KilledProcess, TrialProcess } from './trial-process.ts';
import { durationText } from './words.ts';

const JOBS_MAX = 256;
const LOOK_MS = 1000;
const ANSWER_MS = 5000;
/** A server that restarts loads its log in this time. */
const LOST_SECONDS = 300;
/** A worker that does not renew its claim on a trial for so long is dead. */
const CLAIM_MS = 15_000;
/** Workers look so often for trials of dead ones. */
const STALLED_MS = 5000;
/** A trial is given up when so many of its workers died with their whole process. */
const DEATHS_MAX = 10;
const CLOSE_MS = 3000;
const RETRY_MS = 1000;

interface WorkOptions {
  dir?: string;
  url: Address;
  jobs?: number;
}

/** The trials that this process runs, each in one of its own processes. */
export class Bench {
  readonly #folder: Folder;
  readonly #names: ReadonlySet<string>;
  readonly #idle: TrialProcess[] = [];
  readonly #busy = new Set<TrialProcess>();
  /** No trial is begun any more. */
  isStopped = false;
  failure: Error | undefined;

  constructor(folder: Folder) {
    this.#folder = folder;
    this.#names = new Set(folder.plan.trials.map(trialId));
  }

  get isBusy(): boolean {
    return this.#busy.size > 0;
  }

  /** Errors: any; the trial is not finished. */
  async run(name: string): Promise<void> {
    if (!this.#names.has(name)) throw new Error(`the plan has no trial ${name}`);
    // The queue may hand out another one before its worker is closed.
    if (this.isStopped) throw new Error(`stopped before trial ${name}`);
    const process = this.#idle.pop() ?? new TrialProcess(this.#folder.path);
    this.#busy.add(process);
    try {
      await process.run(name);
      this.#idle.push(process);
      writeTo('-', `${name}\n`);
    } catch (error) {
      if (!this.isStopped)
        if (error instanceof KilledProcess)
          tell(`kcovbox: ${error.signal} ended the worker of trial ${name}; it runs again\n`);
        else this.failure ??= error as Error;
      throw error;
    } finally {
      this.#busy.delete(process);
    }
  }

  stop(): void {
    this.isStopped = true;
    for (const process of [...this.#busy, ...this.#idle]) process.kill();
  }
}

/** Waits until the queue is empty, on all machines. Errors: UserError if the server is gone. */
async function untilEmpty(queue: TrialQueue, bench: Bench, address: Address): Promise<void> {
  let lostAt: number | undefined;
  while (!bench.isStopped && !bench.failure) {
    const work = queue.getJobCountByTypes('waiting', 'active', 'delayed', 'prioritized');
    const left = await within(ANSWER_MS, work).catch(() => undefined);
    const now = performance.now();
    if (left === undefined) {
      if (lostAt === undefined)
        tell(`kcovbox: ${serverName(address)} does not answer; trying for ${durationText(LOST_SECONDS)}\n`);
      lostAt ??= now;
      if (now - lostAt > LOST_SECONDS * 1000)
        throw new UserError(`${serverName(address)}: no answer in ${durationText(LOST_SECONDS)}`);
    } else {
      if (lostAt !== undefined) tell(`kcovbox: ${serverName(address)} answers again\n`);
      lostAt = undefined;
      if (left === 0 && !bench.isBusy) return;
    }
    await new Promise(resolve => setTimeout(resolve, LOOK_MS));
  }
}

async function work(path: string, { dir, url, jobs = availableParallelism() }: WorkOptions): Promise<void> {
  const folder = openResults(path, dir);
  await checkServer(url);
  const { Queue, WaitingError, Worker } = await loadQueue();
  let isClosing = false;
  const retryStrategy = () => (isClosing ? null : RETRY_MS);
  const connection = { ...url, maxRetriesPerRequest: null, retryStrategy };
  const queue: TrialQueue = new Queue(queueName(folder), { connection });
  const bench = new Bench(folder);
  const worker = new Worker<null, void>(
    queueName(folder),
    async (job, token) => {
      try {
        await bench.run(job.id!);
      } catch (error) {
        if (!bench.isStopped) throw error;
        await job.moveToWait(token); // for others, at once
        throw new WaitingError();
      }
    },
    {
      connection,
      concurrency: jobs,
      lockDuration: CLAIM_MS,
      stalledInterval: STALLED_MS,
      maxStalledCount: DEATHS_MAX,
    },
  );
  // Those of the connection, which comes back, and of claims that others took: `untilEmpty` looks.
  queue.on('error', () => {});
  worker.on('error', () => {});
  let received: EndingSignal | undefined;
  const stop = (signal: EndingSignal): void => {
    if (received !== undefined) process.exit(SIGNAL_STATUS[received]);
    received = signal;
    isClosing = true;
    bench.stop();
    worker.close().catch(() => {}); // takes no further trial; the end of the work waits for it
  };
  try {
    await whileSignals(stop, async () => {
      try {
        await untilEmpty(queue, bench, url);
      } finally {
        bench.stop();
        isClosing = true;
        await within(CLOSE_MS, worker.close()).catch(() => {});
      }
    });
    if (received === undefined && !bench.failure && folder.pending(folder.plan.trials).length === 0)
      await within(CLOSE_MS, queue.obliterate()).catch(() => {}); // leaves nothing on the server
  } finally {
    if (received !== undefined) process.exit(SIGNAL_STATUS[received]);
    await within(CLOSE_MS, Promise.all([queue.disconnect(), worker.disconnect()])).catch(() => {});
  }
  if (bench.failure) throw bench.failure;
  refuseMissing(folder, path);
}

function refuseMissing(folder: Folder, path: string): void {
  const { trials } = folder.plan;
  const missing = folder.pending(trials).length;
  if (missing > 0)
    throw new UserError(
      `the queue of plan ${folder.hash.slice(0, 16)} is empty, and ${missing} of ${counted(trials.length, 'trial')} are missing; kcovbox experiment submit redis ${pathWord(path)}`,
      1,
    );
}

export function addWork(command: Command): void {
  command
    .description('take trials from the queue of submit redis until it is empty, on any machine')
    .argument('<experiment>', 'file of the experiment, or its folder, on a file system that all workers see')
    .option('--dir <dir>', 'folder of the results (default: FILE.experiment)')
    .addOption(urlOption())
    .addOption(
      new Option('-j, --jobs <n>', 'worker processes (default: one for each processor)').argParser(
        parseWithin(1, JOBS_MAX),
      ),
    )
    .addHelpText(
      'after',
      '\nA finished trial is one line of standard output. Workers may come, go and be killed at any time: the others\n' +
        `take over after ${CLAIM_MS / 1000} seconds. A server that restarts is waited for. Status 1: trials are missing.\n` +
        'Example:\n  kcovbox experiment work --url redis://queue.lab:6379 -j 8 lost.experiment',
    )
    .action(async (path: string, options: WorkOptions) => work(path, options));
}
