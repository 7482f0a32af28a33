// A thread that executes batches of a campaign. It has the whole state of the campaign, and brings
// it up to date with each epoch that the main thread sends.
import type { MachineOptions } from '../../emulator/index.ts';
import {
  type BatchResult,
  coveredBy,
  type EpochResult,
  Executor,
  runBatch,
  State,
  type TargetKind,
} from '../../fuzz/index.ts';
import { type DescriptionTexts, loadDescriptions } from '../../host/fuzz/descriptions.ts';
import type { CanaryTable } from '../../run/bugs/canaries.ts';
import type { CampaignConfig } from '../../run/fuzz/schema.ts';
import { dataOf, serve } from '../io/threads.ts';

/** A device of the user's own, as files have it: its code cannot be sent to a thread. */
export interface DeviceFile {
  readonly name: string;
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly params: Readonly<Record<string, string>>;
}

export interface WorkerData {
  /** Without devices of the user's own. */
  readonly machine: MachineOptions;
  readonly devices: readonly DeviceFile[];
  /** Whose memory the rules of devices ask about. */
  readonly kernel: Uint8Array;
  readonly kind: TargetKind;
  readonly config: CampaignConfig;
  readonly canaries: CanaryTable | undefined;
  readonly texts: DescriptionTexts;
}

export type Task =
  | { readonly kind: 'batch'; readonly batch: number }
  | { readonly kind: 'epoch'; readonly result: EpochResult }
  /** Asks what these programs cover. */
  | { readonly kind: 'cover'; readonly texts: readonly string[] };

export type Answer =
  | { readonly kind: 'batch'; readonly result: BatchResult }
  | { readonly kind: 'cover'; readonly elements: readonly (readonly number[])[] };

/** The loader of devices comes where there are any. */
async function withDevices({
  machine,
  devices,
  kernel,
}: Pick<WorkerData, 'machine' | 'devices' | 'kernel'>): Promise<MachineOptions> {
  if (devices.length === 0) return machine;
  const [{ loadDeviceBytes }, { deviceOptions }] = await Promise.all([
    import('../../host/device.ts'),
    import('../../host/machine.ts'),
  ]);
  const loaded = devices.map(({ path, bytes, params }) => loadDeviceBytes(path, bytes, params));
  return { ...machine, ...deviceOptions({ kernel }, loaded) };
}

/** The executor that a campaign's configuration asks for. Errors: as `loadDeviceBytes`. */
export async function executorFor(data: Omit<WorkerData, 'texts'>): Promise<Executor> {
  const { kind, config, canaries } = data;
  return new Executor({
    machine: await withDevices(data),
    kind,
    budget: config.budget,
    reset: config.snapshots ? 'snapshot' : 'boot',
    canaries,
  });
}

/** Serves tasks until the main thread ends. */
export function serveBatches(): void {
  const data = dataOf<WorkerData>();
  const state = new State(data.config, loadDescriptions(data.texts));
  let executor: Promise<Executor> | undefined;
  const open = (): Promise<Executor> => (executor ??= executorFor(data));
  const answer = async (task: Exclude<Task, { kind: 'epoch' }>): Promise<Answer> => {
    const opened = await open();
    if (task.kind === 'batch') return { kind: 'batch', result: runBatch(state, opened, task.batch) };
    return { kind: 'cover', elements: task.texts.map(text => coveredBy(state, opened, text)) };
  };
  serve((task: Task): Promise<Answer> | undefined => {
    if (task.kind !== 'epoch') return answer(task);
    state.add(task.result);
    return undefined;
  });
}
