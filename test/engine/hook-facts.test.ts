// Helpers of coverage hooks keep facts about thread, context and buffer between calls. A random
// search changes what the facts follow from, between the pieces of a run: mappings, live pointer,
// CURRENT, buffer, thread and mode. Warm code must make the records of the interpreter.
// KCOVBOX_SEED, KCOVBOX_PROGRAMS.

import { expect, test } from 'vitest';
import { CTX, RECORD } from '../../devices/kcov-layout.ts';
import { InterpEngine } from '../../emulator/engine/engine.ts';
import { Jit } from '../../emulator/engine/jit/jit.ts';
import { HEAT_EAGER_WARM } from '../../emulator/engine/jit/policy/heat.ts';
import { S } from '../../emulator/hart/cause.ts';
import { SATP, X } from '../../emulator/hart/layout.ts';
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
  type Tracing,
  writeHookData,
  writeHooks,
} from '../support/shapes/hooks.ts';

const SEED = seedFromEnvironment(0xfac7);
const PROGRAMS = Number(process.env['KCOVBOX_PROGRAMS'] || dose(12));
const PIECES = 40;
const [RA, TP] = [1, 4];
const TRACING: Tracing = { mode: 'pc', words: 30_000, place: 'apart', isFreebsd: false, heard: 'no' };
const FREE = { codeEnd: RAM_BASE + 0x8000, tableEnd: RAM_BASE + 0x9000 };

const TABLES = RAM_BASE + 0x9_0000;
const LEAVES = TABLES + 0x2000;
/** Copies of the pages of thread and variable, in which there is neither context nor device. */
const BARE = { thread: TABLES + 0x4000, baseVar: TABLES + 0x5000 } as const;
const V_R_W_X_A_D = 0xcfn;

/** A loop over the hooks of a point and of comparisons. */
function assemble() {
  const a = new Assembly(RAM_BASE);
  const loop = new Place();
  const hooks = Array.from({ length: HOOK_KINDS }, () => new Place());
  a.here(loop);
  for (const kind of [0, 3, 0, 5]) a.toward('jal', hooks[kind]!, { rd: RA });
  a.toward('jal', loop, { rd: 0 });
  writeHooks(a, hooks);
  return { bytes: a.finish(), hooks: hooks.map(({ at }) => at) };
}

const leaf = (page: number): number => LEAVES + 8 * ((page - RAM_BASE) / 4096);
const entry = (page: number): bigint => (BigInt(page) >> 2n) | V_R_W_X_A_D;

function start(isCompiled: boolean) {
  const compiling: EngineFactory = (ram, harts, area) => {
    const jit = new Jit(ram, { base: area.base + InterpEngine.areaBytes(area.pages), heat: HEAT_EAGER_WARM });
    const engine = new InterpEngine(ram, harts, area, { jit });
    jit.attach(engine);
    inline = table => jit.setInlineCalls('kcov', kcovInlineCalls(table));
    return engine;
  };
  let inline: (table: Parameters<typeof kcovInlineCalls>[0]) => void = () => {};
  const flat = new Flat({ engine: isCompiled ? compiling : interpreter });
  const { bytes, hooks } = assemble();
  flat.load(bytes);
  writeHookData((pa, value) => flat.ram.write64(pa, value), hooks, TRACING, FREE);
  // Pages are where they are: the device in a leaf of 1 GiB, RAM in leaves of 4 KiB.
  flat.ram.write64(TABLES, V_R_W_X_A_D);
  flat.ram.write64(TABLES + 8 * 2, (BigInt(TABLES + 0x1000) >> 2n) | 1n);
  flat.ram.write64(TABLES + 0x1000, (BigInt(LEAVES) >> 2n) | 1n);
  for (let page = 0; page < flat.ram.bytes / 4096; page++)
    flat.ram.write64(LEAVES + 8 * page, entry(RAM_BASE + 4096 * page));
  const made = addKcov(flat, table => inline(table));
  boot(flat);
  return { flat, made };
}

/** As firmware starts a hart, and also starts it again; with the page tables. */
function boot({ hart }: Flat): void {
  hart.reset(BigInt(RAM_BASE), 0n, S);
  hart.state.set64(SATP, (8n << 60n) | (BigInt(TABLES) >> 12n));
  hart.restored();
  hart.state.set64(X + 8 * TP, BigInt(HOOK_PAGES.thread));
}

/** As at the start. */
function repair({ ram }: Flat, setX: (r: number, value: bigint) => void): void {
  const { thread, baseVar, harts, context, liveOffset } = HOOK_PAGES;
  for (const page of [thread, baseVar]) ram.write64(leaf(page), entry(page));
  for (const at of [thread + liveOffset, harts]) ram.write64(at, BigInt(context));
  ram.write64(context + CTX.WORDS, 30_000n);
  ram.write32(context + CTX.MODE, RECORD.PC);
  setX(TP, BigInt(thread));
}

/** The same for equal `random`. */
function change({ ram, hart }: Flat, setX: (r: number, value: bigint) => void, random: Random): void {
  const { thread, baseVar, harts, context, liveOffset } = HOOK_PAGES;
  const isAway = random.oneIn(3);
  switch (random.below(9)) {
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
      ram.write64(context + CTX.AREA, BigInt(AREA + 8 * random.below(3)));
      break;
    case 5:
      ram.write64(context + CTX.WORDS, BigInt(isAway ? 1 + random.below(20) : 30_000));
      break;
    case 6:
      ram.write32(context + CTX.MODE, random.pick([RECORD.PC, RECORD.CMP, 0, RECORD.UNIQ_PC]));
      break;
    case 7:
      setX(TP, BigInt(isAway ? BARE.thread : thread));
      break;
    default:
      // Another address space of the same tables; a flush as after sfence.vma.
      hart.mmu.tlb.flushTranslated();
  }
}

function run(seed: number, isCompiled: boolean) {
  const { flat, made } = start(isCompiled);
  const random = new Random(seed);
  for (let i = 0; i < PIECES; i++) {
    flat.run(500 + random.below(1500));
    const setX = (r: number, value: bigint): void => flat.setX(r, value);
    if (random.oneIn(3)) repair(flat, setX);
    else change(flat, setX, random);
  }
  const { device, compiled } = made();
  return { flat, count: device + compiled, compiled };
}

test('warm hooks rely on no fact that has changed', () => {
  let [all, compiled] = [0, 0];
  for (let i = 0; i < PROGRAMS; i++) {
    const [expected, actual] = [run(SEED + i, false), run(SEED + i, true)];
    const at = actual.flat.ram.data.findIndex((byte, k) => byte !== expected.flat.ram.data[k]);
    expect({ at, count: actual.count, pc: actual.flat.pc }, `seed ${seedText(SEED + i)}`).toEqual({
      at: -1,
      count: expected.count,
      pc: expected.flat.pc,
    });
    all += actual.count;
    compiled += actual.compiled;
  }
  expect(all).toBeGreaterThan(PROGRAMS * 1000);
  expect(compiled / all).toBeGreaterThan(0.8);
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
