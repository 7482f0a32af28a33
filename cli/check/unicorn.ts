// libunicorn as a witness: it executes every instruction that it emulates correctly on its own
// registers and its own copy of RAM, and its results are compared. Bare-metal images in M-mode
// without paging; I, M, A, C and D. Other instructions, device accesses and traps are skipped and
// counted: their effects are copied.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  decode,
  disassemble,
  hex,
  type Insn,
  layout as L,
  type Machine,
  rowOf,
} from '../../emulator/index.ts';
import { UserError } from '../io/fail.ts';

const LIBRARY_PLACES = [
  '/usr/lib/x86_64-linux-gnu',
  '/usr/lib/aarch64-linux-gnu',
  '/usr/lib64',
  '/usr/local/lib',
  '/usr/lib',
];

// unicorn.h and riscv.h of version 2; `probe` proves the register numbers.
const ARCH_RISCV = 8;
const MODE_RISCV64 = 8;
const PROT_ALL = 7;
const REG_X0 = 1;
const REG_F0 = 158;
const REG_PC = 190;

interface Library {
  open(arch: number, mode: number, engine: unknown[]): number;
  close(engine: unknown): number;
  map(engine: unknown, address: bigint, size: bigint, protection: number): number;
  write(engine: unknown, address: bigint, bytes: Uint8Array, size: bigint): number;
  read(engine: unknown, address: bigint, bytes: Uint8Array, size: bigint): number;
  regRead(engine: unknown, id: number, value: [number | bigint]): number;
  regWrite(engine: unknown, id: number, value: BigUint64Array): number;
  start(engine: unknown, begin: bigint, until: bigint, timeout: bigint, count: bigint): number;
  errorText(code: number): string;
}

async function load(): Promise<Library> {
  const { default: koffi } = await import('koffi').catch(() => {
    throw new UserError('check: the npm package koffi is not installed, which calls libunicorn');
  });
  for (const place of LIBRARY_PLACES) {
    let names: string[] = [];
    try {
      names = readdirSync(place).filter(name => name.startsWith('libunicorn.so'));
    } catch {} // no such directory
    const name = names.sort().at(-1);
    if (name === undefined) continue;
    const file = koffi.load(join(place, name));
    return {
      open: file.func('int uc_open(int arch, int mode, _Out_ void **engine)'),
      close: file.func('int uc_close(void *engine)'),
      map: file.func('int uc_mem_map(void *engine, uint64_t address, uint64_t size, uint32_t protection)'),
      write: file.func(
        'int uc_mem_write(void *engine, uint64_t address, const uint8_t *bytes, uint64_t size)',
      ),
      read: file.func('int uc_mem_read(void *engine, uint64_t address, _Out_ uint8_t *bytes, uint64_t size)'),
      regRead: file.func('int uc_reg_read(void *engine, int id, _Out_ uint64_t *value)'),
      regWrite: file.func('int uc_reg_write(void *engine, int id, const uint64_t *value)'),
      start: file.func(
        'int uc_emu_start(void *engine, uint64_t begin, uint64_t until, uint64_t timeout, uint64_t count)',
      ),
      errorText: file.func('const char *uc_strerror(int code)'),
    };
  }
  throw new UserError('check: libunicorn is not installed (Debian: apt install libunicorn2)');
}

/** One emulated RV64 hart of the library with RAM like the machine's. */
class Witness {
  readonly #uc: Library;
  readonly #engine: unknown;
  readonly #cell = new BigUint64Array(1);
  readonly #ramBase: bigint;

