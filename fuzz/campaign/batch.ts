// A batch: a fixed number of executions that depend on the state at the start of the epoch and on
// the number of the batch alone. Batches of an epoch do not know of one another, so they can run
// in any order and anywhere.
import type { Execution, Executor } from '../executor/executor.ts';
import { titleOf } from '../executor/title.ts';
import { covered, NumberSet } from '../guide/edges.ts';
import { comparisonsOf, constantsOf, hints } from '../guide/hints.ts';
import { Generator } from '../program/generate.ts';
import { type Mutation, mutate } from '../program/mutate.ts';
import { copyProgram, type Program, removeCall } from '../program/program.ts';
import { Random } from '../program/random.ts';
import { programText } from '../program/text.ts';
import { epochSize } from './config.ts';
import type { Covering, Crash, State } from './state.ts';

export interface BatchResult {
  readonly batch: number;
  readonly entries: readonly Covering[];
  readonly crashes: readonly Crash[];
  readonly words: readonly bigint[];
  readonly units: number;
  readonly more: number;
}

/** Of a batch's executions, the share that hints may take. */
const HINT_SHARE = 0.6;
/** One new program in so many. */
const NEW_IN = 12;

/** A seed for each batch of each epoch: mixed, so that neighbours have nothing in common. */
function batchSeed(seed: bigint, epoch: number, batch: number): bigint {
  const mix = (x: bigint): bigint => BigInt.asUintN(64, (x ^ (x >> 31n)) * 0x9e37_79b9_7f4a_7c15n);
  return mix(mix(mix(seed) + BigInt(epoch)) + BigInt(batch));
}

class Batch {
  readonly #state: State;
  readonly #executor: Executor;
  readonly #batch: number;
  readonly #random: Random;
  readonly #how: Mutation;
  readonly #entries: Covering[] = [];
  readonly #crashes: Crash[] = [];
  readonly #words: bigint[] = [];
  /** Covered by entries of this batch. */
  readonly #own = new NumberSet();
  #left: number;
  #units = 0;
  #more = 0;

  constructor(state: State, executor: Executor, batch: number) {
    const { config, dictionary, corpus, choice } = state;
    this.#state = state;
    this.#executor = executor;
    this.#batch = batch;
    this.#random = new Random(batchSeed(BigInt(config.seed), state.epoch, batch));
    this.#left = config.perBatch;
    this.#how = {
      random: this.#random,
      generator: new Generator(this.#random, choice, dictionary),
      dictionary,
      others: corpus.map(({ program }) => program),
      failsAllocations: config.failNth,
    };
  }

  run(): BatchResult {
    const { agenda, corpus } = this.#state;
    const own = agenda[this.#batch];
    if (own !== undefined && this.#state.config.comparisons) this.#hints(corpus[own]!.program);
    while (this.#left > 0) {
      const isNew = corpus.length === 0 || this.#random.oneIn(NEW_IN);
      const base = own !== undefined && this.#random.oneIn(2) ? corpus[own]! : this.#pick();
      this.#try(isNew || !base ? this.#how.generator.program() : mutate(base.program, this.#how));
    }
    const [entries, crashes, words] = [this.#entries, this.#crashes, this.#words];
    return { batch: this.#batch, entries, crashes, words, units: this.#units, more: this.#more };
  }

  /** Younger entries more often than old ones. */
  #pick(): State['corpus'][number] | undefined {
    const { corpus } = this.#state;
    if (corpus.length === 0) return undefined;
    const back = Math.min(this.#random.below(corpus.length), this.#random.below(corpus.length));
    return corpus[corpus.length - 1 - (this.#random.oneIn(2) ? back : this.#random.below(corpus.length))];
  }

  #hints(program: Program): void {
    const execution = this.#execute(program, 'cmp');
    if (!execution) return;
    const comparisons = comparisonsOf(this.#executor, execution);
    for (const word of constantsOf(comparisons)) if (!this.#state.hasWord(word)) this.#words.push(word);
    const most = Math.floor(this.#state.config.perBatch * HINT_SHARE);
    for (const hint of hints(program, comparisons, most)) this.#try(hint);
  }

  #execute(program: Program, mode: 'pc' | 'cmp' = 'pc'): Execution | undefined {
    if (this.#left <= 0) return undefined;
    this.#left--;
    const execution = this.#executor.execute(program, mode, this.#state.config.settles);
    this.#units += execution.units;
    const title = crashOf(program, execution);
    if (title !== undefined) this.#crash(title, program);
    return execution;
  }

  /** Number of the last execution among all of the campaign. */
  get #number(): number {
    const { config, epoch } = this.#state;
    return epoch * epochSize(config) + this.#batch * config.perBatch + (config.perBatch - this.#left);
  }

  #try(program: Program): void {
    const execution = this.#execute(program);
    if (!execution || crashOf(program, execution) !== undefined) return;
    const found = new Set<number>();
    this.#see(execution, element => {
      if (!this.#state.covered.has(element) && !this.#own.has(element)) found.add(element);
    });
    if (found.size > 0) this.#keep(program, found);
  }

  #see(execution: Execution, see: (element: number) => void): void {
    covered(this.#executor, execution, this.#state.config.signal, see);
  }

  /** With as few calls as cover what is new. */
  #keep(program: Program, wanted: ReadonlySet<number>): void {
    const execution = this.#number;
    let best = program;
    for (let at = best.calls.length - 1; at >= 0 && best.calls.length > 1; at--) {
      const smaller = copyProgram(best);
      removeCall(smaller, at);
      const tried = this.#execute(smaller);
      if (!tried) break;
      const left = new Set(wanted);
      this.#see(tried, element => left.delete(element));
      if (left.size === 0) best = smaller;
    }
    // All that the smaller program covers; its execution is one that was made before.
    const elements = new Set<number>();
    this.#more++;
    const again = this.#executor.execute(best, 'pc', this.#state.config.settles);
    this.#see(again, element => elements.add(element));
    for (const element of elements) this.#own.add(element);
    this.#entries.push({ text: programText(best), execution, elements: [...elements] });
  }

  #crash(title: string, program: Program): void {
    if (this.#state.crashes.has(title) || this.#crashes.some(crash => crash.title === title)) return;
    const execution = this.#number;
    const small = reduce(program, candidate => {
      this.#more++;
      return (
        crashOf(candidate, this.#executor.execute(candidate, 'pc', this.#state.config.settles)) === title
      );
    });
    this.#crashes.push({ title, text: programText(small), execution });
  }
}

/** The title of what went wrong in an execution; undefined: nothing did. */
export const crashOf = (program: Program, { end, console, calls }: Execution): string | undefined =>
  titleOf(end, console, program.calls[calls.length - 1]?.type.name);

/** Fewer calls, and calls that do not fail by injection, as long as `shows` says so. */
export function reduce(program: Program, shows: (candidate: Program) => boolean): Program {
  let best = program;
  for (let at = best.calls.length - 1; at >= 0; at--) {
    if (best.calls.length > 1) {
      const smaller = copyProgram(best);
      removeCall(smaller, at);
      if (shows(smaller)) {
        best = smaller;
        continue;
      }
    }
    if (best.calls[at]!.failNth > 0) {
      const plain = copyProgram(best);
      plain.calls[at]!.failNth = 0;
      if (shows(plain)) best = plain;
    }
  }
  return best;
}

/** Errors: HostError when the executor finds that a reset has not brought back the snapshot. */
export const runBatch = (state: State, executor: Executor, batch: number): BatchResult =>
  new Batch(state, executor, batch).run();
