// Random call graphs: functions that call each other and themselves, directly, through registers
// and as tails, until a round has used its calls. The JIT compiles them into many modules, so calls
// between modules are made, cut and made again.

import { JumpCacheMemory } from '../../../emulator/engine/jit/cache/jump-cache.ts';
import { MAP } from '../../../emulator/machine/memory-map.ts';
import { RAM_BASE } from '../flat.ts';
import { Random } from '../random.ts';
import { Assembly, Place } from '../shapes/assembly.ts';
import {
  drawTracing,
  HOOK_KINDS,
  liveContext,
  THREAD_POINTER,
  type Tracing,
  writeHookData,
  writeHooks,
} from '../shapes/hooks.ts';
import { INIT, type Mapping, RAM_BYTES, RESULT, SCATTERED, VA } from '../shapes/program.ts';
import { STACK, TABLE_END, writeTables } from './layout.ts';
import { drawUnits, type Graph, TABLE_SIZE, type Unit, writeUnit } from './units.ts';

export interface GraphFunction {
  /**
   * Behind the one before; at the start of a page or shortly before its end; or as far from others
   * as a way of the jump cache covers, where their entry points meet.
   */
  readonly place: 'next' | 'page' | 'end' | 'same';
  readonly units: readonly Unit[];
  readonly end: 'return' | 'tail' | 'table';
  readonly seed: number;
}

export interface CallGraph {
  /** `user`: Sv39 in U-mode. */
  readonly mapping: Mapping | 'user';
  readonly tracing: Tracing;
  readonly rounds: number;
  /** Calls that a round may make. */
  readonly calls: number;
  /** Units in front of the first call of a round. */
  readonly start: readonly Unit[];
  readonly functions: readonly GraphFunction[];
  readonly seed: number;
}

const MAPPINGS = ['sv39', 'sv39', 'bare', 'identity', 'user'] as const;
const CODE_MAX = INIT - RAM_BASE;
/** Functions of one program that can meet in the jump cache. */
const SAME_MAX = 8;

export function drawGraph(random: Random): CallGraph {
  const unit = drawUnits(random);
  const units = (count: number): Unit[] => Array.from({ length: count }, unit);
  const size = 1 + random.below(8);
  const meet = random.oneIn(3);
  const functions = Array.from({ length: 2 + random.below(20) }, (_, i): GraphFunction => {
    const place = random.oneIn(3) ? 'page' : random.oneIn(4) ? 'end' : 'next';
    return {
      place: meet && i < SAME_MAX ? 'same' : place,
      units: units(1 + random.below(size + (random.oneIn(6) ? 20 : 0))),
      end: random.oneIn(3) ? 'tail' : random.oneIn(5) ? 'table' : 'return',
      seed: random.u32(),
    };
  });
  return {
    mapping: random.pick(MAPPINGS),
    tracing: drawTracing(random),
    rounds: 30 + random.below(60),
    calls: random.pick([5, 20, 60, 450]),
    start: units(3),
    functions,
    seed: random.u32(),
  };
}

const isPaged = ({ mapping }: CallGraph): boolean => mapping === 'sv39' || mapping === 'user';

export interface Code {
  readonly bytes: Uint8Array;
  /** Where the program stays, and where traps go. */
  readonly end: number;
  readonly handler: number;
  readonly hooks: readonly number[];
}

export function assembleGraph(graph: CallGraph): Code {
  const a = new Assembly(RAM_BASE);
  const random = new Random(graph.seed);
  const places = (count: number): Place[] => Array.from({ length: count }, () => new Place());
  const shared: Graph = {
    random,
    probe: new Place(),
    hooks: places(HOOK_KINDS),
    isPaged: isPaged(graph),
    functions: places(graph.functions.length),
    patched: places(graph.functions.length),
    table: new Place(),
  };
  const write = (units: readonly Unit[]): void => {
    for (const unit of units) writeUnit(a, unit, { ...shared, random: new Random(unit.seed) });
  };
  const [again, out, handler] = places(3) as [Place, Place, Place];
  a.address(31, Object.assign(new Place(), { at: INIT }));
  for (let r = 1; r < 31; r++) a.put('ld', { rd: r, rs1: 31, imm: 8 * r });
  const head = a.here();
  a.address(27, again).put('addi', { rd: 8, rs1: 2, imm: 0 });
  a.put('addi', { rd: 26, rs1: 0, imm: graph.calls });
  write(graph.start);
  a.toward('jal', shared.functions[0]!, { rd: 1 });
  a.toward('jal', random.pick(shared.functions), { rd: 1 });
  a.here(again);
  a.put('addi', { rd: 2, rs1: 8, imm: 0 }).put('addi', { rd: 9, rs1: 9, imm: -1 });
  a.toward('beq', out, { rs1: 9, rs2: 0 }).toward('jal', head, { rd: 0 });
  a.here(out);
  a.address(31, Object.assign(new Place(), { at: RESULT }));
  for (let r = 1; r < 31; r++) a.put('sd', { rs1: 31, rs2: r, imm: 8 * r });
  const end = a.here();
  a.toward('jal', end, { rd: 0 });
  for (const [i, fn] of graph.functions.entries())
    a.later(() => writeFunction(a, fn, i, shared, () => write(fn.units)));
  a.later(() => {
    while (a.pc % 8 !== 0) a.cNop();
    a.here(shared.table);
    for (let i = 0; i < TABLE_SIZE; i++) a.pointer(random.pick(shared.functions));
    writeHandler(a, handler);
    writeHooks(a, shared.hooks);
  });
  const bytes = a.finish();
  if (bytes.length > CODE_MAX) throw new Error(`${bytes.length} bytes of code`);
  return { bytes, end: end.at, handler: handler.at, hooks: shared.hooks.map(hook => hook.at) };
}

