// Executes programs in a guest, each from the same snapshot. The agent (guest-programs/fuzz) has
// prepared a process when the snapshot is taken; the host writes the program into its memory, lets
// it run until the agent says that it is done, reads the records of kcov where they lie, and goes
// back. So an execution is a function of the program alone.
import {
  createMachine,
  type Fault,
  HostError,
  type Machine,
  type MachineOptions,
  REPEATED,
  translate,
  type Violation,
} from '../../emulator/index.ts';
import { type Canaries, type CanaryTable, CanaryWatch } from '../../run/bugs/canaries.ts';
import { verdict } from '../../run/verdict.ts';
import { FuzzError } from '../language/types.ts';
import { isRace, type Program } from '../program/program.ts';
import { encode } from './encode.ts';
import { arenaOf, CONTROL, LAYOUT, MARK, type TargetKind, XV6 } from './layout.ts';
import { CopiedRecords, HALVES, halvesAt, type Mode, OwnRecords, type Records } from './records.ts';
import { meet, takeTurns, waitsFor } from './threads.ts';
import { linkedMemory } from './xv6.ts';

/** How an execution ended. */
export type End =
  /** All calls returned. */
  | 'done'
  /** The program ended its process. */
  | 'ended'
  /** A call sleeps, and nothing can wake it. */
  | 'asleep'
  /** A call has spent its instructions. */
  | 'hang'
  | 'panic';

/** A call of an execution. */
export interface Called {
  /** Records of kcov before and behind it. */
  readonly begin: number;
  readonly end: number;
  /** The returned value; undefined: it did not return. */
  readonly value: bigint | undefined;
  /** False: another thread's next call began, this one did not. */
  readonly hasBegun: boolean;
  /** Made by the second thread, whose records are elsewhere. */
  readonly isSecond: boolean;
}

/** Valid until the next execution. */
export interface Execution {
  readonly end: End;
  /** Those of the program, up to the last one that began. */
  readonly calls: readonly Called[];
  readonly mode: Mode;
  /** Records of deferred work that the calls caused: points only. */
  readonly extra: number;
  /** Instructions and exceptions; with those of its boot if the guest boots for each program. */
  readonly units: number;
  readonly console: string;
  /** Faults of the program that have happened. */
  readonly faults: readonly Fault[];
  /** Rules of devices that the guest has violated, each once. */
  readonly violations: readonly Pick<Violation, 'device' | 'rule'>[];
  /** Historical bugs that it has reached and triggered; undefined: the kernel has no canaries. */
  readonly bugs: Canaries | undefined;
}

export interface ExecutorOptions {
  /** The guest: a kernel of dialect linux, and the agent as its program. */
  readonly machine: MachineOptions;
  /** Default: own. */
  readonly kind?: TargetKind;
  /** Instructions after which a call hangs; default: as `budgetOf`. */
  readonly budget?: number;
  /** 'boot': no snapshot; the guest boots for each program. To see what snapshots are worth. */
  readonly reset?: 'snapshot' | 'boot';
  /** Where the kernel has its canaries of historical bugs. */
  readonly canaries?: CanaryTable | undefined;
}

/**
 * A call that cannot be interrupted has so long: five ticks of the agent, and longer than touching
 * all of RAM takes with all checks of the kernel.
 */
export const BUDGET = 50_000_000;
/** On xv6 a byte for the console costs 37,000, and a block of the disk more. */
const XV6_BUDGET = 400_000_000;

export const budgetOf = (kind: TargetKind): number => (kind === 'xv6' ? XV6_BUDGET : BUDGET);
/** Virtual time, idle time included, after which a program sleeps without end: twenty ticks. */
const PATIENCE = 200_000_000;
/** The same behind a fault: drivers wait for a device longer than that, and not for this long. */
const FAULT_PATIENCE = 10_000_000_000;
/** Instructions in which a guest comes to the agent. */
export const BOOT_MAX = 2_000_000_000;
/** Of these, some instructions of a kernel must have retired; the others are exceptions. */
const BEGIN_UNITS = 1_000_000;
const TRAPS_MAX = 100;
const CONSOLE_MAX = 1 << 16;
/** Characters of a line of the console in a message. */
const LINE_MAX = 200;
/** Units after which is looked whether the threads have met, and how often at most. */
const MEETING_STEP = 128;
const MEETING_MAX = 8192;
const PAGE = 4096;

