// Random functions whose entry points meet in the jump cache: four addresses as far apart as a way
// covers, in two address spaces, that go to each other by computed jumps. Instructions of the guest
// change satp, SUM and translations; the host swaps pages, patches code, flushes and forgets. The
// guest runs as interpreted code does, and no pc is in both ways. KCOVBOX_SEED, KCOVBOX_PROGRAMS.

import { expect, test } from 'vitest';
import { JumpCacheMemory } from '../../emulator/engine/jit/cache/jump-cache.ts';
import type { Jit } from '../../emulator/engine/jit/jit.ts';
import { HEAT_EAGER } from '../../emulator/engine/jit/policy/heat.ts';
import { S } from '../../emulator/hart/cause.ts';
import { MEDELEG, SATP, STVEC } from '../../emulator/hart/layout.ts';
import { encode as e } from '../../emulator/isa/index.ts';
import { dose } from '../support/again.ts';
import { Flat, flatWithJit, interpreter, RAM_BASE } from '../support/flat.ts';
import { Random, seedFromEnvironment, seedText } from '../support/random.ts';

const SEED = seedFromEnvironment(0x3ee7);
const PROGRAMS = Number(process.env['KCOVBOX_PROGRAMS'] ?? dose(20));
/** Calls of `Flat.run`, each of so many units at most, with a change by the host behind each. */
const [PIECES, UNITS] = [40, 3000] as const;

const VA = 0x4000_0000;
/** How far apart addresses are that meet, and how many do. */
const [APART, MEET] = [JumpCacheMemory.covers, 4] as const;
/** Of each page, two functions. */
const SECOND = 0x400;
const FRAMES = RAM_BASE + 0x10_0000;
const FRAME_COUNT = 16;
/** By address space: tables of 1 GiB, 2 MiB and pages. */
const SPACES = [0, 1].map(i => [0, 1, 2].map(level => RAM_BASE + 0x18_0000 + 0x1000 * (3 * i + level)));
const DATA = RAM_BASE + 0x1c_0000;
const [SSTATUS, SATP_CSR, SUM] = [0x100, 0x180, 1n << 18n];
const [SFENCE, FENCE_I] = [0x1200_0073, 0x100f];
const [POINTER, LEAF] = [1n, 0xcfn];
const satpOf = (space: number): bigint => (8n << 60n) | BigInt(SPACES[space]![0]! >>> 12);
const entryOf = (pa: number, flags: bigint): bigint => (BigInt(pa) >> 2n) | flags;

/** Registers: 5, 24 and 25 draw where to go; 9 is the sum; 20 to 23 are SUM, both satp and DATA. */
function functionOf(random: Random): number[] {
  const place = 8 * random.below(8);
  const some = (): number[] =>
    random.pick([
      [e('csrrs', { rd: 0, rs1: 20, imm: SSTATUS })],
      [e('csrrc', { rd: 0, rs1: 20, imm: SSTATUS })],
      [e('csrrw', { rd: 0, rs1: 21 + random.below(2), imm: SATP_CSR })],
      [SFENCE],
      [FENCE_I],
      [e('sd', { rs1: 23, rs2: 9, imm: place })],
      [e('ld', { rd: 11, rs1: 23, imm: place }), e('xor', { rd: 9, rs1: 9, rs2: 11 })],
      [e('xori', { rd: 9, rs1: 9, imm: random.below(2000) })],
    ]);
  return [
    ...Array.from({ length: 1 + random.below(4) }, some).flat(),
    e('mul', { rd: 5, rs1: 5, rs2: 24 }),
    e('add', { rd: 5, rs1: 5, rs2: 25 }),
    e('srli', { rd: 6, rs1: 5, imm: 20 + random.below(20) }),
    e('andi', { rd: 6, rs1: 6, imm: random.pick([1, 2, 3, 3]) }),
    e('slli', { rd: 6, rs1: 6, imm: Math.log2(APART) }),
    e('add', { rd: 6, rs1: 6, rs2: 26 }),
    ...(random.oneIn(3) ? [e('addi', { rd: 6, rs1: 6, imm: SECOND })] : []),
    e('jalr', { rd: random.below(2), rs1: 6 }),
  ];
}

class Program {
  readonly flat: Flat;
  readonly jit: Jit | undefined;
  readonly #random: Random;
  readonly #offset: number;

