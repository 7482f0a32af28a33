// A batch: a fixed number of executions that depend on the state at the start of the epoch and on
// the number of the batch alone. Batches of an epoch do not know of one another, so they can run
// in any order and anywhere.
import { type FaultChoice, parseFaultChoice } from '../../emulator/index.ts';
import type { Canaries } from '../../run/bugs/canaries.ts';
import type { BugFind } from '../../run/fuzz/schema.ts';
import { NoRoom } from '../executor/encode.ts';
import type { Execution, Executor } from '../executor/executor.ts';
import { covered, NumberSet } from '../guide/edges.ts';
import { comparisonsOf, constantsOf } from '../guide/hints.ts';
import { type Step, steps } from '../guide/steps.ts';
import { changeFaults, earlier, latestEvent } from '../program/faults.ts';
import { Generator } from '../program/generate.ts';
import { type Mutation, mutate } from '../program/mutate.ts';
import { copyProgram, isRace, keepExact, type Program, removeCall } from '../program/program.ts';
import { arrange } from '../program/race.ts';
import { Random } from '../program/random.ts';
import { reduce, withoutOneFault } from '../program/reduce.ts';
import { programText } from '../program/text.ts';
import { epochSize } from './config.ts';
import { type Examined, examine } from './crash.ts';
import { noYields, type Source, type Yields } from './shares.ts';
import { bugKey, type Covering, type Crash, type Kept, type State } from './state.ts';

export interface BatchResult {
  readonly batch: number;
  readonly entries: readonly Covering[];
  readonly crashes: readonly Crash[];
  readonly bugs: readonly BugFind[];
  readonly words: readonly bigint[];
  readonly looked: readonly number[];
  readonly steps: readonly string[];
  readonly yields: Yields;
  readonly units: number;
  readonly more: number;
}