export class Executor {
  readonly machine: Machine;
  readonly #records: Records;
  readonly #kind: TargetKind;
  readonly #budget: number;
  readonly #reset: 'snapshot' | 'boot';
  /** Units at which the guest begins to boot. */
  readonly #powerOn: number;
  readonly #base: ReturnType<Machine['snapshot']>;
  readonly #control: readonly number[];
  /** Of the second thread; undefined: the agent has none. */
  readonly #other: { readonly control: readonly number[]; readonly records: Uint32Array } | undefined;
  readonly #arena: readonly number[];
  readonly #watch: CanaryWatch | undefined;
  #only: ReadonlySet<string> | undefined;
  readonly #console = new Uint8Array(CONSOLE_MAX);
  #printed = 0;
  readonly #violations = new Map<string, Pick<Violation, 'device' | 'rule'>>();
  #isDirty = false;
  /** Programs that were executed. */
  executions = 0;

  /** Errors: HostError when the guest does not come as far as the agent. */
  constructor({ machine, kind = 'own', budget, reset = 'snapshot', canaries }: ExecutorOptions) {
    this.#kind = kind;
    this.#budget = budget ?? budgetOf(kind);
    this.#reset = reset;
    this.machine = createMachine({
      tuning: REPEATED,
      ...machine,
      onViolation: ({ device, rule }) => {
        this.#violations.set(`${device} ${rule}`, { device, rule });
      },
      onConsole: byte => {
        if (this.#printed < CONSOLE_MAX) this.#console[this.#printed++] = byte;
      },
    });
    this.#powerOn = this.machine.spent;
    const atPowerOn = reset === 'boot' ? this.machine.snapshot() : undefined;
    this.#boot();
    const m = this.machine;
    const linked = kind === 'xv6' ? linkedMemory(m, machine.kernel!) : undefined;
    this.#control = linked?.control ?? this.#pages(LAYOUT.CONTROL, LAYOUT.CONTROL_BYTES);
    this.#arena = linked?.arena ?? this.#pages(LAYOUT.ARENA, LAYOUT.ARENA_BYTES);
    this.#records = linked?.records ?? (kind === 'own' ? this.#own() : this.#copied());
    if (m.harts.length > 1) {
      const control = this.#pages(LAYOUT.OTHER, LAYOUT.CONTROL_BYTES);
      const [at] = this.#pages(LAYOUT.OTHER_AREA, LAYOUT.AREA_WORDS * 8);
      const records = halvesAt(m, at!, LAYOUT.AREA_WORDS);
      this.#other = { control, records };
    }
    this.#watch = canaries && new CanaryWatch(m, canaries);
    this.#base = atPowerOn ?? m.snapshot();
  }

  #own(): Records {
    const m = this.machine;
    const device = m.board.kcov?.contextOf(m.scheduler.turn);
    if (!device) throw new HostError('the agent records nothing: the kernel needs kcov of dialect linux');
    return new OwnRecords(m, device.address, this.#pages(LAYOUT.EXTRA, LAYOUT.EXTRA_WORDS * 8)[0]!);
  }

  #copied(): Records {
    const pages = {
      area: this.#pages(LAYOUT.AREA, LAYOUT.AREA_WORDS * 8),
      extra: this.#pages(LAYOUT.EXTRA, LAYOUT.EXTRA_WORDS * 8),
    };
    return new CopiedRecords(this.machine, pages, this.#control[0]! + CONTROL.MODE);
  }

  /** Records of the agent's calls, in halves; the first two are their number. */
  get area(): Uint32Array {
    return this.#records.area;
  }

  /** Those of deferred work. */
  get extra(): Uint32Array {
    return this.#records.extra;
  }

  #boot(): void {
    const m = this.machine;
    m.stopsAtMark = MARK.READY;
    const begun = m.run(BEGIN_UNITS);
    // Code that is none traps, and so does its trap handler.
    const hasCode = m.instret * TRAPS_MAX > m.spent;
    const goesOn = begun.kind === 'budget' && hasCode && m.stopsAtMark !== undefined;
    const result = goesOn ? m.run(BOOT_MAX - BEGIN_UNITS) : begun;
    // The agent has the board as the programs find it: what comes now is their first event.
    for (const layer of m.board.faults.values()) layer.restart();
    if (m.stopsAtMark !== undefined) {
      const last = this.#text().trim().split('\n').at(-1)!.slice(-LINE_MAX);
      throw new HostError(
        `the fuzzer's program in the guest did not begin (${hasCode ? result.kind : 'its code is none'}); ` +
          `the console ${last === '' ? 'is empty' : `ends with: ${last}`}`,
      );
    }
    this.#forgetOutput();
  }

