// The contract of an engine, and its implementation by the interpreter. An engine runs the hart
// whose window lies at address 0 until its quantum (IC) is spent or the machine has to act. All
// guest-visible state is in the window and RAM whenever `run` is not on the stack. Only the machine
// may call it, between devices' events; a device must not.

import type { Ram } from '../bus/ram.ts';
import type { Hart } from '../hart/index.ts';
import { REDIRECT, WAIT } from '../hart/index.ts';
import {
  execEntryOf,
  FETCH_VIEW,
  FP_RM,
  FRM,
  IC,
  MSTATUS,
  PC,
  QUANTUM,
  RECHECK,
  SLOW_ARG,
} from '../hart/layout.ts';
import { fpHelper } from '../hart/softfloat.ts';
import { FETCH } from '../hart/walk.ts';
import { decoderOf } from '../isa/index.ts';
import { DeviceAccess } from './access/device.ts';
import { RegionAccess } from './access/region.ts';
import { DecodedPages } from './interp/decoded-pages.ts';
import type { Regions } from './interp/interp.ts';
import { interpreterModule } from './interp/module.ts';
import { ENTRY_COLD, R_RM } from './interp/records.ts';
import type { InterpImports } from './interp/slow.ts';
import type { RetiredCounts } from './retired.ts';

/** The reason why `run` returned. */
export const EXIT = {
  /** The quantum is over: IC = 0. */
  spent: 1,
  /** `wfi` waits; time may be advanced to the next event. */
  waiting: 2,
  /** `requestExit` was called, by a device or the built-in SBI. */
  stopped: 3,
} as const;
export type ExitReason = (typeof EXIT)[keyof typeof EXIT];

export interface Engine {
  /** Runs the hart, which must be active. */
  run(hart: Hart): ExitReason;
  /** Units after which a quantum should end at the latest. */
  readonly quantumMax: number;
  /**
   * Makes `run` return `stopped` before the next instruction. Only from within a slow path (device
   * access, system instruction).
   */
  requestExit(): void;
  /** Drops everything derived from guest memory; call after loading a snapshot. */
  reset(): void;
}

/** The place of the engine's own data in the shared memory. */
export interface EngineArea {
  readonly base: number;
  /** Decoded pages in the pool. */
  readonly pages: number;
}

/** Functions of the interpreter's module that regions call, and facts about it. */
export interface RegionSlow {
  /** (depth, count, slot) runs the region in a slot. Called from wasm only. */
  readonly dispatch: NonNullable<unknown>;
  /** (depth, count) runs the region at PC if the jump cache has it. Called by wasm only. */
  readonly jump: NonNullable<unknown>;
  /** See `addRegionSlow`. */
  readonly slow: (kind: number) => number;
  /** See `RegionDeviceImports`. */
  readonly deviceLoad: (pa: number, log2: number) => number;
  readonly deviceSettle: (ic: number) => number;
  /** True if the load at this address has read a device. */
  readonly isDeviceLoad: (pc: bigint) => boolean;
}

/** The JIT's interface to the interpreter, which dispatches to its regions (interp.ts). */
export interface RegionHost extends Regions {
  readonly table: WebAssembly.Table;
  /** R_ENTRY of freshly decoded records: arrivals until `hot` is called. */
  readonly arrivals: number;
  /** See InterpImports; `DecodedPages` has the facts about `rec`. */
  hot(rec: number): number;
  enter(rec: number): number;
  /** A quantum of so many units is over. */
  ran(units: number): void;
  /** Units until the next sample of where the guest is, if there is one: a quantum ends there. */
  readonly untilSample: number | undefined;
  /** Sets the functions that regions call; once, before any is compiled. */
  useSlow(slow: RegionSlow): void;
}

export interface EngineOptions {
  /** Name section, for profiles. */
  readonly names?: boolean;
  readonly jit?: RegionHost;
  /** Counters to keep. */
  readonly retired?: RetiredCounts;
}

