// Lockstep of an engine with one that has a single fault: it must be found, at the right place.

import { describe, expect, test } from 'vitest';
import { type ExitReason, InterpEngine } from '../../emulator/engine/engine.ts';
import { Divergence, Lockstep, type Side } from '../../emulator/engine/lockstep.ts';
import type { Hart } from '../../emulator/hart/index.ts';
import { IC, INSTRET, X } from '../../emulator/hart/layout.ts';
import { encode as e } from '../../emulator/isa/index.ts';
import { type EngineFactory, Flat, RAM_BASE } from '../support/flat.ts';

/** x1 counts, x2 sums, every round stores the sum. */
const PROGRAM = [
  e('addi', { rd: 1, rs1: 1, imm: 1 }),
  e('add', { rd: 2, rs1: 2, rs2: 1 }),
  e('sd', { rs1: 3, rs2: 2, imm: 0 }),
  e('jal', { rd: 0, imm: -12 }),
];

/** An engine that does something wrong when it is about to execute instruction number `at`. */
class Faulty extends InterpEngine {
  readonly damage: { at: number; change: (hart: Hart) => void };

  constructor(args: ConstructorParameters<typeof InterpEngine>, at: number, change: (hart: Hart) => void) {
    super(...args);
    this.damage = { at, change };
  }

  override run(hart: Hart): ExitReason {
    const { state } = hart;
    const units = state.get(IC);
    const before = this.damage.at - Number(state.get64(INSTRET));
    if (before < 0 || before >= units) return super.run(hart);
    state.set(IC, before);
    if (before > 0) super.run(hart);
    this.damage.change(hart);
    state.set(IC, units - before);
    return super.run(hart);
  }
}

class FlatSide extends Flat implements Side<ExitReason> {
  spent = 0;
  readonly harts = [this.hart];

  constructor(engine?: EngineFactory) {
    super(engine ? { engine } : {});
    this.load(PROGRAM);
    this.setX(3, BigInt(RAM_BASE + 0x4000));
  }

  get time(): number {
    return this.spent;
  }

  override run(units: number): ExitReason {
    this.spent += units;
    return super.run(units);
  }
}

const faulty =
  (at: number, change: (hart: Hart) => void): EngineFactory =>
  (...args) =>
    new Faulty(args, at, change);

function lockstep(engine?: EngineFactory, start = 0): Lockstep<ExitReason> {
  const make = (index: 0 | 1): FlatSide => {
    const side = new FlatSide(index === 0 ? engine : undefined);
    if (start > 0) side.run(start);
    return side;
  };
  return new Lockstep(make(0), make(1), { names: ['fast', 'slow'], make, slice: 1000, checkpoint: 20_000 });
}

describe('lockstep', () => {
  test('equal engines run to the end', () => {
    const pair = lockstep();
    pair.run(100_000, () => true);
    expect(pair.subject.spent).toBe(100_000);
    expect(pair.reference.spent).toBe(100_000);
  });

  test('a wrong register is found at its instruction, with the instruction', () => {
    const pair = lockstep(faulty(12_345, hart => hart.state.set(X + 8, 7)));
    let found: Divergence | undefined;
    try {
      pair.run(100_000, () => true);
    } catch (error) {
      found = error as Divergence;
    }
    expect(found).toBeInstanceOf(Divergence);
    expect([found!.agreed, found!.differed]).toEqual([12_345, 12_346]);
    expect(found!.message).toMatch(/fast and slow differ after instruction 12346/);
    expect(found!.detail).toMatch(/12346 hart 0 0x80000004: add\s.*\n/);
    expect(found!.detail).toMatch(/hart 0 ra: fast 0x7, slow 0xc0f/);
  });

  test('a comparison that begins later is narrowed from there', () => {
    const pair = lockstep(
      faulty(42_345, hart => hart.ports.ram.write8(RAM_BASE + 0x5000, 1)),
      40_000,
    );
    expect(() => pair.run(30_000, () => true)).toThrow(
      expect.objectContaining({
        message: 'fast and slow differ after instruction 42346',
        detail: expect.stringMatching(/^the last.*\n {2}42323 hart 0 [\s\S]*\n {2}42346 hart 0 0x80000004/),
      }),
    );
  });

  test('wrong memory is found at the next checkpoint and narrowed, too', () => {
    const pair = lockstep(faulty(9_000, hart => hart.ports.ram.write8(RAM_BASE + 0x5000, 1)));
    expect(() => pair.run(100_000, () => true)).toThrow(
      expect.objectContaining({
        message: 'fast and slow differ after instruction 9001',
        detail: expect.stringContaining('memory at 0x80005000: fast 0x1, slow 0x0'),
      }),
    );
  });
});
