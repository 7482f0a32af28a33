// Trials of the fuzzer on this host: its guest, its descriptions, and executors that later trials
// of the same guest use again.
import { type MachineOptions, parseFaultChoice } from '../../emulator/index.ts';
import { FuzzTrial } from '../../experiment/fuzz-trial.ts';
import { codeOf, isOther } from '../../experiment/plan.ts';
import type {
  FuzzOptions,
  FuzzPlan,
  PlannedFuzz,
  PlannedOwn,
  PlannedTrial,
} from '../../experiment/schema.ts';
import type { FinishedTrial } from '../../experiment/trial.ts';
import { budgetOf, Choice, campaignConfig, Executor, type TargetKind } from '../../fuzz/index.ts';
import type { LoadedDevice } from '../../host/device.ts';
import { describedMachine } from '../../host/fuzz/boot-target.ts';
import { type DescriptionTexts, loadDescriptions } from '../../host/fuzz/descriptions.ts';
import { machineOptions } from '../../host/machine.ts';
import { choiceOf, guestOf } from '../../host/replay.ts';
import { checkTrust } from '../../host/trust.ts';
import { findCanaries } from '../../run/bugs/canaries.ts';
import { canonicalJson } from '../../run/index.ts';
import { sha256 } from '../../toolchain/index.ts';
import { UserError } from '../io/fail.ts';
import type { Folder } from './folder.ts';
import { NOT_ENDED, type Progress, usedCpu } from './program.ts';
import { type Asked, prepareGuestOf, told } from './target.ts';

function campaignOf(options: FuzzOptions, kind: TargetKind): PlannedFuzz['campaign'] {
  const { seed: _, ...campaign } = campaignConfig.parse({
    ...(options.calls && { calls: options.calls }),
    ...(options.signal && { signal: options.signal }),
    comparisons: options.comparisons ?? true,
    snapshots: options.snapshots ?? true,
    failNth: options['fail-nth'] ?? false,
    settles: options.settles ?? false,
    ...(options.schedule !== undefined && { schedule: options.schedule }),
    ...(options.fault && { faults: options.fault }),
    budget: options['max-insns'] ?? budgetOf(kind),
    ...(options.batches && { batches: options.batches }),
    ...(options['per-batch'] && { perBatch: options['per-batch'] }),
  });
  return campaign;
}

/** One variant of a file, and the images that it needs. Errors: UserError; those of compilers. */
export async function prepareFuzz(
  name: string,
  asked: Asked,
  images: Map<string, Uint8Array>,
): Promise<PlannedFuzz> {
  const { options, placed, fail } = asked;
  const guest = await prepareGuestOf(asked);
  const more = (options.describe ?? []).map(placed);
  const texts = told(fail, 'describe', () => guest.texts(more));
  const descriptions = told(fail, 'describe', () => loadDescriptions(texts));
  const campaign = campaignOf(options, guest.kind);
  told(fail, 'calls', () => new Choice(descriptions, campaign.calls));
  const bytes = new TextEncoder().encode(JSON.stringify(texts));
  const hash = sha256(bytes);
  for (const [key, image] of [...guest.images, [hash, bytes] as const]) images.set(key, image);
  return { name, ...guest.planned, campaign, descriptions: hash };
}

/** Of the last guest: booting it and compiling its code is a part of a trial that others share. */
let open: { readonly key: string; readonly executor: Executor } | undefined;

/** The machine of a guest. */
async function machineOf(folder: Folder, variant: PlannedFuzz): Promise<MachineOptions> {
  if (isOther(variant)) return describedMachine(variant.run, hash => folder.image(hash), 'jit');
  const { run, campaign } = variant;
  const images = new Map([
    ['kernel.bin', folder.image(run.images.kernel.sha256)],
    ['initrd.bin', folder.image(run.images.initrd)],
  ]);
  const devices = await devicesOf(folder, variant);
  return {
    ...machineOptions(guestOf(run, images, ''), choiceOf(run, NOT_ENDED, 'jit', devices)),
    faultable: campaign.faults?.map(text => parseFaultChoice(text).device) ?? [],
  };
}

async function executorFor(folder: Folder, variant: PlannedFuzz): Promise<Executor> {
  const { run, target: kind = 'own', campaign } = variant;
  const { budget, snapshots, faults } = campaign;
  const key = canonicalJson({ run, budget, snapshots, faults });
  if (open?.key === key) return open.executor;
  const machine = await machineOf(folder, variant);
  const canaries = kind === 'own' ? findCanaries(folder.image(codeOf(variant))) : undefined;
  const executor = new Executor({ machine, kind, budget, reset: snapshots ? 'snapshot' : 'boot', canaries });
  open = { key, executor };
  return executor;
}

/** The user's own, of which the folder has the code. The loader comes where there are any. */
async function devicesOf(folder: Folder, { run, devices = [] }: PlannedOwn): Promise<LoadedDevice[]> {
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
