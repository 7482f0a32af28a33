// One run of a machine on behalf of a verb: slices of guest work between which console, signals and
// progress get their turn. Nothing here can change what the guest computes, except the input that
// the journal stamps.
import {
  createMachine,
  HostError,
  type JournalEntry,
  type Machine,
  type MachineOptions,
  Once,
  type RunHash,
  type RunResult,
  type Snapshot,
} from '../../emulator/index.ts';
import type { Booted } from '../../host/booted.ts';
import { KeptProfile } from '../../host/jit-profile.ts';
import { END_OF_INPUT, Feed, type FeedOptions, type FeedState, NEW_FEED } from '../../run/feed.ts';
import { HALTED, type Verdict, verdict } from '../../run/verdict.ts';
import type { GuestConsole } from '../io/console.ts';
import { UserError } from '../io/fail.ts';
import { type LiveInput, Pipe } from '../io/live-input.ts';
import { isTerminal, Terminal } from '../io/terminal.ts';
import type { GdbServer } from './gdb.ts';
import type { GdbOptions } from './gdb-options.ts';
import type { Moment } from './moment.ts';
import { Watchdog } from './watchdog.ts';

/**
 * Guest instructions per slice: some tens of milliseconds. With a terminal fewer, so that keys act
 * at once.
 */
const SLICE = 20_000_000;
const SLICE_TYPED = 4_000_000;
const SLICE_MIN = 1_000_000;
/** Of the slice before signals are watched; a small program ends within it. */
const SLICE_UNWATCHED = 2_000_000;
/** Time that a slice should take. */
const SLICE_MS = 50;
/**
 * Work of devices per slice (WorkPort): a few megabytes of console output, some tens of
 * milliseconds.
 */
const SLICE_WORK = 1 << 22;
/** A slice in which fewer instructions ran than this was spent waiting; the host may rest. */
const IDLE_SLICE = 200_000;
const IDLE_MS = 10;
/** While a person's guest waits for a time to come, time passes as the person's does. */
const NS_PER_MS = 1_000_000;
/** Bytes that may wait for the guest before a pipe is not read any more. */
const WIRE_MAX = 1 << 16;

export interface SessionOptions {
  readonly machine: MachineOptions;
  readonly console: GuestConsole;
  readonly maxInsns?: number;
  /** Listen to standard input. */
  readonly input?: boolean;
  /** Deliver input as it comes also where it is no terminal. */
  readonly isInteractive?: boolean;
  /** See Feed. */
  readonly endOfInput?: FeedOptions['end'];
  readonly isBusyGuest?: boolean;
  /** A guest that reboots ends the run instead, with status 0. */
  readonly noReboot?: boolean;
  /** Offer the machine to a debugger. */
  readonly gdb?: GdbOptions;
  /** An interrupted run has outputs: it ends in order once it has shown anything. */
  readonly endsInOrder?: boolean;
  /** More bytes of input end the run with an error: nothing could hold them. */
  readonly maxInput?: number | undefined;
  /** Called on the machine before its first instruction. */
  readonly prepare?: (machine: Machine) => void;
  /** Called once at this moment; `feed`: of a stream. */
  readonly stop?: {
    readonly at: Moment;
    readonly reached: (machine: Machine, feed: FeedState | null) => void;
  };
  /** Compile as in a first run, without the profile of earlier ones. */
  readonly isCold?: boolean;
  /** Of the boot up to the guest's first access to fw_cfg; see host/booted.ts. */
  readonly boot?: {
    /** Goes on from behind it; undefined: boots, and gives the states before and behind it. */
    readonly booted: Booted | undefined;
    readonly keep: (before: Snapshot, now: Snapshot, console: Uint8Array) => void;
    /** The state is not one of this machine. */
    readonly refused: (why: string) => void;
  };
  /** Goes on from there instead of power-on. `path`: of its file. */
  readonly from?: { readonly snapshot: Snapshot; readonly feed: FeedState | null; readonly path: string };
  /** Input of an earlier run, instead of any from now; an interrupted one ends when it did. */
  readonly replay?: Replay;
}

