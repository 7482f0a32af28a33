// Random straight code about as long as a region may be. Near the limits it has what ends regions:
// pages that are not mapped, instructions across pages, serialising ones, breakpoints, calls
// of small functions, the head of the loop. It leaves what interpreted code leaves, cut anywhere,
// also after resets and snapshots. KCOVBOX_SEED, KCOVBOX_PROGRAMS.

import { expect, test } from 'vitest';
import { HEAT_EAGER } from '../../emulator/engine/jit/policy/heat.ts';
import { REGION_INSNS, WARM_INSNS } from '../../emulator/engine/jit/region/region.ts';
import * as L from '../../emulator/hart/layout.ts';
import { Machine, MIB, stateHash } from '../../emulator/index.ts';
import type { EngineTuning } from '../../emulator/machine/options.ts';
import { dose } from '../support/again.ts';
import { drawProfile } from '../support/profiles.ts';
import { Random, seedFromEnvironment, seedText } from '../support/random.ts';
import { Assembly, Place } from '../support/shapes/assembly.ts';

const SEED = seedFromEnvironment(0xe0d5);
const PROGRAMS = Number(process.env['KCOVBOX_PROGRAMS'] ?? dose(12));

const RAM = 0x8000_0000;
/** Tables: the root, of 1 GiB; of 2 MiB; of pages. */
const TABLES = RAM + 0x18_0000;
const DATA = RAM + 0x10_0000;
const [MRET, SFENCE, WFI, ECALL, FENCE_I] = [0x3020_0073, 0x1200_0073, 0x1050_0073, 0x73, 0x100f];
const CSR = {
  mtvec: 0x305,
  mepc: 0x341,
  mstatus: 0x300,
  satp: 0x180,
  mhartid: 0xf14,
  mie: 0x304,
  pmpcfg0: 0x3a0,
  pmpaddr0: 0x3b0,
  mcounteren: 0x306,
  mscratch: 0x340,
  mcause: 0x342,
};
const INSTRET = 0xc02;

interface Program {
  readonly seed: number;
  readonly harts: number;
  readonly isPaged: boolean;
}

interface Built {
  readonly bytes: Uint8Array;
  readonly marks: readonly number[];
}

