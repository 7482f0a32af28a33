// Helpers of coverage hooks keep facts about thread, context and buffer between calls. A random
// search changes what the facts follow from, between the pieces of a run: mappings, live pointer,
// CURRENT, buffer, thread, mode and hart. Some programs also execute what hooks store: operands in
// the context, counts and records. Warm code must make the records of the interpreter.
// KCOVBOX_SEED, KCOVBOX_PROGRAMS.

import { expect, test } from 'vitest';
import { median } from '../../bench/bench.ts';
import { CTX, CTXF, HOOK, RECORD } from '../../devices/kcov-layout.ts';
import { InterpEngine } from '../../emulator/engine/engine.ts';
import { Jit } from '../../emulator/engine/jit/jit.ts';
import { HEAT_EAGER_WARM } from '../../emulator/engine/jit/policy/heat.ts';
import { S } from '../../emulator/hart/cause.ts';
import { HARTID, MEDELEG, SATP, STVEC, X } from '../../emulator/hart/layout.ts';
import { csrNamed, encode } from '../../emulator/isa/index.ts';
import { kcovInlineCalls } from '../../emulator/machine/kcov-inline/index.ts';
import { dose } from '../support/again.ts';
import { type EngineFactory, Flat, interpreter, RAM_BASE } from '../support/flat.ts';
import { Random, seedFromEnvironment, seedText } from '../support/random.ts';
import { Assembly, Place } from '../support/shapes/assembly.ts';
import {
  AREA,
  addKcov,
  HOOK_KINDS,
  HOOK_PAGES,
  switchTable,
  type Tracing,
  writeHookData,
  writeHooks,
} from '../support/shapes/hooks.ts';

const SEED = seedFromEnvironment(0xfac7);
const PROGRAMS = Number(process.env['KCOVBOX_PROGRAMS'] || dose(24));
const PIECES = 40;
const [RA, TP, A0, A1] = [1, 4, 10, 11];
/** Registers of the program: what loops change a0 and a1 by, a sum, where to go, a count. */
const [A0_CHANGE, A1_CHANGE, SUM, TARGET, SCRATCH, RESET] = [18, 19, 20, 24, 25, 26];
const TRACING: Tracing = { mode: 'pc', words: 30_000, place: 'apart', isFreebsd: false, heard: 'no' };
const FREE = { codeEnd: RAM_BASE + 0x8000, tableEnd: RAM_BASE + 0x9000 };

const TABLES = RAM_BASE + 0x9_0000;
const LEAVES = TABLES + 0x2000;
/** Copies of the pages of thread and variable, in which there is neither context nor device. */
const BARE = { thread: TABLES + 0x4000, baseVar: TABLES + 0x5000 } as const;
const V_R_W_X_A_D = 0xcfn;

/** Two instructions that fill the doubleword of an operand: x20 += `step`, and a return. */
const code = (step: number): bigint =>
  (BigInt(encode('jalr', { rd: 0, rs1: RA, imm: 0 })) << 32n) |
  BigInt(encode('addi', { rd: SUM, rs1: SUM, imm: step }));
/** Loops change the operands a0 and a1 by these. */
const OTHER_CODE = [code(1) ^ code(3), code(5) ^ code(7)] as const;
/** Kinds of hooks in a loop; the last one must be compiled to show that it hid a store. */
const KINDS = [HOOK.SWITCH, HOOK.PC, HOOK.CMP4, HOOK.CONST_CMP1, HOOK.PC, HOOK.CMP8];

/** A loop that resets a count, calls hooks, and then the code at x24. */
function assemble() {
  const a = new Assembly(RAM_BASE);
  const [loop, stub, trap] = [new Place(), new Place(), new Place()];
  const hooks = Array.from({ length: HOOK_KINDS }, () => new Place());
  a.here(loop);
  a.put('sd', { rs1: RESET, rs2: 0, imm: 0 });
  a.put('xor', { rd: A0, rs1: A0, rs2: A0_CHANGE }).put('xor', { rd: A1, rs1: A1, rs2: A1_CHANGE });
  for (const kind of KINDS) a.toward('jal', hooks[kind]!, { rd: RA });
  a.put('jalr', { rd: RA, rs1: TARGET, imm: 0 });
  a.toward('jal', loop, { rd: 0 });
  a.here(stub);
  a.put('jalr', { rd: 0, rs1: RA, imm: 0 });
  while (a.pc % 4 !== 0) a.cNop();
  a.here(trap);
  for (const name of ['sepc', 'scause']) {
    a.put('csrrs', { rd: SCRATCH, rs1: 0, imm: csrNamed(name).number });
    a.put('add', { rd: SUM, rs1: SUM, rs2: SCRATCH });
  }
  a.toward('jal', loop, { rd: 0 });
  writeHooks(a, hooks);
  return { bytes: a.finish(), hooks: hooks.map(({ at }) => at), stub: stub.at, trap: trap.at };
}
const PROGRAM = assemble();

