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

export interface WorkerData {
  readonly machine: MachineOptions;
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

/** The executor that a campaign's configuration asks for. */
export const executorFor = ({ machine, kind, config, canaries }: Omit<WorkerData, 'texts'>): Executor =>
  new Executor({
    machine,
    kind,
    budget: config.budget,
    reset: config.snapshots ? 'snapshot' : 'boot',
    canaries,
  });

/** Serves tasks until the main thread ends. */
export function serveBatches(): void {
  const data = dataOf<WorkerData>();
  const state = new State(data.config, loadDescriptions(data.texts));
  let executor: Executor | undefined;
  const open = (): Executor => (executor ??= executorFor(data));
  serve((task: Task): Answer | undefined => {
    if (task.kind === 'batch') return { kind: 'batch', result: runBatch(state, open(), task.batch) };
    if (task.kind === 'cover')
      return { kind: 'cover', elements: task.texts.map(text => coveredBy(state, open(), text)) };
    state.add(task.result);
    return undefined;
  });
}
