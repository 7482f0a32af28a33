// A program many times with a hostile twin of its devices (emulator/bus/hostile.ts), each run with
// a seed of its own. All runs begin at one snapshot, shortly before the first event of a device:
// the probe of its driver, which the kernel delays until the program is loaded. Run SEED
// is `kcovbox run --hostile DEVICE:SEED`.
import { HostError, type MachineOptions } from '../../emulator/index.ts';
import { Guest } from './guest.ts';
import { checkEnds, isBad, type Judged, judge, kindOf, type Outcome } from './outcome.ts';

export interface HostileOptions {
  /** The guest; `faults`, `hostile` and `faultable` are the campaign's. */
  readonly machine: MachineOptions;
  readonly devices: readonly string[];
  readonly runs: number;
  /** Of the first run; the next ones follow. */
  readonly firstSeed: number;
  readonly misdirects: boolean;
  /** Keeps the machine's engine. Otherwise short runs are interpreted; no result depends on it. */
  readonly isEngineFixed?: boolean;
  /** Units since power-on after which a run hangs; default: HANG_AFTER after the end without. */
  readonly maxInsns?: number | undefined;
  readonly progress?: (done: number, all: number) => void;
}

/** Bad runs with the same outcome and the same line. */
export interface Find extends Judged {
  readonly firstSeed: number;
  runs: number;
}

export interface Campaign {
  readonly counts: Readonly<Record<Outcome, number>>;
  readonly finds: readonly Find[];
  readonly maxInsns: number;
}

const HANG_AFTER = 300_000_000;
const WITHOUT_MAX = 2_000_000_000;
/** Units before the first event at which the snapshot is taken. */
const BEFORE = 3;
/** A program of fewer units is interpreted. */
const SHORT = 20_000_000;
/** Different finds that are kept. */
const FINDS_MAX = 1000;

/** Errors: HostError when the program does not end, or does not reach the devices. */
export async function campaign(options: HostileOptions): Promise<Campaign> {
  const { devices, runs, firstSeed, misdirects } = options;
  const machine = { ...options.machine, faults: [], hostile: [], faultable: devices };
  let guest = new Guest(machine);
  const start = guest.save();
  const { without, first } = await observe(guest, devices, options.maxInsns ?? WITHOUT_MAX);
  const { spent } = guest.machine;
  const maxInsns = options.maxInsns ?? spent + HANG_AFTER;
  // Runs from a snapshot execute most of their code a few times only.
  if (!options.isEngineFixed && spent < SHORT) guest = new Guest({ ...machine, engine: 'interp' });
  else guest.goTo(start);
  const layers = devices.map(name => guest.machine.board.faults.get(name)!);
  await guest.runTo(first - BEFORE);
  const probe = guest.save();
  const counts: Record<Outcome, number> = { ok: 0, other: 0, error: 0, hang: 0, report: 0, panic: 0 };
  const finds = new Map<string, Find>();
  for (let done = 0; done < runs; done++) {
    const seed = (firstSeed + done) % 2 ** 32;
    guest.goTo(probe);
    for (const [i, layer] of layers.entries()) layer.provoke({ device: devices[i]!, seed, misdirects });
    // A device that lies about its state cannot blame the driver for violations.
    const judged = judge({ ...(await guest.runToEnd(maxInsns)), violations: [] }, without);
    counts[judged.outcome]++;
    const key = `${judged.outcome} ${kindOf(judged.line)}`;
    const known = finds.get(key);
    if (known) known.runs++;
    else if (isBad(judged.outcome) && finds.size < FINDS_MAX)
      finds.set(key, { ...judged, firstSeed: seed, runs: 1 });
    options.progress?.(done + 1, runs);
  }
  return { counts, finds: [...finds.values()], maxInsns };
}

/** The run without faults, and the time of the first event. */
async function observe(guest: Guest, devices: readonly string[], maxInsns: number) {
  const layers = devices.map(name => guest.machine.board.faults.get(name)!);
  let first = Number.POSITIVE_INFINITY;
  for (const layer of layers)
    layer.observer = () => {
      first = Math.min(first, guest.machine.now());
    };
  const without = await guest.runToEnd(maxInsns);
  for (const layer of layers) layer.observer = undefined;
  checkEnds(without);
  if (first === Number.POSITIVE_INFINITY)
    throw new HostError(`the program does not reach ${devices.join(', ')}: no event of it`);
  return { without, first };
}
