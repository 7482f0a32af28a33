// Programs of pieces, how they run, and how one that fails becomes small.

import { StateHash } from '../../../emulator/base/state-hash.ts';
import { InterpEngine } from '../../../emulator/engine/engine.ts';
import { Jit, type JitTuning } from '../../../emulator/engine/jit/jit.ts';
import { HEAT_EAGER, HEAT_EAGER_WARM } from '../../../emulator/engine/jit/policy/heat.ts';
import type { Tier } from '../../../emulator/engine/jit/region/region.ts';
import * as L from '../../../emulator/hart/layout.ts';
import { setPriv } from '../../../emulator/hart/view.ts';
import { kcovInlineCalls } from '../../../emulator/machine/kcov-inline/index.ts';
import { type EngineFactory, Flat, RAM_BASE } from '../flat.ts';
import { COUNTER, PROBE_WORDS, probeCall } from '../probe.ts';
import { Random } from '../random.ts';
import { Assembly, Place } from './assembly.ts';
import {
  addKcov,
  drawTracing,
  HOOK_KINDS,
  liveContext,
  NO_TRACING,
  type Records,
  THREAD_POINTER,
  type Tracing,
  writeHookData,
  writeHooks,
} from './hooks.ts';
import { DATA_BYTES, drawPiece, type Piece, writePiece } from './pieces.ts';

export interface ShapeProgram {
  readonly pieces: readonly Piece[];
  readonly seed: number;
  /** Half-words in front of the loop: where it lies in its page. */
  readonly offset: number;
  readonly tracing: Tracing;
}

export const RAM_BYTES = 0x20_0000;
/** First contents of the registers, eight bytes each; at the end they go to RESULT. */
export const INIT = RAM_BASE + 0x8_0000;
export const RESULT = INIT + 0x1000;
const DATA = RAM_BASE + 0x9_0000;
/** The root page table of `sv39`. */
export const TABLES = RAM_BASE + 0xa_0000;
export const FIRST_PAGE = 16;
export const SCATTERED = RAM_BASE + 0x10_0000;
/** Its pages have other entries in the TLB than the kcov device. */
export const VA = 0x4000_0000 + 4096 * FIRST_PAGE;
const ROUNDS = 150;
const PAGES = DATA_BYTES / 4096;

export function drawProgram(random: Random, kinds?: readonly Piece['kind'][]): ShapeProgram {
  const pieces = Array.from({ length: 1 + random.below(6) }, () => drawPiece(random, kinds));
  const offset = random.oneIn(2) ? 0 : random.below(2048);
  return { pieces, seed: random.u32(), offset, tracing: drawTracing(random) };
}

export interface Code {
  readonly bytes: Uint8Array;
  readonly end: number;
  readonly probe: number;
  readonly hooks: readonly number[];
}

/**
 * Loads registers from INIT, runs the pieces ROUNDS times, stores registers to RESULT, and stays at
 * `end`.
 */
export function assembleProgram({ pieces, offset }: ShapeProgram): Code {
  const a = new Assembly(RAM_BASE);
  const probe = new Place();
  const hooks = Array.from({ length: HOOK_KINDS }, () => new Place());
  const at = (address: number): Place => Object.assign(new Place(), { at: address });
  a.address(31, at(INIT));
  for (let r = 1; r < 31; r++) a.put('ld', { rd: r, rs1: 31, imm: 8 * r });
  for (let i = 0; i < offset; i++) a.cNop();
  const head = a.here();
  for (const piece of pieces) writePiece(a, piece, { probe, hooks, random: new Random(piece.seed) });
  const out = new Place();
  a.put('addi', { rd: 9, rs1: 9, imm: -1 });
  a.toward('beq', out, { rs1: 9, rs2: 0 });
  a.toward('jal', head, { rd: 0 });
  a.here(out);
  a.address(31, at(RESULT));
  for (let r = 1; r < 31; r++) a.put('sd', { rs1: 31, rs2: r, imm: 8 * r });
  const end = a.here();
  a.toward('jal', end, { rd: 0 });
  a.later(() => {
    a.here(probe);
    for (const word of PROBE_WORDS(a.pc)) a.word(word);
    writeHooks(a, hooks);
  });
  const bytes = a.finish();
  if (bytes.length > COUNTER - RAM_BASE) throw new Error(`${bytes.length} bytes of code`);

  return { bytes, end: end.at, probe: probe.at, hooks: hooks.map(({ at }) => at) };
}

/**
 * `identity`: M-mode, through the TLB because a PMP entry is locked. `sv39`: S-mode, pages in any
 * order. `bare`: no TLB.
 */
export type Mapping = 'identity' | 'sv39' | 'bare';

