// A privileged program as the bytes of RAM: the steps of each hart as straight M-mode code in a
// loop, the handlers, and what layout.ts lists.
//
// Registers: x8 rounds left in a snippet, x9 a function, x10..x15 values, x16..x19 pointers,
// x21..x25 bits of sstatus, x26 rounds left, x27 the hash of all traps, x28 scratch of steps,
// x29..x31 of the handler, which may run at any instruction.

import { decode, disassemble, encode as e } from '../../../emulator/isa/index.ts';
import { MAP, virtioSlot } from '../../../emulator/machine/memory-map.ts';
import {
  CODE_BYTES,
  DATA,
  DISK_HEADER,
  FUNCTION_AT,
  IMAGE_BYTES,
  QUEUE,
  RAM,
  ROOTS,
  S_HANDLER,
  SNIPPET_AT,
  STATUS_BITS,
} from './layout.ts';
import type { PrivilegedProgram, Step } from './step.ts';

const CSR = {
  mstatus: 0x300,
  medeleg: 0x302,
  mideleg: 0x303,
  mcounteren: 0x306,
  scounteren: 0x106,
  mie: 0x304,
  mtvec: 0x305,
  mscratch: 0x340,
  mepc: 0x341,
  mcause: 0x342,
  mtval: 0x343,
  mip: 0x344,
  pmpcfg0: 0x3a0,
  pmpaddr0: 0x3b0,
  satp: 0x180,
  stvec: 0x105,
  mhartid: 0xf14,
} as const;
const EDU = 0x401_0000;
const EDU_BUFFER = 0x4_0000;
/** Slots of the disk and of the generator of random bytes. */
export const DISK_SLOT = 7;
export const RANDOM_SLOT = 6;
const FW_CFG_DMA = MAP.fwCfg.base + 0x10;
/** The first file; select, skip, read. */
const FW_CFG_SKIP = (0x20 << 16) | 8 | 4;
const FW_CFG_READ = 2;
const MSIP = 0x200_0000;
const MTIMECMP = 0x200_4000;
const MTIME = 0x200_bff8;
const FINISHER = 0x10_0000;
const MPRV = 1 << 17;
const MPP = 3 << 11;
const FS = 3 << 13;
const SUM = 1 << 18;
/** SIE and SSIP. */
const SUPERVISOR = 2;
/** The interrupts of S. */
const S_INTERRUPTS = 0x222;
const MIE = 1 << 3;
const MTIE = 1 << 7;
const RESULTS = DATA;
const RESULT_BYTES = 0x60;
const ECALL = 0x73;
const MRET = 0x3020_0073;
const SFENCE = 0x1200_0073;
const WFI = 0x1050_0073;

class Writer {
  readonly words: number[] = [];

  get here(): number {
    return RAM + 4 * this.words.length;
  }

  put(...words: number[]): void {
    this.words.push(...words);
  }

  /** Any 64-bit value; `other` is clobbered when the value needs it. */
  li(rd: number, value: bigint | number, other = 7): void {
    const v = BigInt.asUintN(64, BigInt(value));
    const part = (reg: number, word: number): void => {
      const low = (word << 20) >> 20;
      this.put(e('lui', { rd: reg, imm: (word - low) | 0 }), e('addiw', { rd: reg, rs1: reg, imm: low }));
    };
    part(rd, Number(v & 0xffff_ffffn) | 0);
    if (BigInt.asUintN(64, BigInt.asIntN(32, v)) === v) return;
    this.put(e('slli', { rd, rs1: rd, imm: 32 }), e('srli', { rd, rs1: rd, imm: 32 }));
    const high = Number(v >> 32n) | 0;
    if (high === 0) return;
    part(other, high);
    this.put(e('slli', { rd: other, rs1: other, imm: 32 }), e('or', { rd, rs1: rd, rs2: other }));
  }

  csrw(csr: number, rs1: number): void {
    this.put(e('csrrw', { rd: 0, rs1, imm: csr }));
  }

  csrs(csr: number, rs1: number): void {
    this.put(e('csrrs', { rd: 0, rs1, imm: csr }));
  }

  csrc(csr: number, rs1: number): void {
    this.put(e('csrrc', { rd: 0, rs1, imm: csr }));
  }

  /** Stores a word or doubleword at a physical address. */
  poke(at: number, value: bigint | number, name: 'sw' | 'sd' = 'sd'): void {
    this.li(6, at);
    this.li(5, value);
    this.put(e(name, { rs1: 6, rs2: 5, imm: 0 }));
  }
}

/** The hart's timer interrupt, in `delta` ticks from now. */
function writeTimer(w: Writer, hart: number, delta: number): void {
  w.li(6, MTIME);
  w.put(e('ld', { rd: 5, rs1: 6, imm: 0 }), e('addi', { rd: 5, rs1: 5, imm: delta }));
  w.li(6, MTIMECMP + 8 * hart);
  w.put(e('sd', { rs1: 6, rs2: 5, imm: 0 }));
}