function build({ seed, isPaged }: Program): Built {
  const r = new Random(seed);
  const a = new Assembly(RAM);
  const body = new Place();
  const handler = new Place();
  const leafs = [new Place(), new Place()];
  const at = (address: number): Place => Object.assign(new Place(), { at: address });
  // M mode.
  a.address(5, handler).put('csrrw', { rd: 0, rs1: 5, imm: CSR.mtvec });
  a.put('addi', { rd: 5, rs1: 0, imm: -1 }).put('csrrw', { rd: 0, rs1: 5, imm: CSR.pmpaddr0 });
  a.put('addi', { rd: 5, rs1: 0, imm: 0x1f }).put('csrrw', { rd: 0, rs1: 5, imm: CSR.pmpcfg0 });
  a.put('addi', { rd: 5, rs1: 0, imm: 7 }).put('csrrw', { rd: 0, rs1: 5, imm: CSR.mcounteren });
  a.put('addi', { rd: 5, rs1: 0, imm: 8 }).put('csrrw', { rd: 0, rs1: 5, imm: CSR.mie });
  a.address(28, body);
  a.put('csrrs', { rd: 6, rs1: 0, imm: CSR.mhartid });
  a.address(22, at(DATA)).put('slli', { rd: 7, rs1: 6, imm: 12 }).put('add', { rd: 22, rs1: 22, rs2: 7 });
  // x24: the leaf entry that the handler changes.
  const start = 0x1000 * (1 + r.below(3));
  const limits = [WARM_INSNS, REGION_INSNS, 2 * WARM_INSNS];
  const limit = r.pick(limits);
  const length = limit + r.pick([-1, 0, 1, 2, 5, 30, limit]);
  // Where in the page the loop begins: so that the limit falls at a page's end, or anywhere.
  const isAligned = r.oneIn(2);
  const compressed = r.pick([0, 3, 20]);
  const offset = isAligned
    ? (((4096 - ((4 * limit) % 4096)) % 4096) + r.pick([-4, -2, 0, 2, 4]) + 4096) % 4096
    : 2 * r.below(2048);
  const head = start + offset;
  const hole = Math.floor((head + 4 * limit) / 4096) + r.pick([0, 0, 0, 1]);
  a.address(24, at(TABLES + 0x2000 + 8 * hole));
  a.put('ld', { rd: 25, rs1: 24, imm: 0 });
  if (isPaged) {
    a.put('addi', { rd: 5, rs1: 0, imm: 8 }).put('slli', { rd: 5, rs1: 5, imm: 60 });
    a.address(7, at(TABLES)).put('srli', { rd: 7, rs1: 7, imm: 12 }).put('or', { rd: 5, rs1: 5, rs2: 7 });
    a.put('csrrw', { rd: 0, rs1: 5, imm: CSR.satp });
    a.put('addi', { rd: 5, rs1: 0, imm: 1 }).put('slli', { rd: 5, rs1: 5, imm: 11 });
    a.put('csrrw', { rd: 0, rs1: 5, imm: CSR.mstatus });
    a.put('csrrw', { rd: 0, rs1: 28, imm: CSR.mepc });
    a.word(SFENCE).word(MRET);
  } else a.put('jalr', { rd: 0, rs1: 28, imm: 0 });
  // An ecall goes on behind it; a fault maps the page and goes back, or to the head.
  a.here(handler);
  a.put('addi', { rd: 27, rs1: 27, imm: 1 });
  a.put('csrrs', { rd: 29, rs1: 0, imm: CSR.mcause });
  a.put('addi', { rd: 30, rs1: 0, imm: 12 });
  const notFault = new Place();
  const back = new Place();
  const toHead = new Place();
  a.toward('bne', notFault, { rs1: 29, rs2: 30 });
  a.put('sd', { rs1: 24, rs2: 25, imm: 0 }).word(SFENCE);
  if (r.oneIn(2)) {
    a.put('andi', { rd: 30, rs1: 27, imm: 1 });
    a.toward('beq', toHead, { rs1: 30, rs2: 0 });
  }
  a.word(MRET);
  a.here(toHead);
  a.put('csrrw', { rd: 0, rs1: 28, imm: CSR.mepc }).word(MRET);
  a.here(notFault);
  a.put('csrrs', { rd: 29, rs1: 0, imm: CSR.mepc }).put('addi', { rd: 29, rs1: 29, imm: 4 });
  a.put('csrrw', { rd: 0, rs1: 29, imm: CSR.mepc });
  // Some ecalls unmap.
  a.put('andi', { rd: 30, rs1: 27, imm: r.pick([1, 3, 7]) });
  a.toward('bne', back, { rs1: 30, rs2: 0 });
  a.put('sd', { rs1: 24, rs2: 0, imm: 0 }).word(SFENCE);
  a.here(back);
  a.word(MRET);
  a.skipTo(head);
  a.here(body);
  const marks: number[] = [];
  const near = (i: number): boolean => limits.some(l => Math.abs(i - l) <= 3) || i > length - 4;
  for (let i = 0; i < length; i++) {
    const rd = 10 + r.below(5);
    const rs1 = 10 + r.below(5);
    const rs2 = 10 + r.below(5);
    if (near(i)) marks.push(a.pc);
    const isSpecial = near(i) && r.oneIn(4);
    if (isSpecial) {
      switch (r.below(isPaged ? 8 : 9)) {
        case 0:
          a.word(ECALL);
          break;
        case 1:
          a.word(FENCE_I);
          break;
        case 2:
          a.put('csrrs', { rd, rs1: 0, imm: INSTRET });
          break;
        case 3:
        case 4:
          a.toward('jal', r.pick(leafs), { rd: 1 });
          break;
        case 5: {
          const skip = new Place();
          a.toward('blt', skip, { rs1, rs2 });
          a.put('addi', { rd, rs1: rd, imm: 1 });
          a.here(skip);
          break;
        }
        case 6: {
          const over = new Place();
          a.toward('bne', over, { rs1: 9, rs2: r.pick([0, 9, rd]) });
          a.toward('jal', body, { rd: 0 });
          a.here(over);
          break;
        }
        // fflags and frm trap without FS.
        case 7:
          a.put('csrrw', { rd: 0, rs1, imm: 1 + r.below(2) });
          break;
        default:
          a.word(WFI);
      }
      continue;
    }
    if (compressed > 0 && r.oneIn(compressed)) {
      a.cNop();
      continue;
    }
    switch (r.below(10)) {
      case 0:
        a.put('ld', { rd, rs1: 22, imm: 8 * r.below(100) });
        break;
      case 1:
        a.put('sd', { rs1: 22, rs2: rd, imm: 8 * r.below(100) });
        break;
      case 2:
        a.put('mul', { rd, rs1, rs2 });
        break;
      case 3:
        a.put('xor', { rd, rs1, rs2 });
        break;
      case 4:
        a.put('addi', { rd, rs1, imm: r.below(2000) - 1000 });
        break;
      case 5:
        if (r.oneIn(60)) a.put('csrrs', { rd, rs1: 0, imm: INSTRET });
        else a.put('sub', { rd, rs1, rs2 });
        break;
      default:
        a.put('add', { rd, rs1, rs2 });
    }
  }
  // The way back.
  if (r.oneIn(3)) {
    a.put('addi', { rd: 9, rs1: 9, imm: 1 });
    const out = new Place();
    a.toward('jal', out, { rd: 0 });
    for (let i = 0; i < 10; i++) a.cNop();
    a.here(out);
  }
  if (r.oneIn(4)) a.word(ECALL);
  a.toward('jal', body, { rd: 0 });
  for (const leaf of leafs) {
    a.here(leaf);
    const n = 1 + r.below(70);
    for (let i = 0; i < n; i++) a.put('addi', { rd: 10 + r.below(5), rs1: 11, imm: i });
    if (r.oneIn(3)) a.word(r.pick([ECALL, FENCE_I]));
    a.put('jalr', { rd: 0, rs1: 1, imm: 0 });
  }
  const code = a.finish();
  if (code.length > 0x8_0000) throw new Error('too long');
  const ram = new Uint8Array(0x19_0000);
  ram.set(code);
  const view = new DataView(ram.buffer);
  const put = (pa: number, value: bigint): void => view.setBigUint64(pa - RAM, value, true);
  const pte = (pa: number, flags: number): bigint => (BigInt(pa / 4096) << 10n) | BigInt(flags);
  put(TABLES + 16, pte(TABLES + 0x1000, 1));
  put(TABLES + 0x1000, pte(TABLES + 0x2000, 1));
  for (let i = 0; i < 512; i++) put(TABLES + 0x2000 + 8 * i, pte(RAM + 4096 * i, 0xcf));
  return { bytes: ram, marks };
}

