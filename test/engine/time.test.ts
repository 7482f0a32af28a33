// `rdtime` at places that the test knows to the unit: random rounds of single instructions, hot and
// compiled, run in pieces of random length, at each privilege and behind each enable bit. The
// expected value is the number of units before it by the tick of the CLINT.

import { afterEach, expect, test, vi } from 'vitest';
import * as L from '../../emulator/hart/layout.ts';
import { State } from '../../emulator/hart/state.ts';
import { setPriv } from '../../emulator/hart/view.ts';
import { encode as e, Machine } from '../../emulator/index.ts';
import { MAP } from '../../emulator/machine/memory-map.ts';
import { describeOnce, dose } from '../support/again.ts';
import { RAM_BASE } from '../support/flat.ts';
import { EAGEREST, POLICIES } from '../support/privileged/policies.ts';
import { Random, seedFromEnvironment, seedText } from '../support/random.ts';

const SEED = seedFromEnvironment(0x71e5);
const PROGRAMS = Number(process.env['KCOVBOX_PROGRAMS'] || dose(12));
const ROUNDS = 200;
const TIME = 0xc01;
const UNITS_PER_TICK = 100;
const DATA = RAM_BASE + 0x10_0000;
const HANDLER = RAM_BASE + 0x2000;
const MTIME = MAP.clint.base + 0xbff8;
const [M, S, U] = [3, 1, 0];
const ENGINES = {
  interpreter: { engine: 'interp' },
  hot: { engine: 'jit', tuning: EAGEREST.tuning! },
  warm: { engine: 'jit', tuning: POLICIES.find(({ name }) => name === 'warm')!.tuning! },
} as const;

interface Program {
  readonly words: readonly number[];
  /** Units of a round, and those of it before each `rdtime`. */
  readonly round: number;
  readonly reads: readonly number[];
}

/** A loop without end: filling, reads of the time, and stores of it. x8: where; x9: rounds left. */
function draw(random: Random): Program {
  const words: number[] = [];
  const reads: number[] = [];
  const filling = (): void => {
    for (let n = random.below(12); n > 0; n--) words.push(e('addi', { rd: 5, rs1: 5, imm: 1 }));
  };
  for (let n = 1 + random.below(3); n > 0; n--) {
    filling();
    reads.push(words.length);
    words.push(e('csrrs', { rd: 6, rs1: 0, imm: TIME }), e('sd', { rs1: 8, rs2: 6, imm: 0 }));
    words.push(e('addi', { rd: 8, rs1: 8, imm: 8 }));
  }
  filling();
  words.push(e('addi', { rd: 9, rs1: 9, imm: -1 }));
  words.push(e('bne', { rs1: 9, rs2: 0, imm: -4 * words.length }));
  const round = words.length;
  words.push(e('jal', { rd: 0, imm: 0 }));
  return { words, round, reads };
}

function machineOf({ words }: Program, engine: keyof typeof ENGINES, privilege: number): Machine {
  const machine = Machine.create({
    kernel: { name: 'time.bin', bytes: new Uint8Array(Uint32Array.from(words).buffer) },
    ...{ bios: 'none', ramBytes: 4 << 20 },
    ...ENGINES[engine],
  });
  const { state, mmu } = machine.harts[0]!;
  machine.ram.write32(HANDLER, e('jal', { rd: 0, imm: 0 }));
  mmu.pmp.open();
  state.set64(L.PC, BigInt(RAM_BASE));
  state.set64(L.X + 8 * 8, BigInt(DATA));
  state.set64(L.X + 8 * 9, BigInt(ROUNDS));
  state.set64(L.MTVEC, BigInt(HANDLER));
  state.set64(L.MCOUNTEREN, 2n);
  state.set64(L.SCOUNTEREN, 2n);
  setPriv(state, privilege);
  return machine;
}

function run(machine: Machine, units: number, random: Random): void {
  for (let left = units; left > 0; ) {
    const piece = Math.min(left, 1 + random.below(random.below(4) === 0 ? 30 : 3000));
    machine.run(piece);
    left -= piece;
  }
}

