// A campaign: epochs of batches. Batches may run anywhere; their results are merged in the order of
// their numbers. So corpus, finds and the executions at which they appear follow from the
// configuration, the images and the seed.
import type { BugFind, CampaignConfig } from '../../run/fuzz/schema.ts';
import type { Executor } from '../executor/executor.ts';
import { covered, NumberSet } from '../guide/edges.ts';
import type { Descriptions } from '../language/types.ts';
import { parseProgram } from '../program/text.ts';
import { type BatchResult, runBatch } from './batch.ts';
import { epochSize } from './config.ts';
import { addYields, noYields } from './shares.ts';
import { bugKey, type Covering, type Crash, type EpochResult, State } from './state.ts';

/** One line of the log: totals behind an epoch. */
export interface Progress {
  readonly executions: number;
  /** Instructions of all executions. */
  readonly instructions: number;
  /** Elements of coverage: edges or points. */
  readonly covered: number;
  readonly corpus: number;
  readonly crashes: number;
}

/**
 * Merges the batches of an epoch, in the order of their numbers: an entry stays only if it covers
 * what none before it covers.
 */
export function mergeEpoch(state: State, results: readonly BatchResult[]): EpochResult {
  const entries: Covering[] = [];
  const crashes = new Map<string, Crash>();
  const bugs = new Map<string, BugFind>();
  const words = new Set<string>();
  const steps = new Set<string>();
  const looked: number[] = [];
  const yields = noYields();
  const own = new NumberSet();
  let [units, more] = [0, 0];
  for (const result of [...results].sort((a, b) => a.batch - b.batch)) {
    for (const entry of result.entries) {
      const isNew = entry.elements.some(element => !state.covered.has(element) && !own.has(element));
      if (!isNew) continue;
      for (const element of entry.elements) own.add(element);
      entries.push(entry);
    }
    for (const crash of result.crashes) if (!crashes.has(crash.title)) crashes.set(crash.title, crash);
    for (const find of result.bugs) if (!bugs.has(bugKey(find))) bugs.set(bugKey(find), find);
    looked.push(...result.looked);
    for (const step of result.steps) steps.add(step);
    addYields(yields, result.yields);
    for (const word of result.words) words.add(`0x${word.toString(16)}`);
    units += result.units;
    more += result.more;
  }
  return {
    epoch: state.epoch,
    entries,
    crashes: [...crashes.values()],
    bugs: [...bugs.values()],
    words: [...words],
    looked,
    steps: [...steps],
    yields,
    units,
    more,
  };
}

export const progressOf = (state: State): Progress => ({
  executions: state.epoch * epochSize(state.config),
  instructions: state.units,
  covered: state.covered.size,
  corpus: state.corpus.length,
  crashes: state.crashes.size,
});

/** All that a kept program covers: for a state that is read back from a file. */
export function coveredBy(state: State, executor: Executor, text: string): number[] {
  const { signal, settles } = state.config;
  const elements = new Set<number>();
  const execution = executor.execute(parseProgram(text, state.descriptions), 'pc', settles);
  covered(executor, execution, signal, element => elements.add(element));
  return [...elements];
}

export interface CampaignOptions {
  readonly config: CampaignConfig;
  readonly descriptions: Descriptions;
  readonly executor: Executor;
  /** At least so many executions; whole epochs. */
  readonly executions: number;
  /** Called behind each epoch. */
  readonly epoch?: (progress: Progress, result: EpochResult) => void;
}

export interface CampaignEnd {
  readonly state: State;
  /** One line for each epoch. */
  readonly log: readonly Progress[];
}

/**
 * A whole campaign in this thread. It is the same as one with workers. Yields behind each batch, so
 * that the caller can do something else or stop.
 */
export function* campaignSteps(options: CampaignOptions): Generator<undefined, CampaignEnd> {
  const { config, executor, executions, epoch } = options;
  const state = new State(config, options.descriptions);
  const log: Progress[] = [];
  while (state.epoch * epochSize(config) < executions) {
    const results: BatchResult[] = [];
    for (let batch = 0; batch < config.batches; batch++) {
      results.push(runBatch(state, executor, batch));
      yield;
    }
    const result = mergeEpoch(state, results);
    state.add(result);
    log.push(progressOf(state));
    epoch?.(log.at(-1)!, result);
  }
  return { state, log };
}

/** The same without a pause. */
export function runCampaign(options: CampaignOptions): CampaignEnd {
  const steps = campaignSteps(options);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