const leaf = (page: number): number => LEAVES + 8 * ((page - RAM_BASE) / 4096);
const entry = (page: number): bigint => (BigInt(page) >> 2n) | V_R_W_X_A_D;

function start(isCompiled: boolean, heard: Tracing['heard'] = 'no', onlyReached = false) {
  const compiling: EngineFactory = (ram, harts, area) => {
    const heat = { ...HEAT_EAGER_WARM, onlyReached };
    const jit = new Jit(ram, { base: area.base + InterpEngine.areaBytes(area.pages), heat });
    const engine = new InterpEngine(ram, harts, area, { jit });
    jit.attach(engine);
    inline = table => jit.setInlineCalls('kcov', kcovInlineCalls(table));
    return engine;
  };
  let inline: (table: Parameters<typeof kcovInlineCalls>[0]) => void = () => {};
  const flat = new Flat({ engine: isCompiled ? compiling : interpreter });
  const { bytes, hooks } = PROGRAM;
  flat.load(bytes);
  writeHookData((pa, value) => flat.ram.write64(pa, value), hooks, TRACING, FREE);
  // Pages are where they are: the device in a leaf of 1 GiB, RAM in leaves of 4 KiB.
  flat.ram.write64(TABLES, V_R_W_X_A_D);
  flat.ram.write64(TABLES + 8 * 2, (BigInt(TABLES + 0x1000) >> 2n) | 1n);
  flat.ram.write64(TABLES + 0x1000, (BigInt(LEAVES) >> 2n) | 1n);
  for (let page = 0; page < flat.ram.bytes / 4096; page++)
    flat.ram.write64(LEAVES + 8 * page, entry(RAM_BASE + 4096 * page));
  const made = addKcov(flat, table => inline(table), heard);
  boot(flat);
  return { flat, made };
}

/** As firmware starts a hart, and also starts it again; with the page tables. */
function boot({ hart }: Flat): void {
  const { state } = hart;
  hart.reset(BigInt(RAM_BASE), 0n, S);
  state.set(MEDELEG, 0xb1ff);
  state.set64(STVEC, BigInt(PROGRAM.trap));
  state.set64(SATP, (8n << 60n) | (BigInt(TABLES) >> 12n));
  hart.restored();
  state.set64(X + 8 * TP, BigInt(HOOK_PAGES.thread));
  state.set64(X + 8 * A0, code(1));
  state.set64(X + 8 * A0_CHANGE, OTHER_CODE[0]);
  state.set64(X + 8 * TARGET, BigInt(PROGRAM.stub));
  state.set64(X + 8 * RESET, BigInt(BARE.thread));
}

/** As at the start. */
function repair(flat: Flat): void {
  const { ram, hart } = flat;
  const { thread, baseVar, harts, context, liveOffset } = HOOK_PAGES;
  for (const page of [thread, baseVar]) ram.write64(leaf(page), entry(page));
  for (const at of [thread + liveOffset, harts]) ram.write64(at, BigInt(context));
  ram.write64(context + CTX.WORDS, 30_000n);
  ram.write32(context + CTX.MODE, RECORD.PC);
  ram.write32(context + CTX.FLAGS, 0);
  hart.state.set(HARTID, 0);
  flat.setX(TP, BigInt(thread));
  flat.pc = BigInt(RAM_BASE);
}

/** Places of the buffer: in a page, and with the count in the page before. */
const AREAS = [AREA, AREA + 8, AREA + 16, AREA + 0xff8] as const;

