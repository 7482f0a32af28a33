// A program many times with a hostile twin of its devices (emulator/bus/hostile.ts), each run with
// a seed of its own. All runs begin at one snapshot, shortly before the first event of a device:
// the probe of its driver, which the kernel delays until the program is loaded. Run SEED
// is `kcovbox run --hostile DEVICE:SEED`.
import { HostError, type MachineOptions } from '../../emulator/index.ts';
import { Guest } from '../many/guest.ts';
import { checkEnds, isBad, judge } from '../many/outcome.ts';
import { type Tallied, Tally } from '../many/tally.ts';

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

export interface Campaign extends Tallied<number> {
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
  const tally = new Tally<number>(isBad, FINDS_MAX);
  for (let done = 0; done < runs; done++) {
    const seed = (firstSeed + done) % 2 ** 32;
    guest.goTo(probe);
    for (const [i, layer] of layers.entries()) layer.provoke({ device: devices[i]!, seed, misdirects });
    // A device that lies about its state cannot blame the driver for violations.
    tally.add(judge({ ...(await guest.runToEnd(maxInsns)), violations: [] }, without), seed);
    options.progress?.(done + 1, runs);
  }
  return { counts: tally.counts, finds: tally.finds, maxInsns };
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
