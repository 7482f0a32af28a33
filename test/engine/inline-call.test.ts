// Inlined calls are open to anybody who can say what a function does: here a probe that counts in guest memory, as a tracer would
// plant one. Compiled code counts by itself and leaves what the interpreter leaves, unless the code is not what was announced.

import { beforeEach, describe, expect, test } from 'vitest';
import { InterpEngine } from '../../emulator/engine/engine.ts';
import type { InlineCall, InlineContext, InlineEmitter } from '../../emulator/engine/jit/inline-call.ts';
import { Jit } from '../../emulator/engine/jit/jit.ts';
import { HEAT_EAGER } from '../../emulator/engine/jit/policy/heat.ts';
import { encode as e } from '../../emulator/isa/index.ts';
import { I32 } from '../../emulator/wasm/module.ts';
import { type EngineFactory, Flat, interpreter, RAM_BASE } from '../support/flat.ts';

const PROBE = RAM_BASE + 0x1000;
const OTHER = RAM_BASE + 0x3000;
const COUNTER = RAM_BASE + 0x2_0000;
const ROUNDS = 2000;
const [RA, T0, T1] = [1, 5, 6];

/** Counts in the word at COUNTER; five instructions. */
const probe = (at: number, step = 1): number[] => [
  e('auipc', { rd: T0, imm: COUNTER - at }),
  e('ld', { rd: T1, rs1: T0, imm: 0 }),
  e('addi', { rd: T1, rs1: T1, imm: step }),
  e('sd', { rs1: T0, rs2: T1, imm: 0 }),
  e('jalr', { rd: 0, rs1: RA, imm: 0 }),
];

/** Two calls a round, one behind a store; x9 counts down. */
const LOOP = [
  e('jal', { rd: RA, imm: PROBE - RAM_BASE }),
  e('sd', { rs1: 18, rs2: 9, imm: 8 }),
  e('add', { rd: 10, rs1: 10, rs2: T1 }),
  e('jal', { rd: RA, imm: PROBE - RAM_BASE - 12 }),
  e('addi', { rd: 9, rs1: 9, imm: -1 }),
  e('bne', { rs1: 9, rs2: 0, imm: -20 }),
];

/** Where compiled code was given an inline form. */
let sites: bigint[] = [];
beforeEach(() => {
  sites = [];
});

class ProbeEmitter implements InlineEmitter {
  readonly #o: InlineContext;

  constructor(context: InlineContext) {
    this.#o = context;
  }

  enter(): void {}
  release(): void {}

  site(_call: InlineCall, { behind, generic }: { behind: bigint; generic(): void }): void {
    sites.push(behind);
    const { c, x, ic, isVerified, ram } = this.#o;
    const at = c.local(I32);
    const done = c.block();
    const real = c.block();
    c.local_get(isVerified).i32_eqz().br_if(real, 'unlikely');
    c.i32_const(0)
      .i32_load8_u(ram.codeMap + (COUNTER - ram.base) / 4096)
      .br_if(real, 'unlikely');
    c.i32_const(ram.hostBase + COUNTER - ram.base).local_set(at);
    c.i64_const(COUNTER).local_set(x[T0]!);
    c.local_get(at).local_get(at).i64_load().i64_const(1).i64_add().local_tee(x[T1]!).i64_store();
    c.local_get(ic).i32_const(5).i32_sub().local_set(ic);
    c.br(done).end();
    generic();
    c.end();
    c.release(at);
  }
}

const announced = (pa = PROBE, words: readonly number[] = probe(PROBE)): InlineCall => ({
  ...{ address: BigInt(PROBE), pa, words, reads: 0, writes: (1 << T0) | (1 << T1), cost: 5 },
  family: { accepts: () => true, begin: context => new ProbeEmitter(context) },
});

/** The JIT with one inlined call. */
const inlining =
  (call: InlineCall): EngineFactory =>
  (ram, harts, area) => {
    const regions = new Jit(ram, { base: area.base + InterpEngine.areaBytes(area.pages), heat: HEAT_EAGER });
    const engine = new InterpEngine(ram, harts, area, { jit: regions });
    regions.attach(engine);
    regions.setInlineCalls([call]);
    return engine;
  };

interface Change {
  /** After so many instructions, ... */
  readonly after: number;
  readonly change: (flat: Flat) => void;
}

function run(engine: EngineFactory, { after, change }: Change = { after: 0, change: () => {} }): Flat {
  // The code is there before the call is announced.
  const flat = new Flat({
    engine: (ram, harts, area) => {
      for (const [at, words] of [
        [PROBE, probe(PROBE)],
        [OTHER, probe(PROBE)],
        [RAM_BASE, LOOP],
      ] as const)
        for (const [i, word] of words.entries()) ram.write32(at + 4 * i, word);
      return engine(ram, harts, area);
    },
  });
  flat.hart.mmu.pmp.open();
  flat.setX(9, BigInt(ROUNDS));
  flat.setX(18, BigInt(COUNTER));
  flat.run(after);
  change(flat);
  flat.run(16 * ROUNDS - after - 3);
  return flat;
}

const observed = (flat: Flat) => ({
  pc: flat.pc,
  x: Array.from({ length: 32 }, (_, i) => flat.x(i)),
  words: [flat.ram.read64(COUNTER), flat.ram.read64(COUNTER + 8)],
});

describe('a counting probe', () => {
  test('is executed inline and leaves what the interpreter leaves', () => {
    const inlined = run(inlining(announced()));
    expect(observed(inlined)).toEqual(observed(run(interpreter)));
    expect(sites).toContain(BigInt(RAM_BASE + 4));
    expect(sites).toContain(BigInt(RAM_BASE + 16));
    expect(inlined.ram.read64(COUNTER)).toBe(BigInt(2 * ROUNDS));
  });

  test('is not, when its code is not what was announced', () => {
    const wrong = announced(PROBE, probe(PROBE, 2));
    expect(observed(run(inlining(wrong)))).toEqual(observed(run(interpreter)));
    expect(sites).toEqual([]);
  });

  test('is not, when its address leads to other code than was compared', () => {
    const change: Change = { after: 0, change: flat => flat.load(probe(PROBE, 3), PROBE) };
    const elsewhere = announced(OTHER);
    expect(observed(run(inlining(elsewhere), change))).toEqual(observed(run(interpreter, change)));
    expect(sites).not.toEqual([]);
  });

  test('is no more, once its code has changed', () => {
    const change: Change = { after: 10_000, change: flat => flat.load(probe(PROBE, 5), PROBE) };
    expect(observed(run(inlining(announced()), change))).toEqual(observed(run(interpreter, change)));
    expect(sites).not.toEqual([]);
  });
});