/** The first wrong time among those that a program has stored. */
function differing(program: Program, engine: keyof typeof ENGINES, seed: number): string | undefined {
  const random = new Random(seed);
  const privilege = [M, S, U][random.below(3)]!;
  const machine = machineOf(program, engine, privilege);
  run(machine, program.round * ROUNDS, random);
  if (machine.jit?.stats.regions === 0) return `${engine}: nothing was compiled`;
  for (let round = 0, at = DATA; round < ROUNDS; round++)
    for (const read of program.reads) {
      const expected = Math.floor((round * program.round + read) / UNITS_PER_TICK);
      const stored = machine.ram.read64(at);
      if (stored !== BigInt(expected)) return `${engine}, round ${round}: ${stored}, not ${expected}`;
      at += 8;
    }
  return undefined;
}

function search(): string | undefined {
  const random = new Random(SEED);
  for (let n = 0; n < PROGRAMS; n++) {
    const program = draw(random);
    const seed = random.below(2 ** 31);
    for (const engine of Object.keys(ENGINES) as (keyof typeof ENGINES)[]) {
      const found = differing(program, engine, seed);
      if (found) return `program ${n}, ${found}`;
    }
  }
  return undefined;
}

afterEach(() => void vi.restoreAllMocks());

test(`rdtime is the number of units before it, seed ${seedText(SEED)}`, () => {
  expect(search()).toBeUndefined();
});

describeOnce('the search finds', () => {
  test('a quantum that begins a unit late', () => {
    const real = State.prototype.put;
    vi.spyOn(State.prototype, 'put').mockImplementation(function (this: State, offset, lo, hi) {
      real.call(this, offset, offset === L.TIME ? lo + 1 : lo, hi);
    });
    expect(search()).toMatch(/^program \d+, .* round \d+: \d+, not \d+$/);
  });
});

const enables = [
  { privilege: M, mcounteren: 0n, scounteren: 0n, traps: false },
  { privilege: S, mcounteren: 0n, scounteren: 2n, traps: true },
  { privilege: S, mcounteren: 2n, scounteren: 0n, traps: false },
  { privilege: U, mcounteren: 2n, scounteren: 0n, traps: true },
  { privilege: U, mcounteren: 0n, scounteren: 2n, traps: true },
  { privilege: U, mcounteren: 2n, scounteren: 2n, traps: false },
];

test.each(Object.keys(ENGINES) as (keyof typeof ENGINES)[])('%s: a counter that is off traps', engine => {
  const program = draw(new Random(SEED));
  for (const { privilege, mcounteren, scounteren, traps } of enables) {
    const machine = machineOf(program, engine, privilege);
    const { state } = machine.harts[0]!;
    machine.run(program.round * (ROUNDS / 2));
    state.set64(L.MCOUNTEREN, mcounteren);
    state.set64(L.SCOUNTEREN, scounteren);
    machine.run(program.round);
    expect(state.get64(L.PC) === BigInt(HANDLER), `${privilege} ${mcounteren} ${scounteren}`).toBe(traps);
    if (traps) expect(state.get64(L.MCAUSE)).toBe(2n);
  }
});

test.each(Object.keys(ENGINES) as (keyof typeof ENGINES)[])('%s: a store to mtime holds at once', engine => {
  // Sets mtime in the middle of each round: the next read shows it, in the same quantum.
  const words = [
    e('csrrs', { rd: 6, rs1: 0, imm: TIME }),
    e('sd', { rs1: 7, rs2: 9, imm: 0 }),
    e('csrrs', { rd: 6, rs1: 0, imm: TIME }),
    e('sd', { rs1: 8, rs2: 6, imm: 0 }),
    e('addi', { rd: 8, rs1: 8, imm: 8 }),
    e('addi', { rd: 9, rs1: 9, imm: -1 }),
    e('bne', { rs1: 9, rs2: 0, imm: -24 }),
    e('jal', { rd: 0, imm: 0 }),
  ];
  const machine = machineOf({ words, round: 7, reads: [] }, engine, M);
  machine.harts[0]!.state.set64(L.X + 8 * 7, BigInt(MTIME));
  machine.run(7 * ROUNDS);
  for (let i = 0; i < ROUNDS; i++) {
    const stored = machine.ram.read64(DATA + 8 * i);
    expect(stored - BigInt(ROUNDS - i)).toBeLessThanOrEqual(1n);
    expect(stored).toBeGreaterThanOrEqual(BigInt(ROUNDS - i));
  }
});
