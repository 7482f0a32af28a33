// Processes with different code at the same addresses, in turn. Entry points wait for a batch that
// is compiled while another process runs, when the exec TLB does not know their code: none may be
// lost.

import { expect, test } from 'vitest';
import { HEAT_DEFAULT } from '../../emulator/engine/jit/policy/heat.ts';
import { type JitProfile, Machine, MIB } from '../../emulator/index.ts';
import { encode as e } from '../../emulator/isa/index.ts';

const RAM = 0x8000_0000;
const TABLES = RAM + MIB;
/** Where each process sees its own 2 MiB. */
const VA = 0x4000_0000;
const FUNCTIONS = 8;
const ITERATIONS = 50;
const [SATP, MTVEC, MEPC, MSTATUS] = [0x180, 0x305, 0x341, 0x300];
const [RA, T0, T1, A0, A1, S0, S1, S2, S3] = [1, 5, 6, 10, 11, 8, 9, 18, 19];
const ECALL = 0x73;
const MRET = 0x3020_0073;

const csrw = (csr: number, rs1: number): number => e('csrrw', { rd: 0, rs1, imm: csr });
const leaf = (pa: number): bigint => (BigInt(pa / 4096) << 10n) | 0xcfn;
const pointer = (pa: number): bigint => (BigInt(pa / 4096) << 10n) | 1n;
const rootOf = (process: number): number => TABLES + process * 0x2000;
const codeOf = (process: number): number => RAM + (1 + process) * 2 * MIB;

/**
 * In M: the next process in turn; its address space, and to S at VA. Traps come to the first
 * instruction.
 */
const SCHEDULER = [
  e('addi', { rd: S0, rs1: S0, imm: 1 }),
  e('bltu', { rs1: S0, rs2: S1, imm: 8 }),
  e('addi', { rd: S0, rs1: 0, imm: 0 }),
  e('slli', { rd: T0, rs1: S0, imm: 1 }),
  e('add', { rd: T0, rs1: T0, rs2: S2 }),
  csrw(SATP, T0),
  csrw(MEPC, S3),
  e('lui', { rd: T0, imm: 0x1000 }),
  e('addi', { rd: T0, rs1: T0, imm: -2048 }),
  e('csrrs', { rd: 0, rs1: T0, imm: MSTATUS }),
  MRET,
];

/** Calls each function once; `process` makes its code its own. */
function processCode(process: number): number[] {
  const body = [e('addi', { rd: A0, rs1: 0, imm: ITERATIONS }), e('addi', { rd: A1, rs1: A1, imm: process })];
  const loop = Array.from({ length: 30 }, (_, i) => e('addi', { rd: A1, rs1: A1, imm: process + i }));
  const fn = [
    ...body,
    ...loop,
    e('addi', { rd: A0, rs1: A0, imm: -1 }),
    e('bne', { rs1: A0, rs2: 0, imm: -4 * (loop.length + 1) }),
    e('jalr', { rd: 0, rs1: RA, imm: 0 }),
  ];
  const calls = Array.from({ length: FUNCTIONS }, (_, i) =>
    e('jal', { rd: RA, imm: 4 * (FUNCTIONS + 1 - i + i * fn.length) }),
  );
  return [...calls, ECALL, ...Array.from({ length: FUNCTIONS }, () => fn).flat()];
}

/** RAM up to the end of the last process's code. */
function image(processes: number): Uint8Array {
  const bytes = new Uint8Array(codeOf(processes) - RAM);
  const view = new DataView(bytes.buffer);
  const put = (at: number, words: readonly number[]): void => {
    for (const [i, word] of words.entries()) view.setUint32(at - RAM + 4 * i, word, true);
  };
  // S1: how many processes; S2: satp of the first; S3: VA. PMP allows all.
  const start = [
    e('addi', { rd: S0, rs1: 0, imm: -1 }),
    e('addi', { rd: S1, rs1: 0, imm: processes }),
    e('addi', { rd: S2, rs1: 0, imm: 8 }),
    e('slli', { rd: S2, rs1: S2, imm: 60 }),
    e('lui', { rd: T0, imm: (TABLES / 4096) & ~0xfff }),
    e('addi', { rd: T1, rs1: 0, imm: (TABLES / 4096) & 0xfff }),
    e('add', { rd: T0, rs1: T0, rs2: T1 }),
    e('add', { rd: S2, rs1: S2, rs2: T0 }),
    e('lui', { rd: S3, imm: VA }),
    e('addi', { rd: T0, rs1: 0, imm: -1 }),
    csrw(0x3b0, T0),
    e('addi', { rd: T0, rs1: 0, imm: 0x1f }),
    csrw(0x3a0, T0),
    e('auipc', { rd: T0, imm: 0 }),
    e('addi', { rd: T0, rs1: T0, imm: 12 }),
    csrw(MTVEC, T0),
  ];
  put(RAM, [...start, ...SCHEDULER]);
  for (let i = 0; i < processes; i++) {
    view.setBigUint64(rootOf(i) - RAM + 8, pointer(rootOf(i) + 0x1000), true);
    view.setBigUint64(rootOf(i) + 0x1000 - RAM, leaf(codeOf(i)), true);
    put(codeOf(i), processCode(i));
  }
  return bytes;
}

/** That all code was hot, so entry points wait for a batch before their code has been read. */
const BITS = new Uint8Array(256).fill(0xff);
const PROFILE: JitProfile = {
  mayBeHot: () => true,
  pageAt: () => ({ hot: BITS, reached: BITS }),
  compiled: () => {},
};

test.each([
  { processes: 2 },
  { processes: 4 },
  { processes: 8 },
  { processes: 2, profile: PROFILE },
  { processes: 4, profile: PROFILE },
  { processes: 8, profile: PROFILE },
])('all code of $processes processes is compiled', ({ processes, profile }) => {
  const machine = Machine.create({
    kernel: { name: 'processes.bin', bytes: image(processes) },
    bios: 'none',
    kcov: 'off',
    ramBytes: 32 * MIB,
    tuning: {
      heat: { ...HEAT_DEFAULT, ticksPerInsn: 1, arrivalsPerTick: 20, warmUpTicks: 0 },
      countUnits: true,
      ...(profile && { profile }),
    },
  });
  machine.run(processes * 1_000_000);
  const before = machine.jit!.units;
  machine.run(processes * 200_000);
  const share = (machine.jit!.units - before) / (processes * 200_000);
  const { deferred, regions } = machine.jit!.stats;
  console.log(`${processes} processes: ${deferred} deferred, ${regions} regions, ${share}`);
  expect(deferred).toBeGreaterThan(0);
  // The first round of a loop is interpreted, 2 %. One lost loop of 8 processes would be 1.6 %
  // more.
  expect(share).toBeGreaterThan(0.97);
});
