// `kcovbox fuzz run` and `verify`: campaigns in folders.
import { availableParallelism } from 'node:os';
import { visible } from '../../emulator/base/words.ts';
import { counted, type EngineKind, parseFaultChoice } from '../../emulator/index.ts';
import { budgetOf, epochSize, progressOf, Random, type TargetKind } from '../../fuzz/index.ts';
import { HAS_FAIL_NTH, targetMachine } from '../../host/fuzz/target-machine.ts';
import { findCanaries } from '../../run/bugs/canaries.ts';
import { type CampaignConfig, campaignConfig, type FuzzVerification } from '../../run/fuzz/schema.ts';
import { firstIssue } from '../../run/issue.ts';
import { tell } from '../../toolchain/index.ts';
import { UserError } from '../io/fail.ts';
import { printJson, undoOf, writeTo } from '../io/output.ts';
import { progressLine } from '../io/progress.ts';
import { pathWord } from '../io/shell-word.ts';
import { type EndingSignal, SIGNAL_STATUS, whileSignals } from '../io/signals.ts';
import { type GuestChoice, prepareChosen, textsFor } from './choose.ts';
import {
  appendEpoch,
  createFolder,
  finishFolder,
  isCampaign,
  isWithoutEpochs,
  lineOf,
  readFolder,
  repairFolder,
  type Stored,
} from './folder.ts';
import { Pool } from './pool.ts';
import type { WorkerData } from './worker.ts';

export interface RunOptions extends GuestChoice {
  executions: number;
  jobs?: number;
  seed?: bigint;
  call?: string[];
  comparisons: boolean;
  snapshots: boolean;
  settle?: true;
  schedule?: string;
  fault?: string[];
  engine: Exclude<EngineKind, 'lockstep'>;
}

/** Where the configuration of a campaign comes from. */
function configOf(options: RunOptions): CampaignConfig {
  const parsed = campaignConfig.safeParse({
    ...(options.seed !== undefined && { seed: `0x${options.seed.toString(16)}` }),
    ...(options.call && { calls: options.call }),
    comparisons: options.comparisons,
    snapshots: options.snapshots,
    settles: options.settle === true,
    ...(options.schedule !== undefined && { schedule: options.schedule }),
    ...(options.fault && { faults: options.fault }),
  });
  if (!parsed.success) throw new UserError(`fuzz run: ${firstIssue(parsed.error)}`);
  return parsed.data;
}

/** Is there more in the kernel than the package has? */
const isOwnKernel = ({ device, driver, kernelSource }: RunOptions): boolean =>
  device !== undefined || driver !== undefined || kernelSource !== undefined;

/** Compiles all that a new campaign needs; the result writes its folder, without a wait in it. */
async function prepare(path: string, options: RunOptions): Promise<() => Stored> {
  const hasThreads = options.schedule !== undefined;
  const config = configOf(options);
  const faultable = config.faults?.map(text => parseFaultChoice(text).device);
  const { conf, words, target, devices } = await prepareChosen(options, { hasThreads, faultable });
  const { images, kind = 'own' } = target;
  const canaries = kind === 'own' ? findCanaries(images.kernel) : undefined;
  const manifest = {
    format: 'kcovbox fuzz campaign' as const,
    version: 1 as const,
    config: { ...config, budget: budgetOf(kind), failNth: HAS_FAIL_NTH.test(conf) },
    conf,
    ...(kind !== 'own' && { guest: kind }),
    words,
    append: images.append,
    tail: images.tail ?? '',
    ...(canaries && { canaries }),
    ...(isOwnKernel(options) && { whole: true as const }),
  };
  const kernel = isOwnKernel(options) ? images.kernel : (images.loaded ?? images.kernel);
  const texts = textsFor(options);
  return () => createFolder(path, manifest, { kernel, initrd: images.initrd, devices }, texts);
}

/** Options of `run` that may change when a campaign goes on; all others belong to it. */
const FREE: readonly string[] = ['--executions', '--jobs', '--engine'];

