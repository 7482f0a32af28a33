// `kcovbox experiment submit redis`: the trials into a queue, from which `kcovbox experiment work`
// takes them on any number of machines.
import type { Command } from 'commander';
import { counted } from '../../../emulator/index.ts';
import { trialId } from '../../../experiment/plan.ts';
import { writeTo } from '../../io/output.ts';
import { openExperiment } from '../open.ts';
import {
  type Address,
  asked,
  checkServer,
  loadQueue,
  queueName,
  type TrialQueue,
  urlOption,
} from '../queue.ts';
import { addCommon, tellIfFinished } from './tasks.ts';

/** A trial whose worker dies or fails more often is left out. */
const ATTEMPTS = 3;

async function submitRedis(path: string, { dir, url }: { dir?: string; url: Address }): Promise<void> {
  await checkServer(url);
  const folder = await openExperiment(path, dir);
  const pending = folder.pending(folder.plan.trials).sort((a, b) => a.index - b.index);
  if (tellIfFinished(folder)) return;
  const { Queue } = await loadQueue();
  const queue: TrialQueue = new Queue(queueName(folder), {
    connection: { ...url, retryStrategy: () => null, maxRetriesPerRequest: 0 },
  });
  queue.on('error', () => {}); // the commands fail with it
  try {
    const add = async (): Promise<number> => {
      await queue.clean(0, 0, 'failed');
      const opts = { attempts: ATTEMPTS, removeOnComplete: true, removeOnFail: true };
      // A name that is in the queue already is not added.
      await queue.addBulk(
        pending.map(trial => ({
          name: 'trial',
          data: null,
          opts: { ...opts, jobId: trialId(trial) },
        })),
      );
      return queue.getJobCountByTypes('waiting', 'active', 'delayed', 'prioritized');
    };
    const count = await asked(url, add());
    writeTo('-', `${counted(count, 'trial')} of plan ${folder.hash.slice(0, 16)} in the queue\n`);
  } finally {
    await queue.disconnect().catch(() => {});
  }
}

export function addRedis(command: Command): void {
  addCommon(command, ', on a file system that all workers see')
    .description('a queue of trials on a Redis server, for kcovbox experiment work')
    .addOption(urlOption())
    .addHelpText(
      'after',
      '\nThe queue has the names of the trials; results are in the folder. Run it again after a failure: trials that\n' +
        'are finished or in the queue are not added. KCOVBOX_REDIS keeps a password out of the list of processes.\n' +
        'Examples:\n  kcovbox experiment submit redis --url redis://queue.lab:6379 lost.experiment\n' +
        '  kcovbox experiment work --url redis://queue.lab:6379 lost.experiment',
    )
    .action(async (path: string, options: { dir?: string; url: Address }) => submitRedis(path, options));
}
