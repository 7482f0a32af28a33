// One hart: its window, CSR file, MMU, traps and slow paths behind one interface. A hart is
// *active* while its window lies at address 0, where the engines work, and *parked* otherwise;
// every operation but running works in both states. The machine activates one hart at a time;
// derived caches (TLB use, decoded PMP) live here and never in a snapshot.

import { SlowAccess } from './access.ts';
import * as C from './cause.ts';
import { CsrFile } from './csr-file.ts';
import * as L from './layout.ts';
import { Mmu } from './mmu.ts';
import { MXR } from './mstatus.ts';
import type { HartPorts } from './ports.ts';
import { homeOf, State } from './state.ts';
import { SystemUnit } from './system.ts';
import * as trap from './trap.ts';
import { setPriv } from './view.ts';

/** Words of the window: satp, menvcfg, PMP. */
const TRANSLATION_STATE = [
  [L.SATP, 2],
  [L.MENVCFG, 2],
  [L.PMPCFG, 4],
  [L.PMPADDR, 32],
].flatMap(([first = 0, words = 0]) => Array.from({ length: words }, (_, i) => first + 4 * i));
/** They, and one for MXR. */
const TRANSLATION_WORDS = TRANSLATION_STATE.length + 1;

export class Hart {
  readonly id: number;
  readonly state: State;
  readonly mmu: Mmu;
  readonly csr: CsrFile;
  readonly access: SlowAccess;
  /** Before and behind a replacement of registers. */
  readonly #translations = [new Int32Array(TRANSLATION_WORDS), new Int32Array(TRANSLATION_WORDS)] as const;
  readonly unit: SystemUnit;
  readonly ports: HartPorts;

  /** `home`: address of the window while parked; 256 KiB each, below guest RAM. */
  constructor(id: number, ports: HartPorts, home = homeOf(id)) {
    this.id = id;
    this.ports = ports;
    this.state = new State(ports.memory, home);
    this.mmu = new Mmu(this.state, ports);
    this.csr = new CsrFile(this.state, this.mmu, ports);
    this.access = new SlowAccess(this.state, this.mmu, ports);
    this.unit = new SystemUnit(this.state, this.csr, this.mmu, this.access);
    this.reset(0n);
  }

  /**
   * State after reset (Priv §3.4): PC at `pc`, a0 = hart id, a1 as given, `priv` U = 0, S = 1 or M
   * = 3. Below M, PMP permits everything, because firmware that starts a payload in S has set it
   * so.
   */
  reset(pc: bigint, a1 = 0n, priv: number = C.M): void {
    const s = this.state;
    const epoch = s.get64(L.EPOCH);
    s.fill(0, L.TLB_READ, 0);
    // Facts that were kept under a number of the time before must not hold again.
    s.set64(L.EPOCH, epoch);
    this.csr.reset();
    s.set(L.HARTID, this.id);
    s.set64(L.PC, pc);
    s.set64(L.X + 80, BigInt(this.id));
    s.set64(L.X + 88, a1);
    s.put(L.RESERVATION, -1, -1);
    setPriv(s, priv);
    this.mmu.pmp.update();
    if (priv !== C.M) this.mmu.pmp.open();
    this.mmu.tlb.clear();
  }

  /**
   * Moves the window to address 0. Precondition: no hart but `previous` is active; that one is
   * parked first.
   */
  activate(previous?: Hart): void {
    if (this.state.active) return;
    const last = previous?.state.active ? previous : undefined;
    last?.park();
    const home = this.state.home;
    this.state.move(0, L.CSR_END, home, L.WINDOW);
    this.state.base = L.WINDOW;
    this.mmu.tlb.activated(home, last?.mmu.tlb);
  }

  /**
   * Moves the window home. The reservation is lost: another hart may store before this one runs
   * again.
   */
  park(): void {
    if (!this.state.active) return;
    const home = this.state.home;
    this.state.put(L.RESERVATION, -1, -1);
    this.state.move(0, L.CSR_END, L.WINDOW, home);
    this.state.base = home;
    this.mmu.tlb.parked(home);
  }