/** `given`: the long names of the options on the command line. */
function reopen(path: string, given: readonly string[]): Stored {
  const wrong = given.find(option => !FREE.includes(option));
  if (wrong !== undefined)
    throw new UserError(
      `fuzz run ${path}: the campaign has begun, and ${wrong} belongs to it; ` +
        `omit all options but ${FREE.join(', ')}, or give a new folder`,
    );
  return readFolder(path);
}

/** All that an executor of the campaign needs. */
export function workerData(stored: Stored, engine: RunOptions['engine']): WorkerData {
  const { manifest, kernel, initrd, texts, devices } = stored;
  const { config, canaries, append, tail } = manifest;
  const kind: TargetKind = manifest.guest ?? 'own';
  const hasThreads = config.schedule !== undefined;
  const faultable = config.faults?.map(text => parseFaultChoice(text).device);
  const machine = targetMachine({ kernel, initrd, append, tail, hasThreads, kind, faultable }, engine);
  return { machine, devices, kernel, kind, config, canaries, texts };
}

export function poolOf(stored: Stored, engine: RunOptions['engine'], jobs = availableParallelism()): Pool {
  const { batches } = stored.manifest.config;
  return new Pool(workerData(stored, engine), stored.descriptions, Math.min(jobs, batches));
}

const executionsOf = ({ epochs, manifest }: Pick<Stored, 'epochs' | 'manifest'>): number =>
  epochs.length * epochSize(manifest.config);

/** How far a campaign came, by its journal, and how it goes on. */
function interruption({ path, epochs, devices, manifest }: Stored, wanted: number): string {
  const trust = devices.length > 0 ? 'KCOVBOX_TRUST=1 ' : '';
  return (
    `kcovbox: interrupted behind ${executionsOf({ epochs, manifest })} executions; ` +
    `${trust}kcovbox fuzz run -n ${wanted} ${pathWord(path)} goes on\n`
  );
}

/** Runs a campaign, or goes on with it. Where the guest does not begin, no new folder stays. */
export async function runCampaignIn(
  path: string,
  options: RunOptions,
  given: readonly string[],
): Promise<number> {
  const isOld = isCampaign(path);
  const { undo } = undoOf(path);
  const open = isOld ? () => reopen(path, given) : await prepare(path, options);
  let signal: EndingSignal | undefined;
  let stop: () => void = () => {};
  const stopped = new Promise<undefined>(resolve => {
    stop = () => resolve(undefined);
  });
  const onSignal = (which: EndingSignal): void => {
    signal = which;
    stop();
  };
  // The folder is written in here: one that a signal ends half-way is no campaign, and not empty.
  return whileSignals(onSignal, async () => {
    let stored = open();
    repairFolder(stored);
    const pool = poolOf(stored, options.engine, options.jobs);
    const line = progressLine({ logs: true });
    const start = process.hrtime.bigint();
    try {
      const { state } = pool;
      const recalled = await Promise.race([pool.recall(stored.epochs).then(() => true), stopped]);
      const before = recalled ? progressOf(state).executions : 0;
      while (recalled && !signal && progressOf(state).executions < options.executions) {
        const corpus = state.corpus.length;
        const epoch = await Promise.race([pool.epoch(), stopped]);
        if (!epoch || signal) break;
        stored = appendEpoch(stored, epoch, corpus);
        const { executions, covered } = progressOf(state);
        const seconds = Number(process.hrtime.bigint() - start) / 1e9;
        const rate = Math.round((executions - before) / seconds);
        line.show(
          `${executions} executions, ${rate}/s, ${covered} covered, ${state.corpus.length} programs, ` +
            `${state.crashes.size} crashes`,
        );
      }
      line.clear();
      finishFolder(stored);
      if (!signal) writeTo('-', summary(stored));
      else tell(interruption(stored, options.executions));
    } catch (error) {
      if (!isOld && isWithoutEpochs(path)) undo();
      throw error;
    } finally {
      await pool.close();
    }
    if (signal) return SIGNAL_STATUS[signal];
    return stored.epochs.some(({ crashes }) => crashes.length > 0) ? 1 : 0;
  });
}