/** First contents of RAM, physical. */
export function initialMemory(code: Code, program: ShapeProgram, mapping: Mapping): Uint8Array {
  const ram = new Uint8Array(RAM_BYTES);
  const view = new DataView(ram.buffer);
  const random = new Random(program.seed);
  ram.set(code.bytes);
  const put = (pa: number, value: bigint): void =>
    view.setBigUint64(pa - RAM_BASE, BigInt.asUintN(64, value), true);
  for (let r = 1; r < 31; r++) put(INIT + 8 * r, random.u64());
  put(INIT + 8 * 9, BigInt(ROUNDS));
  put(INIT + 8 * 3, BigInt(liveContext(program.tracing)));
  put(INIT + 8 * 4, BigInt(THREAD_POINTER));
  put(INIT + 8 * 16, BigInt(mapping === 'sv39' ? VA : DATA));
  for (let i = 0; i < PAGES; i++)
    for (let at = 0; at < 4096; at += 8) put(frameOf(i, mapping) + at, random.u64());
  const codeEnd = RAM_BASE + 64 * Math.ceil(code.bytes.length / 64);
  writeHookData(put, code.hooks, program.tracing, { codeEnd, tableEnd: TABLES + 0x2800 });
  if (mapping !== 'sv39') return ram;
  put(TABLES, pte(0, 0xc7));
  put(TABLES + 8, pte(TABLES + 0x1000, 1));
  put(TABLES + 16, pte(RAM_BASE, 0xcf));
  put(TABLES + 0x1000, pte(TABLES + 0x2000, 1));
  for (let i = 0; i < PAGES; i++) put(TABLES + 0x2000 + 8 * (FIRST_PAGE + i), pte(frameOf(i, mapping), 0xc7));
  return ram;
}

export const pte = (pa: number, flags: number): bigint => (BigInt(pa / 4096) << 10n) | BigInt(flags);
export const satp = (root: number): bigint => (8n << 60n) | BigInt(root / 4096);

/** Neighbours in virtual memory are never neighbours in RAM. */
const frameOf = (i: number, mapping: Mapping): number =>
  mapping === 'sv39' ? SCATTERED + 0x2000 * ((i * 5) % PAGES) : DATA + 4096 * i;

export const interpreted: EngineFactory = (ram, harts, area) => new InterpEngine(ram, harts, area);

/** The JIT with the probe inlined; hooks are, once the device has announced them. */
const compiledWith =
  (probe: number, tier: Tier, tuning: JitTuning, made: (jit: Jit) => void): EngineFactory =>
  (ram, harts, area) => {
    const heat = { ...(tier === 'hot' ? HEAT_EAGER : HEAT_EAGER_WARM), ...tuning.heat };
    const base = area.base + InterpEngine.areaBytes(area.pages);
    const regions = new Jit(ram, { ...tuning, heat, base });
    const engine = new InterpEngine(ram, harts, area, { jit: regions });
    regions.attach(engine);
    regions.setInlineCalls('probe', [probeCall(probe)]);
    made(regions);
    return engine;
  };

interface Prepared {
  readonly flat: Flat;
  readonly code: Code;
  readonly records: () => Records;
  readonly regions: () => number;
}

/** Puts the hart of a machine with this RAM into a mapping; `user` is `sv39` in U-mode. */
export function enterMapping(flat: Flat, mapping: Mapping | 'user'): void {
  const { state: s, mmu } = flat.hart;
  mmu.pmp.open();
  if (mapping === 'identity') {
    // A locked NA4 entry at the end of RAM.
    s.set64(L.PMPADDR + 8 * 1, s.get64(L.PMPADDR));
    s.set64(L.PMPADDR, BigInt(RAM_BASE + RAM_BYTES - 4) >> 2n);
    s.set64(L.PMPCFG, (s.get64(L.PMPCFG) << 8n) | 0x97n);
    flat.hart.restored();
  }
  if (mapping === 'sv39' || mapping === 'user') {
    s.set64(L.SATP, satp(TABLES));
    mmu.tlb.flushAll();
    setPriv(s, mapping === 'sv39' ? 1 : 0);
  }
}

/** Prepares a machine, with the interpreter or with the JIT. */
function machineOf(
  program: ShapeProgram,
  mapping: Mapping,
  tier: Tier | undefined,
  tuning: JitTuning = {},
): Prepared {
  const code = assembleProgram(program);
  let jit: Jit | undefined;
  const flat = new Flat({
    engine: tier ? compiledWith(code.probe, tier, tuning, made => (jit = made)) : interpreted,
    ramBytes: RAM_BYTES,
    pages: 32,
  });
  flat.ram.write(RAM_BASE, initialMemory(code, program, mapping));
  enterMapping(flat, mapping);
  const records = addKcov(
    flat,
    table => jit?.setInlineCalls('kcov', kcovInlineCalls(table)),
    program.tracing.heard,
  );
  return { flat, code, records, regions: () => jit?.stats.regions ?? 0 };
}

/** More than any program needs; a compiled one that is wrong may need more. */
const MOST = 3_000_000;
/** Instructions between two looks whether an interpreted program has come to its end. */
const LOOK = 128;

export interface Final {
  readonly pc: bigint;
  readonly x: readonly bigint[];
  readonly ram: Uint8Array;
  /** Records that hooks made, in all. */
  readonly records: number;
  readonly heard: string;
}

