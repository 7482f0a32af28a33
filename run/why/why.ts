// The answer to `why`: after which unit the failure became inevitable, and what was decided there.
import type { Machine } from '../../emulator/index.ts';
import { type ForkOptions, Forks } from './forks.ts';
import { partingOf, type Turn } from './parting.ts';
import { type Found, type Sample, Search, type Step } from './search.ts';

/** Forks at a place. Fewer prove no share of 95 %, more take long. */
export const FORKS = { least: 5, most: 100_000, usual: 60 } as const;
/** `usual`: of a turn of harts without a seed of the schedule. */
export const SPREAD = { least: 0, most: 1_000_000_000, usual: 20_000 } as const;
export const SEED = 1n;
export const BUDGET = 20_000_000_000;

export interface WhyOptions<T> extends ForkOptions {
  /** The first instruction of the program; without one the search begins at power-on. */
  readonly entry?: bigint | undefined;
  /** Forks at each place. */
  readonly most: number;
  /** Units of all forks together. */
  readonly budget: number;
  /** Describes a hart at a moment, for the answer: its backtrace. */
  readonly look: (machine: Machine, hart: number) => T;
  readonly progress?: (sample: Sample) => Promise<void>;
}

/** An event, and the harts at it. */
export interface Side<T> extends Turn {
  readonly stops: T;
  /** The same as `stops` at an interrupt. */
  readonly goesOn: T;
}

export interface Answer<T> {
  readonly kind: Found['kind'];
  /** Where the search began, and where the run has failed. */
  readonly first: number;
  readonly failed: number;
  readonly samples: readonly Sample[];
  /** Units that all forks executed. */
  readonly spent: number;
  readonly step: (Omit<Step, 'survivor'> & Sides<T>) | undefined;
}

/** The first place where the failing run and a fork that does not fail differ, and what follows. */
interface Sides<T> {
  /** null: not within reach. */
  readonly parting: number | null;
  readonly failing: Side<T> | null;
  readonly fork: Side<T> | null;
}

/** Undefined: the run does not fail in this way. */
export async function why<T>(options: WhyOptions<T>): Promise<Answer<T> | undefined> {
  const { entry, most, budget, progress } = options;
  const forks = new Forks(options);
  const { timeline } = forks;
  const first = entry === undefined ? 0 : (timeline.next(entry)?.unit ?? 0);
  const failed = forks.fail();
  if (failed === undefined) return undefined;
  const search = new Search({
    forks,
    first: Math.min(first, failed - 1),
    failed,
    most,
    budget,
    progress: progress ?? (() => Promise.resolve()),
  });
  const found = await search.find();
  const { samples, spent } = search;
  const facts = { kind: found.kind, first, failed, samples, spent };
  if (!found.step) return { ...facts, step: undefined };
  const { survivor, ...step } = found.step;
  return { ...facts, step: { ...step, ...sidesOf(forks, step.before.unit, survivor.seed, options.look) } };
}

function sidesOf<T>(forks: Forks, unit: number, seed: bigint, look: WhyOptions<T>['look']): Sides<T> {
  const place = forks.at(unit);
  const parting = partingOf(forks, place, seed);
  const sideOf = (turn: Turn | undefined, start: () => void): Side<T> | null => {
    if (!turn) return null;
    start();
    goTo(forks.machine, turn.unit);
    return { ...turn, stops: look(forks.machine, turn.from), goesOn: look(forks.machine, turn.to) };
  };
  return {
    parting: parting?.unit ?? null,
    failing: sideOf(parting?.failing, () => forks.back(place)),
    fork: sideOf(parting?.fork, () => forks.divert(place, seed)),
  };
}

/** Runs to a unit that is known to come. */
function goTo(machine: Machine, unit: number): void {
  while (machine.spent < unit) {
    const { kind } = machine.run(unit - machine.spent);
    if (kind !== 'budget') return;
  }
}
