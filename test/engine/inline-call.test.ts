// Inlined calls work for any function with a descriptor: here a probe that counts in guest memory,
// as a tracer would insert one. Compiled code counts itself and has the same effects as the
// interpreter, unless the code is not as announced.

import { beforeEach, describe, expect, test } from 'vitest';
import { InterpEngine } from '../../emulator/engine/engine.ts';
import type { InlineCall, InlineHelper } from '../../emulator/engine/jit/inline-call.ts';
import { Jit } from '../../emulator/engine/jit/jit.ts';
import { HEAT_EAGER, MOST_EARLY } from '../../emulator/engine/jit/policy/heat.ts';
import { encode as e } from '../../emulator/isa/index.ts';
import { I32 } from '../../emulator/wasm/module.ts';
import { type EngineFactory, Flat, flatWithJit, interpreter, RAM_BASE } from '../support/flat.ts';
import { COUNTER, PROBE_WORDS as probe, probeCall } from '../support/probe.ts';

const PROBE = RAM_BASE + 0x1000;
const OTHER = RAM_BASE + 0x3000;
const ROUNDS = 2000;
const [RA, T1] = [1, 6];

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

const onSite = (behind: bigint): void => void sites.push(behind);

/** The JIT with one inlined call. */
const inlining =
  (call: InlineCall, announce?: (jit: Jit) => void): EngineFactory =>
  (ram, harts, area) => {
    const regions = new Jit(ram, { base: area.base + InterpEngine.areaBytes(area.pages), heat: HEAT_EAGER });
    const engine = new InterpEngine(ram, harts, area, { jit: regions });
    regions.attach(engine);
    regions.setInlineCalls('probe', [call]);
    announce?.(regions);
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
    const inlined = run(inlining(probeCall(PROBE, { onSite })));
    expect(observed(inlined)).toEqual(observed(run(interpreter)));
    expect(sites).toContain(BigInt(RAM_BASE + 4));
    expect(sites).toContain(BigInt(RAM_BASE + 16));
    expect(inlined.ram.read64(COUNTER)).toBe(BigInt(2 * ROUNDS));
  });

  test('is executed inline beside those of another owner, which come and go', () => {
    const announce = (jit: Jit): void => {
      jit.setInlineCalls('other', [probeCall(OTHER, { onSite })]);
      jit.setInlineCalls('other', []);
    };
    expect(observed(run(inlining(probeCall(PROBE, { onSite }), announce)))).toEqual(
      observed(run(interpreter)),
    );
    expect(sites).toContain(BigInt(RAM_BASE + 4));
  });

  test('is not, when its code is not what was announced', () => {
    const wrong = probeCall(PROBE, { onSite, words: probe(PROBE, 2) });
    expect(observed(run(inlining(wrong)))).toEqual(observed(run(interpreter)));
    expect(sites).toEqual([]);
  });

  test('is not, when its address leads to other code than was compared', () => {
    const change: Change = { after: 0, change: flat => flat.load(probe(PROBE, 3), PROBE) };
    const elsewhere = probeCall(PROBE, { onSite, pa: OTHER });
    expect(observed(run(inlining(elsewhere), change))).toEqual(observed(run(interpreter, change)));
    expect(sites).not.toEqual([]);
  });

  describe('has a helper', () => {
    let called = 0;
    /** Callers make real calls; the helper does nothing. */
    const helped = (call: InlineCall): InlineCall => {
      const count = (): number => {
        called++;
        return 0;
      };
      const helper: InlineHelper = { params: [], results: [I32], call: count };
      const family = { ...call.family, accepts: () => false };
      return { ...call, family, helper: () => helper, callHelper: (c, index) => void c.call(index) };
    };
    beforeEach(() => {
      called = 0;
    });

    test('that is asked when it is called', () => {
      expect(observed(run(inlining(helped(probeCall(PROBE)))))).toEqual(observed(run(interpreter)));
      expect(called).toBeGreaterThan(ROUNDS);
    });

    test('that is not, when its address leads to other code than was compared', () => {
      const change: Change = { after: 0, change: flat => flat.load(probe(PROBE, 3), PROBE) };
      const elsewhere = helped(probeCall(PROBE, { pa: OTHER }));
      expect(observed(run(inlining(elsewhere), change))).toEqual(observed(run(interpreter, change)));
      expect(called).toBe(0);
    });
  });

  test.each([true, false])('is compiled at its first ticks if it asks the host: %s', asksHost => {
    const { flat, jit } = flatWithJit({});
    flat.load(probe(PROBE), PROBE);
    flat.load(LOOP);
    jit.setInlineCalls('probe', [{ ...probeCall(PROBE), asksHost: () => asksHost }]);
    flat.hart.mmu.pmp.open();
    flat.setX(9, BigInt(ROUNDS));
    flat.setX(18, BigInt(COUNTER));
    flat.run(16 * ROUNDS - 3);
    expect(jit.stats.regions).toBe(asksHost ? 1 : 0);
    expect(flat.ram.read64(COUNTER)).toBe(BigInt(2 * ROUNDS));
  });

  // Compiling costs the host as much as some 10,000 instructions. `pa`: of the announced code; the
  // code that runs is another one if the two lie apart.
  test.each([PROBE, OTHER])('is not compiled without end if its page is stored to, announced at %i', pa => {
    const { flat, jit } = flatWithJit({});
    const at = pa === PROBE ? PROBE : RAM_BASE + 0x1800;
    flat.load(probe(PROBE), pa);
    if (at !== PROBE) flat.load([e('jalr', { rd: 0, rs1: RA })], at);
    flat.load([
      e('addi', { rd: 9, rs1: 0, imm: 200 }),
      e('jal', { rd: RA, imm: at - RAM_BASE - 4 }),
      e('addi', { rd: 9, rs1: 9, imm: -1 }),
      e('bne', { rs1: 9, rs2: 0, imm: -8 }),
      e('sd', { rs1: 19, rs2: 0, imm: 0 }),
      e('jal', { rd: 0, imm: -20 }),
    ]);
    const call = { ...probeCall(PROBE, { pa }), address: BigInt(at), asksHost: () => true };
    jit.setInlineCalls('probe', [call]);
    flat.hart.mmu.pmp.open();
    flat.setX(19, BigInt(PROBE + 0xf00));
    flat.run(1_000_000);
    expect(jit.stats.modules).toBeLessThan(MOST_EARLY + 10);
  });

  test('is no more, once its code has changed', () => {
    const change: Change = { after: 10_000, change: flat => flat.load(probe(PROBE, 5), PROBE) };
    expect(observed(run(inlining(probeCall(PROBE, { onSite })), change))).toEqual(
      observed(run(interpreter, change)),
    );
    expect(sites).not.toEqual([]);
  });
});