/** Most executions that look for steps without making one. */
const LOOKS_MAX = 4;
/** Orders of the threads in which a smaller program is tried. */
const ORDERS = 8;
/** Events of its faults, before those that they had, with which a smaller program is tried. */
const EARLIER = 16;

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
  readonly #faults: readonly FaultChoice[] | undefined;
  readonly #entries: Covering[] = [];
  readonly #crashes: Crash[] = [];
  readonly #bugs: BugFind[] = [];
  readonly #words: bigint[] = [];
  readonly #looked: number[] = [];
  /** Values that this batch has tried, and those that are left of the entry it looks at. */
  readonly #stepped = new Set<string>();
  #steps: Step[] = [];
  readonly #agenda: number[];
  readonly #yields = noYields();
  /** Covered by entries of this batch. */
  readonly #own = new NumberSet();
  #left: number;
  #units = 0;
  #more = 0;

  constructor(state: State, executor: Executor, batch: number) {
    const { config, dictionary, corpus, choice, neighbours } = state;
    this.#state = state;
    this.#executor = executor;
    this.#batch = batch;
    this.#random = new Random(batchSeed(BigInt(config.seed), state.epoch, batch));
    this.#left = config.perBatch;
    this.#faults = config.faults?.map(parseFaultChoice);
    this.#agenda = state.agenda(batch);
    this.#how = {
      random: this.#random,
      generator: new Generator(this.#random, choice, dictionary, neighbours),
      dictionary,
      others: corpus.map(({ program }) => program),
      failsAllocations: config.failNth,
    };
  }

  run(): BatchResult {
    while (this.#left > 0) {
      const source = this.#source();
      const program = this.#next(source);
      if (!program || !keepExact(program)) continue;
      const kept = this.#entries.length;
      this.#try(program);
      this.#yields[source][0]++;
      this.#yields[source][1] += this.#entries.length - kept;
    }
    return {
      batch: this.#batch,
      entries: this.#entries,
      crashes: this.#crashes,
      bugs: this.#bugs,
      words: this.#words,
      looked: this.#looked,
      steps: [...this.#stepped],
      yields: this.#yields,
      units: this.#units,
      more: this.#more,
    };
  }

  /** Where the next program comes from. */
  #source(): Source {
    const { corpus, shares } = this.#state;
    if (corpus.length === 0) return 'new';
    const hasSteps = this.#steps.length > 0 || this.#agenda.length > 0;
    return shares.pick(this.#random, hasSteps ? ['new', 'change', 'step'] : ['new', 'change']);
  }

  /** undefined: all steps of some entries have been made. */
  #next(source: Source): Program | undefined {
    if (source === 'new') return this.#arranged(this.#how.generator.program());
    if (source === 'change') return this.#arranged(mutate(this.#pick().program, this.#how));
    for (let looks = 0; this.#steps.length === 0 && this.#agenda.length > 0; looks++) {
      if (looks === LOOKS_MAX) return undefined;
      this.#look(this.#agenda.shift()!);
    }
    const step = this.#steps.shift();
    if (!step) return undefined;
    this.#stepped.add(step.key);
    return step.program();
  }

  #arranged(program: Program): Program {
    const { schedule } = this.#state.config;
    if (schedule !== undefined) arrange(program, schedule, this.#random);
    if (this.#faults) changeFaults(program, this.#faults, this.#random);
    return program;
  }

  /** Younger entries more often than old ones. */
  #pick(): Kept {
    const { corpus } = this.#state;
    const back = Math.min(this.#random.below(corpus.length), this.#random.below(corpus.length));
    return corpus[corpus.length - 1 - (this.#random.oneIn(2) ? back : this.#random.below(corpus.length))]!;
  }

  /** Finds the steps from an entry. It is a try of this source like others, which keeps nothing. */
  #look(index: number): void {
    const { program } = this.#state.corpus[index]!;
    const { comparisons: looksAt } = this.#state.config;
    this.#looked.push(index);
    this.#yields.step[0]++;
    const looked = this.#execute(program, looksAt ? 'cmp' : 'pc');
    if (!looked) return;
    const { execution } = looked;
    const comparisons = comparisonsOf(this.#executor, execution);
    for (const word of constantsOf(comparisons)) if (!this.#state.hasWord(word)) this.#words.push(word);
    this.#steps = steps(program, comparisons, execution.calls).filter(
      ({ key }) => !this.#state.stepped.has(key) && !this.#stepped.has(key),
    );
  }

  /** undefined: the batch has no execution left, or the agent no room for the program. */
  #execute(program: Program, mode: 'pc' | 'cmp' = 'pc'): Pick<Examined, 'execution' | 'title'> | undefined {
    if (this.#left <= 0) return undefined;
    this.#left--;
    const examined = this.#examineIfRoom(program, mode);
    if (!examined) return undefined;
    const { execution, title } = examined;
    this.#units += execution.units;
    const isNew = this.#isNewCrash(title) || this.#newBugs(execution.bugs).length > 0;
    if (!isNew) return { execution, title };
    // Reducing it executes other programs, so it is executed once more.
    for (const find of this.#newBugs(execution.bugs)) this.#bug(find, program);
    if (title !== undefined && this.#isNewCrash(title)) this.#crash(title, program);
    this.#more++;
    return this.#examine(program, mode);
  }

  #examineIfRoom(program: Program, mode: 'pc' | 'cmp'): Examined | undefined {
    try {
      return this.#examine(program, mode);
    } catch (error) {
      if (error instanceof NoRoom) return undefined;
      throw error;
    }
  }

  #examine(program: Program, mode: 'pc' | 'cmp'): Examined {
    const examined = examine(this.#executor, program, mode, this.#state.config.settles);
    this.#more += examined.more;
    return examined;
  }

  /** Number of the last execution among all of the campaign. */
  get #number(): number {
    const { config, epoch } = this.#state;
    return epoch * epochSize(config) + this.#batch * config.perBatch + (config.perBatch - this.#left);
  }

  #try(program: Program): void {
    const tried = this.#execute(program);
    if (!tried || tried.title !== undefined) return;
    const found = new Set<number>();
    this.#see(tried.execution, element => {
      if (!this.#state.covered.has(element) && !this.#own.has(element)) found.add(element);
    });
    if (found.size > 0) this.#keep(program, found);
  }

  #see(execution: Execution, see: (element: number) => void): void {
    covered(this.#executor, execution, this.#state.config.signal, see);
  }

  #covers(execution: Execution, wanted: ReadonlySet<number>): boolean {
    const left = new Set(wanted);
    this.#see(execution, element => left.delete(element));
    return left.size === 0;
  }

  /** With as few calls and faults as cover what is new. */
  #keep(program: Program, wanted: ReadonlySet<number>): void {
    const execution = this.#number;
    let best = program;
    for (let at = best.calls.length - 1; at >= 0 && best.calls.length > 1; at--) {
      const smaller = copyProgram(best);
      removeCall(smaller, at);
      const tried = this.#execute(smaller);
      if (!tried) break;
      if (this.#covers(tried.execution, wanted)) best = smaller;
    }
    for (const smaller of withoutOneFault(() => best)) {
      const tried = this.#execute(smaller);
      if (!tried) break;
      if (this.#covers(tried.execution, wanted)) best = smaller;
    }
    // All that the smaller program covers; its execution is one that was made before.
    const elements = new Set<number>();
    this.#more++;
    const again = this.#executor.execute(best, 'pc', this.#state.config.settles);
    this.#see(again, element => elements.add(element));
    for (const element of elements) this.#own.add(element);
    this.#entries.push({ text: programText(best), execution, elements: [...elements] });
  }

  /** Bugs that the campaign had not reached, or not triggered. */
  #newBugs(bugs: Canaries | undefined): { bug: string; kind: BugFind['kind'] }[] {
    if (!bugs) return [];
    return (['reached', 'triggered'] as const)
      .flatMap(kind => bugs[kind].map(bug => ({ bug, kind })))
      .filter(({ bug, kind }) => {
        const key = bugKey({ bug, kind });
        return !this.#state.bugs.has(key) && !this.#bugs.some(find => bugKey(find) === key);
      });
  }

  #bug({ bug, kind }: { bug: string; kind: BugFind['kind'] }, program: Program): void {
    const execution = this.#number;
    const small = this.#reduce(program, ({ execution: again }) => again.bugs?.[kind].includes(bug) === true);
    this.#bugs.push({ bug, kind, text: programText(small), execution });
  }

  #isNewCrash(title: string | undefined): boolean {
    if (title === undefined || this.#state.crashes.has(title)) return false;
    return !this.#crashes.some(crash => crash.title === title);
  }

  #reduce(program: Program, shows: (examined: Examined) => boolean): Program {
    return reduce(program, candidate => {
      // Without some call the threads may need another order, and events have smaller numbers.
      const { schedule, faults } = candidate;
      const hasOrder = isRace(candidate) && schedule !== undefined;
      const tries = hasOrder ? ORDERS : 1 + Math.min(EARLIER, latestEvent(candidate) - 1);
      for (let n = 0; n < tries; n++) {
        if (hasOrder)
          candidate.schedule = { ...schedule, seed: BigInt.asUintN(64, schedule.seed + BigInt(n)) };
        else if (n > 0) candidate.faults = earlier(faults!, n);
        this.#more++;
        if (shows(this.#examine(candidate, 'pc'))) return true;
      }
      return false;
    });
  }

  #crash(title: string, program: Program): void {
    const execution = this.#number;
    const small = this.#reduce(program, again => again.title === title);
    this.#crashes.push({ title, text: programText(small), execution });
  }
}

/** Errors: HostError when the executor finds that a reset has not brought back the snapshot. */
export const runBatch = (state: State, executor: Executor, batch: number): BatchResult =>
  new Batch(state, executor, batch).run();
