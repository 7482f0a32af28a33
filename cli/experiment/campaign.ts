// Trials of the fuzzer on this host: its guest, its descriptions, and executors that later trials
// of the same guest use again.
import { basename, isAbsolute, join } from 'node:path';
import { DEFAULT_EXTENSIONS, parseFaultChoice } from '../../emulator/index.ts';
import { FuzzTrial } from '../../experiment/fuzz-trial.ts';
import type { FuzzOptions, FuzzPlan, PlannedFuzz, PlannedTrial } from '../../experiment/schema.ts';
import type { FinishedTrial } from '../../experiment/trial.ts';
import { BUDGET, Choice, campaignConfig, Executor, FuzzError } from '../../fuzz/index.ts';
import { describe } from '../../host/describe.ts';
import type { LoadedDevice } from '../../host/device.ts';
import {
  type DescriptionTexts,
  descriptionTexts,
  harnessTexts,
  loadDescriptions,
} from '../../host/fuzz/descriptions.ts';
import { prepareHarness, prepareTarget, THREADS } from '../../host/fuzz/target.ts';
import { readInput } from '../../host/input.ts';
import { machineOptions } from '../../host/machine.ts';
import { choiceOf, guestOf } from '../../host/replay.ts';
import { checkFlags, checkTrust } from '../../host/trust.ts';
import { findCanaries } from '../../run/bugs/canaries.ts';
import { sha256 } from '../../toolchain/index.ts';
import { checkFaultable } from '../fuzz/choose.ts';
import { UserError } from '../io/fail.ts';
import { loadDevices } from '../run/devices.ts';
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
    ...(options.fault && { faults: options.fault }),
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
    for (const key of ['conf', 'append', 'fail-nth', 'schedule', 'device', 'driver', 'fault'] as const)
      if (options[key] !== undefined) fail(key, 'is for a kernel, not for a harness; omit one of the two');
  if (options.harness === undefined && options.cflags !== undefined)
    fail('cflags', 'is for a harness, and there is none');
  try {
    confOf(conf, undefined, 'linux');
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    fail('conf', error.message);
  }
  const named = options.device?.map(placed) ?? [];
  checkTrust(named.map(text => text.split(',')[0]!));
  checkFlags(options.cflags);
  const devices = await loadDevices(named);
  const faultable = options.fault?.map(text => parseFaultChoice(text).device);
  try {
    checkFaultable(faultable, devices);
  } catch (error) {
    fail('fault', (error as Error).message);
  }
  const { images: guest, machine } =
    options.harness === undefined
      ? await prepareTarget({
          conf,
          hasThreads,
          devices,
          drivers: options.driver?.map(placed),
          faultable,
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
      devices,
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
  for (const { path, sha256: hash } of devices) images.set(hash, readInput(path, 'device'));
  const target = isHarness ? { target: 'harness' as const } : {};
  const files = devices.map(({ path }) => basename(path));
  const own = files.length > 0 ? { devices: files } : {};
  return { name, run, ...target, ...own, campaign, descriptions: sha256(bytes) };
}

/** Of the last guest: booting it and compiling its code is a part of a trial that others share. */
let open: { readonly key: string; readonly executor: Executor } | undefined;

async function executorFor(folder: Folder, variant: PlannedFuzz): Promise<Executor> {
  const { run, target, campaign } = variant;
  const { budget, snapshots, faults = [] } = campaign;
  const board = JSON.stringify([run.machine.own, faults]);
  const { kernel, initrd } = run.images;
  const key = [kernel.sha256, initrd, run.kernel.append, budget, snapshots, board].join(' ');
  if (open?.key === key) return open.executor;
  const images = new Map([
    ['kernel.bin', folder.image(run.images.kernel.sha256)],
    ['initrd.bin', folder.image(run.images.initrd)],
  ]);
  const devices = await devicesOf(folder, variant);
  const machine = {
    ...machineOptions(guestOf(run, images, ''), choiceOf(run, NOT_ENDED, 'jit', devices)),
    faultable: faults.map(text => parseFaultChoice(text).device),
  };
  const canaries = target ? undefined : findCanaries(folder.image(run.images.kernel.sha256));
  const kind = target ?? 'own';
  const executor = new Executor({ machine, kind, budget, reset: snapshots ? 'snapshot' : 'boot', canaries });
  open = { key, executor };
  return executor;
}

/** The user's own, of which the folder has the code. The loader comes where there are any. */
async function devicesOf(folder: Folder, { run, devices = [] }: PlannedFuzz): Promise<LoadedDevice[]> {
  const { own = [] } = run.machine;
  if (own.length === 0) return [];
  const names = own.map((_, i) => devices[i] ?? 'device.ts');
  checkTrust(names);
  const { loadDeviceBytes } = await import('../../host/device.ts');
  return own.map(({ sha256: hash, params }, i) => loadDeviceBytes(names[i]!, folder.image(hash), params));
}

/** Runs one campaign to its end. */
export async function runCampaignTrial(
  folder: Folder,
  plan: FuzzPlan,
  planned: PlannedTrial,
  progress: Progress,
): Promise<FinishedTrial> {
  const variant = plan.variants.find(({ name }) => name === planned.variant);
  if (!variant) throw new UserError('the plan is damaged: a trial is of a variant that it lacks');
  const executor = await executorFor(folder, variant);
  return new FuzzTrial(plan, planned, {
    executor: () => executor,
    descriptions: ({ descriptions }) =>
      loadDescriptions(JSON.parse(new TextDecoder().decode(folder.image(descriptions))) as DescriptionTexts),
    cpuSeconds: usedCpu,
    progress,
  }).run();
}