const registersOf = (machine: Machine): string =>
  machine.harts
    .map(({ state }) =>
      [
        state.pc,
        state.get64(L.INSTRET),
        state.get64(L.EXCEPTIONS),
        ...Array.from({ length: 32 }, (_, i) => state.getX(i)),
      ].join(),
    )
    .join(';');

function machineOf(program: Program, { bytes }: Built, tuning: EngineTuning | undefined): Machine {
  return Machine.create({
    kernel: { name: 'ends.bin', bytes },
    bios: 'none',
    kcov: 'off',
    ramBytes: 2 * MIB,
    harts: program.harts,
    engine: tuning ? 'jit' : 'interp',
    ...(tuning && { tuning }),
    ...(program.seed & 1 && program.harts > 1 && { schedSeed: BigInt(program.seed) }),
  });
}

function drawTuning(r: Random): EngineTuning & { readonly why: unknown } {
  const heat = {
    ...HEAT_EAGER,
    arrivalsPerTick: r.pick([1, 2, 3]),
    ticksToFillBatch: r.pick([0, 3]),
    batchEntries: r.pick([1, 1, 4]),
    unitsToPromote: r.pick([0, 0, Infinity, Infinity, 20]),
    onlyReached: r.oneIn(2),
    forgiveUnits: 2000,
  };
  const profile = r.oneIn(3) ? r.u32() : undefined;
  return {
    heat: {
      ...heat,
      ...(profile !== undefined && { ticksToMeasure: 20, ticksToFillHinted: r.pick([0, 2]) }),
    },
    ...(profile !== undefined && { profile: drawProfile(profile) }),
    ...(r.oneIn(5) && { decodedPages: 4 }),
    ...(r.oneIn(5) && { cache: { slots: r.pick([1, 2, 4]) } }),
    why: { heat, profile },
  };
}

