// Supervisor binary interface, built into the host for `-bios default`: an `ecall` from S-mode
// comes here and never enters guest M-mode. Specification: RISC-V SBI 2.0; legacy extensions:
// chapter 5. Served: BASE, TIME, IPI, RFENCE (without the hypervisor's), HSM, SRST, DBCN, legacy
// 0..8. One call retires one instruction and costs bounded work: at most one TLB flush for each
// hart, a walk of a page table, or TEXT_MAX bytes of text. RFENCE flushes whole TLBs, whatever its
// range. Exceptions are delegated to S as far as OpenSBI delegates or reflects them.

import type { Comparator } from '../../devices/clint.ts';
import type { Sink, WorkPort } from '../bus/device.ts';
import type { Ram } from '../bus/ram.ts';
import { CONTINUE, cause, type Hart, layout as L, REDIRECT, WAIT } from '../hart/index.ts';
import { ADUE_HI, CBCFE, CBIE, CBZE, PBMTE_HI, SIE, STCE_HI } from '../isa/csr-fields.ts';
import { csrNamed } from '../isa/index.ts';

const A0 = L.X + 8 * 10;
const A1 = L.X + 8 * 11;
const arg = (n: number): number => A0 + 8 * n;

const OK = 0;
const NOT_SUPPORTED = -2;
const INVALID_PARAM = -3;
const INVALID_ADDRESS = -5;
const ALREADY_AVAILABLE = -6;

const EXT = {
  base: 0x10,
  time: 0x5449_4d45,
  ipi: 0x73_5049,
  rfence: 0x5246_4e43,
  hsm: 0x48_534d,
  srst: 0x5352_5354,
  dbcn: 0x4442_434e,
} as const;
const KNOWN: ReadonlySet<number> = new Set(Object.values(EXT));
const SPEC_VERSION = 2 << 24;
/** Not a registered implementation; OpenSBI is 1. */
const IMPLEMENTATION = 0x6b63;
const IMPLEMENTATION_VERSION = 1;

const MENVCFG = csrNamed('menvcfg').number;
const SATP = csrNamed('satp').number;
const STIMECMP = csrNamed('stimecmp').number;
const NEVER = 0xffff_ffff_ffff_ffffn;

/** All but ecall from S and M: 0..8, page faults 12, 13, 15. */
const DELEGATED_EXCEPTIONS = 0xb1ff;
/**
 * S-mode reads every counter, U-mode cycle, time and instret: what OpenSBI leaves set. Linux does
 * not write scounteren without a PMU, and its vDSO executes `rdtime` in U-mode.
 */
const ALL_COUNTERS = -1;
const BASE_COUNTERS = 7;
/** menvcfg: cbo.inval invalidates, cbo.clean, cbo.flush and cbo.zero are legal. */
const CACHE_BLOCKS = CBIE | CBCFE | CBZE;
const FS_DIRTY = 3 << 13;

/** i64 of the window that go on when a hart is started again. */
const COUNTS = [L.INSTRET, L.EXCEPTIONS, L.MACHINE_COUNT] as const;

/** HSM states (table 7). A call takes no time, so the pending states never occur. */
const STARTED = 0;
const STOPPED = 1;
const SUSPENDED = 4;

/**
 * Suspend types: the default ones; bit 31 = non-retentive. Platforms may define others; this one
 * does not.
 */
const SUSPEND_RETENTIVE = 0;
const SUSPEND_NON_RETENTIVE = 0x8000_0000;

const RESET_SHUTDOWN = 0;
const RESET_COLD = 1;
const RESET_WARM = 2;
const REASON_NONE = 0;
const REASON_FAILURE = 1;

/** Bytes that one DBCN call moves; chapter 12 allows fewer than requested, and callers continue. */
const TEXT_MAX = 0x1_0000;

export interface SbiPorts {
  readonly harts: readonly Hart[];
  readonly ram: Ram;
  readonly console: Sink;
  readonly work: WorkPort;
  /** A byte of console input, or -1. */
  getchar(): number;
  /** A level that follows `mtime >= due()`; see devices/clint.ts. */
  comparator(name: string, due: () => bigint | undefined, drive: (high: boolean) => void): Comparator;
  /** Drives the interrupt wires of a hart again, after its reset. */
  drive(hart: number): void;
  exit(status: number, failure: boolean): void;
  reset(): void;
}

