// Loads from devices in both engines: values of every width, exact time, and side effects of a
// read: an interrupt, a shorter quantum, a stop of the machine. Compiled regions continue after
// harmless loads and leave after the others.

import { describe, expect, test } from 'vitest';
import type { Device, Width } from '../../emulator/bus/device.ts';
import { EXIT } from '../../emulator/engine/engine.ts';
import { cause } from '../../emulator/hart/index.ts';
import * as L from '../../emulator/hart/layout.ts';
import { encode as e, type Mnemonic } from '../../emulator/isa/index.ts';
import { type EngineFactory, Flat, interpreter, jit, RAM_BASE } from '../support/flat.ts';

const DEVICE = 0x1000_0000;
const HANDLER = RAM_BASE + 0x400;
const ENGINES = [
  ['interpreter', interpreter],
  ['jit', jit],
] as const;

/** The side effect of reading an offset. */
type Effect = (flat: Flat) => void;

/** Answers with the time of the access and a pattern; remembers when it was read. */
class Strange implements Device {
  readonly name = 'strange';
  readonly widths: readonly Width[] = [1, 2, 4, 8];
  readonly flat: Flat;
  effect: Effect = () => {};
  /** The effect happens once in so many reads. */
  every = 7;
  reads = 0;
  /** Sum of the times of all reads, weighed by their order. */
  times = 0;

  constructor(flat: Flat) {
    this.flat = flat;
    flat.bus.add(this, DEVICE, 0x100);
  }

  read(offset: number, bytes: number): number {
    const s = this.flat.hart.state;
    const now = Number(s.get64(L.INSTRET)) + s.get(L.QUANTUM) - s.get(L.IC);
    this.times += now * (1 + (this.reads % 5));
    if (++this.reads % this.every === 0) this.effect(this.flat);
    return (((0x8bad_f00d + now * 0x0101_0101) ^ offset) >>> 0) & (bytes === 4 ? -1 : (1 << (8 * bytes)) - 1);
  }

  write(): void {
    this.reads += 1000;
  }
  reset(): void {}
  save(): unknown {
    return undefined;
  }
  load(): void {}
}

/** x8 = the device, x9 = RAM; loads of all widths are mixed into a sum in x5; x6 counts. */
const WIDTHS: readonly Mnemonic[] = ['lb', 'lbu', 'lh', 'lhu', 'lw', 'lwu', 'ld'];
const PROGRAM = [
  ...WIDTHS.flatMap((name, i) => [
    e(name, { rd: 7, rs1: 8, imm: 8 * i }),
    e('add', { rd: 5, rs1: 5, rs2: 7 }),
    e('slli', { rd: 7, rs1: 5, imm: 3 }),
    e('xor', { rd: 5, rs1: 5, rs2: 7 }),
  ]),
  e('sd', { rs1: 9, rs2: 5, imm: 0 }),
  e('addi', { rd: 6, rs1: 6, imm: 1 }),
];
const LOOP = [...PROGRAM, e('jal', { rd: 0, imm: -4 * PROGRAM.length })];

const QUANTA = [20_000, 1, 2, 3, 1000, 17, 4001, 29, 500, 30_000];

function run(engine: EngineFactory, effect: Effect) {
  const flat = new Flat({ engine });
  const device = new Strange(flat);
  device.effect = effect;
  flat.load(LOOP);
  // Counts in x20; disables the interrupt of the wire.
  flat.load(
    [e('addi', { rd: 20, rs1: 20, imm: 1 }), e('csrrw', { rd: 0, rs1: 0, imm: 0x304 }), e('mret')],
    HANDLER,
  );
  flat.setX(8, BigInt(DEVICE));
  flat.setX(9, BigInt(RAM_BASE + 0x8000));
  const s = flat.hart.state;
  s.set64(L.MTVEC, BigInt(HANDLER));
  s.set(L.MSTATUS, s.get(L.MSTATUS) | 8);
  const reasons: number[][] = [];
  for (let i = 0; s.get64(L.INSTRET) < 60_000n; i++) {
    s.set64(L.MIE, BigInt(cause.MTIP));
    const reason = flat.run(QUANTA[i % QUANTA.length]!);
    reasons.push([reason, Number(s.get64(L.INSTRET))]);
  }
  return {
    reasons,
    pc: flat.pc,
    x: Array.from({ length: 32 }, (_, i) => flat.x(i)),
    reads: device.reads,
    times: device.times,
    csrs: [L.MSTATUS, L.MEPC, L.MCAUSE, L.INSTRET, L.EXCEPTIONS].map(slot => s.get64(slot)),
  };
}

/** Bit 30 tells `sub` from `add`. */
const ADD_TO_SUB = 1 << 30;

const EFFECTS: Readonly<Record<string, Effect>> = {
  nothing: () => {},
  'an interrupt': flat => {
    flat.hart.setLine(cause.MTIP, false);
    flat.hart.setLine(cause.MTIP, true);
  },
  'a wire that is looked at and not taken': flat => {
    flat.hart.setLine(cause.MSIP, true);
    flat.hart.setLine(cause.MSIP, false);
  },
  'a shorter quantum': flat => {
    const s = flat.hart.state;
    const cut = Math.min(s.get(L.IC) - 1, 300);
    s.set(L.IC, s.get(L.IC) - cut);
    s.set(L.QUANTUM, s.get(L.QUANTUM) - cut);
  },
  'the end of the quantum': flat => {
    const s = flat.hart.state;
    const cut = s.get(L.IC) - 1;
    s.set(L.IC, 1);
    s.set(L.QUANTUM, s.get(L.QUANTUM) - cut);
  },
  'a store to the code behind each load': flat => {
    for (let i = 0; i < WIDTHS.length; i++) {
      const at = RAM_BASE + 4 * (4 * i + 1);
      flat.ram.write32(at, flat.ram.read32(at) ^ ADD_TO_SUB);
    }
  },
  'a stop': flat => flat.engine.requestExit(),
};

describe('a device that is read by compiled code', () => {
  test.each(Object.entries(EFFECTS))('with %s behaves as under the interpreter', (_name, effect) => {
    const expected = run(interpreter, effect);
    expect(run(jit, effect)).toEqual(expected);
    expect(expected.reads).toBeGreaterThan(100);
  });
});

describe.each(ENGINES)('refused accesses (%s)', (_name, engine) => {
  test.each([
    ['lw', 'store', cause.LOAD_ACCESS],
    ['sw', 'load', cause.STORE_ACCESS],
  ] as const)('%s of a width that the device lacks traps and is counted once', (name, _other, expected) => {
    const flat = new Flat({ engine });
    const device = new Strange(flat);
    Object.assign(device, { widths: [1] });
    flat.load([
      e('lbu', { rd: 7, rs1: 8, imm: 0 }),
      e('sb', { rs1: 8, rs2: 7, imm: 0 }),
      e(name, { rd: 7, rs1: 8, rs2: 7, imm: 0 }),
    ]);
    flat.setX(8, BigInt(DEVICE));
    flat.hart.state.set64(L.MTVEC, BigInt(HANDLER));
    expect(flat.run(3)).toBe(EXIT.spent);
    expect(flat.hart.state.get64(L.MCAUSE)).toBe(BigInt(expected));
    expect(flat.hart.state.get64(L.MEPC)).toBe(BigInt(RAM_BASE + 8));
    expect([flat.bus.faults, flat.bus.lastFault]).toEqual([1, DEVICE]);
  });
});
