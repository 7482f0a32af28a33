// Every CSR number and the writable bits of every CSR, against QEMU: which registers exist in
// M-mode, what they read after reset-like writes of all ones, all zeros and single bits. If QEMU
// differs from the manual, or both choices are legal, a row gives the reason; a row that is not
// needed fails.

import { describe, expect, test } from 'vitest';
import { parseCpu, qemuCpu } from '../../emulator/index.ts';
import { CSRS } from '../../emulator/isa/csr.ts';
import { BLOCK_LOG, BLOCK_TRAPS, buildImage, type Image } from '../support/oracle/image.ts';
import { kcovboxRunner } from '../support/oracle/kcovbox.ts';
import type { Piece, Program } from '../support/oracle/program.ts';
import { QEMU, qemuRunner, runnerOf } from '../support/oracle/qemu.ts';
import { QEMU_NEW } from '../support/oracle/qemu-new.ts';
import { missing } from '../support/tools.ts';

/** x2 points to the data area; each program may trap up to the length of its log. */
function program(pieces: Piece[], x: readonly bigint[] = []): Program {
  return {
    pieces,
    x: Array.from({ length: 32 }, (_unused, n) => x[n] ?? 0n),
    f: new Array(32).fill(0n),
    fcsr: 0,
    pointers: new Map([[2, 0]]),
    data: new Uint8Array(4096),
    rounds: 1,
  };
}

const piece = (name: Piece['name'], operands: Piece['operands']): Piece => ({
  id: 0,
  name,
  operands,
  short: false,
});

// ---- existence ----

const PER_PROGRAM = 16;

const range = (first: number, count: number): number[] =>
  Array.from({ length: count }, (_unused, n) => first + n);

const chunks = (numbers: readonly number[]): number[][] =>
  range(0, numbers.length / PER_PROGRAM).map(n => numbers.slice(n * PER_PROGRAM, (n + 1) * PER_PROGRAM));

const readAll = (numbers: readonly number[]): Program =>
  program(numbers.map(imm => piece('csrrs', { rd: 5, imm })));

/** Indices of the reads, of PER_PROGRAM each, that did not trap. */
function readable(image: Image, memory: Uint8Array): Set<number> {
  const view = new DataView(memory.buffer);
  const found = new Set<number>();
  image.blocks.forEach((block, index) => {
    const trapped = new Set<bigint>();
    const count = Number(view.getBigUint64(block + BLOCK_TRAPS, true));
    for (let n = 0; n < count; n++) trapped.add(view.getBigUint64(block + BLOCK_LOG + n * 32 + 16, true));
    for (let n = 0; n < PER_PROGRAM; n++) {
      if (!trapped.has(image.entries[index]! + BigInt(n * 4))) found.add(index * PER_PROGRAM + n);
    }
  });
  return found;
}

/** CSRs of QEMU's CPU that the board's hart does not have, or the other way about. */
const ONLY_ONE_HAS = new Map([
  [0x24d, 'vstimecmp: of the hypervisor extension; QEMU 7.2 has it even without'],
  [0x7a4, 'tinfo: there are no triggers (isa/csr.ts)'],
]);

// ---- writable bits ----

const PATTERNS: readonly bigint[] = [
  0xffff_ffff_ffff_ffffn,
  0n,
  0x5555_5555_5555_5555n,
  0xaaaa_aaaa_aaaa_aaaan,
  0xffff_ffff_0000_0000n,
  0x0000_0000_ffff_ffffn,
  0x0123_4567_89ab_cdefn,
];

interface Freedom {
  readonly csr: RegExp;
  /** Bits that may differ. */
  readonly bits: bigint;
  readonly why: string;
}

const ALL = (1n << 64n) - 1n;
const FREEDOMS: readonly Freedom[] = [
  { csr: /^m?(cycle|instret)$|^time$/, bits: ALL, why: 'QEMU counts host time' },
  { csr: /^m(arch|imp)id$/, bits: ALL, why: 'another implementation' },
  {
    csr: /^mcountinhibit$/,
    bits: 0xffff_ffff_0000_0002n,
    why: 'a 32-bit register without TM (Priv §3.1.12)',
  },
  {
    csr: /^[ms]counteren$/,
    bits: 0xffff_ffffn << 32n,
    why: 'a 32-bit register (Priv §3.1.11); QEMU keeps 64',
  },
  { csr: /^[ms]status$/, bits: 3n << 32n, why: 'UXL is WARL: here only 2, QEMU stores any value' },
  { csr: /^[ms]status$/, bits: 0x640n, why: 'UBE, VS: neither big-endian nor vectors here' },
  { csr: /^mstatus$/, bits: 0xc1n << 32n, why: 'MPV, GVA, SBE, MBE and the like of QEMU' },
  { csr: /^mstatus$/, bits: 0x1800n, why: 'MPP = 2 is reserved: here the old value stays' },
  {
    csr: /^[ms]envcfg$/,
    bits: 0x30n,
    why: 'CBIE = 2 is reserved: here the old value stays',
  },
  { csr: /^menvcfg$/, bits: 1n << 62n, why: 'PBMTE is set at reset here, as in QEMU 8' },
  { csr: /^menvcfg$/, bits: 1n << 61n, why: 'ADUE of Svadu, which QEMU 7.2 does not have' },
  { csr: /^[ms]epc$/, bits: 1n, why: 'bit 0 is always zero (Priv §3.1.14); QEMU 7.2 keeps it' },
  { csr: /^satp$/, bits: ALL, why: 'mode 10 is Sv57, which QEMU has' },
  {
    csr: /^medeleg$/,
    bits: 0xf0_0c00n,
    why: 'M-mode calls cannot be delegated (Priv §3.1.8); others are of H',
  },
  { csr: /^mi(deleg|e)$/, bits: 0x2444n, why: 'interrupts of the hypervisor extension' },
  { csr: /^mip$/, bits: 0x24e4n, why: 'the same, and the timer comparators are 0 at reset on QEMU' },
  {
    csr: /^pmpcfg[02]$/,
    bits: 0x6060_6060_6060_6060n,
    why: 'bits 6:5 are zero (Priv §3.7.1); QEMU keeps them',
  },
];