function writeFunction(a: Assembly, fn: GraphFunction, i: number, shared: Graph, body: () => void): void {
  const random = new Random(fn.seed);
  const next = (a.pc - a.base + 0x1000) & ~0xfff;
  if (fn.place === 'same') a.skipTo(JumpCacheMemory.covers * (1 + i) + 0x100);
  if (fn.place === 'page') a.skipTo(next);
  if (fn.place === 'end') a.skipTo(next - 2 * (1 + random.below(20)));
  const go = new Place();
  a.here(shared.functions[i]);
  a.put('addi', { rd: 26, rs1: 26, imm: -1 }).toward('blt', go, { rs1: 0, rs2: 26 });
  a.put('jalr', { rd: 0, rs1: 1, imm: 0 });
  a.here(go);
  a.put('addi', { rd: 2, rs1: 2, imm: -16 }).put('sd', { rs1: 2, rs2: 1, imm: 8 });
  a.here(shared.patched[i]);
  a.put('addi', { rd: 15, rs1: 15, imm: 1 });
  body();
  a.put('ld', { rd: 1, rs1: 2, imm: 8 }).put('addi', { rd: 2, rs1: 2, imm: 16 });
  if (fn.end === 'tail') a.toward('jal', random.pick(shared.functions), { rd: 0 });
  else if (fn.end === 'return') a.put('jalr', { rd: 0, rs1: 1, imm: 0 });
  else {
    a.address(30, shared.table).put('ld', { rd: 30, rs1: 30, imm: 8 * random.below(TABLE_SIZE) });
    a.put('jalr', { rd: 0, rs1: 30, imm: 0 });
  }
}

/** Goes on behind the instruction that trapped; all that can trap have four bytes. */
function writeHandler(a: Assembly, handler: Place): void {
  const [MSCRATCH, MEPC] = [0x340, 0x341];
  while (a.pc % 4 !== 0) a.cNop();
  a.here(handler);
  a.put('csrrw', { rd: 5, rs1: 5, imm: MSCRATCH }).put('csrrs', { rd: 5, rs1: 0, imm: MEPC });
  a.put('addi', { rd: 5, rs1: 5, imm: 4 }).put('csrrw', { rd: 0, rs1: 5, imm: MEPC });
  a.put('csrrw', { rd: 5, rs1: 5, imm: MSCRATCH }).put('mret');
}

/** First contents of RAM, physical. */
export function graphMemory(graph: CallGraph, code: Code): Uint8Array {
  const ram = new Uint8Array(RAM_BYTES);
  const view = new DataView(ram.buffer);
  const random = new Random(graph.seed + 1);
  ram.set(code.bytes);
  const put = (pa: number, value: bigint): void =>
    view.setBigUint64(pa - RAM_BASE, BigInt.asUintN(64, value), true);
  const register = (r: number, value: number): void => put(INIT + 8 * r, BigInt(value));
  for (let r = 1; r < 31; r++) put(INIT + 8 * r, random.u64());
  register(2, STACK);
  register(3, liveContext(graph.tracing));
  register(4, THREAD_POINTER);
  register(9, graph.rounds);
  register(16, isPaged(graph) ? VA : SCATTERED);
  // Addresses without RAM; in Sv39 without a page.
  register(17, graph.mapping === 'sv39' ? 0x1_5000_0000 : 0x100);
  register(19, MAP.kcov.base);
  for (let at = 0; at < 0x2_0000; at += 8) put(SCATTERED + at, random.u64());
  const codeEnd = RAM_BASE + 64 * Math.ceil(code.bytes.length / 64);
  writeHookData(put, code.hooks, graph.tracing, { codeEnd, tableEnd: TABLE_END });
  writeTables(put, graph.mapping === 'user');
  return ram;
}