let regions = 0;
let stops = 0;
let traps = 0;
let resets = 0;

function compare(seed: number): string | undefined {
  const r = new Random(seed);
  const program: Program = { seed: r.u32(), harts: r.pick([1, 1, 1, 2]), isPaged: r.oneIn(2) };
  const built = build(program);
  const { why, ...tuning } = drawTuning(r);
  const [a, b] = [machineOf(program, built, undefined), machineOf(program, built, tuning)];
  const both = [a, b] as const;
  const reached = [0, 0];
  for (const [i, machine] of both.entries())
    machine.breaks.onReached = () => {
      reached[i]!++;
      return false;
    };
  const isFine = r.oneIn(3);
  let kept: readonly [ReturnType<Machine['snapshot']>, ReturnType<Machine['snapshot']>] | undefined;
  for (let piece = 0; piece < (isFine ? 250 : 60); piece++) {
    const where = () => `seed ${seedText(seed)}, piece ${piece}, ${JSON.stringify({ program, why })}`;
    const units = 1 + r.below(isFine && piece > 20 ? 50 : r.pick([50, 3000, 20_000]));
    const [x, y] = [a.run(units), b.run(units)];
    if (x.kind !== y.kind) return `${where()}: ${x.kind} and ${y.kind}`;
    if (a.spent !== b.spent || a.instret !== b.instret)
      return `${where()}: spent ${a.spent} ${b.spent}, instret ${a.instret} ${b.instret}`;
    if (registersOf(a) !== registersOf(b))
      return `${where()}: registers ${registersOf(a)} and ${registersOf(b)}`;
    if (reached[0] !== reached[1]) return `${where()}: ${reached} marks`;
    if (piece % 20 === 19 && stateHash(a) !== stateHash(b)) return `${where()}: hashes`;
    if (r.oneIn(25)) {
      const pa = r.pick(built.marks);
      const on = r.oneIn(2);
      for (const m of both) m.breaks.set((pa - RAM) / 2, on);
    }
    if (r.oneIn(60)) for (const m of both) m.breaks.clear();
    if (r.oneIn(80)) {
      for (const m of both) m.reset();
      resets++;
    }
    if (r.oneIn(60)) kept = [a.snapshot(), b.snapshot()];
    if (kept && r.oneIn(60)) {
      a.restore(kept[0]);
      b.restore(kept[1]);
      resets++;
    }
  }
  regions += b.jit!.stats.regions;
  stops += reached[0]!;
  traps += Number(a.harts[0]!.state.getX(27));
  return undefined;
}

test(`ends of regions, seed ${seedText(SEED)}`, { timeout: 1_000_000 }, () => {
  for (let i = 0; i < PROGRAMS; i++) expect(compare(SEED + i)).toBeUndefined();
  console.info(
    `${PROGRAMS} programs, ${regions} regions, ${stops} marks reached, ${traps} traps, ${resets} resets`,
  );
});