export class Sbi {
  readonly #p: SbiPorts;
  readonly #status: number[];
  /** Without Sstc: the deadline of each hart's timer. */
  readonly #due: (bigint | undefined)[];
  readonly #timers: Comparator[];

  constructor(ports: SbiPorts) {
    this.#p = ports;
    this.#status = ports.harts.map(() => STOPPED);
    this.#due = ports.harts.map(() => undefined);
    this.#timers = ports.harts.map(h =>
      ports.comparator(
        `sbi${h.id}`,
        () => this.#due[h.id],
        high => h.setMip(cause.STIP, high),
      ),
    );
    for (const hart of ports.harts) hart.unit.firmware = () => this.#call(hart);
  }

  started(hart: number): boolean {
    return this.#status[hart] === STARTED;
  }

  /**
   * Starts the payload in S-mode as HSM says: a0 = hart id, a1 = opaque, paging and interrupts off.
   */
  start(id: number, pc: number, opaque: bigint): void {
    const hart = this.#p.harts[id]!;
    const s = hart.state;
    const counts = COUNTS.map(count => s.get64(count));
    hart.reset(BigInt(pc), opaque, cause.S);
    for (const [i, count] of COUNTS.entries()) s.set64(count, counts[i]!);
    s.set(L.MEDELEG, DELEGATED_EXCEPTIONS);
    s.set(L.MIDELEG, cause.S_INTERRUPTS);
    s.set(L.MCOUNTEREN, ALL_COUNTERS);
    s.set(L.SCOUNTEREN, BASE_COUNTERS);
    // The rule drops bits of extensions that the hart lacks.
    hart.csr.write(MENVCFG, CACHE_BLOCKS, STCE_HI | PBMTE_HI | ADUE_HI);
    this.#arm(hart, undefined);
    s.put(L.STVEC, s.get(L.PC) & ~3, s.hi(L.PC));
    s.set(L.MSTATUS, s.get(L.MSTATUS) | FS_DIRTY);
    this.#status[id] = STARTED;
    this.#p.drive(id);
    hart.ports.woken?.();
  }

  reset(): void {
    this.#status.fill(STOPPED);
    this.#due.fill(undefined);
  }

  save(): unknown {
    return { status: [...this.#status], due: this.#due.map(due => (due === undefined ? null : String(due))) };
  }

  load(state: unknown): void {
    const saved = state as { status: number[]; due: (string | null)[] };
    saved.status.forEach((status, i) => {
      this.#status[i] = status;
      this.#due[i] = typeof saved.due[i] === 'string' ? BigInt(saved.due[i]) : undefined;
    });
  }

  #call(hart: Hart): number {
    const s = hart.state;
    const extension = s.get(arg(7)) >>> 0;
    const fn = s.get(arg(6)) >>> 0;
    if (s.hi(arg(7)) !== 0 || s.hi(arg(6)) !== 0) return this.#return(hart, NOT_SUPPORTED);
    switch (extension) {
      case EXT.base:
        return this.#base(hart, fn);
      case EXT.time:
        return fn === 0 ? this.#setTimer(hart) : this.#return(hart, NOT_SUPPORTED);
      case EXT.ipi:
        return fn === 0
          ? this.#masked(hart, h => h.setMip(cause.SSIP, true))
          : this.#return(hart, NOT_SUPPORTED);
      case EXT.rfence:
        return this.#rfence(hart, fn);
      case EXT.hsm:
        return this.#hsm(hart, fn);
      case EXT.srst:
        return fn === 0 ? this.#systemReset(hart) : this.#return(hart, NOT_SUPPORTED);
      case EXT.dbcn:
        return this.#debugConsole(hart, fn);
      default:
        return extension <= 8 ? this.#legacy(hart, extension) : this.#return(hart, NOT_SUPPORTED);
    }
  }

  #return(hart: Hart, error: number, value: number | bigint = 0): number {
    hart.state.set64(A0, BigInt(error));
    hart.state.set64(A1, BigInt(value));
    return CONTINUE;
  }

  #base(hart: Hart, fn: number): number {
    const machineId = (name: string): bigint => hart.csr.peek(csrNamed(name).number)!;
    switch (fn) {
      case 0:
        return this.#return(hart, OK, SPEC_VERSION);
      case 1:
        return this.#return(hart, OK, IMPLEMENTATION);
      case 2:
        return this.#return(hart, OK, IMPLEMENTATION_VERSION);
      case 3: {
        const id = hart.state.get64(A0);
        return this.#return(hart, OK, id <= 8n || KNOWN.has(Number(id)) ? 1 : 0);
      }
      case 4:
        return this.#return(hart, OK, machineId('mvendorid'));
      case 5:
        return this.#return(hart, OK, machineId('marchid'));
      case 6:
        return this.#return(hart, OK, machineId('mimpid'));
      default:
        return this.#return(hart, NOT_SUPPORTED);
    }
  }

  /** Arms the timer; this also clears a pending timer interrupt (chapter 6). */
  #setTimer(hart: Hart): number {
    this.#arm(hart, hart.state.get64(A0));
    return this.#return(hart, OK);
  }

  /** With Sstc the timer is stimecmp, as with OpenSBI; else the SBI drives STIP itself. */
  #arm(hart: Hart, due: bigint | undefined): void {
    if (hart.ports.extensions.has('sstc')) {
      const ticks = due ?? NEVER;
      hart.csr.write(STIMECMP, Number(ticks & 0xffff_ffffn) | 0, Number(ticks >> 32n) | 0);
    } else {
      this.#due[hart.id] = due;
      this.#timers[hart.id]!.update();
    }
  }

  /** The harts of a (mask, base) pair, or undefined when it names one that does not exist. */
  #select(mask: bigint, base: bigint): Hart[] | undefined {
    const { harts } = this.#p;
    if (base === 0xffff_ffff_ffff_ffffn) return [...harts];
    const chosen: Hart[] = [];
    for (let bit = 0n; bit < 64n; bit++) {
      if (!((mask >> bit) & 1n)) continue;
      const hart = harts[Number(base + bit)];
      if (!hart) return undefined;
      chosen.push(hart);
    }
    return chosen;
  }

  #masked(hart: Hart, action: (target: Hart) => void): number {
    const targets = this.#select(hart.state.get64(A0), hart.state.get64(A1));
    if (!targets) return this.#return(hart, INVALID_PARAM);
    for (const target of targets) if (this.started(target.id)) action(target);
    return this.#return(hart, OK);
  }

  #rfence(hart: Hart, fn: number): number {
    // fence.i needs no work: stores to code are reported when they happen.
    if (fn === 0) return this.#masked(hart, () => {});
    if (fn > 2) return this.#return(hart, NOT_SUPPORTED);
    this.#masked(hart, target => target.mmu.tlb.flushTranslated());
    return REDIRECT;
  }

  #hsm(hart: Hart, fn: number): number {
    const s = hart.state;
    const id = Number(s.get64(A0));
    switch (fn) {
      case 0:
        return this.#hartStart(hart, id);
      case 1:
        this.#status[hart.id] = STOPPED;
        this.#arm(hart, undefined);
        s.set(L.WAITING, 1);
        return WAIT;
      case 2:
        if (!(id < this.#p.harts.length)) return this.#return(hart, INVALID_PARAM);
        return this.#return(hart, OK, this.#state(id));
      case 3:
        return this.#suspend(hart);
      default:
        return this.#return(hart, NOT_SUPPORTED);
    }
  }

  #state(id: number): number {
    const isSuspended = this.started(id) && this.#p.harts[id]!.state.get(L.WAITING) === L.WAITING_SUSPENDED;
    return isSuspended ? SUSPENDED : this.#status[id]!;
  }

  /**
   * Waits like `wfi`, until an interrupt that `sie` enables is pending. A hart that loses its state
   * is prepared for its return at once, because its state cannot be observed before: PC, a0, a1, no
   * translation, sstatus.SIE clear.
   */
  #suspend(hart: Hart): number {
    const s = hart.state;
    const type = s.get(A0) >>> 0;
    if (type === SUSPEND_NON_RETENTIVE) {
      const pc = Number(s.get64(A1));
      if (!this.#p.ram.has(pc, 2)) return this.#return(hart, INVALID_ADDRESS);
      this.#resumeAt(hart, pc, s.get64(arg(2)));
    } else if (type === SUSPEND_RETENTIVE) {
      this.#return(hart, OK);
    } else {
      return this.#return(hart, INVALID_PARAM);
    }
    if (hart.awake) return REDIRECT;
    s.set(L.WAITING, L.WAITING_SUSPENDED);
    return WAIT;
  }

  #resumeAt(hart: Hart, pc: number, opaque: bigint): void {
    const s = hart.state;
    s.set64(L.PC, BigInt(pc) & ~1n);
    s.set64(A0, BigInt(hart.id));
    s.set64(A1, opaque);
    hart.csr.write(SATP, 0, 0);
    s.set(L.MSTATUS, s.get(L.MSTATUS) & ~SIE);
    s.put(L.RESERVATION, -1, -1);
  }

  #hartStart(hart: Hart, id: number): number {
    const s = hart.state;
    if (!(id < this.#p.harts.length)) return this.#return(hart, INVALID_PARAM);
    const state = this.#state(id);
    if (state === STARTED) return this.#return(hart, ALREADY_AVAILABLE);
    if (state !== STOPPED) return this.#return(hart, INVALID_PARAM);
    const pc = Number(s.get64(A1));
    if (!this.#p.ram.has(pc, 2)) return this.#return(hart, INVALID_ADDRESS);
    this.start(id, pc, s.get64(arg(2)));
    return this.#return(hart, OK);
  }

  #systemReset(hart: Hart): number {
    const type = hart.state.get(A0) >>> 0;
    const reason = hart.state.get(A1) >>> 0;
    if (reason !== REASON_NONE && reason !== REASON_FAILURE) return this.#return(hart, INVALID_PARAM);
    if (type === RESET_SHUTDOWN) this.#p.exit(reason === REASON_FAILURE ? 1 : 0, reason === REASON_FAILURE);
    else if (type === RESET_COLD || type === RESET_WARM) this.#p.reset();
    else return this.#return(hart, INVALID_PARAM);
    return CONTINUE;
  }

  #debugConsole(hart: Hart, fn: number): number {
    const s = hart.state;
    const { ram, console, work } = this.#p;
    const asked = Number(s.get64(A0));
    const bytes = Math.min(asked, TEXT_MAX);
    const at = Number(s.get64(A1));
    switch (fn) {
      case 0:
        if (s.get64(arg(2)) !== 0n || !ram.has(at, asked)) return this.#return(hart, INVALID_PARAM);
        for (const byte of ram.read(at, bytes)) console.write(byte);
        work.spend(bytes);
        return this.#return(hart, OK, bytes);
      case 1: {
        if (s.get64(arg(2)) !== 0n || !ram.has(at, asked)) return this.#return(hart, INVALID_PARAM);
        let count = 0;
        for (let c = 0; count < bytes && (c = this.#p.getchar()) >= 0; count++) ram.write8(at + count, c);
        work.spend(count);
        return this.#return(hart, OK, count);
      }
      case 2:
        console.write(s.get(A0) & 0xff);
        return this.#return(hart, OK);
      default:
        return this.#return(hart, NOT_SUPPORTED);
    }
  }

  /** Legacy calls return one value in a0 and do not change a1 (chapter 5). */
  #legacy(hart: Hart, extension: number): number {
    const s = hart.state;
    const a1 = s.get64(A1);
    const result = this.#legacyResult(hart, extension);
    s.set64(A0, BigInt(result));
    s.set64(A1, a1);
    return extension >= 6 && extension <= 7 ? REDIRECT : CONTINUE;
  }

  #legacyResult(hart: Hart, extension: number): number {
    const s = hart.state;
    switch (extension) {
      case 0:
        this.#setTimer(hart);
        return OK;
      case 1:
        this.#p.console.write(s.get(A0) & 0xff);
        return OK;
      case 2:
        return this.#p.getchar();
      case 3:
        hart.setMip(cause.SSIP, false);
        return OK;
      case 4:
        return this.#legacyMasked(hart, h => h.setMip(cause.SSIP, true));
      case 5:
        return OK;
      case 6:
      case 7:
        return this.#legacyMasked(hart, h => h.mmu.tlb.flushTranslated());
      default:
        this.#p.exit(0, false);
        return OK;
    }
  }

  /** a0 is the virtual address of a hart mask, 0 = all. */
  #legacyMasked(hart: Hart, action: (target: Hart) => void): number {
    const { ram, harts } = this.#p;
    const s = hart.state;
    let mask = (1n << BigInt(harts.length)) - 1n;
    if (s.get64(A0) !== 0n) {
      const pa = hart.mmu.peek(s.get(A0), s.hi(A0), 0);
      if (pa < 0 || !ram.has(pa, 8)) return INVALID_ADDRESS;
      mask = ram.read64(pa);
    }
    for (const target of harts) {
      if ((mask >> BigInt(target.id)) & 1n && this.started(target.id)) action(target);
    }
    return OK;
  }
}