/** The device is reset, its queue 0 set up and given one request. */
function writeVirtio(w: Writer, { device, rings, at, bytes, from }: Step & { kind: 'virtio' }): void {
  const { base } = virtioSlot(device === 'disk' ? DISK_SLOT : RANDOM_SLOT);
  const register = (offset: number, value: number): void => w.poke(base + offset, value, 'sw');
  for (const status of [0, 0xf]) register(0x70, status);
  register(0x30, 0);
  register(0x38, QUEUE.SIZE);
  for (const [offset, pa] of [
    [0x80, rings],
    [0x90, rings + QUEUE.AVAIL],
    [0xa0, rings + QUEUE.USED],
  ] as const) {
    register(offset, pa);
    register(offset + 4, 0);
  }
  const [next, write] = [1, 2];
  const chain =
    device === 'random'
      ? [[at, bytes, write] as const]
      : [
          [DISK_HEADER, 16, next] as const,
          [at, bytes, next | write] as const,
          [rings + QUEUE.STATUS, 1, write] as const,
        ];
  if (device === 'disk') {
    w.poke(DISK_HEADER, 0);
    w.poke(DISK_HEADER + 8, from);
  }
  for (const [i, [pa, length, flags]] of chain.entries()) {
    w.poke(rings + 16 * i, pa);
    w.poke(rings + 16 * i + 8, BigInt(length) | (BigInt(flags) << 32n) | (BigInt(i + 1) << 48n));
  }
  // Flags 0, index 1, and the head of the request, which is 0.
  w.poke(rings + QUEUE.AVAIL, 1n << 16n);
  register(0x44, 1);
  register(0x50, 0);
}

const swapped = (value: bigint | number): bigint => {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, BigInt(value));
  return view.getBigUint64(0, true);
};

/** Two requests: to skip, and to read. */
function writeFwCfg(w: Writer, { request, at, bytes, from }: Step & { kind: 'fw_cfg' }): void {
  for (const [control, length] of [
    [FW_CFG_SKIP, from],
    [FW_CFG_READ, bytes],
  ] as const) {
    w.poke(request, swapped((BigInt(control) << 32n) | BigInt(length)));
    w.poke(request + 8, swapped(at));
    w.poke(FW_CFG_DMA, swapped(request));
  }
}

/**
 * Sets up the state that snippets change for good: floating point and SUM are on, interrupts of S
 * are off in sstatus and on in sie, none of software is pending. Counters are for each mode.
 */
function writeStatus(w: Writer): void {
  for (const { register, bits } of STATUS_BITS) w.li(register, bits);
  w.li(28, FS | SUM);
  w.csrs(CSR.mstatus, 28);
  w.put(e('csrrci', { rd: 0, rs1: SUPERVISOR, imm: CSR.mstatus }));
  w.put(e('csrrci', { rd: 0, rs1: SUPERVISOR, imm: CSR.mip }));
  w.li(28, S_INTERRUPTS);
  w.csrs(CSR.mie, 28);
  w.csrw(CSR.mideleg, 28);
  for (const csr of [CSR.mcounteren, CSR.scounteren]) w.put(e('csrrsi', { rd: 0, rs1: 7, imm: csr }));
}

