// The machine composes hart, engine, bus, devices, clock and firmware. `Machine.create` builds and
// boots one; `run` executes it, in as many pieces as the caller likes, with the same result.
// Nothing here is asynchronous or reads state of the host; input comes through `input`, and the
// journal records its time.
//
// Time: one unit is one retired instruction or one exception, of any hart, in the order in which
// they run; while all harts wait it jumps to the next event. Every event happens at an exact unit.

import type { Comparator } from '../../devices/clint.ts';
import { romContents } from '../../devices/rom.ts';
import { HostError } from '../base/errors.ts';
import { Xoshiro } from '../base/xoshiro.ts';
import { Bus } from '../bus/bus.ts';
import type { Sink, WorkPort } from '../bus/device.ts';
import { Ram } from '../bus/ram.ts';
import type { Breaks } from '../engine/breaks.ts';
import type { Engine } from '../engine/engine.ts';
import type { Jit } from '../engine/jit/jit.ts';
import { RetiredCounts, retiredBytes } from '../engine/retired.ts';
import { cause, Hart, type HartPorts, layout as L, NO_CODE } from '../hart/index.ts';
import { type Booted, boot } from './boot.ts';
import { Clock } from './clock.ts';
import { type Board, buildBoard } from './devices.ts';
import { dmaPort } from './dma.ts';
import {
  createEngine,
  EAGER,
  type FetchObserver,
  memoryHashBase,
  PageWatch,
  ramHostBase,
  type StoreObserver,
} from './engine-port.ts';
import { Htif } from './htif.ts';
import { type InputPort, Journal } from './journal.ts';
import { kcovInlineCalls } from './kcov-inline/index.ts';
import { RecordRing, RING_BYTES } from './kcov-inline/ring.ts';
import { RecordTally, TALLY_BYTES } from './kcov-inline/tally.ts';
import { KCOV_CURRENT, KCOV_RECORDS, WHILE_RECORDING } from './kcov-inline/window.ts';
import { hartLines } from './lines.ts';
import { MemoryHash } from './memory-hash.ts';
import { MAP, PAYLOAD_BASE, RAM_BASE } from './memory-map.ts';
import { nextAccess } from './next-access.ts';
import { type Complete, complete, type MachineOptions } from './options.ts';
import { RunHasher } from './run-hash.ts';
import type { RunResult } from './run-result.ts';
import { Sbi } from './sbi.ts';
import type { Schedule } from './schedule.ts';
import { Scheduler } from './scheduler.ts';
import { type Snapshot, type SnapshotSource, stateHash } from './snapshot.ts';
import { type LaterState, Snapshots } from './snapshots.ts';

/**
 * Default limits of the host work (WorkPort) that one call of `run` may cause beyond its
 * instructions: an amount per unit, and a total. Skipping idle time counts as WORK_OF_IDLE.
 */
const WORK_PER_UNIT = 64;
const WORK_MIN = 2 ** 24;
const WORK_OF_IDLE = 64;

/** Errors: HostError if the system gives none; its cause is a RangeError. */
function memoryOf(pages: number): WebAssembly.Memory {
  try {
    return new WebAssembly.Memory({ initial: pages, maximum: pages });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    // V8 leaves addresses free behind the memory, which take the place of checks of bounds.
    const refused = new HostError(
      `the system gives no memory for a machine with ${Math.ceil(pages / 16)} MiB: it takes 10 GiB of ` +
        'addresses besides (ulimit -v)',
    );
    throw Object.assign(refused, { cause: error });
  }
}

export class Machine implements SnapshotSource {
  readonly options: Complete;
  readonly ram: Ram;
  readonly bus = new Bus();
  readonly clock: Clock;
  readonly harts: Hart[] = [];
  readonly board: Board;
  readonly engine: Engine;
  readonly scheduler: Scheduler;
  /** Instructions that a debugger has marked; the guest cannot see them. */
  readonly breaks: Breaks;
  readonly memoryHash: MemoryHash;
  readonly snapshots: Snapshots;
  readonly sbi: Sbi | undefined;
  /** The hash chain of the run, if the options ask for it. */
  readonly hasher: RunHasher | undefined;
  journal: Journal;
  htif: Htif | undefined;
  /** Counts of retired instructions since power-on, if the options ask for it. */
  readonly retired: RetiredCounts | undefined;
  booted!: Booted;
  /** Virtual time at the start of the running quantum, and units spent by all harts. */
  time = 0;
  spent = 0;
  stopped: RunResult | undefined;
  /** Makes `run` return in front of the first instruction in U-mode, once; before there was any. */
  stopsAtUser = false;
  /** The same in front of the next turn for which a schedule chooses among several harts. */
  stopsAtChoice = false;
  /** The same behind the first store to a register of fw_cfg. */
  stopsAtFwCfg = false;
  /** The same behind the next store that marks a moment with this number (devices/finisher.ts). */
  stopsAtMark: number | 'any' | undefined;
  readonly #watch: PageWatch;
  /** Absent with the interpreter alone. */
  readonly jit: Jit | undefined;
  #active: Hart | undefined;
  /** Records that neither a hart nor the device has counted: those before a snapshot. */
  #records = 0;
  #isRunning = false;
  /** Sstc: STIP by stimecmp, one per hart. */
  readonly #timers: Comparator[] = [];
  #isPaused = false;
  #isAtUser = false;
  #hasRun = false;
  /** Work of devices that the current call of `run` may still cause. */
  #workLeft = Infinity;

