// The bits A and D that the page-table walk sets are stores: their page is dirty, and so the hash
// of memory and the next snapshot have them.

import { expect, test } from 'vitest';
import { layout as L } from '../../emulator/hart/index.ts';
import { Machine, MIB, RAM_BASE } from '../../emulator/index.ts';
import { encode as e } from '../../emulator/isa/index.ts';

const PAGE = 4096;
const TABLES = RAM_BASE + MIB;
const LEAVES = TABLES + 2 * PAGE;
const DATA = TABLES + 8 * PAGE;
const VA = 0x4000_0000;
const [T0, T1, A0, A1] = [5, 6, 10, 11];
const [V, R, W, A, D] = [1, 2, 4, 64, 128];
const csrw = (csr: number, rs1: number): number => e('csrrw', { rd: 0, rs1, imm: csr });
const topBits = (rd: number, value: number, shift: number): number[] => [
  e('addi', { rd, rs1: 0, imm: value }),
  e('slli', { rd, rs1: rd, imm: shift }),
];

/** M-mode opens PMP, lets the walk set A and D, and accesses memory as S. */
const SETUP = [
  e('addi', { rd: T0, rs1: 0, imm: -1 }),
  csrw(0x3b0, T0), // pmpaddr0
  e('addi', { rd: T0, rs1: 0, imm: 0x1f }),
  csrw(0x3a0, T0), // pmpcfg0
  ...topBits(T0, 1, 61),
  csrw(0x30a, T0), // menvcfg.ADUE
  ...topBits(T0, 8, 60),
  e('lui', { rd: T1, imm: (TABLES / PAGE) & ~0xfff }),
  e('addi', { rd: T1, rs1: T1, imm: (TABLES / PAGE) & 0xfff }),
  e('add', { rd: T0, rs1: T0, rs2: T1 }),
  csrw(0x180, T0), // satp: Sv39
  e('lui', { rd: T0, imm: 0x2_1000 }),
  e('addi', { rd: T0, rs1: T0, imm: -2048 }),
  csrw(0x300, T0), // mstatus: MPRV, MPP = S
  e('lui', { rd: A0, imm: VA }),
];
const ACCESSES = [
  e('ld', { rd: A1, rs1: A0, imm: 0 }),
  e('sd', { rs1: A0, rs2: A1, imm: 0 }),
  e('jal', { rd: 0, imm: 0 }),
];

function image(): Uint8Array {
  const bytes = new Uint8Array(LEAVES + PAGE - RAM_BASE);
  const view = new DataView(bytes.buffer);
  for (const [i, word] of [...SETUP, ...ACCESSES].entries()) view.setUint32(4 * i, word, true);
  const entry = (at: number, pa: number, flags: number): void =>
    view.setBigUint64(at - RAM_BASE, (BigInt(pa / PAGE) << 10n) | BigInt(flags), true);
  entry(TABLES + 8 * (VA / 2 ** 30), TABLES + PAGE, V);
  entry(TABLES + PAGE, LEAVES, V);
  entry(LEAVES, DATA, V | R | W);
  return bytes;
}

test.each(['interp', 'jit'] as const)('the walk makes its table dirty (%s)', engine => {
  const kernel = { name: 'walk.bin', bytes: image() };
  const machine = Machine.create({ kernel, bios: 'none', ramBytes: 2 * MIB, engine });
  const { memoryHash, ram } = machine;
  const runTo = (pc: number): void => {
    while (machine.harts[0]!.state.get64(L.PC) !== BigInt(pc)) machine.run(1);
  };
  const page = (LEAVES - RAM_BASE) / PAGE;
  const load = RAM_BASE + 4 * SETUP.length;
  memoryHash.track();
  runTo(load);
  for (const [next, bits] of [
    [load + 4, A],
    [load + 8, A | D],
  ] as const) {
    const before = machine.snapshot();
    runTo(next);
    expect(ram.read8(LEAVES) & (A | D)).toBe(bits);
    expect([...memoryHash.dirtyPages]).toContain(page);
    const after = machine.snapshot();
    expect(after.pages.get(page)![0]).toBe(V | R | W | bits);
    machine.restore(before);
    expect(ram.read8(LEAVES)).toBe(before.pages.get(page)![0]);
    machine.restore(after);
    machine.snapshots.check();
  }
});