/** The same for equal `random`. */
function change(flat: Flat, random: Random, hasCode: boolean): void {
  const { ram, hart } = flat;
  const { thread, baseVar, harts, context, liveOffset } = HOOK_PAGES;
  const isAway = random.oneIn(3);
  const area = Number(ram.read64(context + CTX.AREA));
  switch (hasCode && !random.oneIn(3) ? random.pick([4, 5, 6, 11, 13, 14, 14, 14]) : random.below(13)) {
    case 0:
      ram.write64(leaf(thread), entry(isAway ? BARE.thread : thread));
      break;
    case 1:
      ram.write64(leaf(baseVar), entry(isAway ? BARE.baseVar : baseVar));
      break;
    case 2:
      ram.write64(thread + liveOffset, isAway ? 0n : BigInt(context));
      break;
    case 3:
      ram.write64(harts, isAway ? BigInt(context + 2 * CTX.SIZE) : BigInt(context));
      break;
    case 4:
      ram.write64(context + CTX.AREA, BigInt(random.pick(AREAS)));
      break;
    case 5:
      ram.write64(context + CTX.WORDS, BigInt(isAway ? 1 + random.below(20) : 30_000));
      break;
    case 6:
      ram.write32(context + CTX.MODE, random.pick([RECORD.PC, RECORD.CMP, 0, RECORD.UNIQ_PC]));
      break;
    case 7:
      flat.setX(TP, BigInt(isAway ? BARE.thread : thread));
      break;
    case 8:
      // Another hart with the same thread pointer, and a block of its own.
      hart.state.set(HARTID, isAway ? 1 : 0);
      ram.write64(harts + 64, random.oneIn(2) ? BigInt(context) : 0n);
      break;
    case 9:
      flat.setX(A1, random.oneIn(3) ? code(5) : BigInt(switchTable(random)));
      flat.setX(A1_CHANGE, random.oneIn(3) ? OTHER_CODE[1] : 0n);
      break;
    case 10:
      ram.write32(context + CTX.FLAGS, isAway ? CTXF.SWITCH_FREEBSD : 0);
      break;
    case 11:
      // A count at the end of the buffer, or near it.
      ram.write64(area, BigInt(random.below(30)));
      break;
    case 12:
      // Another address space of the same tables; a flush as after sfence.vma.
      hart.mmu.tlb.flushTranslated();
      break;
    case 13:
      flat.setX(RESET, BigInt(isAway ? BARE.thread : area));
      break;
    default:
      flat.setX(TARGET, BigInt(random.pick([PROGRAM.stub, context + CTX.ARG0, area, area + 16])));
  }
}

type Listener = 'no' | 'records' | 'counts';

function run(seed: number, isCompiled: boolean, hasCode: boolean, listener: Listener) {
  const random = new Random(seed);
  const { flat, made } = start(isCompiled, listener);
  for (let i = 0; i < PIECES; i++) {
    flat.run(500 + random.below(1500));
    if (random.oneIn(4)) repair(flat);
    else change(flat, random, hasCode);
  }
  const { device, compiled, heard } = made();
  return { flat, count: device + compiled, compiled, heard };
}

type Run = ReturnType<typeof run>;

test('warm hooks rely on no fact that has changed', () => {
  const shares: number[] = [];
  for (let i = 0; i < PROGRAMS; i++) {
    const hasCode = i % 2 === 1;
    const listener = i % 4 === 0 ? 'no' : new Random(SEED + i).pick(['no', 'records', 'counts'] as const);
    const [expected, actual] = [false, true].map(isCompiled =>
      run(SEED + i, isCompiled, hasCode, listener),
    ) as [Run, Run];
    const at = actual.flat.ram.data.findIndex((byte, k) => byte !== expected.flat.ram.data[k]);
    const seen = ({ flat, count, heard }: Run): object => ({ count, heard, pc: flat.pc, sum: flat.x(SUM) });
    expect({ at, ...seen(actual) }, `seed ${seedText(SEED + i)}`).toEqual({ at: -1, ...seen(expected) });
    // A listener gets some records from the device, or all.
    if (hasCode || listener !== 'no') continue;
    expect(actual.count).toBeGreaterThan(100);
    shares.push(actual.compiled / actual.count);
  }
  // A change can send a program's hooks to the device for long: one program of 25 has a share below
  // a half, the others 0.9.
  expect(median(shares)).toBeGreaterThan(0.4);
});

test('a hart that is started again keeps no fact of its first life', () => {
  const records = [false, true].map(isCompiled => {
    const { flat } = start(isCompiled);
    flat.run(20_000);
    const { thread } = HOOK_PAGES;
    flat.ram.write64(leaf(thread), entry(BARE.thread));
    boot(flat);
    flat.run(20_000);
    return flat.ram.read64(AREA);
  });
  expect(records[1]).toBe(records[0]);
});

test('a helper takes no path of a hook that does not fit into the quantum', () => {
  const places = [false, true].map(isCompiled => {
    const { flat } = start(isCompiled, 'no', true);
    const mode = HOOK_PAGES.context + CTX.MODE;
    // The hooks are compiled while none has recorded, so their regions leave the record out.
    flat.ram.write32(mode, 0);
    flat.run(20_000);
    flat.ram.write32(mode, RECORD.PC);
    return Array.from({ length: 400 }, (_, i) => {
      flat.run(1 + (i % 40));
      return flat.pc;
    });
  });
  expect(places[1]).toEqual(places[0]);
});