function writeStep(w: Writer, step: Step, { hasCsrs }: PrivilegedProgram): void {
  switch (step.kind) {
    case 'satp':
      w.li(28, step.value);
      w.csrw(CSR.satp, 28);
      if (step.isFenced) w.put(SFENCE);
      break;
    case 'store':
      for (const [i, word] of step.words.entries()) w.poke(step.at + 4 * i, word, 'sw');
      if (step.fence === 'sfence') w.put(SFENCE);
      if (step.fence === 'fence.i') w.put(e('fence.i', {}));
      if (step.fence === 'sfence-page') {
        w.li(28, step.va);
        w.put(e('sfence.vma', { rs1: 28, rs2: 0 }));
      }
      break;
    case 'dma': {
      const buffer = EDU_BUFFER + step.from;
      w.poke(EDU + 0x80, step.out ? step.at : buffer);
      w.poke(EDU + 0x88, step.out ? buffer : step.at);
      w.poke(EDU + 0x90, step.bytes);
      w.poke(EDU + 0x98, step.out ? 1 : 3);
      break;
    }
    case 'virtio':
      writeVirtio(w, step);
      break;
    case 'fw_cfg':
      writeFwCfg(w, step);
      break;
    case 'pmp': {
      w.li(28, step.address);
      w.csrw(CSR.pmpaddr0 + step.index, 28);
      w.li(28, 0xffn << BigInt(8 * step.index));
      w.csrc(CSR.pmpcfg0, 28);
      w.li(28, BigInt(step.config) << BigInt(8 * step.index));
      w.csrs(CSR.pmpcfg0, 28);
      if (step.isFenced) w.put(SFENCE);
      break;
    }
    case 'status':
      w.li(28, step.set);
      w.csrs(CSR.mstatus, 28);
      w.li(28, step.clear);
      w.csrc(CSR.mstatus, 28);
      break;
    case 'delegate':
      w.li(28, step.value);
      w.csrw(CSR.medeleg, 28);
      break;
    case 'ipi':
      w.poke(MSIP + 4 * step.target, step.value, 'sw');
      break;
    case 'nap':
      writeTimer(w, step.hart, step.delta);
      w.li(28, MTIE);
      w.csrw(CSR.mie, 28);
      w.put(WFI);
      w.csrw(CSR.mie, 0);
      break;
    case 'interrupts':
      writeTimer(w, step.hart, step.delta);
      w.li(28, step.mie);
      w.csrw(CSR.mie, 28);
      w.put(e('csrrsi', { rd: 0, rs1: MIE, imm: CSR.mstatus }));
      break;
    case 'call': {
      if (hasCsrs) writeStatus(w);
      w.li(8, step.times);
      for (const [i, base] of step.bases.entries()) w.li(16 + i, base);
      w.li(20, step.entry);
      // Functions are called at their distance from the snippet, wherever it is mapped.
      w.li(9, step.at + FUNCTION_AT[step.times % FUNCTION_AT.length]! - SNIPPET_AT[step.snippet]!);
      w.li(28, MPP);
      w.csrc(CSR.mstatus, 28);
      const mode = step.mode === 3 && step.mprv >= 0 ? step.mprv : step.mode;
      w.li(28, mode << 11);
      w.csrs(CSR.mstatus, 28);
      w.li(28, step.at);
      w.csrw(CSR.mepc, 28);
      if (step.mode !== 3) {
        w.put(MRET);
        break;
      }
      // The registers of the jump are set before MPRV, which translates no fetch.
      if (step.mprv >= 0) {
        w.li(7, MPRV);
        w.csrs(CSR.mstatus, 7);
      }
      w.put(e('jalr', { rd: 0, rs1: 28, imm: 0 }));
    }
  }
}

/** x27 = rotate(x27, 5) ^ csr. */
function mix(w: Writer, csr: number): void {
  w.put(e('slli', { rd: 30, rs1: 27, imm: 5 }), e('srli', { rd: 27, rs1: 27, imm: 59 }));
  w.put(e('or', { rd: 27, rs1: 27, rs2: 30 }), e('csrrs', { rd: 30, rs1: 0, imm: csr }));
  w.put(e('xor', { rd: 27, rs1: 27, rs2: 30 }));
}

function writeHandler(w: Writer): void {
  w.put(e('lui', { rd: 31, imm: MPRV }), e('csrrc', { rd: 29, rs1: 31, imm: CSR.mstatus }));
  for (const csr of [CSR.mcause, CSR.mepc, CSR.mtval]) mix(w, csr);
  w.put(e('csrrs', { rd: 30, rs1: 0, imm: CSR.mcause }), e('blt', { rs1: 30, rs2: 0, imm: 4 * 6 }));
  // An exception: on to the next step, in M.
  w.put(e('csrrs', { rd: 30, rs1: 0, imm: CSR.mscratch }), e('csrrw', { rd: 0, rs1: 30, imm: CSR.mepc }));
  w.put(e('lui', { rd: 30, imm: 0x2000 }), e('addi', { rd: 30, rs1: 30, imm: -2048 }));
  w.put(e('jal', { rd: 0, imm: 4 * 3 }));
  // An interrupt: none from now on, and back, with MPRV as it was.
  w.put(e('csrrwi', { rd: 0, rs1: 0, imm: CSR.mie }), e('and', { rd: 30, rs1: 29, rs2: 31 }));
  w.put(e('csrrs', { rd: 0, rs1: 30, imm: CSR.mstatus }), MRET);
}

/** The steps of a hart, so many rounds, and its registers to the results. */
function writeSteps(w: Writer, program: PrivilegedProgram, hart: number): void {
  const { steps, rounds } = program;
  w.li(26, rounds);
  const loop = w.here;
  for (const step of steps) {
    if (step.hart !== hart) continue;
    const at = w.words.length;
    w.put(0, 0, 0);
    writeStep(w, step, program);
    const distance = 4 * (w.words.length - at);
    w.words[at] = e('auipc', { rd: 28, imm: 0 });
    w.words[at + 1] = e('addi', { rd: 28, rs1: 28, imm: distance });
    w.words[at + 2] = e('csrrw', { rd: 0, rs1: 28, imm: CSR.mscratch });
  }
  w.put(e('addi', { rd: 26, rs1: 26, imm: -1 }), e('beq', { rs1: 26, rs2: 0, imm: 8 }));
  w.put(e('jal', { rd: 0, imm: loop - w.here }));
  w.csrw(CSR.mie, 0);
  w.li(28, RESULTS + RESULT_BYTES * hart);
  for (const [i, reg] of [10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 27].entries())
    w.put(e('sd', { rs1: 28, rs2: reg, imm: 8 * i }));
}