  #forgetOutput(): void {
    this.#printed = 0;
    this.#violations.clear();
  }

  /** Physical addresses of the pages of a part of the agent's memory. */
  #pages(at: number, bytes: number): number[] {
    const m = this.machine;
    return Array.from({ length: bytes / PAGE }, (_, i) => {
      const pa = translate(m, m.harts[m.scheduler.turn]!, BigInt(at + i * PAGE));
      if (pa === undefined || !m.ram.has(pa, PAGE))
        throw new HostError('the agent has not prepared its memory');
      return pa;
    });
  }

  #write(pages: readonly number[], at: number, bytes: Uint8Array): void {
    const { ram } = this.machine;
    for (let from = 0; from < bytes.length; ) {
      const offset = (at + from) % PAGE;
      const to = Math.min(bytes.length, from + PAGE - offset);
      ram.write(pages[Math.floor((at + from) / PAGE)]! + offset, bytes.subarray(from, to));
      from = to;
    }
  }

  #text(): string {
    return new TextDecoder('latin1')
      .decode(this.#console.subarray(0, this.#printed))
      .replaceAll('\r\n', '\n');
  }

  /**
   * Comparisons are those of all calls in one thread. Errors: FuzzError when the agent has no room
   * for the program, or no second thread, or when a device of its faults cannot have any; HostError
   * when the state after a reset is not that of the snapshot, which is checked at every 1,024th.
   */
  execute(program: Program, mode: Mode = 'pc', settles = false): Execution {
    const hasThreads = mode === 'pc' && isRace(program);
    if (hasThreads && !this.#other) throw new FuzzError('the agent has one thread, the program has two');
    const m = this.machine;
    const { faults: layers } = m.board;
    const { faults = [] } = program;
    for (const { device } of faults)
      if (!layers.has(device))
        throw new FuzzError(`the program has a fault of ${device}, the target has none`);
    const { slots, words, other, arena } = encode(program, hasThreads, arenaOf(this.#kind));
    this.goBack();
    if (slots.length > 0) this.#write(this.#control, CONTROL.SLOTS, bytesOf(BigUint64Array.from(slots)));
    m.ram.write32(this.#control[0]! + CONTROL.SETTLES, settles ? 1 : 0);
    this.#write(this.#control, CONTROL.PROGRAM, bytesOf(words));
    if (other) this.#write(this.#other!.control, CONTROL.PROGRAM, bytesOf(other));
    this.#write(this.#arena, 0, arena);
    if (this.#only) this.#watch?.enable(this.#only);
    this.#records.choose(mode);
    for (const layer of layers.values()) layer.arm(faults);
    this.#isDirty = true;
    this.executions++;
    const before = this.#reset === 'boot' ? this.#powerOn : m.spent;
    const end = other ? this.#race(program) : this.#runTo(MARK.DONE, program, false);
    m.stopsAtMark = undefined;
    this.#records.collect(mode);
    return {
      end,
      mode,
      calls: this.#called(program, other !== undefined).map(called => this.#bounded(called, mode)),
      extra: Math.min(this.extra[0]!, LAYOUT.EXTRA_WORDS - 1),
      units: m.spent - before,
      console: this.#printed > 0 ? this.#text() : '',
      faults: faults.length > 0 ? [...layers.values()].flatMap(({ fired }) => fired) : [],
      violations: this.#violations.size > 0 ? [...this.#violations.values()] : [],
      bugs: this.#watch?.read(),
    };
  }

  /** From now on these bugs are on, and no others; undefined: those of the command line. */
  enableBugs(ids: ReadonlySet<string> | undefined): void {
    this.#only = ids;
  }

  /** To the state in which every program begins. */
  goBack(): void {
    if (!this.#isDirty) return;
    this.#isDirty = false;
    this.machine.restore(this.#base);
    for (const layer of this.machine.board.faults.values()) layer.arm([]);
    if (this.#reset === 'boot') this.#boot();
    this.#forgetOutput();
  }

  #race(program: Program): End {
    const m = this.machine;
    const alone = this.#runTo(MARK.WAKE, program, true);
    if (alone !== 'done') return alone;
    meet(m);
    const met = this.#runTo(MARK.GO, program, true);
    // No call has spent these instructions.
    if (met !== 'done') return met === 'hang' ? 'asleep' : met;
    const words = this.#other!.control[0]!;
    for (let left = MEETING_MAX; m.ram.read32(words + CONTROL.READY) === 0; left--)
      if (left === 0 || m.run(MEETING_STEP).kind !== 'budget') return 'asleep';
    const wait = waitsFor(program.schedule!);
    if (wait > 0) m.run(wait);
    m.ram.write32(words + CONTROL.MAY_GO, 1);
    takeTurns(m, program.schedule!);
    return this.#runTo(MARK.DONE, program, true);
  }

  /** Runs up to a mark of the agent: `done`. */
  #runTo(mark: number, program: Program, hasThreads: boolean): End {
    const m = this.machine;
    const countBegun = (): number =>
      this.#called(program, hasThreads).filter(({ hasBegun }) => hasBegun).length;
    m.stopsAtMark = mark;
    let [limit, deadline, begun, hasWaited] = [0, 0, 0, false];
    const extend = (): void => {
      limit = m.spent + this.#budget;
      deadline = m.time + this.#budget + PATIENCE;
    };
    extend();
    for (;;) {
      const result = m.run(limit - m.spent, deadline - m.time);
      if (m.stopsAtMark === undefined) return 'done';
      if (result.kind === 'budget' && m.spent >= limit) {
        // Programs of many calls may take long; one call must not.
        const now = countBegun();
        if (now === begun) return 'hang';
        begun = now;
        extend();
        continue;
      }
      if (result.kind === 'budget' && m.time >= deadline) {
        if (hasWaited || !this.#hasFailed()) return 'asleep';
        hasWaited = true;
        deadline = m.time + FAULT_PATIENCE;
        continue;
      }
      if (result.kind === 'budget') continue; // devices had much to do
      if (result.kind === 'halt') return 'asleep';
      if (this.#kind === 'xv6' && result.kind === 'exit' && result.status === XV6.ASLEEP) return 'asleep';
      // Another Linux restarts the machine behind a panic.
      const hasPanicked =
        verdict(result).outcome === 'panic' || (this.#kind === 'other' && result.kind === 'reset');
      return hasPanicked ? 'panic' : 'ended';
    }
  }

  /** Has a fault of the program happened? */
  #hasFailed(): boolean {
    return [...this.machine.board.faults.values()].some(({ fired }) => fired.length > 0);
  }

  /** The buffer that holds the records of a call; the first two halves are their number. */
  recordsOf({ isSecond }: Called): Uint32Array {
    return isSecond ? this.#other!.records : this.area;
  }

  #called({ calls }: Program, hasThreads: boolean): Called[] {
    const next = { first: this.#control[0]!, second: this.#other?.control[0] ?? 0 };
    const all: Called[] = [];
    let begun = 0;
    for (const { thread } of calls) {
      const isSecond = hasThreads && thread === 2;
      const maker = isSecond ? 'second' : 'first';
      const called = this.#result(next[maker] + CONTROL.RESULTS, isSecond);
      next[maker] += CONTROL.RESULT_BYTES;
      all.push(called);
      if (called.hasBegun) begun = all.length;
      else if (!hasThreads) break;
    }
    return all.slice(0, begun);
  }

  /** A program may have written over its results: no record is outside the buffer. */
  #bounded(called: Called, mode: Mode): Called {
    const most = this.area.length / HALVES[mode] - 1;
    if (called.end <= most) return called;
    return { ...called, begin: Math.min(called.begin, Math.floor(most)), end: Math.floor(most) };
  }

  #result(at: number, isSecond: boolean): Called {
    const { ram } = this.machine;
    const state = ram.read32(at + 24);
    if (state === 0) return { begin: 0, end: 0, value: undefined, hasBegun: false, isSecond };
    const begin = ram.read32(at);
    const isDone = state === 2;
    const end = isDone ? ram.read32(at + 8) : (isSecond ? this.#other!.records : this.area)[0]!;
    const value = isDone ? ram.read64(at + 16) : undefined;
    return { begin, end: Math.max(begin, end), value, hasBegun: true, isSecond };
  }
}

const bytesOf = ({ buffer, byteOffset, byteLength }: BigUint64Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);