export interface Replay {
  /** The run ends with an error at the first link of its chain that differs from these. */
  readonly verify?: RunHash | undefined;
  readonly journal: readonly JournalEntry[];
  readonly end: { readonly outcome: Outcome; readonly status: number; readonly time: number };
}

type Outcome = Verdict['outcome'];

export interface SessionEnd {
  readonly machine: Machine;
  /** Exit status by the contract in the help text. */
  readonly status: number;
  readonly outcome: Outcome;
  /**
   * Status of the command that a signal or the user ended now, else 0. A guest that ended by itself
   * meanwhile has its own `outcome` and `status`. A replay of an interrupted run ends like that
   * run.
   */
  readonly signalStatus: number;
  readonly wallSeconds: number;
  readonly reboots: number;
}

/**
 * A run that is over by then pays nothing for the thread that receives signals, which takes 35 ms
 * of the processor to start. Until then signals have their default effect, which ends the process.
 */
const WATCH_AFTER_MS = 5000;
/** Of a run that Ctrl-A x ended. */
const STATUS_QUIT = 130;

/** Lets signals, sockets and keys have their turn. */
const turn = (): Promise<void> => new Promise(done => setImmediate(done));
const delay = (ms: number): Promise<void> => new Promise(done => setTimeout(done, ms));

class Session {
  readonly #options: SessionOptions;
  readonly #line: GuestConsole;
  readonly #machine: Machine;
  /** Of earlier runs under this kernel; see host/jit-profile.ts. */
  readonly #profile: KeptProfile | undefined;
  /** A debugger may repeat what was printed. */
  readonly #once = new Once(byte => this.#line.put(byte));
  #live: LiveInput | undefined;
  #gdb: GdbServer | undefined;
  #feed: Feed | undefined;
  /** Units of the next slice. */
  #slice = SLICE;
  /** Milliseconds that passed before it, while the guest waited for a person. */
  #slept = 0;
  #reboots = 0;
  /** Arrivals that are counted, and their bytes. */
  #arrivals = 0;
  #inputBytes = 0;
  /** Until the boot is over, if it will be kept: the state at power-on, and the console since. */
  #toKeep: { readonly before: Snapshot; readonly console: number[] } | undefined;
  readonly #watchdog = new Watchdog(() => this.#line.flush());
  #isWatched = false;
  readonly #start = process.hrtime.bigint();

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#line = options.console;
    const { kernel, tuning, engine = 'jit' } = options.machine;
    const isProfiled = !options.isCold && !tuning && engine === 'jit';
    this.#profile = kernel && isProfiled ? new KeptProfile(kernel.bytes) : undefined;
    this.#machine = createMachine({
      ...options.machine,
      ...(this.#profile && { tuning: { profile: this.#profile } }),
      onConsole: options.gdb ? byte => this.#once.put(byte) : byte => this.#print(byte),
      onDeviceLog: line => {
        if (!this.#gdb?.isBehind) this.#line.note(line);
      },
      ...(options.replay && { replay: options.replay.journal }),
    });
    if (options.from) this.#load(options.from);
    else this.#boot();
    const at = options.stop?.at;
    this.#machine.stopsAtUser = at === 'first-instruction';
    this.#machine.stopsAtMark = typeof at === 'object' ? at.mark : undefined;
    if (options.replay?.verify) this.#machine.hasher?.compareWith(options.replay.verify);
    options.prepare?.(this.#machine);
  }