/** Longest quantum where nothing takes samples: each costs the host some microseconds. */
const QUANTUM_MAX = 4_000_000;
const VIEW_U = 0;
const FS = 0x6000;
const RM_DYNAMIC = 7;
const RM_LAST = 4;
const TRAPPED = -1;
const EBREAK = 0x0010_0073;

export class InterpEngine implements Engine {
  readonly pages: DecodedPages;
  readonly #ram: Ram;
  readonly #run: () => ExitReason;
  readonly #regions: RegionHost | undefined;
  readonly #i32: Int32Array;
  readonly #devices: DeviceAccess;
  readonly #regionAccess: RegionAccess;
  #hart!: Hart;
  #exit: 0 | ExitReason = 0;
  /** Units of all finished quanta. */
  #spent = 0;
  #isRunning = false;
  /**
   * True if, since it was last set to false, compiled code was invalidated or stores to a further
   * page must be reported.
   */
  #isInvalidated = false;
  /** True if a device has stored to RAM since a region last read one. */
  #isHostStore = false;
  /** True if the next instruction must be fetched through the TLB, even from the current page. */
  #mustRefetch = false;
  /** A marked instruction that is executed after all: its address, and the units before it. */
  #passed = { lo: 0, hi: 0, at: -1 };

  /** Bytes to reserve at `EngineArea.base`, a multiple of 64 KiB. */
  static areaBytes(pages = DEFAULT_PAGES): number {
    return Math.ceil(DecodedPages.bytes(pages) / 0x1_0000) * 0x1_0000;
  }

  /** Sets `ram.onWrite` and the `code` port of every hart that it will run. */
  constructor(ram: Ram, harts: readonly Hart[], area: EngineArea, options: EngineOptions = {}) {
    this.#ram = ram;
    this.#i32 = new Int32Array(ram.memory.buffer);
    this.#devices = new DeviceAccess(ram, harts[0]!.ports.bus);
    this.#regionAccess = new RegionAccess(ram);
    this.#regions = options.jit;
    const decode = decoderOf(harts[0]!.ports.extensions);
    this.pages = new DecodedPages(ram, area.base, area.pages, harts.length, decode);
    for (const hart of harts) hart.ports.code = this.pages;
    ram.onWrite = (pa, bytes) => {
      this.pages.stored(pa, bytes);
      this.#onHostStore();
    };
    this.pages.onTable = () => this.invalidated();
    this.pages.onTableStored = () => {
      for (const hart of harts) hart.mmu.tlb.flushTranslated();
      this.#refetch();
    };
    this.pages.onEntryStored = index => {
      for (const hart of harts) hart.mmu.tlb.flushEntry(index);
      this.#refetch();
    };
    this.pages.dirty.onCheckpoint = () => {
      const isClean = (page: number): boolean => this.pages.isClean(page - ram.base / 4096);
      for (const hart of harts) hart.mmu.tlb.flushWrites(isClean);
    };
    const module = interpreterModule({
      ram,
      codeMap: this.pages.codeMap,
      dirty: this.pages.dirty,
      memoryPages: ram.memory.buffer.byteLength / 0x1_0000,
      names: options.names ?? false,
      ...(options.jit && { regions: options.jit }),
      ...(options.retired && { retired: options.retired.place }),
    });
    if (options.jit) this.pages.arrivals = options.jit.arrivals;
    const host = this.#imports(options.jit);
    if (options.retired) countTraps(host, options.retired);
    const env = { memory: ram.memory, ...(options.jit && { table: options.jit.table }) };
    const imports = { env, host: host as unknown as Record<string, unknown> };
    const { exports } = new WebAssembly.Instance(module, imports);
    this.#run = exports['run'];
    options.jit?.useSlow({
      dispatch: exports['dispatch']!,
      jump: exports['jump']!,
      slow: exports['regionSlow'],
      deviceLoad: this.#devices.loadAt,
      deviceSettle: ic => this.#regionSettle(ic),
      isDeviceLoad: pc => this.#devices.isKnown(pc),
    });
  }

  /** The hart that runs, or the last one that ran. */
  get hart(): Hart {
    return this.#hart;
  }