/** Historical bugs, where the kernel has them. */
function bugSummary(epochs: Stored['epochs'], all: number): string {
  const finds = epochs.flatMap(({ bugs }) => bugs);
  const triggered = finds.filter(({ kind }) => kind === 'triggered');
  const rows = triggered.map(({ bug, execution }) => `  at execution ${execution}: ${bug}\n`);
  const reached = finds.length - triggered.length;
  return `of ${all} historical bugs: ${reached} reached, ${triggered.length} triggered\n${rows.join('')}`;
}

/** The elements of its coverage. */
export const coveredWhat = ({ manifest }: Pick<Stored, 'manifest'>): string =>
  manifest.config.signal === 'edge' ? 'edges' : 'points';

/** The same for every run of the campaign. */
function summary({ epochs, manifest }: Stored): string {
  const executions = executionsOf({ epochs, manifest });
  const programs = epochs.reduce((sum, { entries }) => sum + entries.length, 0);
  const crashes = epochs.flatMap(epoch => epoch.crashes);
  const rows = crashes.map(({ title, execution }) => `  at execution ${execution}: ${visible(title)}\n`);
  return (
    `${executions} executions: ${epochs.at(-1)?.covered ?? 0} ${coveredWhat({ manifest })}, ` +
    `${programs} programs, ` +
    `${crashes.length} crashes\n${rows.join('')}${manifest.canaries ? bugSummary(epochs, manifest.canaries.rows) : ''}`
  );
}

export interface VerifyOptions {
  sample: number;
  seed: bigint;
  jobs?: number;
  engine: RunOptions['engine'];
  json?: true;
}

/** Repeats some epochs of a campaign, and compares them with the journal. */
export async function verifyCampaign(path: string, options: VerifyOptions): Promise<number> {
  const stored = readFolder(path);
  const { epochs } = stored;
  if (epochs.length === 0) throw new UserError(`fuzz verify ${path}: the campaign has no epoch yet`);
  const wanted = Math.max(1, Math.ceil((epochs.length * options.sample) / 100));
  const random = new Random(options.seed);
  const all = epochs.map((_, i) => i);
  const chosen: number[] = [];
  while (chosen.length < wanted) chosen.push(all.splice(random.below(all.length), 1)[0]!);
  chosen.sort((a, b) => a - b);
  const line = progressLine();
  const repeated: number[] = [];
  let differs: FuzzVerification['differs'] = null;
  for (const at of chosen) {
    line.show(`${repeated.length} of ${counted(chosen.length, 'epoch')}`);
    const pool = poolOf(stored, options.engine, options.jobs);
    try {
      await pool.recall(epochs.slice(0, at));
      const again = lineOf(await pool.epoch());
      const before = lineOf(epochs[at]!);
      if (again !== before) differs = { epoch: at, ...firstDifference(before, again) };
    } finally {
      await pool.close();
    }
    if (differs) break;
    repeated.push(at);
  }
  line.clear();
  const format = 'kcovbox fuzz verification';
  const found: FuzzVerification = { format, version: 1, epochs: epochs.length, repeated, differs };
  if (options.json) printJson(found);
  else writeTo('-', verificationText(found));
  return differs ? 1 : 0;
}

function verificationText({ epochs, repeated, differs }: FuzzVerification): string {
  if (!differs) return `${counted(repeated.length, 'epoch')} of ${epochs} repeated: equal\n`;
  const { epoch, byte, journal, now } = differs;
  const [before, again] = [JSON.stringify(journal), JSON.stringify(now)];
  return `epoch ${epoch} differs: byte ${byte}, ${before} by the journal, now ${again}\n`;
}

const AROUND = 30;

function firstDifference(before: string, again: string): { byte: number; journal: string; now: string } {
  let byte = 0;
  while (byte < before.length && before[byte] === again[byte]) byte++;
  const near = (text: string): string => text.slice(Math.max(0, byte - AROUND), byte + AROUND);
  return { byte, journal: near(before), now: near(again) };
}