  constructor(seed: number, isCompiled: boolean) {
    const random = new Random(seed);
    this.#random = random;
    const heat = {
      ...HEAT_EAGER,
      ...{ arrivalsPerTick: random.pick([1, 2, 5]), batchEntries: random.pick([1, 1, 2, 4]) },
      ...{ forgiveUnits: 500, unitsToPromote: random.pick([0, 1, Infinity]) },
    };
    const slots = random.pick([1, 2, 3, 4, 6, 4095]);
    const options = { ramBytes: 0x20_0000, pages: random.pick([4, 32]) };
    const made = isCompiled ? flatWithJit({ heat, cache: { slots } }, options) : undefined;
    this.jit = made?.jit;
    this.flat = made?.flat ?? new Flat({ ...options, engine: interpreter });
    this.#offset = random.pick([0x100, 0x800]);
    this.#prepare(BigInt(seed));
  }

  #prepare(seed: bigint): void {
    const { hart, ram } = this.flat;
    for (const [root, middle, leaves] of SPACES) {
      ram.write64(root! + 8, entryOf(middle!, POINTER));
      ram.write64(root! + 16, entryOf(RAM_BASE, LEAF));
      ram.write64(middle!, entryOf(leaves!, POINTER));
    }
    for (let frame = 0; frame < FRAME_COUNT; frame++) this.#patch(frame);
    for (const space of SPACES.keys()) for (let i = 0; i < MEET; i++) this.#map(space, i);
    const start = BigInt(VA + this.#offset);
    hart.reset(start, 0n, S);
    hart.state.set(MEDELEG, 0xb1ff);
    hart.state.set64(STVEC, start);
    hart.state.set64(SATP, satpOf(0));
    hart.mmu.pmp.open();
    hart.restored();
    const registers = { 5: seed, 20: SUM, 21: satpOf(0), 22: satpOf(1), 23: BigInt(DATA), 26: start };
    for (const [register, value] of Object.entries(registers)) this.flat.setX(Number(register), value);
    this.flat.setX(24, 6364136223846793005n);
    this.flat.setX(25, 1442695040888963407n);
  }

  #map(space: number, i: number): void {
    const frame = FRAMES + 0x1000 * this.#random.below(FRAME_COUNT);
    this.flat.ram.write64(SPACES[space]![2]! + (8 * i * APART) / 4096, entryOf(frame, LEAF));
  }

  #patch(frame: number): void {
    for (const at of [this.#offset, this.#offset + SECOND])
      this.flat.load(functionOf(this.#random), FRAMES + 0x1000 * frame + at);
  }

  run(): void {
    this.flat.run(1 + this.#random.below(this.#random.oneIn(3) ? 30 : UNITS));
  }

  /** By the host. */
  change(): void {
    const { hart, engine } = this.flat;
    const random = this.#random;
    const { tlb } = hart.mmu;
    const kind = random.below(5);
    if (kind === 0) this.#map(random.below(2), random.below(MEET));
    if (kind <= 1) tlb.flushAll();
    if (kind === 2) this.#patch(random.below(FRAME_COUNT));
    if (kind === 3) hart.state.set64(SATP, satpOf(random.below(2)));
    if (kind === 3) hart.restored();
    if (kind === 4 && random.oneIn(4)) engine.reset();
  }

  get state(): string {
    const { flat } = this;
    const words = Array.from({ length: 8 }, (_, i) => flat.ram.read64(DATA + 8 * i));
    const registers = Array.from({ length: 32 }, (_, i) => flat.x(i));
    return [flat.pc, flat.hart.state.get64(SATP), ...registers, ...words].join();
  }

  /** The pcs that are in both ways. */
  twice(): bigint[] {
    const { jumpCache, jumpCacheMask } = this.jit!;
    const view = new DataView(this.flat.ram.memory.buffer);
    const entries = jumpCacheMask + 1;
    const pcAt = (i: number): bigint => view.getBigUint64(jumpCache + 16 * i, true);
    const pcs = Array.from({ length: entries }, (_, i) => pcAt(i));
    return pcs.filter((pc, i) => pc % 2n === 0n && pcAt(i + entries) === pc);
  }
}

test(`what meets in the jump cache, seed ${seedText(SEED)}`, { timeout: 1_800_000 }, () => {
  let units = 0;
  for (let i = 0; i < PROGRAMS; i++) {
    const [plain, compiled] = [new Program(SEED + i, false), new Program(SEED + i, true)];
    for (let piece = 0; piece < PIECES; piece++) {
      for (const program of [plain, compiled]) program.run();
      const name = `seed ${seedText(SEED + i)}, piece ${piece}`;
      expect(compiled.state, name).toBe(plain.state);
      if (piece % 8 === 0) expect(compiled.twice(), name).toEqual([]);
      for (const program of [plain, compiled]) program.change();
    }
    units += compiled.jit!.units;
  }
  expect(units).toBeGreaterThan(PROGRAMS * PIECES * 100);
});
