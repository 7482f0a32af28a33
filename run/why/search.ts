// After which unit did a failure become inevitable? At a place of the failing run many forks start;
// the share of them that fails tells how likely the failure is there. It grows in steps: each step
// is a decision. The last step over EVEN is found by halves, down to one unit. A place takes a few
// forks only, because its share is nearly always far from EVEN.
import type { Fork, Forks, Place } from './forks.ts';
import { type Interval, wilson } from './interval.ts';

/** The share of failing forks from which a failure counts as inevitable. */
export const INEVITABLE = 0.95;
/** From more than this share on the failure is more likely than not. */
const EVEN = 0.5;
/** Places that are looked at first, at equal distances. */
const STEPS = 8;

/** The forks that started at one place. */
export interface Sample {
  readonly unit: number;
  readonly forks: number;
  readonly fails: number;
  /** 95 % confidence. */
  readonly interval: Interval;
}

export interface SearchOptions {
  readonly forks: Forks;
  /** Where the search begins, and where the run has failed. */
  readonly first: number;
  readonly failed: number;
  /** Forks at a place, at most; fewer where the question is answered sooner. */
  readonly most: number;
  /** Units of all forks together. */
  readonly budget: number;
  /** Called behind each fork; the search goes on when the promise is kept. */
  readonly progress: (sample: Sample) => Promise<void>;
}

export interface Step {
  /** A unit apart, if the budget sufficed: at most EVEN, and more. */
  readonly before: Sample;
  readonly after: Sample;
  /** The first place where the failure is inevitable: `after`, unless the way up is gradual. */
  readonly inevitable: Sample;
  /** A fork at `before` that does not fail. */
  readonly survivor: Fork;
}

export interface Found {
  /**
   * `decided`: by one unit. `gradual`: one unit made it likely, and others inevitable. `always`:
   * forks fail from the first place on. `unfinished`: the budget was spent; the step, if one was
   * found, is longer than a unit.
   */
  readonly kind: 'decided' | 'gradual' | 'always' | 'unfinished';
  readonly step: Step | undefined;
}

interface Forked extends Sample {
  readonly survivor: Fork | undefined;
}

const shareOf = ({ fails, forks }: Sample): number => (forks === 0 ? 1 : fails / forks);
const excludes = ({ interval }: Sample, share: number): boolean =>
  interval.low > share || interval.high < share;

class BudgetSpent extends Error {}

export class Search {
  readonly #options: SearchOptions;
  readonly #samples = new Map<number, Forked>();
  #left: number;

  constructor(options: SearchOptions) {
    this.#options = options;
    this.#left = options.budget;
  }

  /** Of all forks together, in units. */
  get spent(): number {
    return this.#options.budget - this.#left;
  }

  get samples(): Sample[] {
    return [...this.#samples.values()].sort((a, b) => a.unit - b.unit).map(sampleOf);
  }

  async find(): Promise<Found> {
    let places: readonly [before: number, after: number, inevitable: number] | undefined;
    let isFinished = false;
    try {
      for await (const better of this.#narrow()) places = better;
      isFinished = true;
    } catch (error) {
      if (!(error instanceof BudgetSpent)) throw error;
    }
    const [at, to, last] = places ?? [];
    const before = at === undefined ? undefined : this.#samples.get(at);
    if (!before?.survivor) return { kind: isFinished ? 'always' : 'unfinished', step: undefined };
    const { survivor } = before;
    const [after, inevitable] = [this.#known(to!), this.#known(last!)];
    const kind = !isFinished ? 'unfinished' : last === to ? 'decided' : 'gradual';
    return { kind, step: { before: sampleOf(before), after, inevitable, survivor } };
  }

  /** The places of the step, nearer each time. Errors: BudgetSpent. */
  async *#narrow(): AsyncGenerator<readonly [number, number, number], undefined, undefined> {
    const { first, failed } = this.#options;
    let before: number | undefined;
    let after = failed;
    for (const unit of gridOf(first, failed)) {
      if (await this.#isLikely(unit)) after = Math.min(after, unit);
      else [before, after] = [unit, failed];
    }
    if (before === undefined) {
      if (await this.#isInevitable(first)) return;
      [before, after] = [first, first];
    }
    yield [before, after, failed];
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2);
      if (await this.#isLikely(middle)) after = middle;
      else before = middle;
      yield [before, after, failed];
    }
    await this.#sample(before);
    let open = after;
    let inevitable = (await this.#isInevitable(after)) ? after : failed;
    while (inevitable - open > 1) {
      const middle = Math.floor((inevitable + open) / 2);
      if (await this.#isInevitable(middle)) inevitable = middle;
      else open = middle;
      yield [before, after, inevitable];
    }
    yield [before, after, inevitable];
  }

  /** Where the run has failed no fork is needed. */
  #known(unit: number): Sample {
    const sample = this.#samples.get(unit);
    return sample ? sampleOf(sample) : { unit, forks: 0, fails: 0, interval: { low: 1, high: 1 } };
  }

  async #isLikely(unit: number): Promise<boolean> {
    return shareOf(await this.#sample(unit, sample => excludes(sample, EVEN))) > EVEN;
  }

  async #isInevitable(unit: number): Promise<boolean> {
    const { failed, most } = this.#options;
    if (unit >= failed) return true;
    const most1 = most * (1 - INEVITABLE);
    return shareOf(await this.#sample(unit, ({ forks, fails }) => forks - fails > most1)) >= INEVITABLE;
  }

  /** Runs forks at a place, as many as there may be, or until they are enough. */
  async #sample(unit: number, isEnough: (sample: Sample) => boolean = () => false): Promise<Sample> {
    const { forks: runner, most } = this.#options;
    let sample: Forked = this.#samples.get(unit) ?? NOTHING;
    let place: Place | undefined;
    while (sample.forks < most && !isEnough(sample)) {
      if (this.#left <= 0) throw new BudgetSpent();
      place ??= runner.at(unit);
      const fork = runner.run(place, runner.seedOf(place, sample.forks));
      this.#left -= fork.units;
      const [forks, fails] = [sample.forks + 1, sample.fails + (fork.fails ? 1 : 0)];
      const survivor = sample.survivor ?? (fork.fails ? undefined : fork);
      sample = { unit, forks, fails, interval: wilson(fails, forks), survivor };
      this.#samples.set(unit, sample);
      await this.#options.progress(sampleOf(sample));
    }
    return sample;
  }
}

const NOTHING: Forked = { unit: 0, forks: 0, fails: 0, interval: wilson(0, 0), survivor: undefined };

const sampleOf = ({ unit, forks, fails, interval }: Sample): Sample => ({ unit, forks, fails, interval });

const gridOf = (first: number, failed: number): Set<number> =>
  new Set(Array.from({ length: STEPS }, (_, i) => first + Math.floor((i * (failed - first)) / STEPS)));