export const stateOf = ({ flat, records }: Pick<Prepared, 'flat' | 'records'>): Final => ({
  pc: flat.pc,
  x: Array.from({ length: 32 }, (_, i) => flat.x(i)),
  ram: flat.ram.data,
  records: records().device + records().compiled,
  heard: records().heard,
});

export interface Comparison {
  /** The first difference. */
  readonly how: string | undefined;
  /** Instructions to the end of the program, or to the difference; LOOK too many at most. */
  readonly instructions: number;
  /** Records that compiled code made itself. */
  readonly inlined: number;
  /** Regions that were compiled. */
  readonly regions: number;
  /** Of the compiled program's state, there; computed when asked for. */
  readonly hash: () => string;
}

/**
 * Runs a program interpreted and compiled. Both states are compared after each of so many
 * instructions, and at the end.
 */
export function compareEngines(
  program: ShapeProgram,
  mapping: Mapping,
  tier: Tier,
  pieces: readonly number[],
  tuning: JitTuning = {},
): Comparison {
  const interpreter = machineOf(program, mapping, undefined);
  const compiled = machineOf(program, mapping, tier, tuning);
  const { end } = interpreter.code;
  const hasEnded = (): boolean => Number(interpreter.flat.pc) === end;
  let instructions = 0;
  for (const most of [...pieces, MOST]) {
    let piece = 0;
    while (!hasEnded() && piece < most) {
      const insns = Math.min(LOOK, most - piece);
      interpreter.flat.run(insns);
      piece += insns;
    }
    const crash = crashOf(() => compiled.flat.run(piece));
    instructions += piece;
    const how = crash ?? difference(stateOf(interpreter), stateOf(compiled));
    if (how === undefined && !hasEnded()) continue;
    const inlined = compiled.records().compiled;
    const regions = compiled.regions();
    return { how, instructions, inlined, regions, hash: () => hashOf(stateOf(compiled)) };
  }
  throw new Error(`no end after ${MOST} instructions`);
}

/** The error that compiled code threw, if any: an access outside of the host's memory, say. */
export function crashOf(run: () => void): string | undefined {
  try {
    run();
    return undefined;
  } catch (e) {
    return String(e);
  }
}

/** State of the compiled program at its end, where it stays. */
export function finalState(program: ShapeProgram, mapping: Mapping, tier: Tier): Final {
  const prepared = machineOf(program, mapping, tier);
  prepared.flat.run(MOST);
  return stateOf(prepared);
}

const wordsOf = (ram: Uint8Array): Int32Array =>
  new Int32Array(ram.buffer, ram.byteOffset, ram.byteLength / 4);

/** For a comparison with another host, which has not the state itself. */
function hashOf({ pc, x, ram, records }: Final): string {
  const hash = new StateHash();
  hash.text([pc, ...x, records].join());
  hash.words(wordsOf(ram));
  return hash.digest();
}

/** Where two states differ, or undefined. */
export function difference(a: Final, b: Final): string | undefined {
  if (a.pc !== b.pc) return `pc ${a.pc.toString(16)} and ${b.pc.toString(16)}`;
  for (const [r, value] of a.x.entries())
    if (value !== b.x[r]) return `x${r} ${value.toString(16)} and ${b.x[r]!.toString(16)}`;
  if (a.records !== b.records) return `${a.records} and ${b.records} records`;
  if (a.heard !== b.heard) return `heard ${a.heard} and ${b.heard}`;
  return differentByte(a.ram, b.ram);
}

/** The first different byte of two contents of RAM, or undefined. */
export function differentByte(a: Uint8Array, b: Uint8Array): string | undefined {
  const [left, right] = [wordsOf(a), wordsOf(b)];
  let word = 0;
  while (word < left.length && left[word] === right[word]) word++;
  if (word === left.length) return undefined;
  let at = 4 * word;
  while (a[at] === b[at]) at++;
  return `the byte at ${(RAM_BASE + at).toString(16)}: ${a[at]} and ${b[at]}`;
}

/** The smallest program that still fails: fewer pieces, then smaller ones. */
export function shrinkProgram(
  program: ShapeProgram,
  fails: (candidate: ShapeProgram) => boolean,
): ShapeProgram {
  let best = program;
  const attempt = (candidate: ShapeProgram): boolean => {
    if (!fails(candidate)) return false;
    best = candidate;
    return true;
  };
  if (best.offset !== 0) attempt({ ...best, offset: 0 });
  attempt({ ...best, tracing: NO_TRACING });
  for (let i = best.pieces.length - 1; i >= 0; i--)
    if (best.pieces.length > 1) attempt({ ...best, pieces: best.pieces.filter((_, j) => j !== i) });
  for (let i = 0; i < best.pieces.length; i++)
    for (let size = best.pieces[i]!.size >> 1; size > 0; size >>= 1) {
      const pieces = best.pieces.map((piece, j) => (j === i ? { ...piece, size } : piece));
      if (!attempt({ ...best, pieces })) break;
    }
  return best;
}