/** Writes each pattern and stores what is read back; restores the register. */
function probe(number: number): Program {
  const pieces: Piece[] = [piece('csrrs', { rd: 5, imm: number }), piece('sd', { rs1: 2, rs2: 5 })];
  PATTERNS.forEach((_pattern, index) => {
    pieces.push(
      piece('csrrw', { rs1: 8 + index, imm: number }),
      piece('csrrs', { rd: 6, imm: number }),
      piece('sd', { rs1: 2, rs2: 6, imm: 8 + index * 8 }),
    );
  });
  pieces.push(piece('csrrw', { rs1: 5, imm: number }));
  return program(pieces, [...new Array(8).fill(0n), ...PATTERNS]);
}

const text = (value: bigint): string => value.toString(16).padStart(16, '0');

describe.skipIf(missing('qemu-system-riscv64', QEMU))('csrs are those of qemu', () => {
  const ours = kcovboxRunner('interp');

  test('the same numbers exist', () => {
    const image = buildImage(chunks(range(0, 4096)).map(readAll));
    const theirs = readable(image, qemuRunner.run(image));
    const mine = readable(image, ours.run(image));
    const differ = [...Array(4096).keys()].filter(n => theirs.has(n) !== mine.has(n));
    expect(differ).toEqual([...ONLY_ONE_HAS.keys()]);
    expect([...mine]).toEqual(CSRS.map(row => row.number).sort((a, b) => a - b));
  });

  test.skipIf(!QEMU_NEW)('without zihpm, the same counters exist', () => {
    const numbers = [0x320, 0xb00, 0xc00].flatMap(first => range(first, 32));
    const image = buildImage(chunks(numbers).map(readAll));
    const cpu = 'rv64,zihpm=off';
    const names = (memory: Uint8Array): string[] =>
      [...readable(image, memory)].map(n => numbers[n]!.toString(16));
    const theirs = names(runnerOf('new qemu', QEMU_NEW, qemuCpu(parseCpu(cpu), 10)).run(image));
    expect(names(kcovboxRunner('interp', cpu).run(image))).toEqual(theirs);
    expect(theirs).toContain('c02');
    expect(theirs).not.toContain('c03');
  });

  test('the same bits can be written', () => {
    // mscratch and mtvec belong to the harness; QEMU 7.2 aborts on some writes to triggers.
    const rows = CSRS.filter(row => !/^(mscratch|mtvec|tselect|tdata.)$/.test(row.name));
    const image = buildImage(rows.map(row => probe(row.number)));
    const theirs = qemuRunner.run(image);
    const mine = ours.run(image);
    const a = new DataView(theirs.buffer);
    const b = new DataView(mine.buffer);
    const used = new Set<Freedom>();
    const found: string[] = [];
    rows.forEach((row, index) => {
      const freedoms = FREEDOMS.filter(freedom => freedom.csr.test(row.name));
      const free = freedoms.reduce((bits, freedom) => bits | freedom.bits, 0n);
      for (let n = 0; n <= PATTERNS.length; n++) {
        const [x, y] = [a, b].map(v => v.getBigUint64(image.datas[index]! + n * 8, true)) as [bigint, bigint];
        for (const freedom of freedoms) if (((x ^ y) & freedom.bits) !== 0n) used.add(freedom);
        const pattern = n === 0 ? 'at reset' : `after ${text(PATTERNS[n - 1]!)}`;
        if (((x ^ y) & ~free) !== 0n) found.push(`${row.name} ${pattern}: qemu ${text(x)} ours ${text(y)}`);
      }
    });
    expect(found).toEqual([]);
    expect(FREEDOMS.filter(freedom => !used.has(freedom)).map(freedom => freedom.why)).toEqual([]);
  });
});
