// `kcovbox experiment shard`: some of the trials, in this process. The trials are those of one
// shard of N, or come as lines of standard input, for a program that deals them.
import { createInterface } from 'node:readline';
import { type Command, Option } from 'commander';
import { shardOf, trialId } from '../../experiment/plan.ts';
import type { PlannedTrial } from '../../experiment/schema.ts';
import { tell } from '../../toolchain/index.ts';
import { UserError } from '../io/fail.ts';
import { writeTo } from '../io/output.ts';
import { parseCount, parseWithin } from '../io/values.ts';
import type { Folder } from './folder.ts';
import { runTrial } from './kinds.ts';
import { openExperiment } from './open.ts';

interface ShardOptions {
  dir?: string;
  index?: number;
  of?: number;
  trials?: string;
}

/** Variables in which engines tell a task its number, and that of the first task. */
const ENGINES: readonly { readonly name: string; readonly first: string | number }[] = [
  { name: 'SLURM_ARRAY_TASK_ID', first: 'SLURM_ARRAY_TASK_MIN' },
  { name: 'JOB_COMPLETION_INDEX', first: 0 },
  { name: 'SGE_TASK_ID', first: 'SGE_TASK_FIRST' },
  { name: 'PBS_ARRAY_INDEX', first: 0 },
  { name: 'AWS_BATCH_JOB_ARRAY_INDEX', first: 0 },
  { name: 'PARALLEL_SEQ', first: 1 },
];

const INDEX_MAX = 1_000_000;

/** The number of this task from 0, by the engine that started it. Errors: UserError. */
export function engineIndex(environment: Readonly<Record<string, string | undefined>>): number {
  for (const { name, first } of ENGINES) {
    const text = environment[name];
    if (text === undefined || text === '' || text === 'undefined') continue;
    const given = typeof first === 'number' ? String(first) : (environment[first] ?? '0');
    const index = /^\d{1,9}$/.test(text) && /^\d{1,9}$/.test(given) ? Number(text) - Number(given) : -1;
    if (index < 0) throw new UserError(`${name}=${text} is not the number of a task; give --index`);
    return index;
  }
  const names = ENGINES.map(({ name }) => name).join(', ');
  throw new UserError(`shard: no engine says which shard this is (${names}); give --index`);
}

/** Runs those that are not finished, and calls `done` behind each. */
export async function runTrials(
  folder: Folder,
  trials: Iterable<PlannedTrial> | AsyncIterable<PlannedTrial>,
  done: (trial: PlannedTrial) => void,
): Promise<void> {
  for await (const trial of trials) {
    if (!folder.isDone(trial)) folder.keep(trial, await runTrial(folder, trial));
    done(trial);
  }
}

async function* fromInput(folder: Folder): AsyncGenerator<PlannedTrial> {
  const byId = new Map(folder.plan.trials.map(trial => [trialId(trial), trial]));
  try {
    for await (const line of createInterface({ input: process.stdin })) {
      const id = line.trim();
      if (id === '') continue;
      const trial = byId.get(id);
      if (!trial)
        throw new UserError(
          `shard: the plan has no trial "${id.slice(0, 100)}"; they look like ${byId.keys().next().value}`,
        );
      yield trial;
    }
  } finally {
    process.stdin.destroy(); // else a failed trial waits for the end of the input
  }
}

async function runShard(path: string, { dir, index, of, trials }: ShardOptions): Promise<void> {
  if (trials !== undefined && (trials !== '-' || of !== undefined || index !== undefined))
    throw new UserError('--trials -: trials come from standard input, without --index and --of');
  if (trials === undefined && of === undefined)
    throw new UserError('shard: how many shards are there? Give --of N');
  const at = trials !== undefined ? 0 : (index ?? engineIndex(process.env));
  if (of !== undefined && at >= of)
    throw new UserError(`shard: --index ${at} of --of ${of}: the first is 0, and the last ${of - 1}`);
  const folder = await openExperiment(path, dir);
  folder.sweep();
  const mine = of === undefined ? fromInput(folder) : shardOf(folder.plan, at, of);
  if (Array.isArray(mine) && folder.pending(mine).length === 0) tell(nothingLeft(mine.length));
  await runTrials(folder, mine, trial => writeTo('-', `${trialId(trial)}\n`));
}

const nothingLeft = (count: number): string =>
  `kcovbox: nothing is left to do: ${count === 0 ? 'the shard has no trial' : 'all trials of the shard are finished'}\n`;

export function addShard(command: Command): void {
  command
    .description('run one shard of the trials: a function of the plan, I and N; run it again to resume')
    .argument('<experiment>', 'file of the experiment, or its folder')
    .option('--dir <dir>', 'folder of the results (default: FILE.experiment)')
    .addOption(
      new Option('--index <i>', 'number of the shard, from 0; default: what the engine says').argParser(
        parseWithin(0, INDEX_MAX),
      ),
    )
    .addOption(new Option('--of <n>', 'number of shards').argParser(parseCount))
    .option('--trials <->', 'take the names of trials from standard input, one a line')
    .addHelpText(
      'after',
      '\nA finished trial is one line of standard output. The number comes from the variable that the engine sets:\n' +
        `${ENGINES.map(({ name }) => `  ${name}`).join('\n')}\n` +
        'Shards share nothing but the folder, and may run in any order, at any time, on any machine.\n' +
        'Examples:\n' +
        '  kcovbox experiment plan lost.yaml\n' +
        '  kcovbox experiment shard lost.experiment --index 0 --of 4\n' +
        '  parallel kcovbox experiment shard lost.experiment --of 4 --index ::: 0 1 2 3',
    )
    .action(async (path: string, options: ShardOptions) => runShard(path, options));
}
