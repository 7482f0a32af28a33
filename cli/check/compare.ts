// Runs our machine beside a witness, instruction by instruction. Before each instruction all
// registers are compared. Values from outside the hart (time, device registers, the firmware's
// answers) are adopted from the witness and counted, and interrupts are taken where the witness
// takes them. Everything else must be equal.
//
// One hart, built-in or guest firmware. With the built-in SBI the witness' M-mode instructions are
// skipped.

import { decode, disassemble, hex, layout as L, type Machine } from '../../emulator/index.ts';
import type { QemuState } from './qemu-trace.ts';

export interface LockstepReport {
  /** Instructions after which everything agreed. */
  agreed: number;
  /** Values adopted from the witness, by reason. */
  adopted: Map<string, number>;
  interrupts: number;
  /** The first disagreement; undefined = none. */
  difference: string[] | undefined;
}

const FETCH = 2;
const LOAD = 0;
const INTERRUPT = 0x8000_0000;
/** Access and page faults of fetches. */
const FETCH_CAUSES = new Set([1n, 12n]);
const DIFFERENCE_LINES = 16;
const MACHINE = 3;
const SSTATUS = 0x100;
const SENVCFG = 0x10a;
const MENVCFG = 0x30a;
/** How often all CSRs are compared even if the witness' have not changed. */
const CSR_PERIOD = 64;

interface Compared {
  readonly name: string;
  readonly number: number;
  readonly mask: bigint;
}

const ALL = (1n << 64n) - 1n;
/** Bits that both machines have: no UBE, VS, UXL choices or hypervisor fields. */
const STATUS = 0x8000_0000_000d_e122n;
const SUPERVISOR: readonly Compared[] = [
  { name: 'stvec', number: 0x105, mask: ALL },
  { name: 'sscratch', number: 0x140, mask: ALL },
  { name: 'sepc', number: 0x141, mask: ALL - 1n },
  { name: 'scause', number: 0x142, mask: ALL },
  { name: 'stval', number: 0x143, mask: ALL },
  { name: 'satp', number: 0x180, mask: ALL },
];
const MACHINE_CSRS: readonly Compared[] = [
  { name: 'mstatus', number: 0x300, mask: STATUS | 0x7e_1888n },
  { name: 'medeleg', number: 0x302, mask: 0xb3ffn },
  { name: 'mideleg', number: 0x303, mask: 0x222n },
  { name: 'mie', number: 0x304, mask: 0xaaan },
  { name: 'mtvec', number: 0x305, mask: ALL },
  { name: 'mscratch', number: 0x340, mask: ALL },
  { name: 'mepc', number: 0x341, mask: ALL - 1n },
  { name: 'mcause', number: 0x342, mask: ALL },
  { name: 'mtval', number: 0x343, mask: ALL },
];
/** With the built-in SBI only the bits of mstatus that S-mode sees are comparable. */
const S_STATUS: Compared = { name: 'mstatus', number: 0x300, mask: STATUS };

/**
 * CSRs whose value depends on time, interrupt lines or the implementation (numbers in isa/csr.ts).
 */
function isHostDependent(csr: number): boolean {
  const isCounter = (csr & 0xfe0) === 0xc00 || (csr & 0xfe0) === 0xb00 || (csr & 0xfe0) === 0x320;
  const isIdentity = csr >= 0xf11 && csr <= 0xf13;
  const isPending = csr === 0x144 || csr === 0x344;
  return isCounter || isIdentity || isPending || csr === MENVCFG || csr === SENVCFG;
}

export class Lockstep {
  readonly report: LockstepReport = { agreed: 0, adopted: new Map(), interrupts: 0, difference: undefined };
  readonly #machine: Machine;
  readonly #csrs: readonly Compared[];
  readonly #skipsFirmware: boolean;
  readonly #before = new Int32Array(64);
  #pc = 0n;
  #word = 0;
  #hasStarted = false;

  constructor(machine: Machine) {
    this.#machine = machine;
    this.#skipsFirmware = machine.sbi !== undefined;
    this.#csrs = this.#skipsFirmware ? [...SUPERVISOR, S_STATUS] : [...SUPERVISOR, ...MACHINE_CSRS];
  }

