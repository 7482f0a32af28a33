// A program many times from its first instruction on, each time with another order of the harts: a
// search for races. Run SEED of an order is `kcovbox run --schedule ORDER --sched-seed SEED`.
import { HostError, type MachineOptions, type Schedule, scheduleText } from '../../emulator/index.ts';
import { Guest } from '../faults/guest.ts';
import { checkEnds, type Judged, judge, kindOf, type Outcome } from '../faults/outcome.ts';

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
  readonly progress?: (done: number, all: number) => void;
}

/** Failed runs with the same outcome and the same line. */
export interface Find extends Judged {
  readonly firstSeed: bigint;
  runs: number;
}

/** The results of one schedule. */
export interface Searched {
  /** As `--schedule` takes it. */
  readonly schedule: string;
  readonly counts: Readonly<Record<Outcome, number>>;
  readonly finds: readonly Find[];
}

export interface Search {
  readonly searched: readonly Searched[];
  /** Units of the program in the usual order. */
  readonly units: number;
  readonly maxInsns: number;
}

const WITHOUT_MAX = 2_000_000_000;
/** A run hangs after so many times the units of the usual order, and not before HANG_MIN. */
const HANG = 20;
const HANG_MIN = 20_000_000;
/** Programs of fewer units are interpreted: harts change too often for compiled code to pay. */
const SHORT = 20_000_000;
/** Different finds that are kept, of one schedule. */
const FINDS_MAX = 100;

/** Errors: HostError when the program does not end by itself in the usual order. */
export async function search(options: SearchOptions): Promise<Search> {
  const { schedules, runs, firstSeed, progress } = options;
  const usual = new Guest(options.machine);
  await toUser(usual);
  const first = usual.machine.spent;
  const without = await usual.runToEnd(options.maxInsns ?? WITHOUT_MAX);
  checkEnds(without, 'in the usual order of the harts');
  const units = usual.machine.spent - first;
  const maxInsns = options.maxInsns ?? first + Math.max(HANG_MIN, HANG * units);
  // The snapshot is of a machine with a schedule: others have another form of state.
  const schedule = schedules[0];
  const isInterpreted = !options.isEngineFixed && units < SHORT;
  const engine = isInterpreted ? { engine: 'interp' as const } : {};
  const guest = new Guest({ ...options.machine, ...engine, ...(schedule && { schedule }) });
  await toUser(guest);
  const start = guest.save();
  guest.machine.reschedule({ kind: 'pct', depth: 1 }, firstSeed);
  await guest.runToEnd(maxInsns);
  const steps = guest.machine.spent - first;
  const searched: Searched[] = [];
  for (const [i, given] of schedules.entries()) {
    const own = given.kind === 'pct' ? { units: steps, ...given } : given;
    const counts: Record<Outcome, number> = { ok: 0, other: 0, error: 0, hang: 0, report: 0, panic: 0 };
    const finds = new Map<string, Find>();
    for (let run = 0; run < runs; run++) {
      const seed = BigInt.asUintN(64, firstSeed + BigInt(run));
      guest.goTo(start);
      guest.machine.reschedule(own, seed);
      const judged = judge(await guest.runToEnd(maxInsns), without);
      counts[judged.outcome]++;
      if (judged.outcome !== 'ok' && judged.outcome !== 'other') count(finds, judged, seed);
      progress?.(i * runs + run + 1, schedules.length * runs);
    }
    searched.push({ schedule: scheduleText(own), counts, finds: [...finds.values()] });
  }
  return { searched, units, maxInsns };
}

async function toUser(guest: Guest): Promise<void> {
  if (!(await guest.runToUser())) throw new HostError('the guest ended before the program began');
}

function count(finds: Map<string, Find>, judged: Judged, firstSeed: bigint): void {
  const key = `${judged.outcome} ${judged.status} ${kindOf(judged.line)}`;
  const known = finds.get(key);
  if (known) known.runs++;
  else if (finds.size < FINDS_MAX) finds.set(key, { ...judged, firstSeed, runs: 1 });
}