  static create(options: MachineOptions): Machine {
    return new Machine(complete(options));
  }

  protected constructor(options: Complete) {
    this.options = options;
    const hostBase = ramHostBase(options.harts);
    const ramEnd = Math.ceil((hostBase + options.ramBytes) / 65536) * 65536;
    const countsEnd = ramEnd + (options.retired ? retiredBytes(options.retired) : 0);
    // For listeners: a ring, or a tally.
    const hears = options.kcov === 'device' && options.engine !== 'interp';
    const pages = (countsEnd + (hears ? RING_BYTES + TALLY_BYTES : 0)) / 65536;
    if (pages > 65536) throw new HostError('RAM and counters of retired instructions exceed 4 GiB');
    const memory = memoryOf(pages);
    this.ram = new Ram(memory, hostBase, RAM_BASE, options.ramBytes);
    if (options.retired) {
      const { gate, ...range } = options.retired;
      this.retired = new RetiredCounts(memory, ramEnd, { ...range, ...(gate && { gate: WHILE_RECORDING }) });
    }
    this.clock = new Clock(2 ** options.icountShift);
    this.clock.source = () => this.now();
    this.clock.onEarlier = at => this.#shorten(at);
    this.scheduler = new Scheduler(options.harts, options.schedSeed, options.schedule, id =>
      nextAccess(this.harts[id]!, this.ram),
    );
    this.journal = new Journal(options.replay);
    const work = { spend: (units: number) => this.#spend(units) };
    const finish = {
      exit: (status: number) => this.stop({ kind: 'exit', status }),
      reset: () => this.stop({ kind: 'reset' }),
      mark: (number: number) => {
        if (this.stopsAtMark !== 'any' && this.stopsAtMark !== number) return;
        this.stopsAtMark = undefined;
        this.pause();
      },
    };
    const console = { write: (byte: number) => options.onConsole?.(byte) };
    let tally: RecordTally | undefined;
    const machine = this;
    const hartPort = {
      get current() {
        return machine.scheduler.turn;
      },
      count: options.harts,
    };
    this.board = buildBoard(
      options,
      {
        bus: this.bus,
        ram: dmaPort(this.ram, this.harts),
        clock: this.clock,
        lines: hartLines(this.harts),
        console,
        finish,
        work,
        fwCfgAccessed: () => {
          if (!this.stopsAtFwCfg) return;
          this.stopsAtFwCfg = false;
          this.pause();
        },
        log: line => options.onDeviceLog?.(line),
        pc: () => (this.#isRunning ? this.#active!.state.get64(L.PC) : undefined),
        kcov: {
          ram: this.ram,
          hart: hartPort,
          work,
          publish: (hart, address) => this.harts[hart]?.state.set(KCOV_CURRENT, address),
          publishHooks: hooks =>
            this.jit?.setInlineCalls(
              'kcov',
              hooks
                ? kcovInlineCalls({
                    ...hooks,
                    device: BigInt(MAP.kcov.base),
                    mode: () => this.board.kcov?.contextOf(hartPort.current)?.mode ?? 0,
                    tally: hooks.tally && tally,
                  })
                : [],
            ),
          ring: (slow, full) => (hears ? new RecordRing(this.ram, countsEnd, slow, full) : undefined),
          tally: () => {
            tally = hears ? new RecordTally(this.ram, countsEnd + RING_BYTES) : undefined;
            return tally;
          },
        },
      },
      romContents(PAYLOAD_BASE),
    );
    const ports: HartPorts = {
      memory,
      ram: this.ram,
      bus: this.bus,
      extensions: options.extensions,
      time: () => this.board.clint.ticks(),
      timerChanged: hart => this.#timers[hart]?.update(),
      stopsAtUser: () => {
        if (!this.stopsAtUser && !this.scheduler.awaitsBegin) return false;
        this.#isAtUser = true;
        this.engine.requestExit();
        return true;
      },
      woken: () => this.#woken(),
      code: NO_CODE,
    };
    // The store ends a region, but not the quantum.
    this.board.clint.onSet = () => this.#active?.state.set(L.TIME_TICK, 0);
    for (let id = 0; id < options.harts; id++) this.harts.push(new Hart(id, ports));
    for (const hart of this.harts) {
      const due = () => (hart.csr.hasStimecmp ? hart.state.get64(L.STIMECMP) : undefined);
      const drive = (high: boolean) => hart.setLine(cause.STIP, high);
      this.#timers.push(this.board.clint.comparator(`stimecmp${hart.id}`, due, drive));
    }
    const tuning = options.tuning ?? (options.eager ? EAGER : {});
    const parts = createEngine(options.engine, this.ram, this.harts, tuning, this.retired);
    const { engine, jit, dirty, breaks } = parts;
    this.engine = engine;
    this.breaks = breaks;
    this.memoryHash = new MemoryHash(this.ram, dirty, memoryHashBase(options.harts), page =>
      this.#watch.holdsCode(page),
    );
    this.snapshots = new Snapshots(this);
    this.jit = jit;
    this.#watch = new PageWatch(ports.code, (pa, bytes) => this.htif?.stored(pa, bytes));
    ports.code = this.#watch;
    const announce = this.ram.onWrite;
    this.ram.onWrite = (pa, bytes) => {
      announce(pa, bytes);
      this.#watch.written(pa, bytes);
    };
    if (options.bios === 'default') this.sbi = this.#makeSbi(console, work);
    if (options.runHash !== undefined) this.hasher = new RunHasher(options.runHash, () => stateHash(this));
    this.reset();
  }

  /** Power-on: initialises all state from the images, but keeps the journal. */
  reset(): void {
    this.time = 0;
    this.spent = 0;
    this.#records = 0;
    this.stopped = undefined;
    this.snapshots.forget();
    this.clock.reset();
    this.scheduler.reset();
    this.sbi?.reset();
    // New memory is zero; filling it would make the host allocate all of it.
    if (this.#hasRun) this.memoryHash.clearRam();
    else if (this.options.runHash !== undefined) this.memoryHash.trackNew();
    this.#hasRun = true;
    for (const { device } of this.board.placed) device.reset();
    this.booted = boot(this);
    const tohost = this.options.bios === 'none' ? this.booted.image?.find('tohost') : undefined;
    this.htif =
      tohost === undefined || !this.ram.has(tohost, 8)
        ? undefined
        : new Htif(
            {
              ram: this.ram,
              console: { write: byte => this.options.onConsole?.(byte) },
              work: { spend: units => this.#spend(units) },
              exit: status => this.stop({ kind: 'exit', status }),
            },
            tohost,
            this.booted.image?.find('fromhost'),
          );
    this.#watch.watch(this.htif && Math.floor((this.htif.tohost - RAM_BASE) / 4096));
    this.engine.reset();
    this.retired?.reset();
    this.hasher?.reset();
  }

  /** Current virtual time, also in the middle of a quantum. */
  now(): number {
    if (!this.#isRunning) return this.time;
    const s = this.#active!.state;
    return this.time + s.get(L.QUANTUM) - s.get(L.IC);
  }

  /** Instructions retired by all harts; exceptions do not count. */
  get instret(): number {
    let exceptions = 0;
    for (const hart of this.harts) exceptions += Number(hart.state.get64(L.EXCEPTIONS));
    return this.spent - exceptions;
  }

  /**
   * Coverage records since power-on, lost ones included, whether the device or compiled code made
   * them.
   */
  get kcovRecords(): number {
    return this.#records + this.#countedRecords();
  }

  #countedRecords(): number {
    let inline = 0;
    for (const hart of this.harts) inline += Number(hart.state.get64(KCOV_RECORDS));
    return inline + (this.board.kcov?.records ?? 0);
  }

  /** The state of now, which `restore` brings back. Between two runs. */
  snapshot(): Snapshot {
    return this.snapshots.take();
  }

  /**
   * Goes back, or forth, to a snapshot of this machine or of one that is built alike. Costs what
   * changed. Between two runs. Errors: HostError when the snapshot is of another kind of machine.
   */
  restore(snapshot: Snapshot): void {
    this.snapshots.restore(snapshot);
  }

  /**
   * The same for a snapshot that somebody else may have made, on a machine that was just switched
   * on. Errors: HostError also when it is not what it says; the machine must then be reset.
   */
  load(snapshot: Snapshot): void {
    this.snapshots.load(snapshot);
  }

  /** See Snapshots. */
  resume(state: LaterState): void {
    this.snapshots.resume(state);
  }

  /**
   * A machine that goes on from the state of now, on its own. `options`: in place of this one's.
   */
  fork(options: MachineOptions = {}): Machine {
    const machine = Machine.create({ ...this.options, ...options });
    machine.restore(this.snapshot());
    return machine;
  }

  /**
   * Leaves the run: until the next `restore` the harts' turns have random lengths of 1 to 2 *
   * `spread` units and a random order, alarms (timer interrupts, completions of devices) are up to
   * `spread` units late, and random devices draw other values. All of it follows from `seed`; a
   * guest must be correct under any of it. Between two runs. Snapshots of such a run do not have
   * what is to be drawn.
   */
  divert(seed: bigint, spread: number): void {
    checkWhole('the spread', spread);
    const rng = new Xoshiro(seed);
    for (const { device } of this.board.placed) device.reseed?.(rng.next() || 1);
    this.clock.delay(() => rng.next() % (spread + 1));
    this.scheduler.divert(rng, Math.max(1, 2 * spread), this.time);
  }

  /** From now on the harts take turns by `schedule`, which draws from `seed`. Between two runs. */
  reschedule(schedule: Schedule, seed: bigint): void {
    this.scheduler.begin(this.time, schedule, seed);
  }

  /**
   * Reports each store to some pages of RAM (counted from its start) to `observer`, by harts and
   * devices, until the next call. The guest cannot see it. Between two runs.
   */
  observeStores(pages: Iterable<number> = [], observer?: StoreObserver): void {
    this.#watch.observe(pages, observer);
  }

  /**
   * Tells `observer` of each page of code before a hart executes anything there by this address,
   * until the next call; a page again and again. Between two runs.
   */
  observeFetches(observer?: FetchObserver): void {
    this.#watch.onFetch = observer;
    for (const { mmu } of this.harts) mmu.tlb.flushAll();
  }

  /** Units spent by all harts, also in the middle of a quantum. */
  get spentNow(): number {
    return this.spent + this.now() - this.time;
  }

  /** For `setState` alone: so many records were made before now. */
  countRecords(records: number): void {
    this.#records = records - this.#countedRecords();
  }

  /** For `setState` alone: the scheduler's state is another one. */
  activateTurn(): void {
    const hart = this.harts[this.scheduler.turn]!;
    hart.activate(this.#active);
    this.#active = hart;
  }

  /** Input from the host; it arrives before the next instruction. Only between runs. */
  input(bytes: Iterable<number>, port: InputPort = 'uart'): void {
    const entry = { at: this.time, port, bytes: [...bytes] };
    this.journal.record(entry);
    this.#arrive(entry.port, entry.bytes);
  }

  /** Ends the run before the next instruction. */
  stop(result: RunResult): void {
    this.stopped ??= result;
    if (this.#isRunning) this.engine.requestExit();
  }

  /**
   * Makes `run` return before the current instruction, or behind an access to a device; call only
   * from within it.
   */
  pause(): void {
    this.#isPaused = true;
    this.engine.requestExit();
  }

  /**
   * Runs until an event ends the run, for at most `units` instructions and exceptions and at most
   * `duration` of virtual time, which an idle guest passes without instructions. The guest cannot
   * see how a run is cut into pieces. Also returns `budget` when the guest has caused `work` units
   * of work in devices (WorkPort), so that it cannot keep this call for long with few instructions.
   * Errors: HostError when one of them is a fraction or not a number: a quantum of half a unit
   * would never end.
   */
  run(units = Infinity, duration = Infinity, work = WORK_PER_UNIT * units + WORK_MIN): RunResult {
    checkWhole('units', units);
    checkWhole('duration', duration);
    this.#workLeft = work;
    const limit = this.spent + units;
    const deadline = this.time + duration;
    for (;;) {
      this.#events();
      if (this.stopped) return this.stopped;
      if (this.spent >= limit || this.time >= deadline || this.#workLeft <= 0) return { kind: 'budget' };
      if (this.stopsAtChoice && this.scheduler.isChoice(this.time, this.#canRun)) {
        this.stopsAtChoice = false;
        return { kind: 'budget' };
      }
      const next = Math.min(this.clock.next(), this.journal.next());
      if (this.scheduler.pick(this.time, this.spent, this.#canRun)) {
        const end = Math.min(next, deadline, this.scheduler.end);
        const stop = Math.min(limit, this.hasher?.next ?? Infinity);
        this.#quantum(
          this.harts[this.scheduler.turn]!,
          Math.min(this.engine.quantumMax, stop - this.spent, end - this.time),
        );
        this.hasher?.reached(this.spent);
        if (this.#isAtUser) this.#reachedUser();
        if (this.#isPaused) {
          this.#isPaused = false;
          return { kind: 'budget' };
        }
      } else if (next === Infinity) {
        return { kind: 'halt' };
      } else {
        this.time = Math.max(this.time, Math.min(next, deadline));
        this.#workLeft -= WORK_OF_IDLE;
      }
    }
  }

  /** In front of the first instruction in U-mode. */
  #reachedUser(): void {
    this.#isAtUser = false;
    if (this.scheduler.awaitsBegin) this.scheduler.begin(this.time);
    this.#isPaused ||= this.stopsAtUser;
    this.stopsAtUser = false;
  }

  #spend(units: number): void {
    this.#workLeft -= units;
    if (this.#workLeft <= 0 && this.#isRunning) this.engine.requestExit();
  }

  readonly #canRun = (id: number): boolean =>
    (this.sbi === undefined || this.sbi.started(id)) && !this.harts[id]!.waiting;

  /** A hart can run again. If the running one was alone, its turn ends behind this instruction. */
  #woken(): void {
    if (this.#isRunning && this.scheduler.isAlone) this.#shorten(this.now() + 1);
  }

  #events(): void {
    for (let entry = this.journal.take(this.time); entry; entry = this.journal.take(this.time)) {
      this.journal.record(entry);
      this.#arrive(entry.port, entry.bytes);
    }
    this.clock.fireDue(this.time);
  }

  #arrive(port: InputPort, bytes: Iterable<number>): void {
    const { uart, virtioConsole } = this.board;
    const [rows = 0, rowsHigh = 0, cols = 0, colsHigh = 0] = bytes;
    if (port === 'uart') uart.receive(bytes);
    else if (port === 'break') uart.receiveBreak();
    else if (port === 'console') virtioConsole?.receive(bytes);
    else virtioConsole?.resize(rows | (rowsHigh << 8), cols | (colsHigh << 8));
  }

  #quantum(hart: Hart, units: number): void {
    hart.activate(this.#active);
    this.#active = hart;
    const s = hart.state;
    s.set(L.QUANTUM, units);
    s.set(L.IC, units);
    s.put(L.TIME, this.time | 0, Math.floor(this.time / 2 ** 32));
    s.set(L.TIME_TICK, this.board.clint.unitsPerTick);
    this.#isRunning = true;
    this.engine.run(hart);
    this.#isRunning = false;
    const spent = s.get(L.QUANTUM) - s.get(L.IC);
    s.set(L.QUANTUM, 0);
    s.set(L.IC, 0);
    s.add(L.INSTRET, spent);
    this.time += spent;
    this.spent += spent;
  }

  /**
   * Shortens the running quantum so that it ends at time `at`, but not before the current
   * instruction.
   */
  #shorten(at: number): void {
    if (!this.#isRunning) return;
    const s = this.#active!.state;
    const left = s.get(L.IC);
    const wanted = Math.max(1, at - this.now());
    if (wanted >= left) return;
    s.set(L.IC, wanted);
    s.set(L.QUANTUM, s.get(L.QUANTUM) - (left - wanted));
  }

  #makeSbi(console: Sink, work: WorkPort): Sbi {
    const { clint, uart, plic } = this.board;
    return new Sbi({
      harts: this.harts,
      ram: this.ram,
      console,
      work,
      getchar: () => (uart.read(5) & 1 ? uart.read(0) : -1),
      comparator: (name, due, drive) => clint.comparator(name, due, drive),
      drive: hart => {
        clint.drive(hart);
        plic.drive();
      },
      exit: (status, failure) => this.stop({ kind: failure ? 'panic' : 'exit', status }),
      reset: () => this.stop({ kind: 'reset' }),
    });
  }
}

function checkWhole(what: string, value: number): void {
  if (!Number.isInteger(value) && value !== Infinity)
    throw new HostError(`run: ${what} is ${value}, not a whole number`);
}
