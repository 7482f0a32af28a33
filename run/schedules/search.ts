// A program many times from the first moment on at which two harts can run, each time with another
// order of the harts: a search for races. Run SEED of an order is `kcovbox run --schedule ORDER
// --sched-seed SEED`, which is the same for all seeds up to that moment.
import { HostError, type MachineOptions, type Schedule, scheduleText } from '../../emulator/index.ts';
import { Guest, type Moment } from '../many/guest.ts';
import { checkEnds, type Ended, judge, type Outcome } from '../many/outcome.ts';
import { type Tallied, Tally } from '../many/tally.ts';

export interface SearchOptions {
  /** The guest; its schedule is the search's. */
  readonly machine: MachineOptions;
  /** PCT without units gets those of a run with fixed priorities. */
  readonly schedules: readonly Schedule[];
  /** Of each schedule. */
  readonly runs: number;
  /** Of the first run of each; the next ones follow. */
  readonly firstSeed: bigint;
  /** Keeps the machine's engine. Otherwise short runs are interpreted; no result depends on it. */
  readonly isEngineFixed?: boolean;
  /** Units since power-on after which a run hangs; default: as HANG says. */
  readonly maxInsns?: number | undefined;
}

/** Some runs of one schedule: the numbers `from` to `to` - 1. */
export interface Part {
  /** Index of the schedule. */
  readonly schedule: number;
  readonly from: number;
  readonly to: number;
}

/** The results of one schedule. */
export interface Searched extends Tallied<bigint> {
  /** As `--schedule` takes it. */
  readonly schedule: string;
}

/** Facts about the program that all parts of a search share. */
export interface Facts {
  /** Units of the program in the usual order. */
  readonly units: number;
  readonly maxInsns: number;
  /** As `--schedule` takes them. */
  readonly schedules: readonly string[];
}

export interface Search extends Facts {
  readonly searched: readonly Searched[];
}

const WITHOUT_MAX = 2_000_000_000;
/** A run hangs after so many times the units of the usual order, and not before HANG_MIN. */
const HANG = 20;
const HANG_MIN = 20_000_000;
/** Programs of fewer units are interpreted: harts change too often for compiled code to pay. */
const SHORT = 20_000_000;
/** Different failures that are kept, of one schedule. */
const FINDS_MAX = 100;
/** Runs of a part; fewer than FINDS_MAX, so that no part leaves a failure out. */
const PART = 50;

const isFailure = (outcome: Outcome): boolean => outcome !== 'ok' && outcome !== 'other';

/** Runs parts of a search, in any order. */
export class Searcher {
  readonly facts: Facts;
  readonly #guest: Guest;
  readonly #start: Moment;
  readonly #without: Ended;
  readonly #schedules: readonly Schedule[];
  readonly #firstSeed: bigint;

  private constructor(
    facts: Omit<Facts, 'schedules'>,
    run: { guest: Guest; start: Moment; without: Ended },
    { schedules, firstSeed }: { schedules: readonly Schedule[]; firstSeed: bigint },
  ) {
    this.facts = { ...facts, schedules: schedules.map(scheduleText) };
    this.#guest = run.guest;
    this.#start = run.start;
    this.#without = run.without;
    this.#schedules = schedules;
    this.#firstSeed = firstSeed;
  }

  /** Errors: HostError when the program does not end by itself in the usual order. */
  static async open(options: SearchOptions): Promise<Searcher> {
    const { schedules, firstSeed } = options;
    const usual = new Guest(options.machine);
    await toUser(usual);
    const first = usual.machine.spent;
    const without = await usual.runToEnd(options.maxInsns ?? WITHOUT_MAX);
    checkEnds(without, 'in the usual order of the harts');
    const units = usual.machine.spent - first;
    const maxInsns = options.maxInsns ?? first + Math.max(HANG_MIN, HANG * units);
    // The snapshot is of a machine with a schedule: others have another form of state.
    const isInterpreted = !options.isEngineFixed && units < SHORT;
    const engine = isInterpreted ? { engine: 'interp' as const } : {};
    const schedule: Schedule = { kind: 'pct', depth: 1 };
    const guest = new Guest({ ...options.machine, ...engine, schedule });
    await toUser(guest);
    let start = guest.save();
    if (await guest.runToChoice()) start = guest.save();
    else guest.goTo(start);
    await guest.runToEnd(maxInsns);
    const contended = Math.max(1, guest.machine.scheduler.contended(guest.machine.spent));
    const own = schedules.map(given => (given.kind === 'pct' ? { units: contended, ...given } : given));
    return new Searcher({ units, maxInsns }, { guest, start, without }, { schedules: own, firstSeed });
  }

  async run({ schedule, from, to }: Part): Promise<Tallied<bigint>> {
    const tally = new Tally<bigint>(isFailure, FINDS_MAX);
    const guest = this.#guest;
    for (let run = from; run < to; run++) {
      const seed = BigInt.asUintN(64, this.#firstSeed + BigInt(run));
      guest.goTo(this.#start);
      guest.machine.reschedule(this.#schedules[schedule]!, seed);
      tally.add(judge(await guest.runToEnd(this.facts.maxInsns), this.#without), seed);
    }
    return { counts: tally.counts, finds: tally.finds };
  }
}

/** All parts of a search. */
export function partsOf({ schedules, runs }: SearchOptions): Part[] {
  const parts: Part[] = [];
  for (const schedule of schedules.keys())
    for (let from = 0; from < runs; from += PART)
      parts.push({ schedule, from, to: Math.min(from + PART, runs) });
  return parts;
}

/** The result of a search from those of its parts, in their order. */
export function joined(facts: Facts, parts: readonly Part[], results: readonly Tallied<bigint>[]): Search {
  const tallies = facts.schedules.map(() => new Tally<bigint>(isFailure, FINDS_MAX));
  for (const [i, { schedule }] of parts.entries()) tallies[schedule]!.append(results[i]!);
  const searched = facts.schedules.map((schedule, i) => {
    const { counts, finds } = tallies[i]!;
    return { schedule, counts, finds };
  });
  return { ...facts, searched };
}

async function toUser(guest: Guest): Promise<void> {
  if (!(await guest.runToUser())) throw new HostError('the guest ended before the program began');
}
