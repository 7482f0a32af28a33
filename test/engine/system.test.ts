// The fast paths of system instructions against the hart's own definition: the same random
// privileged state, the instruction once through the engine and once through Hart.system, then the
// windows must be equal byte for byte.

import { describe, expect, test } from 'vitest';
import * as L from '../../emulator/hart/layout.ts';
import { SUM } from '../../emulator/hart/mstatus.ts';
import { setPriv } from '../../emulator/hart/view.ts';
import { csrNamed, encode, type Mnemonic } from '../../emulator/isa/index.ts';
import { Flat, RAM_BASE } from '../support/flat.ts';
import { Random, seedFromEnvironment } from '../support/random.ts';

const SEED = seedFromEnvironment(12345);

const CSRS = [
  0x100, 0x100, 0x100, 0x300, 0x140, 0x141, 0x142, 0x143, 0x340, 0x341, 0x342, 0x343, 0x105, 0x304,
];
const NAMES: Mnemonic[] = ['csrrw', 'csrrs', 'csrrc', 'csrrwi', 'csrrsi', 'csrrci', 'ecall', 'sret', 'mret'];
/** Fields of mstatus that may be anything; MPP = 2 is impossible. */
const STATUS_BITS = 0x007e_79aa & ~0x1800;
/** Of mstatus: SIE, MIE, SPIE, MPIE, SPP, FS, MPRV, MXR, and SUM more often. */
const FIELDS = [2, 2, 2, 8, 0x20, 0x80, 0x100, 0x6000, 0x2_0000, 0x8_0000, SUM, SUM, SUM, SUM, SUM, SUM];

function randomise(flats: readonly Flat[], next: () => number): void {
  const wide = () => (BigInt(next()) << 32n) | BigInt(next());
  const status = (next() & next() & STATUS_BITS) | ([0, 1, 3][next() % 3]! << 11);
  const bits = FIELDS[next() % FIELDS.length]! | FIELDS[next() % FIELDS.length]!;
  const few = () => (next() % 2 ? next() & 0xaaa : next() & next() & next() & 0xaaa);
  const slots: [number, bigint][] = [
    [L.MSTATUS, BigInt(status)],
    [L.MEDELEG, BigInt(next() & 0xb3ff)],
    [L.MIDELEG, BigInt(next() & 0x222)],
    [L.MIE, BigInt(few())],
    [L.MIP, (BigInt(few()) << 32n) | BigInt(few() & 0x222)],
    ...[L.MTVEC, L.STVEC].map((slot): [number, bigint] => [slot, wide() & ~2n]),
    ...[L.MEPC, L.SEPC].map((slot): [number, bigint] => [slot, BigInt(RAM_BASE + 0x100 + (next() & 0xffe))]),
    ...['mcause', 'scause', 'mtval', 'stval', 'mscratch', 'sscratch'].map((name): [number, bigint] => [
      L.csrAt(csrNamed(name)),
      wide(),
    ]),
    ...Array.from({ length: 31 }, (_, i): [number, bigint] => [L.X + 8 * (i + 1), wide()]),
    [L.X + 8, BigInt(bits)],
    [L.X + 16, BigInt(next() % 3 === 0 ? next() : status ^ bits)],
  ];
  const priv = [0, 1, 1, 3][next() % 4]!;
  for (const flat of flats) {
    const s = flat.hart.state;
    for (const [slot, value] of slots) s.set64(slot, value);
    setPriv(s, priv);
    s.set(L.RECHECK, 0);
    flat.pc = BigInt(RAM_BASE);
  }
}

describe('system instructions', () => {
  test(`fast paths do what the hart does (seed ${SEED.toString(16)})`, () => {
    const random = new Random(SEED);
    const next = () => random.u32();
    const flats = [new Flat(), new Flat()] as const;
    for (const flat of flats) flat.hart.mmu.pmp.open();
    const [engine, direct] = flats;
    const image = (flat: Flat) => {
      const bytes = Buffer.from(new Uint8Array(flat.ram.memory.buffer, 0, L.CSR_END));
      return bytes.fill(0, L.LARGE_FIRST, L.WALK_M + 4).toString('hex');
    };
    let fastViews = 0;
    for (let i = 0; i < 8000; i++) {
      randomise(flats, next);
      const view = engine.hart.state.get(L.DATA_VIEW);
      const wasQuiet = direct.hart.pendingInterrupt() < 0;
      const name = NAMES[next() % NAMES.length]!;
      const isCsr = name.startsWith('csr');
      const operands = isCsr ? { rd: next() & 31, rs1: next() % 3, imm: CSRS[next() % CSRS.length]! } : {};
      const word = encode(name, operands);
      engine.load([word]);
      engine.run(1);
      const s = direct.hart.state;
      s.set(L.QUANTUM, 1);
      s.set(L.IC, 1);
      direct.hart.system(word);
      s.set64(L.INSTRET, s.get64(L.INSTRET) + 1n);
      s.set(L.QUANTUM, 0);
      s.set(L.IC, 0);
      // A fast path may leave RECHECK alone only when no interrupt is to be taken.
      if (wasQuiet && direct.hart.pendingInterrupt() >= 0) expect(engine.hart.state.get(L.RECHECK)).toBe(1);
      if (isCsr && engine.hart.state.get(L.RECHECK) === 0 && engine.hart.state.get(L.DATA_VIEW) !== view)
        fastViews++;
      // The guest cannot see the last trap.
      for (const flat of flats) {
        flat.hart.state.set(L.RECHECK, 0);
        flat.hart.state.set(L.TRAP_CAUSE, 0);
        flat.hart.state.set64(L.TRAP_TVAL, 0n);
        flat.hart.state.set64(L.SLOW_ARG, 0n);
        flat.hart.state.set64(L.SINK, 0n);
      }
      if (image(engine) !== image(direct))
        expect({ i, name, operands, ...show(engine) }).toEqual(show(direct));
    }
    // Changes of SUM without the host.
    expect(fastViews).toBeGreaterThan(100);
  });
});

/** All doublewords of the window that are not zero, by offset. */
function show(flat: Flat): Record<string, string> {
  const words: Record<string, string> = {};
  for (let at = 0; at < L.CSR_END; at += 8) {
    const value = flat.hart.state.get64(at);
    if (value !== 0n) words[`0x${at.toString(16)}`] = `0x${value.toString(16)}`;
  }
  return words;
}