  /** Units of virtual time executed so far; inside a quantum as of the last slow path. */
  get now(): number {
    return this.#isRunning ? this.#spent + this.#unitsOfQuantum() : this.#spent;
  }

  get quantumMax(): number {
    return this.#regions?.untilSample ?? QUANTUM_MAX;
  }

  run(hart: Hart): ExitReason {
    this.#hart = hart;
    this.#passed.at = -1;
    this.#exit = 0;
    this.#isRunning = true;
    const reason = this.#run();
    this.#isRunning = false;
    const units = this.#unitsOfQuantum();
    this.#spent += units;
    this.#regions?.ran(units);
    return reason;
  }

  #unitsOfQuantum(): number {
    return this.#i32[QUANTUM >> 2]! - this.#i32[IC >> 2]!;
  }

  requestExit(): void {
    this.#exit = EXIT.stopped;
    this.#i32[RECHECK >> 2] = 1;
  }

  reset(): void {
    this.pages.forgetAll();
  }

  #imports(jit: RegionHost | undefined): InterpImports {
    return {
      load: funct3 =>
        this.#devices.load(funct3) ? this.#retire() : this.#done(this.#hart.access.load(funct3)),
      store: log2 => (this.#devices.store(log2) ? this.#retire() : this.#done(this.#hart.access.store(log2))),
      atomic: code => this.#done(this.#atomic(code >> 2, code & 3)),
      fpEnable: (rec, writes) => this.#fpEnable(rec, writes),
      soft: (rec, op, rm) => this.#soft(rec, op, rm),
      system: word => this.#system(word),
      illegal: word => this.#illegal(word),
      fetch: () => this.#fetch(),
      straddle: rec => this.#straddle(rec),
      decode: rec => this.pages.decode(rec),
      boundary: () => this.#boundary(),
      regionSlow: kind => this.#regionSlow(kind),
      hot: rec => jit?.hot(rec) ?? ENTRY_COLD,
      enter: rec => jit?.enter(rec) ?? -1,
    };
  }

  /**
   * After a store to a page table no hart uses a translation from before (docs/adr/0010): the
   * running hart also translates the address of its next instruction again.
   */
  #refetch(): void {
    if (!this.#isRunning) return;
    this.#mustRefetch = true;
    this.#i32[RECHECK >> 2] = 1;
  }

  /**
   * Called after a store to compiled code, or when compiled code might miss a page whose stores
   * must be reported: the running regions must be left before the next instruction.
   */
  invalidated(): void {
    this.#isInvalidated = true;
  }

  /**
   * A load or store of a region that neither TLB nor refill could serve. The walk may set A or D in
   * a page with the region's own code, or read a table in a page whose host address the region
   * holds. Then the region leaves and the interpreter repeats the access, which has no further
   * effect.
   */
  #regionSlow(kind: number): number {
    this.#isInvalidated = false;
    const isLeft = this.#regionAccess.run(this.#hart, kind);
    return this.#isInvalidated ? 1 : isLeft;
  }

  /** Ends a slow access: enters its trap, or counts the instruction. */
  #done(trapped: number): number {
    if (trapped !== 0) {
      this.#hart.takeTrap();
      return TRAPPED;
    }
    return this.#retire();
  }

  #retire(): number {
    const i32 = this.#i32;
    const ic = i32[IC >> 2]! - 1;
    i32[IC >> 2] = ic;
    return this.#settled() ? ic : 0;
  }

  /**
   * Called after a store of a device to RAM. If a region is reading that device, it ends, because
   * it may hold old contents of RAM.
   */
  #onHostStore(): void {
    if (!this.#isRunning) return;
    this.#isHostStore = true;
    this.#i32[RECHECK >> 2] = 1;
  }

  /**
   * After a device load of a compiled region that changed IC from `ic` or set RECHECK: 0 if the
   * region may continue. The flag of an earlier store may end it unnecessarily, which is harmless.
   */
  #regionSettle(ic: number): number {
    const i32 = this.#i32;
    const isHostStore = this.#isHostStore;
    this.#isHostStore = false;
    if (this.#settled() && i32[IC >> 2] === ic && !isHostStore) return 0;
    i32[IC >> 2]! -= 1;
    return 1;
  }

  /**
   * True if no check is needed before the next instruction. Device accesses set RECHECK, but mostly
   * change nothing.
   */
  #settled(): boolean {
    const i32 = this.#i32;
    if (i32[RECHECK >> 2] === 0) return true;
    if (this.#mustRefetch) {
      this.#mustRefetch = false;
      return false;
    }
    if (this.#exit !== 0 || this.#hart.pendingInterrupt() >= 0) return false;
    i32[RECHECK >> 2] = 0;
    return true;
  }

  #atomic(funct5: number, log2: number): number {
    const { access } = this.#hart;
    if (funct5 === 2) return access.lr(log2);
    return funct5 === 3 ? access.sc(log2) : access.amo(funct5, log2);
  }

  #fpEnable(rec: number, writes: number): number {
    const i32 = this.#i32;
    if ((i32[MSTATUS >> 2]! & FS) === 0) return this.#illegal(this.pages.wordAt(rec));
    if (writes && !this.#hasMode(rec)) return this.#illegal(this.pages.wordAt(rec));
    if (writes) i32[MSTATUS >> 2]! |= FS;
    return i32[IC >> 2]! - 1;
  }

  /** False if the instruction takes its rounding mode from frm, which holds none. */
  #hasMode(rec: number): boolean {
    const rm = (this.#i32[(rec + R_RM) >> 2]! >>> (8 * (R_RM & 3))) & 7;
    return rm !== RM_DYNAMIC || this.#i32[FRM >> 2]! <= RM_LAST;
  }

  #soft(rec: number, op: number, rm: number): number {
    const i32 = this.#i32;
    const mode = rm === RM_DYNAMIC ? i32[FRM >> 2]! : rm;
    if (mode > RM_LAST) return this.#illegal(this.pages.wordAt(rec));
    i32[FP_RM >> 2] = mode;
    fpHelper(this.#hart.state, op);
    return i32[IC >> 2]! - 1;
  }

  #system(word: number): number {
    if (word === EBREAK && !this.pages.breaks.isEmpty && this.#isAtBreak()) return TRAPPED;
    const result = this.#hart.system(word);
    if (result === WAIT) {
      this.#exit = EXIT.waiting;
      this.#i32[RECHECK >> 2] = 1;
    }
    if (result === WAIT || result === REDIRECT) return TRAPPED;
    return this.#settled() ? this.#i32[IC >> 2]! : 0;
  }

  /**
   * Is the running `ebreak` a debugger's mark (breaks.ts)? Then the run stops in front of it, or
   * the real instruction is fetched next, alone.
   */
  #isAtBreak(): boolean {
    const i32 = this.#i32;
    const { breaks } = this.pages;
    const [lo, hi] = [i32[PC >> 2]!, i32[(PC >> 2) + 1]!];
    const place = this.#placeOf(lo, hi);
    if (!breaks.has(place) || this.#isPassed(lo, hi)) return false;
    if (breaks.onReached()) this.requestExit();
    else {
      this.#passed = { lo, hi, at: this.now };
      const entry = this.#execEntry(PC);
      if (entry !== 0) i32[(entry + 8) >> 2] = 0;
    }
    return true;
  }

  #isPassed(lo: number, hi: number): boolean {
    const { at, lo: passedLo, hi: passedHi } = this.#passed;
    return at === this.now && lo === passedLo && hi === passedHi;
  }

  /** Number of the half-word of RAM at an address of code that was just fetched. */
  #placeOf(lo: number, hi: number): number {
    const pa = this.#hart.mmu.locate(lo, hi, FETCH, 2);
    return (pa - this.#ram.base) >> 1;
  }

  #illegal(word: number): number {
    this.#hart.illegal(word);
    return TRAPPED;
  }

  #fetch(): number {
    if (this.#i32[FETCH_VIEW >> 2] === VIEW_U && this.#hart.ports.stopsAtUser?.()) return TRAPPED;
    if (this.#hart.access.fetch() !== 0) return this.#fetchTrap();
    const entry = this.#execEntry(SLOW_ARG);
    const isPassed = this.#isPassed(this.#i32[SLOW_ARG >> 2]!, this.#i32[(SLOW_ARG >> 2) + 1]!);
    if (entry === 0 || isPassed) return this.#fetchSingle(isPassed);
    this.#i32[(entry + 8) >> 2] = this.pages.attach(this.#i32[(entry + 12) >> 2]! - this.#ram.base / 4096);
    this.#hart.mmu.tlb.attached(this.#i32[FETCH_VIEW >> 2]!, this.#i32[SLOW_ARG >> 2]!);
    return 0;
  }

  /**
   * Code that the TLB must not cache: one instruction, whose second half is checked separately.
   * `isPassed`: it is executed although it is marked.
   */
  #fetchSingle(isPassed: boolean): number {
    const i32 = this.#i32;
    const [lo, hi] = [i32[SLOW_ARG >> 2]!, i32[(SLOW_ARG >> 2) + 1]!];
    if (!isPassed && this.pages.breaks.has(this.#placeOf(lo, hi)))
      return this.pages.decodeSingle(EBREAK, lo & 0xfff);
    let word = this.#ram.read16(this.#hart.mmu.locate(lo, hi, FETCH, 2));
    if ((word & 3) === 3) {
      i32[SLOW_ARG >> 2] = (lo + 2) | 0;
      if (((lo + 2) | 0) === 0) i32[(SLOW_ARG >> 2) + 1] = (hi + 1) | 0;
      if (this.#hart.access.fetch() !== 0) return this.#fetchTrap();
      word = (word | (this.#ram.read16(this.#codeAddress()) << 16)) >>> 0;
    }
    return this.pages.decodeSingle(word, lo & 0xfff);
  }

  #straddle(rec: number): number {
    if (this.#hart.access.fetch() !== 0) return this.#fetchTrap();
    this.pages.decodeStraddling(rec, this.#codeAddress());
    return 0;
  }

  /** Physical address of SLOW_ARG, for which `fetch` has just succeeded. */
  #codeAddress(): number {
    return this.#hart.mmu.locate(this.#i32[SLOW_ARG >> 2]!, this.#i32[(SLOW_ARG >> 2) + 1]!, FETCH, 2);
  }

  #fetchTrap(): number {
    this.#hart.takeTrap();
    return TRAPPED;
  }

  /** Address of the exec entry of the address in this word of the window, 0 when there is none. */
  #execEntry(of: number): number {
    const i32 = this.#i32;
    const [lo, hi] = [i32[of >> 2]!, i32[(of >> 2) + 1]!];
    const entry = execEntryOf(i32[FETCH_VIEW >> 2]!, lo);
    return i32[entry >> 2] === (lo & ~0xfff) && i32[(entry >> 2) + 1] === hi ? entry : 0;
  }

  #boundary(): number {
    if (this.#exit !== 0) return this.#exit;
    const i32 = this.#i32;
    if (i32[IC >> 2]! <= 0) return EXIT.spent;
    if (i32[RECHECK >> 2] !== 0) this.#hart.takeInterrupt();
    return 0;
  }
}

/** Instructions that trap in a slow path did not retire. */
function countTraps(host: InterpImports, retired: RetiredCounts): void {
  const { load, store, atomic, fpEnable, soft, system } = host;
  host.load = funct3 => retired.watch(() => load(funct3));
  host.store = log2 => retired.watch(() => store(log2));
  host.atomic = code => retired.watch(() => atomic(code));
  host.fpEnable = (rec, writes) => retired.watch(() => fpEnable(rec, writes));
  host.soft = (rec, op, rm) => retired.watch(() => soft(rec, op, rm));
  host.system = word => retired.watch(() => system(word));
}

export const DEFAULT_PAGES = 1024;