  constructor(uc: Library, machine: Machine) {
    this.#uc = uc;
    this.#ramBase = BigInt(machine.ram.base);
    const out: unknown[] = [null];
    this.check('open', uc.open(ARCH_RISCV, MODE_RISCV64, out));
    this.#engine = out[0];
    const size = BigInt(machine.ram.bytes);
    this.check('map ram', uc.map(this.#engine, this.#ramBase, size, PROT_ALL));
    this.#enableFloats();
    this.check('write ram', uc.write(this.#engine, this.#ramBase, machine.ram.data, size));
  }

  check(what: string, code: number): void {
    if (code !== 0) throw new UserError(`check: unicorn: ${what}: ${this.#uc.errorText(code)}`);
  }

  /**
   * mstatus.FS is off at start, and only executed code can set it. This also proves the register
   * ids.
   */
  #enableFloats(): void {
    // lui ra, 6; csrs mstatus, ra; fmv.d.x f5, ra
    const code = new Uint8Array(Uint32Array.of(0x0000_60b7, 0x3000_a073, 0xf200_82d3).buffer);
    this.check('write', this.#uc.write(this.#engine, this.#ramBase, code, 12n));
    this.check('start', this.#uc.start(this.#engine, this.#ramBase, this.#ramBase + 12n, 0n, 0n));
    if (this.register(REG_F0 + 5) !== 0x6000n || this.register(REG_X0 + 1) !== 0x6000n)
      throw new UserError(
        'check: this libunicorn numbers its registers in an unknown way; version 2.0 is known',
      );
  }

  register(id: number): bigint {
    const value: [number | bigint] = [0];
    this.#uc.regRead(this.#engine, id, value);
    return BigInt(value[0]);
  }

  setRegister(id: number, value: bigint): void {
    this.#cell[0] = value;
    this.#uc.regWrite(this.#engine, id, this.#cell);
  }

  /** The error code of executing one instruction. */
  step(pc: bigint): number {
    return this.#uc.start(this.#engine, pc, 0xffff_ffff_ffff_fffen, 0n, 1n);
  }

  write(address: bigint, bytes: Uint8Array): void {
    this.check('write', this.#uc.write(this.#engine, address, bytes, BigInt(bytes.length)));
  }

  readRam(into: Uint8Array): void {
    this.check('read', this.#uc.read(this.#engine, this.#ramBase, into, BigInt(into.length)));
  }

  close(): void {
    this.#uc.close(this.#engine);
  }
}

/** Instructions that libunicorn 2 computes wrongly; see its limits in the test suite's profiles. */
const FAULTY = /^(amo(min|max)u?\.w|fm(in|ax)\.d|fcvt\.(s\.d|d\.s))$/;
const FLOAT_CSRS = 3;

function isTrusted(insn: Insn): boolean {
  const { ext } = rowOf(insn.op);
  if (ext === 'zicsr') return insn.imm >= 1 && insn.imm <= FLOAT_CSRS;
  if (insn.name === 'ecall' || insn.name === 'ebreak') return false;
  return /^[imad]$/.test(ext) && !FAULTY.test(insn.name);
}

export interface UnicornReport {
  agreed: number;
  passedOver: number;
  difference: string[] | undefined;
}

class Comparison {
  readonly report: UnicornReport = { agreed: 0, passedOver: 0, difference: undefined };
  readonly #machine: Machine;
  readonly #witness: Witness;

  constructor(machine: Machine, witness: Witness) {
    this.#machine = machine;
    this.#witness = witness;
    this.#copyRegisters();
  }

  get #hart() {
    return this.#machine.harts[0]!;
  }

  /** One instruction on both; false when they differ or the machine has ended. */
  step(): boolean {
    const { state } = this.#hart;
    const { ram } = this.#machine;
    const pc = state.get64(L.PC);
    if (state.get(L.PRIV) !== 3 || !ram.has(Number(pc), 4))
      throw new UserError('check: unicorn can follow M-mode without paging only; use --oracle qemu');
    const insn = decode(ram.read32(Number(pc)));
    const target =
      insn === undefined
        ? 0n
        : BigInt.asUintN(64, state.get64(L.X + 8 * insn.rs1) + BigInt(this.#offset(insn)));
    const traps = state.get64(L.EXCEPTIONS);
    const result = this.#machine.run(1);
    const isMemory = insn !== undefined && rowOf(insn.op).mem.kind !== 'none';
    const isQuiet = state.get64(L.EXCEPTIONS) === traps && (!isMemory || ram.has(Number(target), 8));
    if (insn !== undefined && isQuiet && isTrusted(insn)) this.#compare(insn, pc);
    else this.#passOver(insn, target);
    return this.report.difference === undefined && result.kind === 'budget';
  }

  #offset(insn: Insn): number {
    const { kind } = rowOf(insn.op).mem;
    return kind === 'load' || kind === 'store' ? insn.imm : 0;
  }

  #compare(insn: Insn, pc: bigint): void {
    const { state } = this.#hart;
    const code = this.#witness.step(pc);
    const isFloat = rowOf(insn.op).regs.rd === 'f';
    const [id, slot] = isFloat ? [REG_F0, L.F] : [REG_X0, L.X];
    const ours = state.get64(slot + 8 * insn.rd);
    // libunicorn lacks the fflags of skipped instructions; a CSR instruction is executed for its
    // effect on frm.
    if (rowOf(insn.op).ext === 'zicsr') this.#witness.setRegister(REG_X0 + insn.rd, ours);
    const theirs = this.#witness.register(id + insn.rd);
    const theirPc = this.#witness.register(REG_PC);
    if (code === 0 && theirs === ours && theirPc === state.get64(L.PC)) {
      this.report.agreed++;
      return;
    }
    this.report.difference = [
      `instruction ${this.report.agreed + this.report.passedOver}, ${hex(pc)}: ${disassemble(insn, pc)}`,
      `pc: unicorn ${hex(theirPc)} kcovbox ${hex(state.get64(L.PC))}`,
      `${isFloat ? 'f' : 'x'}${insn.rd}: unicorn ${hex(theirs)} kcovbox ${hex(ours)}`,
    ];
  }

  /** The effects of an instruction that is not compared. */
  #passOver(insn: Insn | undefined, target: bigint): void {
    this.report.passedOver++;
    this.#copyRegisters();
    const { ram } = this.#machine;
    if (insn === undefined || rowOf(insn.op).mem.kind === 'none' || !ram.has(Number(target), 8)) return;
    const at = Number(target) - ram.base;
    this.#witness.write(target, ram.data.slice(at, at + 8));
  }

  #copyRegisters(): void {
    const { state } = this.#hart;
    for (let n = 0; n < 32; n++) {
      if (n > 0) this.#witness.setRegister(REG_X0 + n, state.get64(L.X + 8 * n));
      this.#witness.setRegister(REG_F0 + n, state.get64(L.F + 8 * n));
    }
  }

  /** At the end: compares all of RAM. */
  compareMemory(): void {
    const { ram } = this.#machine;
    const theirs = new Uint8Array(ram.bytes);
    this.#witness.readRam(theirs);
    if (Buffer.compare(theirs, ram.data) === 0 || this.report.difference !== undefined) return;
    const at = theirs.findIndex((byte, index) => byte !== ram.data[index]);
    this.report.difference = [
      `memory at ${hex(ram.base + at)}: unicorn ${hex(theirs[at]!)} kcovbox ${hex(ram.data[at]!)}`,
    ];
  }
}

/** Runs the machine, which must have been booted with `bios: 'none'`, beside libunicorn. */
export async function checkWithUnicorn(machine: Machine, limit: number): Promise<UnicornReport> {
  const witness = new Witness(await load(), machine);
  try {
    const comparison = new Comparison(machine, witness);
    const { report } = comparison;
    while (report.agreed + report.passedOver < limit && comparison.step());
    comparison.compareMemory();
    return report;
  } finally {
    witness.close();
  }
}
