// The failing run, and forks of it: runs that are the same up to a place and go on with other turns
// of the harts, later interrupts and other random numbers (Machine.divert).
import {
  createMachine,
  type Machine,
  type MachineOptions,
  type RunResult,
  type Snapshot,
  Timeline,
} from '../../emulator/index.ts';
import { type Failure, failsAt } from './failure.ts';

/** Of a line of the console, in bytes: more of it is not looked at. */
const LINE_MAX = 4096;
/** Units that a fork may run longer than the failing run, besides as many as that had left. */
const LONGER = 10_000_000;
/** The same for virtual time: ten seconds of the guest, for one that waits. */
const TIME_LONGER = 10_000_000_000;
const LF = 10;
const CR = 13;

export interface ForkOptions {
  /** The machine of the recorded run, with all its input. */
  readonly machine: MachineOptions;
  /** The recorded end; see TimelineOptions. */
  readonly end: { readonly units: number; readonly time: number };
  readonly failure: Failure;
  readonly seed: bigint;
  /** Of `Machine.divert`. */
  readonly spread: number;
}

/** A place of the failing run from which forks start. */
export interface Place {
  readonly unit: number;
  readonly snapshot: Snapshot;
  /** The unfinished line of the console. */
  readonly line: readonly number[];
}

export interface Fork {
  readonly seed: bigint;
  readonly fails: boolean;
  /** That it executed by itself. */
  readonly units: number;
}

export class Forks {
  readonly machine: Machine;
  readonly timeline: Timeline;
  readonly #options: ForkOptions;
  #line: number[] = [];
  /** Units before the failing line was complete; undefined: it was not printed. */
  #failedAt: number | undefined;
  #unitsMax = 0;
  #timeMax = 0;

  constructor(options: ForkOptions) {
    this.#options = options;
    this.machine = createMachine({ ...options.machine, onConsole: byte => this.#print(byte) });
    this.timeline = new Timeline(this.machine, {
      end: options.end,
      companions: [
        {
          save: () => this.#line.slice(),
          restore: saved => {
            this.#line = (saved as number[]).slice();
          },
        },
      ],
    });
  }

  get spread(): number {
    return this.#options.spread;
  }

  #print(byte: number): void {
    if (byte !== LF) {
      if (byte !== CR && this.#line.length < LINE_MAX) this.#line.push(byte);
      return;
    }
    const { failure } = this.#options;
    const text = new TextDecoder().decode(Uint8Array.from(this.#line));
    this.#line = [];
    if (failure.kind !== 'line' || this.#failedAt !== undefined || !failure.matches(text)) return;
    this.#failedAt = this.machine.spentNow;
    this.machine.pause();
  }

  /**
   * Runs the failing run to its end. The unit at which it has failed; undefined if it does not:
   * then it is no run with this failure.
   */
  fail(): number | undefined {
    const { failure, end } = this.#options;
    this.#failedAt = undefined;
    const result = this.timeline.end();
    const { spent, time } = this.machine;
    const at = failure.kind === 'line' ? this.#failedAt : failsAt(failure, result) ? spent : undefined;
    if (at === undefined) return undefined;
    // A hang has no other end than its budget.
    const isHang = failure.kind === 'hang';
    this.#unitsMax = isHang ? Math.max(spent, Math.min(end.units, 2 * spent)) : 2 * at + LONGER;
    this.#timeMax = isHang ? Math.max(time, TIME_LONGER) : 2 * time + TIME_LONGER;
    return at;
  }

  /** Goes to a place of the failing run. */
  at(unit: number): Place {
    this.timeline.seek(unit);
    return { unit, snapshot: this.machine.snapshot(), line: this.#line.slice() };
  }

  /** Back to a place of the failing run: before `timeline` is used, and between two forks. */
  back({ snapshot, line }: Place): void {
    this.machine.restore(snapshot);
    this.#line = line.slice();
  }

  /** The seed of the n-th fork at a place: other places have other forks. */
  seedOf({ unit }: Place, n: number): bigint {
    const { seed } = this.#options;
    const text = seed * 0x9e37_79b9_7f4a_7c15n + BigInt(unit) * 0xbf58_476d_1ce4_e5b9n + BigInt(n);
    return BigInt.asUintN(64, text * 0x94d0_49bb_1331_11ebn) >> 16n;
  }

  /** Leaves the failing run at a place. */
  divert(place: Place, seed: bigint): void {
    this.back(place);
    this.machine.divert(seed, this.#options.spread);
  }

  /** Runs a fork until it fails or ends. Afterwards the machine is at the place again. */
  run(place: Place, seed: bigint): Fork {
    const { machine } = this;
    this.divert(place, seed);
    this.#failedAt = undefined;
    let result: RunResult = { kind: 'budget' };
    while (this.#failedAt === undefined && result.kind === 'budget') {
      const [units, time] = [this.#unitsMax - machine.spent, this.#timeMax - machine.time];
      if (units <= 0 || time <= 0) break;
      result = machine.run(units, time);
    }
    const fails = this.#failedAt !== undefined || failsAt(this.#options.failure, result);
    const fork = { seed, fails, units: machine.spent - place.unit };
    this.back(place);
    return fork;
  }
}