/** The bytes from RAM on; IMAGE_BYTES of them. The run ends through the finisher, by hart 0. */
export function buildPrivileged(program: PrivilegedProgram): Uint8Array {
  const w = new Writer();
  const others: { hart: number; jump: number }[] = [];
  w.put(0); // to the start, behind the handler
  const handler = w.here;
  writeHandler(w);
  w.words[0] = e('jal', { rd: 0, imm: w.here - RAM });
  w.li(28, handler);
  w.csrw(CSR.mtvec, 28);
  w.li(28, S_HANDLER);
  w.csrw(CSR.stvec, 28);
  // PMP: all of memory for everyone, below entries 1 to 3 in effect because entry 7 is the last.
  if (program.isPortable) {
    // Entry 0: nobody below M stores to code.
    w.li(28, ROOTS / 4);
    w.csrw(CSR.pmpaddr0, 28);
  }
  w.li(28, -1);
  w.csrw(CSR.pmpaddr0 + 7, 28);
  w.li(28, (0x1fn << 56n) | (program.isPortable ? 0x0dn : 0n));
  w.csrw(CSR.pmpcfg0, 28);
  w.li(28, FS);
  w.csrs(CSR.mstatus, 28);
  for (let reg = 1; reg < 32; reg++) w.put(e('addi', { rd: reg, rs1: 0, imm: reg }));
  for (let hart = 1; hart < program.harts; hart++) {
    w.put(e('csrrs', { rd: 5, rs1: 0, imm: CSR.mhartid }), e('addi', { rd: 5, rs1: 5, imm: -hart }));
    w.put(e('bne', { rs1: 5, rs2: 0, imm: 8 }));
    const jump = w.words.length;
    w.put(0);
    others.push({ hart, jump });
  }
  writeSteps(w, program, 0);
  w.poke(FINISHER, 0x5555, 'sw');
  w.put(e('jal', { rd: 0, imm: 0 }));
  for (const { hart, jump } of others) {
    w.words[jump] = e('jal', { rd: 0, imm: 4 * (w.words.length - jump) });
    writeSteps(w, program, hart);
    w.put(WFI, e('jal', { rd: 0, imm: -4 }));
  }
  if (4 * w.words.length > CODE_BYTES) throw new Error(`${w.words.length} words of steps: too many`);
  return place(program, w.words);
}

function place(program: PrivilegedProgram, code: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(IMAGE_BYTES);
  const view = new DataView(bytes.buffer);
  const put = (at: number, words: readonly number[]): void => {
    for (const [i, word] of words.entries()) view.setUint32(at - RAM + 4 * i, word, true);
  };
  put(RAM, code);
  put(S_HANDLER, [e('addi', { rd: 15, rs1: 15, imm: 1 }), ECALL]);
  bytes.set(program.data, DATA - RAM);
  for (const [at, value] of program.tables) view.setBigUint64(at - RAM, value, true);
  for (const [i, body] of program.functions.entries())
    put(FUNCTION_AT[i]!, [...body, e('jalr', { rd: 0, rs1: 1, imm: 0 })]);
  for (const [i, body] of program.snippets.entries()) {
    const back = [
      e('addi', { rd: 8, rs1: 8, imm: -1 }),
      e('bne', { rs1: 8, rs2: 0, imm: -4 * (body.length + 1) }),
    ];
    put(SNIPPET_AT[i]!, [...body, ...back, ECALL]);
  }
  return bytes;
}

/** Steps, and the instructions of the snippets that they call. */
export function listPrivileged(program: PrivilegedProgram): string {
  const text = (value: unknown): string =>
    JSON.stringify(value, (_, v) =>
      typeof v === 'bigint' || (typeof v === 'number' && v > 9999) ? `0x${v.toString(16)}` : v,
    );
  const lines = program.steps.map(step => text(step));
  const used = new Set(program.steps.flatMap(step => (step.kind === 'call' ? [step.snippet] : [])));
  for (const i of used) {
    lines.push(`snippet ${i} at 0x${SNIPPET_AT[i]!.toString(16)}:`);
    for (const word of program.snippets[i]!) {
      const insn = decode(word);
      lines.push(`  ${insn ? disassemble(insn, 0n) : `0x${word.toString(16)}`}`);
    }
  }
  return [`${program.rounds} rounds`, ...lines].join('\n');
}