  /**
   * Replaces registers, for snapshots: `write` does it. Everything derived follows. Cached
   * translations stay when the registers that they follow from have not changed; stores to page
   * tables were announced.
   */
  replaceRegisters(write: () => void): void {
    const [before, after] = this.#translations;
    this.#readTranslation(before);
    write();
    this.#readTranslation(after);
    let isSame = true;
    for (let i = 0; i < TRANSLATION_WORDS; i++) isSame &&= after[i] === before[i];
    if (!isSame) {
      this.restored();
      return;
    }
    setPriv(this.state, this.state.get(L.PRIV));
    this.state.set(L.RECHECK, 1);
  }

  /** After the window's bytes were replaced: derives all other data again. */
  restored(): void {
    setPriv(this.state, this.state.get(L.PRIV));
    this.mmu.pmp.update();
    this.mmu.tlb.flushAll();
    this.state.set(L.RECHECK, 1);
  }

  /** The registers that decide about translation and permissions, apart from the view. */
  #readTranslation(words: Int32Array): void {
    const s = this.state;
    words[0] = s.get(L.MSTATUS) & MXR;
    for (let i = 1; i < TRANSLATION_WORDS; i++) words[i] = s.get(TRANSLATION_STATE[i - 1]!);
  }

  /** Executes a system instruction at PC; see system.ts. Only between instructions of an engine. */
  system(word: number): number {
    return this.unit.execute(word);
  }

  illegal(word: number): number {
    return this.unit.illegal(word);
  }

  /** Enters the trap that a slow path recorded; PC must be the trapping instruction. */
  takeTrap(): void {
    trap.takeTrap(this.state);
  }

  /** Enters a given trap. */
  raise(cause: number, tval: bigint): void {
    this.state.set(L.TRAP_CAUSE, cause);
    this.state.set64(L.TRAP_TVAL, tval);
    trap.takeTrap(this.state);
  }

  /** Called behind the entry of an interrupt, with its code; for those who watch the run. */
  onInterrupt: (code: number) => void = () => {};

  /** Takes the interrupt of highest priority, if any is enabled and pending. Clears RECHECK. */
  takeInterrupt(): boolean {
    this.state.set(L.RECHECK, 0);
    const code = trap.pendingInterrupt(this.state);
    if (code < 0) return false;
    this.state.set(L.WAITING, 0);
    this.mmu.fail(code | C.INTERRUPT, 0, 0);
    trap.takeTrap(this.state);
    this.onInterrupt(code);
    return true;
  }

  pendingInterrupt(): number {
    return trap.pendingInterrupt(this.state);
  }

  /**
   * True if `wfi` does not wait: an interrupt is pending and enabled in mie, regardless of mstatus
   * (Priv §3.3.3).
   */
  get awake(): boolean {
    return ((this.state.get(L.MIP) | this.state.hi(L.MIP)) & this.state.get(L.MIE)) !== 0;
  }

  get waiting(): boolean {
    return this.state.get(L.WAITING) !== 0;
  }

  /** Drives wires of mip (CLINT, PLIC): `bits` as in cause.ts. */
  setLine(bits: number, level: boolean): void {
    const s = this.state;
    const old = s.hi(L.MIP);
    const now = level ? old | bits : old & ~bits;
    if (now === old) return;
    s.put(L.MIP, s.get(L.MIP), now);
    this.#interruptsChanged();
  }

  /** Sets or clears software-writable bits of mip (SSIP, STIP, SEIP), for the built-in SBI. */
  setMip(bits: number, level: boolean): void {
    const s = this.state;
    s.set(L.MIP, level ? s.get(L.MIP) | bits : s.get(L.MIP) & ~bits);
    this.#interruptsChanged();
  }

  #interruptsChanged(): void {
    this.state.set(L.RECHECK, 1);
    if (!this.waiting || !this.awake) return;
    this.state.set(L.WAITING, 0);
    this.ports.woken?.();
  }
}