  /** Errors: UserError with the file. */
  #load({ snapshot, path }: NonNullable<SessionOptions['from']>): void {
    try {
      this.#machine.load(snapshot);
    } catch (error) {
      if (error instanceof HostError) throw new UserError(`snapshot ${path}: ${error.message}`);
      throw error;
    }
  }

  #print(byte: number): void {
    this.#toKeep?.console.push(byte);
    this.#line.put(byte);
  }

  /** Goes on from behind the boot, or prepares to keep the state there. */
  #boot(): void {
    const { boot } = this.#options;
    if (!boot) return;
    const machine = this.#machine;
    if (boot.booted) {
      try {
        machine.resume(boot.booted.state);
        for (const byte of boot.booted.console) this.#line.put(byte);
        return;
      } catch (error) {
        boot.refused((error as Error).message);
        machine.reset();
      }
    }
    if (!machine.hasher) return;
    machine.stopsAtFwCfg = true;
    this.#toKeep = { before: machine.snapshot(), console: [] };
  }

  /** The boot is over, or the guest has rebooted before. */
  #keepBoot(result: RunResult): void {
    const machine = this.#machine;
    if (!this.#toKeep || (machine.stopsAtFwCfg && result.kind === 'budget')) return;
    const { before, console } = this.#toKeep;
    this.#toKeep = undefined;
    if (result.kind === 'budget')
      this.#options.boot!.keep(before, machine.snapshot(), Uint8Array.from(console));
    machine.stopsAtFwCfg = false;
  }

  async run(): Promise<SessionEnd> {
    let result: RunResult | undefined;
    try {
      const { gdb, replay } = this.#options;
      const input = this.#options.input && !replay;
      if ((input && isTerminal(0)) || (this.#options.endsInOrder && this.#canHang)) await this.#watch();
      if (gdb) await this.#listen(gdb);
      if (input) this.#live = Terminal.open() ?? (this.#options.isInteractive ? new Pipe() : undefined);
      if (this.#live) {
        this.#line.useLive(this.#live);
        this.#slice = SLICE_TYPED;
      } else if (input) {
        const { isBusyGuest = false } = this.#options;
        const end = this.#endOfInput;
        const isInterrupted = () => this.#watchdog.status !== 0;
        this.#line.useStream();
        this.#feed = new Feed(this.#machine, this.#line, { end, isBusyGuest, isInterrupted });
        if (this.#options.from) this.#feed.resume(this.#options.from.feed ?? NEW_FEED);
      }
      if (this.#options.endsInOrder && !this.#isWatched) this.#beginUnwatched();
      result = replay ? await this.#again(replay) : await this.#slices();
    } finally {
      this.#gdb?.close();
      this.#line.close();
      await this.#line.settle();
      this.#profile?.keep();
      await this.#watchdog.stop();
    }
    const wallSeconds = this.#elapsedMs() / 1e3;
    const signalStatus = this.#watchdog.status || (this.#live?.quit ? STATUS_QUIT : 0);
    const { replay } = this.#options;
    const end =
      signalStatus === 0 && replay?.end.outcome === 'interrupted' && result?.kind === 'budget'
        ? { status: replay.end.status, outcome: 'interrupted' as const }
        : verdict(result, signalStatus);
    return { machine: this.#machine, wallSeconds, reboots: this.#reboots, signalStatus, ...end };
  }

  async #listen(gdb: GdbOptions): Promise<void> {
    const { GdbServer } = await import('./gdb.ts');
    const companions = [this.#once];
    const end = this.#options.replay && this.#recordedEnd(this.#options.replay);
    this.#gdb = await GdbServer.listen(this.#machine, gdb, { companions, ...(end && { end }) });
  }

  async #slices(): Promise<RunResult | undefined> {
    const { maxInsns } = this.#options;
    const machine = this.#machine;
    let left = (maxInsns ?? Number.POSITIVE_INFINITY) - machine.spent;
    let result: RunResult | undefined;
    let { stop } = this.#options;
    while (left > 0 && this.#watchdog.status === 0 && !this.#live?.quit) {
      const { spent: before, time } = machine;
      const stopAt = typeof stop?.at === 'number' ? stop.at : Number.POSITIVE_INFINITY;
      if (stop && (before === stopAt || this.#isReached(stop.at))) {
        stop.reached(machine, this.#feed?.state ?? null);
        stop = undefined;
        continue;
      }
      const units = Math.min(this.#slice, left, stopAt > before ? stopAt - before : Number.POSITIVE_INFINITY);
      const duration = this.#duration();
      const start = this.#elapsedMs();
      result = this.#gdb ? this.#gdb.run(units, duration) : machine.run(units, duration, SLICE_WORK);
      this.#adapt(this.#elapsedMs() - start);
      this.#keepBoot(result);
      const isLast = result.kind === 'exit' || result.kind === 'panic';
      if (!isLast) await this.#endUnwatched();
      const spent = machine.spent - before;
      left -= spent;
      this.#line.flush();
      if (result.kind === 'reset' && this.#options.noReboot) return { kind: 'exit', status: 0 };
      if (result.kind === 'reset') this.#reboot();
      else if (result.kind !== 'budget' && result.kind !== 'halt') return result;
      // A slice that ended with neither its units nor its time was spent on work of devices.
      const isWork =
        result.kind === 'budget' && !this.#gdb && spent < units && machine.time - time < duration;
      const isIdle = result.kind === 'halt' || (spent < IDLE_SLICE && !isWork);
      this.#watchLater();
      await this.#pause(isIdle, result.kind === 'halt');
      if (this.#gdb?.isBehind) continue; // the input of then arrives by itself
      const hasGiven = this.#live
        ? this.#deliverLive(this.#live)
        : ((await this.#feed?.give(result)) ?? false);
      if (hasGiven) this.#checkInput();
      if (!hasGiven && result.kind === 'halt' && this.#isOver()) return result;
    }
    return left > 0 ? result : { kind: 'budget' };
  }

  /** Of moments that the machine finds. */
  #isReached(at: Moment): boolean {
    if (typeof at === 'object') return this.#machine.stopsAtMark === undefined;
    return at === 'first-instruction' && !this.#machine.stopsAtUser;
  }

  /**
   * Virtual time that may pass in the next slice. With input the guest's idle time passes in pieces
   * too, so that it is seen.
   */
  #duration(): number {
    if (this.#live && this.#slept > 0)
      return Math.max(
        1,
        Math.round((this.#slept * NS_PER_MS) / 2 ** (this.#options.machine.icountShift ?? 0)),
      );
    if (this.#feed) return this.#feed.duration;
    return this.#live || this.#gdb ? this.#slice : Number.POSITIVE_INFINITY;
  }

  /** Slices take about as long on every engine and host, so that keys and signals act at once. */
  #adapt(ms: number): void {
    if (ms > 2 * SLICE_MS) this.#slice = Math.max(SLICE_MIN, Math.floor(this.#slice / 2));
    else if (ms < SLICE_MS / 2) this.#slice = Math.min(this.#live ? SLICE_TYPED : SLICE, this.#slice * 2);
  }

  #elapsedMs(): number {
    return Number(process.hrtime.bigint() - this.#start) / 1e6;
  }

  get #endOfInput(): FeedOptions['end'] {
    return this.#options.endOfInput ?? 'ctrl-d';
  }

  /**
   * The thread that receives signals takes longer to start than a small program runs. A run with
   * outputs begins without it, and shows nothing of its first slice before that slice is over: then
   * it has ended, or the thread is started. So a process that acts on what the guest has printed
   * finds a run that ends in order. Until then signals have their default effect.
   */
  #beginUnwatched(): void {
    this.#slice = Math.min(this.#slice, SLICE_UNWATCHED);
    this.#line.hold();
  }

  /** Behind the first slice of a run that goes on. */
  async #endUnwatched(): Promise<void> {
    if (!this.#options.endsInOrder || this.#isWatched) return;
    await this.#watch();
    this.#line.release();
  }

  /** Code of the user's runs in the slices, and may never return. */
  get #canHang(): boolean {
    return (this.#options.machine.ownDevices?.length ?? 0) > 0;
  }

  async #watch(): Promise<void> {
    this.#isWatched = true;
    await this.#watchdog.start();
  }

  #watchLater(): void {
    if (!this.#isWatched && this.#elapsedMs() > WATCH_AFTER_MS) void this.#watch();
  }

  #reboot(): void {
    this.#reboots++;
    this.#machine.reset();
    this.#once.reset();
    this.#feed?.reset();
  }

  /** The recorded input arrives by itself; only its end is ours to find. */
  async #again(replay: Replay): Promise<RunResult> {
    const machine = this.#machine;
    const { units, time: limit } = this.#recordedEnd(replay);
    for (;;) {
      const slice = Math.min(this.#slice, units - machine.spent);
      const left = limit - machine.time;
      const start = this.#elapsedMs();
      const result = this.#gdb ? this.#gdb.run(slice, left) : machine.run(slice, left, SLICE_WORK);
      this.#adapt(this.#elapsedMs() - start);
      this.#line.flush();
      const isOver = result.kind !== 'budget' || machine.time >= limit || machine.spent >= units;
      if (!isOver) await this.#endUnwatched();
      if (isOver && !this.#gdb?.isAttached) {
        if (result.kind === 'reset' && this.#options.noReboot) return { kind: 'exit', status: 0 };
        return result;
      }
      this.#watchLater();
      if (this.#gdb) await this.#pause(false, false);
      else await turn();
      if (this.#watchdog.status !== 0) return result;
    }
  }

  #recordedEnd({ end }: Replay): { readonly units: number; readonly time: number } {
    const units = this.#options.maxInsns ?? Number.POSITIVE_INFINITY;
    return { units, time: end.outcome === 'interrupted' ? end.time : Number.POSITIVE_INFINITY };
  }

  /** Between two slices. */
  async #pause(isIdle: boolean, isHalted: boolean): Promise<void> {
    this.#slept = 0;
    const start = this.#elapsedMs();
    if (isIdle && this.#live) {
      await this.#live.wait(IDLE_MS);
      this.#slept = Math.max(1, this.#elapsedMs() - start);
    } else if (this.#gdb && (isHalted || this.#gdb.isStanding)) await delay(IDLE_MS);
    else await turn();
  }

  #deliverLive(live: LiveInput): boolean {
    // Input that the guest has not taken stays in the pipe.
    if (this.#machine.board.uart.waiting >= WIRE_MAX) return false;
    const size = live.takeSize();
    if (size) {
      const { rows, cols } = size;
      this.#machine.input([rows & 255, rows >> 8, cols & 255, cols >> 8], 'resize');
    }
    const bytes = [...live.take()];
    if (bytes.length > 0) this.#machine.input(bytes);
    if (!live.isOver) return bytes.length > 0 || size !== undefined;
    this.#machine.input(...END_OF_INPUT[this.#endOfInput]);
    live.close();
    this.#live = undefined; // from now on nothing can come, and idle time passes at once
    return true;
  }

  #checkInput(): void {
    const { maxInput = Number.POSITIVE_INFINITY } = this.#options;
    const { entries } = this.#machine.journal;
    for (; this.#arrivals < entries.length; this.#arrivals++)
      this.#inputBytes += entries[this.#arrivals]!.bytes.length;
    if (this.#inputBytes > maxInput)
      throw new UserError(`the input has more than ${maxInput} bytes; give less, or omit --record`);
  }

  /** Can a halted guest never be woken? */
  #isOver(): boolean {
    return !this.#gdb && !this.#live && (this.#feed?.isOver ?? true);
  }
}

/** Boots and runs until the guest ends, the budget is spent or the user interrupts. */
export const runSession = (options: SessionOptions): Promise<SessionEnd> => new Session(options).run();

/** One line for the user about an end that is not the program's own. */
export function explain(end: SessionEnd): string | undefined {
  if (end.outcome === 'exit') return undefined;
  // Costs 20 ms the first time.
  const at = `after ${end.machine.instret.toLocaleString('en-US')} instructions`;
  switch (end.outcome) {
    case 'budget':
      return `the instruction budget is spent ${at}; raise --max-insns`;
    case 'panic':
      return `the guest kernel panicked ${at}`;
    case 'no-start':
      return 'the guest could not start the program; its console says why';
    case 'halt':
      return `${HALTED}, ${at}`;
    case 'interrupted':
      return `interrupted ${at}`;
    default:
      return undefined;
  }
}