  get #hart() {
    return this.#machine.harts[0]!;
  }

  /**
   * One record of the witness, its state before an instruction. `adoptMemory` copies its RAM, once,
   * at the first common instruction. False ends the comparison: a difference, or our machine has
   * stopped.
   */
  step(witness: QemuState, adoptMemory: () => void): boolean {
    const state = this.#hart.state;
    if (!this.#hasStarted) {
      if (witness.pc !== state.get64(L.PC)) return true;
      this.#hasStarted = true;
      adoptMemory();
      this.#adoptState(witness);
    } else {
      if (this.#skipsFirmware && this.#isFirmware(witness)) return true;
      if (this.#isRepeated(witness)) return true;
      if (!this.#compare(witness)) return false;
      this.report.agreed++;
    }
    return this.#advance();
  }

  /** QEMU repeats the record if it was interrupted before the instruction. */
  #isRepeated(witness: QemuState): boolean {
    if (witness.pc !== this.#pc || this.#hart.state.get64(L.PC) === this.#pc) return false;
    return witness.x.every((half, n) => half === this.#before[n]);
  }

  /** The registers that the firmware leaves are not specified. */
  #adoptState(witness: QemuState): void {
    const { state, csr } = this.#hart;
    for (let n = 0; n < 32; n++) {
      state.put(L.X + 8 * n, witness.x[2 * n]!, witness.x[2 * n + 1]!);
      state.put(L.F + 8 * n, witness.f[2 * n]!, witness.f[2 * n + 1]!);
    }
    for (const row of this.#csrs) {
      const number = row.name === 'mstatus' && this.#skipsFirmware ? SSTATUS : row.number;
      const value = (witness.csr(row.name) ?? 0n) & row.mask;
      csr.write(number, Number(BigInt.asIntN(32, value)), Number(BigInt.asIntN(32, value >> 32n)));
    }
  }

  /** The witness is in M-mode, where our built-in firmware executes no instructions. */
  #isFirmware(witness: QemuState): boolean {
    const { pc } = witness;
    return pc < 0x8020_0000n && pc >= 0x8000_0000n && pc !== this.#hart.state.get64(L.PC);
  }

  /** Executes one instruction and keeps the data that is needed to judge a difference. */
  #advance(): boolean {
    const hart = this.#hart;
    const { state } = hart;
    this.#pc = state.get64(L.PC);
    this.#word = this.#fetch(this.#pc);
    for (let n = 0; n < 64; n++) this.#before[n] = state.get(L.X + 4 * n);
    // Interrupts stay pending until the witness takes them.
    const [soft, lines] = [state.get(L.MIP), state.hi(L.MIP)];
    const isWithheld = hart.pendingInterrupt() >= 0;
    if (isWithheld) state.put(L.MIP, 0, 0);
    state.set(L.WAITING, 0);
    const result = this.#machine.run(1);
    if (isWithheld) {
      state.put(L.MIP, state.get(L.MIP) | soft, state.hi(L.MIP) | lines);
      state.set(L.RECHECK, 1);
    }
    return result.kind === 'budget' || result.kind === 'halt';
  }

  #fetch(pc: bigint): number {
    const pa = this.#hart.mmu.peek(
      Number(BigInt.asIntN(32, pc)),
      Number(BigInt.asIntN(32, pc >> 32n)),
      FETCH,
    );
    const { ram } = this.#machine;
    if (pa < 0 || !ram.has(pa, 4)) return 0;
    return (pa & 0xfff) > 0xffc ? this.#straddling(pc, ram.read16(pa)) : ram.read32(pa);
  }

  #straddling(pc: bigint, low: number): number {
    const next = pc + 2n;
    const pa = this.#hart.mmu.peek(
      Number(BigInt.asIntN(32, next)),
      Number(BigInt.asIntN(32, next >> 32n)),
      FETCH,
    );
    return pa < 0 ? low : (low | (this.#machine.ram.read16(pa) << 16)) >>> 0;
  }

  #compare(witness: QemuState): boolean {
    const { state } = this.#hart;
    if (witness.pc !== state.get64(L.PC) && !this.#trapped(witness)) return this.#fail(witness);
    for (let n = 0; n < 64; n++) {
      if (witness.x[n] !== state.get(L.X + 4 * n) && !this.#adopt(witness, n >> 1))
        return this.#fail(witness);
      if (witness.f[n] !== state.get(L.F + 4 * n)) return this.#fail(witness);
    }
    if (this.report.agreed % CSR_PERIOD === 0 || this.#mayChangeCsrs()) {
      for (const csr of this.#csrs) if (this.#csrDifference(witness, csr) !== 0n) return this.#fail(witness);
    }
    return true;
  }

  /** System instructions, and every instruction whose successor is not the next one in memory. */
  #mayChangeCsrs(): boolean {
    return (this.#word & 0x7f) === 0x73 || this.#hart.state.get64(L.PC) - this.#pc > 4n;
  }

  #csrDifference(witness: QemuState, csr: Compared): bigint {
    const ours = this.#hart.csr.peek(csr.number) ?? 0n;
    return (ours ^ (witness.csr(csr.name) ?? ours)) & csr.mask;
  }

  /**
   * The witness entered a handler without a record of the instruction: an interrupt, or nothing
   * could be fetched.
   */
  #trapped(witness: QemuState): boolean {
    const hart = this.#hart;
    const pc = hart.state.get64(L.PC);
    for (const level of ['s', 'm']) {
      const cause = witness.csr(`${level}cause`);
      if (witness.csr(`${level}epc`) !== pc) continue;
      if (cause === undefined) continue;
      if (cause >> 63n === 1n) {
        hart.raise(Number(cause & 0xfn) | INTERRUPT | 0, 0n);
        this.report.interrupts++;
      } else if (FETCH_CAUSES.has(cause)) {
        this.#advance();
      } else continue;
      return hart.state.get64(L.PC) === witness.pc;
    }
    return false;
  }

  /** Adopts register `n` if the last instruction read it from outside the hart and its memory. */
  #adopt(witness: QemuState, n: number): boolean {
    const reason = this.#outside(n);
    if (reason === undefined) return false;
    this.#hart.state.put(L.X + 8 * n, witness.x[2 * n]!, witness.x[2 * n + 1]!);
    this.report.adopted.set(reason, (this.report.adopted.get(reason) ?? 0) + 1);
    return true;
  }

  #outside(n: number): string | undefined {
    const insn = decode(this.#word);
    if (insn === undefined) return undefined;
    if (insn.name === 'ecall' && this.#skipsFirmware && (n === 10 || n === 11))
      return 'answers of the firmware';
    if (insn.rd !== n) return undefined;
    if (insn.name.startsWith('csrr') && isHostDependent(insn.imm)) return 'counters and pending interrupts';
    const isLoad = (insn.word & 0x7f) === 0x03 || insn.bytes === 2;
    return isLoad && this.#isDevice(insn.rs1, insn.imm) ? 'device registers' : undefined;
  }

  #isDevice(base: number, offset: number): boolean {
    const lo = BigInt(this.#before[2 * base]! >>> 0);
    const va = ((BigInt(this.#before[2 * base + 1]!) << 32n) | lo) + BigInt(offset);
    const pa = this.#hart.mmu.peek(Number(BigInt.asIntN(32, va)), Number(BigInt.asIntN(32, va >> 32n)), LOAD);
    return pa >= 0 && !this.#machine.ram.has(pa, 1);
  }

  /** Describes the first difference. */
  #fail(witness: QemuState): false {
    const { state } = this.#hart;
    const insn = decode(this.#word);
    const text = insn === undefined ? 'an illegal instruction' : disassemble(insn, this.#pc);
    const priv = 'US?M'[state.get(L.PRIV) & MACHINE];
    const lines = [
      `after instruction ${this.report.agreed}, ${hex(this.#pc)}: ${text}, now in ${priv}-mode:`,
    ];
    const note = (name: string, theirs: bigint, ours: bigint): void => {
      if (theirs !== ours) lines.push(`${name}: qemu ${hex(theirs)} kcovbox ${hex(ours)}`);
    };
    const wide = (a: Int32Array, n: number): bigint =>
      (BigInt(a[2 * n + 1]! >>> 0) << 32n) | BigInt(a[2 * n]! >>> 0);
    note('pc', witness.pc, state.get64(L.PC));
    for (let n = 0; n < 32; n++) note(`x${n}`, wide(witness.x, n), state.get64(L.X + 8 * n));
    for (let n = 0; n < 32; n++) note(`f${n}`, wide(witness.f, n), state.get64(L.F + 8 * n));
    for (const csr of this.#csrs) {
      const ours = this.#hart.csr.peek(csr.number) ?? 0n;
      note(csr.name, (witness.csr(csr.name) ?? ours) & csr.mask, ours & csr.mask);
    }
    this.report.difference = lines.slice(0, DIFFERENCE_LINES);
    return false;
  }
}
