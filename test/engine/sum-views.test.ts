// A function that compiled code serves in two views: a program sets and clears SUM around its
// calls, with immediate and register forms, and with SIE or SPP in the same write. KCOVBOX_SEED,
// KCOVBOX_PROGRAMS.

import { expect, test } from 'vitest';
import { HEAT_EAGER, HEAT_EAGER_WARM } from '../../emulator/engine/jit/policy/heat.ts';
import { S } from '../../emulator/hart/cause.ts';
import { EXCEPTIONS, MEDELEG, SATP, STVEC } from '../../emulator/hart/layout.ts';
import { SIE, SPP, SUM } from '../../emulator/hart/mstatus.ts';
import { setPriv } from '../../emulator/hart/view.ts';
import { csrNamed } from '../../emulator/isa/index.ts';
import { dose } from '../support/again.ts';
import { type EngineFactory, Flat, interpreter, jitWith, RAM_BASE } from '../support/flat.ts';
import { Random, seedFromEnvironment, seedText } from '../support/random.ts';
import { Assembly, Place } from '../support/shapes/assembly.ts';

const SEED = seedFromEnvironment(0x5d3);
const PROGRAMS = Number(process.env['KCOVBOX_PROGRAMS'] || dose(4));
const WRITES = 12;
const INSNS = 20_000;
const SSTATUS = csrNamed('sstatus').number;
const ROOT = RAM_BASE + 0x9_0000;
const [RA, OLD, BITS, USER, SUMS] = [1, 5, 6, 7, 20];
/** The same RAM for U, as the first GiB. */
const USER_DATA = 0x8_0000;
const [S_LEAF, U_LEAF] = [0xcfn, 0xdfn];
const FORMS = ['csrrw', 'csrrs', 'csrrc', 'csrrwi', 'csrrsi', 'csrrci'] as const;

function assemble(random: Random) {
  const a = new Assembly(RAM_BASE);
  const [loop, load, trap] = [new Place(), new Place(), new Place()];
  a.here(loop);
  for (let i = 0; i < WRITES; i++) {
    const name = random.oneIn(3) ? random.pick(FORMS) : random.pick(['csrrs', 'csrrc'] as const);
    const bits = random.oneIn(4) ? random.pick([SUM | SIE, SUM | SPP, SIE, 0]) : SUM;
    a.put('lui', { rd: BITS, imm: bits & ~0xfff }).put('addi', { rd: BITS, rs1: BITS, imm: bits & 0xfff });
    const rs1 = name.endsWith('i') ? random.pick([0, SIE]) : BITS;
    a.put(name, { rd: random.pick([0, OLD, BITS]), rs1, imm: SSTATUS });
    // Sometimes the load is behind the write at once, in the same run of the interpreter.
    if (random.oneIn(3)) a.put('ld', { rd: OLD, rs1: USER, imm: 0 });
    a.put('add', { rd: SUMS, rs1: SUMS, rs2: OLD });
    a.toward('jal', load, { rd: RA });
  }
  a.toward('jal', loop, { rd: 0 });
  a.here(load);
  a.put('ld', { rd: OLD, rs1: USER, imm: 8 }).put('add', { rd: SUMS, rs1: SUMS, rs2: OLD });
  a.put('jalr', { rd: 0, rs1: RA, imm: 0 });
  while (a.pc % 4 !== 0) a.cNop();
  a.here(trap);
  // Behind the load that failed.
  a.put('csrrs', { rd: OLD, rs1: 0, imm: csrNamed('sepc').number });
  a.put('addi', { rd: OLD, rs1: OLD, imm: 4 }).put('add', { rd: SUMS, rs1: SUMS, rs2: OLD });
  a.put('csrrw', { rd: 0, rs1: OLD, imm: csrNamed('sepc').number });
  a.put('addi', { rd: OLD, rs1: 0, imm: SPP }).put('csrrs', { rd: 0, rs1: OLD, imm: SSTATUS });
  a.word(0x1020_0073);
  return { bytes: a.finish(), trap: trap.at };
}

/** `piece`: instructions between two looks at the window. */
function run(seed: number, engine: EngineFactory, piece: number) {
  const { bytes, trap } = assemble(new Random(seed));
  const flat = new Flat({ engine });
  const { state, mmu } = flat.hart;
  flat.load(bytes);
  flat.ram.write64(ROOT, (BigInt(RAM_BASE) >> 2n) | U_LEAF);
  flat.ram.write64(ROOT + 16, (BigInt(RAM_BASE) >> 2n) | S_LEAF);
  flat.ram.write64(RAM_BASE + USER_DATA, 3n);
  flat.ram.write64(RAM_BASE + USER_DATA + 8, 5n);
  mmu.pmp.open();
  state.set(MEDELEG, 0xb1ff);
  state.set64(STVEC, BigInt(trap));
  state.set64(SATP, (8n << 60n) | (BigInt(ROOT) >> 12n));
  setPriv(state, S);
  flat.hart.restored();
  flat.setX(USER, BigInt(USER_DATA));
  for (let left = INSNS; left > 0; left -= piece) flat.run(Math.min(piece, left));
  return { sum: flat.x(SUMS), pc: flat.pc, traps: state.get64(EXCEPTIONS), old: flat.x(OLD) };
}

test.each([
  { name: 'interpreter', engine: interpreter },
  { name: 'hot', engine: jitWith({ heat: HEAT_EAGER }) },
  { name: 'warm', engine: jitWith({ heat: HEAT_EAGER_WARM }) },
])('loads obey the last write of SUM ($name)', ({ engine }) => {
  let traps = 0n;
  for (let seed = SEED; seed < SEED + PROGRAMS; seed++) {
    const expected = run(seed, interpreter, 1);
    expect(run(seed, engine, 1007), `seed ${seedText(seed)}`).toEqual(expected);
    traps += expected.traps;
  }
  expect(traps).toBeGreaterThan(20n * BigInt(PROGRAMS));
});
