// Every kind of fault times the first events of each device, of one program. The run without a
// fault is walked once; each faulty run begins at a snapshot of it shortly before the event that
// goes wrong, because up to there the two are the same run. So a row of the result is the outcome
// of `kcovbox run --fault DEVICE:KIND@N`, at the cost of what comes after the event.
import {
  FAULT_KINDS,
  type Fault,
  type FaultEvent,
  type FaultKind,
  faultRow,
  type MachineOptions,
} from '../../emulator/index.ts';
import { Guest, type Moment } from '../many/guest.ts';
import { checkEnds, type Ended, type Judged, judge } from '../many/outcome.ts';

export interface SweepOptions {
  /** The guest; `faults` and `faultable` are the sweep's. */
  readonly machine: MachineOptions;
  /** Keeps the machine's engine. Otherwise short rows are interpreted; no result depends on it. */
  readonly isEngineFixed?: boolean;
  /** Names of the devices under test. */
  readonly devices: readonly string[];
  readonly kinds: readonly FaultKind[];
  /** So many events of each kind and device. */
  readonly events: number;
  /** Units since power-on after which a run hangs; default: HANG_AFTER after the end without. */
  readonly maxInsns?: number | undefined;
  readonly progress?: (done: number, all: number) => void;
}

export interface SweepRow extends Judged {
  readonly fault: Fault;
}

export interface Sweep {
  /** The run without a fault. */
  readonly without: Ended;
  readonly maxInsns: number;
  /** Events of each device in that run, also those behind the limit. */
  readonly counts: ReadonlyMap<string, Readonly<Partial<Record<FaultEvent, number>>>>;
  /** By device, kind and event. */
  readonly rows: readonly SweepRow[];
}

/**
 * Longer than drivers wait by polling, and than 10,000 interrupts in a row, after which the kernel
 * disables a line.
 */
const HANG_AFTER = 300_000_000;
/** Most units of the run without a fault. */
const WITHOUT_MAX = 2_000_000_000;
/** Units before an event at which its snapshot is taken, and less than which are run twice. */
const BEFORE = 3;
const APART = 20_000;

/**
 * A row of fewer units is interpreted: each begins at a snapshot, so most of its code runs a few
 * times only. Interpreted, the rows of guest-programs/tests/edu.c take half of the time.
 */
const SHORT = 20_000_000;

/** After these the device sees other accesses than the driver made; violations are not its own. */
const UNSEEN: readonly FaultKind[] = ['write-twice', 'write-drop', 'bus-error', 'reset'];

interface Case {
  readonly fault: Fault;
  /** Virtual time of the event in the run without a fault. */
  readonly time: number;
}

/** The events of the run without a fault. */
async function observe(guest: Guest, { devices, kinds, events, maxInsns }: SweepOptions) {
  const cases: Case[] = [];
  const { machine } = guest;
  for (const device of devices)
    machine.board.faults.get(device)!.observer = (event, at) => {
      if (at > events) return;
      for (const kind of kinds) {
        const row = faultRow(kind);
        if (row.event === event)
          cases.push({ fault: { device, kind, at, time: row.time ?? 0 }, time: machine.now() });
      }
    };
  const without = await guest.runToEnd(maxInsns ?? WITHOUT_MAX);
  const counts = new Map<string, Readonly<Partial<Record<FaultEvent, number>>>>();
  for (const device of devices) {
    const layer = machine.board.faults.get(device)!;
    layer.observer = undefined;
    counts.set(device, { ...layer.counts });
  }
  checkEnds(without);
  return { cases, without, counts };
}

/** Errors: HostError when the program does not end without a fault, or a device does not exist. */
export async function sweep(options: SweepOptions): Promise<Sweep> {
  const machine = { ...options.machine, faults: [], faultable: options.devices };
  const compiled = new Walker(machine);
  const { cases, without, counts } = await observe(compiled.guest, options);
  const { spent } = compiled.guest.machine;
  const maxInsns = options.maxInsns ?? spent + HANG_AFTER;
  const isShort = !options.isEngineFixed && machine.engine !== 'interp' && spent < SHORT;
  const interpreted = isShort ? new Walker({ ...machine, engine: 'interp' }) : compiled;
  /** Devices and kinds whose last row was long: interrupts in a row, or a hang. */
  const long = new Set<string>();
  const rows: SweepRow[] = [];
  for (const { fault, time } of cases) {
    const key = `${fault.device}:${fault.kind}`;
    const walker = long.has(key) ? compiled : interpreted;
    await walker.before(time - BEFORE);
    const { guest } = walker;
    const start = guest.machine.spent;
    const layer = guest.machine.board.faults.get(fault.device)!;
    layer.arm([fault]);
    const run = await guest.runToEnd(maxInsns);
    if (guest.machine.spent - start < SHORT) long.delete(key);
    else long.add(key);
    if (layer.fired.length !== 1) throw new Error(`${fault.device}: the event of ${fault.kind} did not come`);
    rows.push({ fault, ...judge(UNSEEN.includes(fault.kind) ? { ...run, violations: [] } : run, without) });
    options.progress?.(rows.length, cases.length);
  }
  return { without, maxInsns, counts, rows: sorted(rows, options.devices) };
}

/** A guest that goes along the run without a fault. */
class Walker {
  readonly guest: Guest;
  #moment: Moment;

  constructor(machine: MachineOptions) {
    this.guest = new Guest(machine);
    this.#moment = this.guest.save();
  }

  /** The guest shortly before `time`, without faults. Times ascend. */
  async before(time: number): Promise<void> {
    this.guest.goTo(this.#moment);
    for (const layer of this.guest.machine.board.faults.values()) layer.arm([]);
    if (time - this.#moment.time < APART) return;
    await this.guest.runTo(time);
    this.#moment = this.guest.save();
  }
}

function sorted(rows: readonly SweepRow[], devices: readonly string[]): SweepRow[] {
  const kinds = Object.keys(FAULT_KINDS);
  const rank = ({ fault }: SweepRow): number =>
    devices.indexOf(fault.device) * kinds.length + kinds.indexOf(fault.kind);
  return [...rows].sort((a, b) => rank(a) - rank(b) || a.fault.at - b.fault.at);
}
