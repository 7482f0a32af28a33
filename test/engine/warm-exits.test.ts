// A warm region leaves for what the interpreter must do, and all of its callers with it. Ordinary
// programs must not make it leave again and again.

import { expect, test } from 'vitest';
import { InterpEngine } from '../../emulator/engine/engine.ts';
import { Jit } from '../../emulator/engine/jit/jit.ts';
import { HEAT_EAGER_WARM } from '../../emulator/engine/jit/policy/heat.ts';
import { S } from '../../emulator/hart/cause.ts';
import { MSTATUS, PMPADDR, PMPCFG, SATP } from '../../emulator/hart/layout.ts';
import { setPriv } from '../../emulator/hart/view.ts';
import { encode as e, type Mnemonic } from '../../emulator/isa/index.ts';
import { Flat, RAM_BASE } from '../support/flat.ts';

const CODE = RAM_BASE;
const TABLE = RAM_BASE + 0x1_0000;
const LEAVES = TABLE + 0x2000;
const DATA = RAM_BASE + 0x4000;
const FRAMES = 16;
const FLAGS = 0xcfn; // V, R, W, X, A, D
const FS_INITIAL = 1n << 13n;
const UNITS = 50_000;

/** How many of the units of a loop over `body`, 0 to 1, are in warm regions, behind Sv39. */
function share(body: readonly number[], base: bigint): number {
  let jit: Jit | undefined;
  const flat = new Flat({
    engine: (ram, harts, area) => {
      const at = area.base + InterpEngine.areaBytes(area.pages);
      jit = new Jit(ram, { heat: HEAT_EAGER_WARM, countUnits: true, base: at });
      const engine = new InterpEngine(ram, harts, area, { jit });
      jit.attach(engine);
      return engine;
    },
  });
  flat.load([...body, e('jal', { rd: 0, imm: -4 * body.length })], CODE);
  flat.ram.write64(TABLE + 8 * 2, (BigInt(TABLE + 0x1000) >> 2n) | 1n);
  // The same pages at two places.
  for (const directory of [0, 1])
    flat.ram.write64(TABLE + 0x1000 + 8 * directory, (BigInt(LEAVES) >> 2n) | 1n);
  for (let page = 0; page < FRAMES; page++)
    flat.ram.write64(LEAVES + 8 * page, (BigInt(RAM_BASE + 4096 * page) >> 2n) | FLAGS);
  const { state } = flat.hart;
  state.set64(SATP, (8n << 60n) | (BigInt(TABLE) >> 12n));
  state.set64(PMPCFG, 0x1fn);
  state.set64(PMPADDR, (1n << 54n) - 1n);
  state.set64(MSTATUS, state.get64(MSTATUS) | FS_INITIAL);
  setPriv(state, S);
  flat.hart.restored();
  flat.pc = BigInt(CODE);
  flat.setX(10, base);
  flat.setX(11, base + 0x20_0000n);
  flat.run(UNITS);
  const before = jit!.units;
  flat.run(UNITS);
  return (jit!.units - before) / UNITS;
}

const load = (name: Mnemonic, rs1 = 10): number => e(name, { rd: 12, rs1, imm: 0 });
const store = (name: Mnemonic): number => e(name, { rs1: 10, rs2: 12, imm: 0 });

test('f registers are stored while FS is Initial, as by setjmp', () => {
  const body = [8, 9, 18].map((rs2, i) => e('fsd', { rs1: 10, rs2, imm: 8 * i }));
  expect(share(body, BigInt(DATA))).toBeGreaterThan(0.95);
});

test.each(['lh', 'lhu', 'lw', 'lwu', 'ld'] as const)('%s of a misaligned address within a page', name => {
  expect(share([load(name)], BigInt(DATA + 1))).toBeGreaterThan(0.95);
  expect(share([load(name)], BigInt(DATA + 4096 - 1))).toBeLessThan(0.9);
});

test.each(['sh', 'sw', 'sd'] as const)('%s to a misaligned address within a page', name => {
  expect(share([store(name)], BigInt(DATA + 1))).toBeGreaterThan(0.95);
  expect(share([store(name)], BigInt(DATA + 4096 - 1))).toBeLessThan(0.9);
});

test('two pages at a distance of 2 MiB share no place of the TLB', () => {
  expect(share([load('ld'), load('ld', 11)], BigInt(DATA))).toBeGreaterThan(0.95);
});
