// Trials of the fuzzer on this host: its guest, its descriptions, and executors that later trials
// of the same guest use again.
import { isAbsolute, join } from 'node:path';
import { DEFAULT_EXTENSIONS } from '../../emulator/index.ts';
import { FuzzTrial } from '../../experiment/fuzz-trial.ts';
import type { FuzzOptions, FuzzPlan, PlannedFuzz, PlannedTrial } from '../../experiment/schema.ts';
import type { FinishedTrial } from '../../experiment/trial.ts';
import { BUDGET, Choice, campaignConfig, Executor, FuzzError } from '../../fuzz/index.ts';
import { describe } from '../../host/describe.ts';
import {
  type DescriptionTexts,
  descriptionTexts,
  harnessTexts,
  loadDescriptions,
} from '../../host/fuzz/descriptions.ts';
import { prepareHarness, prepareTarget, THREADS } from '../../host/fuzz/target.ts';
import { machineOptions } from '../../host/machine.ts';
import { choiceOf, guestOf } from '../../host/replay.ts';
import { findCanaries } from '../../run/bugs/canaries.ts';
import { sha256 } from '../../toolchain/index.ts';
import { UserError } from '../io/fail.ts';
import { confOf } from '../run/robust.ts';
import type { Folder } from './folder.ts';
import { NOT_ENDED, type Progress, usedCpu } from './program.ts';

function campaignOf(options: FuzzOptions): PlannedFuzz['campaign'] {
  const { seed: _, ...campaign } = campaignConfig.parse({
    ...(options.calls && { calls: options.calls }),
    ...(options.signal && { signal: options.signal }),
    comparisons: options.comparisons ?? true,
    snapshots: options.snapshots ?? true,
    failNth: options['fail-nth'] ?? false,
    settles: options.settles ?? false,
    ...(options.schedule !== undefined && { schedule: options.schedule }),
    budget: options['max-insns'] ?? BUDGET,
    ...(options.batches && { batches: options.batches }),
    ...(options['per-batch'] && { perBatch: options['per-batch'] }),
  });
  return campaign;
}

type Fail = (key: string, why: string) => never;

/** One variant of a file, and the images that it needs. Errors: UserError; those of compilers. */
export async function prepareFuzz(
  name: string,
  options: FuzzOptions,
  folder: string,
  images: Map<string, Uint8Array>,
  fail: Fail,
): Promise<PlannedFuzz> {
  const conf = options.conf ?? 'linux';
  const placed = (path: string): string => (isAbsolute(path) ? path : join(folder, path));
  const hasThreads = options.schedule !== undefined;
  if (options.harness !== undefined)
    for (const key of ['conf', 'append', 'fail-nth', 'schedule'] as const)
      if (options[key] !== undefined) fail(key, 'is for a kernel, not for a harness; omit one of the two');
  if (options.harness === undefined && options.cflags !== undefined)
    fail('cflags', 'is for a harness, and there is none');
  try {
    confOf(conf, undefined, 'linux');
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    fail('conf', error.message);
  }
  const { images: guest, machine } =
    options.harness === undefined
      ? await prepareTarget({
          conf,
          hasThreads,
          ...(options.append !== undefined && { append: options.append }),
        })
      : await prepareHarness({
          harness: placed(options.harness),
          ...(options.cflags && { cflags: options.cflags }),
        });
  const run = describe(
    guest,
    {
      dialect: 'linux',
      conf,
      kcov: 'device',
      engine: 'jit',
      smp: machine.harts!,
      cpu: DEFAULT_EXTENSIONS,
      memory: machine.ramBytes!,
      icount: 0,
      cflags: hasThreads ? [THREADS] : (options.cflags ?? []),
      env: {},
    },
    [],
    false,
  );
  const more = (options.describe ?? []).map(placed);
  const isHarness = options.harness !== undefined;
  const texts = isHarness ? harnessTexts(more) : descriptionTexts(more);
  const told = <T>(key: string, body: () => T): T => {
    try {
      return body();
    } catch (error) {
      if (!(error instanceof FuzzError)) throw error;
      return fail(key, error.message);
    }
  };
  const descriptions = told('describe', () => loadDescriptions(texts));
  const campaign = campaignOf(options);
  told('calls', () => new Choice(descriptions, campaign.calls));
  const bytes = new TextEncoder().encode(JSON.stringify(texts));
  images.set(run.images.kernel.sha256, guest.kernel);
  images.set(run.images.initrd, guest.initrd);
  images.set(sha256(bytes), bytes);
  if (isHarness) images.set(run.images.program, guest.program);
  const target = isHarness ? { target: 'harness' as const } : {};
  return { name, run, ...target, campaign, descriptions: sha256(bytes) };
}

/** Of the last guest: booting it and compiling its code is a part of a trial that others share. */
let open: { readonly key: string; readonly executor: Executor } | undefined;

function executorFor(folder: Folder, { run, target, campaign }: PlannedFuzz): Executor {
  const { budget, snapshots } = campaign;
  const key = [run.images.kernel.sha256, run.images.initrd, run.kernel.append, budget, snapshots].join(' ');
  if (open?.key === key) return open.executor;
  const images = new Map([
    ['kernel.bin', folder.image(run.images.kernel.sha256)],
    ['initrd.bin', folder.image(run.images.initrd)],
  ]);
  const machine = machineOptions(guestOf(run, images, ''), choiceOf(run, NOT_ENDED, 'jit'));
  const canaries = target ? undefined : findCanaries(folder.image(run.images.kernel.sha256));
  const kind = target ?? 'own';
  const executor = new Executor({ machine, kind, budget, reset: snapshots ? 'snapshot' : 'boot', canaries });
  open = { key, executor };
  return executor;
}

/** Runs one campaign to its end. */
export const runCampaignTrial = (
  folder: Folder,
  plan: FuzzPlan,
  planned: PlannedTrial,
  progress: Progress,
): FinishedTrial =>
  new FuzzTrial(plan, planned, {
    executor: variant => executorFor(folder, variant),
    descriptions: ({ descriptions }) =>
      loadDescriptions(JSON.parse(new TextDecoder().decode(folder.image(descriptions))) as DescriptionTexts),
    cpuSeconds: usedCpu,
    progress,
  }).run();
