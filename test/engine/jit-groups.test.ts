// Blocks with any number of address groups, up to the size limit of a region: each group has a host
// address of its own while it is open, and none may be taken for another, for a page cache or for
// what a coverage hook knows.

import { describe, expect, test } from 'vitest';
import * as L from '../../emulator/hart/layout.ts';
import { setPriv } from '../../emulator/hart/view.ts';
import { encode as e } from '../../emulator/isa/index.ts';
import { dose } from '../support/again.ts';
import { type EngineFactory, Flat, interpreter, jit, RAM_BASE } from '../support/flat.ts';
import { NO_TRACING } from '../support/shapes/hooks.ts';
import { compareEngines } from '../support/shapes/program.ts';

const TABLES = RAM_BASE + 0x1_0000;
const DATA = RAM_BASE + 0x2_0000;
/** M-mode that accesses memory as S. */
const MPRV_AS_S = (1 << 17) | (1 << 11);
const GIGAPAGE = (BigInt(RAM_BASE / 4096) << 10n) | 0xc7n;
const ROUNDS = 300;

const ld = (rd: number, rs1: number, imm: number) => e('ld', { rd, rs1, imm });
const addi = (rd: number, rs1: number, imm: number) => e('addi', { rd, rs1, imm });

/** Group `i` of a block: two loads, both of which count, and what begins the next group. */
const FAMILIES = {
  // The base moves on: 4 instructions a group.
  walk: (_i: number) => [
    ld(12, 14, 0),
    ld(13, 14, 8),
    e('add', { rd: 15, rs1: 15, rs2: 12 }),
    addi(14, 14, 16),
  ],
  // The base stays, but the next group is too far away to be the same: 2 instructions a group.
  stride: (i: number) => [ld(15, 14, 520 * (i % 4)), ld(13, 14, 520 * (i % 4) + 8)],
  // Several bases are open at once, and some groups are stored to.
  bases: (i: number) => {
    const base = 18 + (i % 9);
    return [
      ld(12, base, 0),
      e('sd', { rs1: base, rs2: 15, imm: 16 }),
      e('xor', { rd: 15, rs1: 15, rs2: 12 }),
      addi(base, base, 8),
    ];
  },
} as const;

/** One block in a loop: x11 counts down, x14 and x18 to x26 point to data, x15 and x10 collect. */
function loop(family: keyof typeof FAMILIES, groups: number): number[] {
  const bases = Array.from({ length: 9 }, (_, i) => addi(18 + i, 16, 200 * i));
  const body = [
    addi(14, 16, 0),
    ...bases,
    ...Array.from({ length: groups }, (_, i) => FAMILIES[family](i)).flat(),
    e('xor', { rd: 15, rs1: 15, rs2: 13 }),
    e('add', { rd: 10, rs1: 10, rs2: 15 }),
    addi(11, 11, -1),
  ];
  return [...body, e('beq', { rs1: 11, rs2: 0, imm: 8 }), e('jal', { rd: 0, imm: -4 * (body.length + 1) })];
}

function run(engine: EngineFactory, code: readonly number[], isTranslated: boolean): Flat {
  const flat = new Flat({ engine });
  flat.hart.mmu.pmp.open();
  flat.load(code);
  for (let i = 0; i < 2048; i++)
    flat.ram.write64(DATA + 8 * i, BigInt.asUintN(64, BigInt(i) * 0x9e3779b97f4a7c15n));
  if (isTranslated) {
    flat.ram.write64(TABLES + 16, GIGAPAGE);
    flat.hart.state.set64(L.SATP, (8n << 60n) | BigInt(TABLES / 4096));
    flat.hart.mmu.tlb.flushAll();
    flat.hart.state.set(L.MSTATUS, MPRV_AS_S);
    setPriv(flat.hart.state, 3);
  }
  flat.setX(11, BigInt(ROUNDS));
  flat.setX(16, BigInt(DATA));
  flat.run(ROUNDS * code.length - 1);
  return flat;
}

const observed = (flat: Flat) => ({
  pc: flat.pc,
  x: Array.from({ length: 32 }, (_, i) => flat.x(i)),
  data: Array.from({ length: 2048 }, (_, i) => flat.ram.read64(DATA + 8 * i)),
});

const COUNTS: Readonly<Record<keyof typeof FAMILIES, readonly number[]>> = {
  walk: [0, 1, 83, 84, 85, 183, 184, 185, 195],
  stride: [2, 84, 184, 186, 284, 300, 384, 390, 392],
  bases: [9, 83, 84, 100, 150, 184, 193],
};

describe.each(Object.keys(FAMILIES) as (keyof typeof FAMILIES)[])(
  'a block of address groups (%s)',
  family => {
    test.each(COUNTS[family])('%i of them, translated, leave what the interpreter leaves', count => {
      const code = loop(family, count);
      expect(code.length).toBeLessThanOrEqual(800);
      expect(observed(run(jit, code, true))).toEqual(observed(run(interpreter, code, true)));
    });

    test('and without translation', () => {
      const code = loop(family, COUNTS[family].at(-1)!);
      expect(observed(run(jit, code, false))).toEqual(observed(run(interpreter, code, false)));
    });
  },
);

describe('coverage hooks among address groups', () => {
  const modes = ['off', 'pc', 'cmp'] as const;
  const rows = modes.flatMap(mode => [84, 90, 184, 195, 300, 380].map(size => [mode, size] as const));
  test.each(rows)('mode %s, %i groups: compiled code records what the interpreter does', (mode, size) => {
    for (let seed = 1; seed <= dose(3); seed++) {
      const pieces = [{ kind: 'hooked', size, seed }] as const;
      const tracing = { ...NO_TRACING, mode, words: 3000 };
      const program = { pieces, seed, offset: 0, tracing };
      const { how, inlined } = compareEngines(program, seed % 2 ? 'sv39' : 'identity', 'hot', []);
      expect(how).toBeUndefined();
      if (mode === 'pc') expect(inlined).toBeGreaterThan(60);
    }
  });
});
