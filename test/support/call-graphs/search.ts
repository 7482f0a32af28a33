// The search for call graphs that leave another state compiled than interpreted.

import { InterpEngine } from '../../../emulator/engine/engine.ts';
import { Jit } from '../../../emulator/engine/jit/jit.ts';
import { HEAT_EAGER } from '../../../emulator/engine/jit/policy/heat.ts';
import * as L from '../../../emulator/hart/layout.ts';
import { kcovInlineCalls } from '../../../emulator/machine/kcov-inline/index.ts';
import { type EngineFactory, Flat, RAM_BASE } from '../flat.ts';
import { drawProfile } from '../profiles.ts';
import { Random } from '../random.ts';
import { addKcov, NO_TRACING, type Records } from '../shapes/hooks.ts';
import { crashOf, difference, enterMapping, interpreted, RAM_BYTES, stateOf } from '../shapes/program.ts';
import { assembleGraph, type CallGraph, type Code, drawGraph, graphMemory } from './program.ts';

/** When the JIT compiles, and how much it keeps. */
export interface Policy {
  readonly slots: number;
  readonly batch: number;
  readonly arrivals: number;
  readonly wasmBytes?: number;
  readonly decodedPages: number;
  /** 0: only hot regions; Infinity: only warm ones. */
  readonly unitsToPromote: number;
  readonly onlyReached: boolean;
  /** The seed of a profile of earlier runs, which does not fit. */
  readonly profile?: number;
}

/** Small caches, so that modules are parked, revived and dropped all the time. */
export const drawPolicy = (random: Random, isProfiled = false): Policy => ({
  slots: random.pick([1, 2, 3, 4, 6, 8, 16, 64, 4095, 4095]),
  batch: random.pick([1, 1, 2, 4, 6]),
  arrivals: random.pick([1, 2, 5]),
  ...(random.oneIn(4) && { wasmBytes: 20_000 }),
  decodedPages: random.oneIn(5) ? 3 : 32,
  unitsToPromote: random.pick([0, 0, 1, Infinity]),
  onlyReached: random.oneIn(2),
  ...(isProfiled && { profile: random.u32() }),
});

const compiledBy =
  (
    { slots, batch, arrivals, wasmBytes, unitsToPromote, onlyReached, profile }: Policy,
    made: (jit: Jit) => void,
  ): EngineFactory =>
  (ram, harts, area) => {
    const heat = {
      ...HEAT_EAGER,
      arrivalsPerTick: arrivals,
      batchEntries: batch,
      ticksToFillBatch: batch > 1 ? 3 : 0,
      forgiveUnits: 2000,
      unitsToPromote,
      onlyReached,
      ...(profile !== undefined && { ticksToMeasure: 20, ticksToFillHinted: batch > 1 ? 2 : 0 }),
    };
    const cache = { slots, ...(wasmBytes !== undefined && { wasmBytes }) };
    const base = area.base + InterpEngine.areaBytes(area.pages);
    const said = profile === undefined ? {} : { profile: drawProfile(profile) };
    const jit = new Jit(ram, { heat, cache, ...said, base });
    const engine = new InterpEngine(ram, harts, area, { jit });
    jit.attach(engine);
    made(jit);
    return engine;
  };

interface Prepared {
  readonly flat: Flat;
  readonly records: () => Records;
  readonly jit: Jit | undefined;
}

/** With the JIT, or interpreted and with nothing that the walker keeps. */
function machineOf(graph: CallGraph, code: Code, policy?: Policy): Prepared {
  let jit: Jit | undefined;
  const engine = policy ? compiledBy(policy, made => (jit = made)) : interpreted;
  const flat = new Flat({ ramBytes: RAM_BYTES, pages: policy?.decodedPages ?? 32, engine });
  flat.ram.write(RAM_BASE, graphMemory(graph, code));
  enterMapping(flat, graph.mapping);
  if (!policy) {
    // Then the walker has no short way, neither for bare addresses nor by its last table.
    flat.hart.mmu.pmp.allowsAll = () => false;
    flat.hart.mmu.tlb.flushAll();
  }
  flat.hart.state.set64(L.MTVEC, BigInt(code.handler));
  flat.hart.state.set64(L.MENVCFG, 1n << 61n); // the walker sets A and D
  const records = addKcov(flat, table => jit?.setInlineCalls('kcov', kcovInlineCalls(table)));
  return { flat, records, jit };
}

/** Where two machines differ, or undefined. */
function compare(a: Prepared, b: Prepared): string | undefined {
  const trapsOf = ({ flat: { hart } }: Prepared): string =>
    `${hart.state.get64(L.MEPC)} ${hart.state.get64(L.EXCEPTIONS)} ${hart.state.get(L.PRIV)}`;
  const [x, y] = [trapsOf(a), trapsOf(b)];
  const traps = x === y ? undefined : `mepc, traps and mode ${x} and ${y}`;
  return difference(stateOf(a), stateOf(b)) ?? traps;
}

export interface Comparison {
  /** The first difference. */
  readonly how: string | undefined;
  readonly instructions: number;
  /** Records that compiled code made itself. */
  readonly inlined: number;
  readonly stats: Jit['stats'];
}

/** Instructions, and regions that are compiled: each costs the host a millisecond. */
const MOST = 150_000;
const REGIONS_MOST = 400;

/** Compares after pieces of random length, up to the end of the program or one of the limits. */
export function compareGraph(graph: CallGraph, policy: Policy): Comparison {
  const code = assembleGraph(graph);
  const [interpreter, compiled] = [machineOf(graph, code), machineOf(graph, code, policy)];
  const cuts = new Random(graph.seed + 2);
  const isFine = cuts.oneIn(3);
  let instructions = 0;
  let how: string | undefined;
  const { stats } = compiled.jit!;
  const isOver = (): boolean => instructions >= MOST || stats.regions >= REGIONS_MOST;
  while (how === undefined && !isOver() && Number(interpreter.flat.pc) !== code.end) {
    const piece = 1 + cuts.below(isFine ? (cuts.oneIn(3) ? 20 : 4000) : 20_000);
    interpreter.flat.run(piece);
    how = crashOf(() => compiled.flat.run(piece)) ?? compare(interpreter, compiled);
    instructions += piece;
  }
  return { how, instructions, inlined: compiled.records().compiled, stats };
}

/** Comparisons to make a program smaller. */
const ATTEMPTS = 150;

/** A smaller program that still fails: fewer functions, fewer units, less of the rest. */
export function shrinkGraph(graph: CallGraph, fails: (candidate: CallGraph) => boolean): CallGraph {
  let best = graph;
  let left = ATTEMPTS;
  const attempt = (change: Partial<CallGraph>): boolean => {
    const candidate = { ...best, ...change };
    if (left-- <= 0 || !fails(candidate)) return false;
    best = candidate;
    return true;
  };
  const without = <T>(list: readonly T[], i: number): T[] => list.filter((_, j) => j !== i);
  for (let half = best.functions.length >> 1; half > 0; half >>= 1)
    while (best.functions.length > half && attempt({ functions: best.functions.slice(0, -half) }));
  for (let i = best.functions.length - 1; i >= 0; i--)
    if (best.functions.length > 1) attempt({ functions: without(best.functions, i) });
  attempt({ start: [] });
  attempt({ tracing: NO_TRACING });
  attempt({ mapping: 'bare' });
  for (const calls of [5, 20, 60]) if (calls < best.calls && attempt({ calls })) break;
  for (let i = 0; i < best.functions.length; i++) {
    const change = (fn: Partial<CallGraph['functions'][number]>): boolean =>
      attempt({ functions: best.functions.map((one, j) => (j === i ? { ...one, ...fn } : one)) });
    change({ units: [] });
    for (let k = best.functions[i]!.units.length - 1; k >= 0; k--)
      change({ units: without(best.functions[i]!.units, k) });
    if (best.functions[i]!.end !== 'return') change({ end: 'return' });
    if (best.functions[i]!.place !== 'next') change({ place: 'next' });
  }
  return best;
}

export interface SearchResult {
  readonly programs: number;
  readonly instructions: number;
  readonly inlined: number;
  /** Sums over all programs of what the JIT did. */
  readonly regions: number;
  readonly revived: number;
  readonly evicted: number;
  /** The first program that differs, shrunk, and how. */
  readonly found: { readonly graph: CallGraph; readonly policy: Policy; readonly how: string } | undefined;
}

/** Runs up to so many programs, each with a policy of its own, until one differs. */
export function searchGraphs(
  seed: number,
  programs: number,
  shrinks = true,
  isProfiled = false,
): SearchResult {
  const random = new Random(seed);
  const sums = { instructions: 0, inlined: 0, regions: 0, revived: 0, evicted: 0 };
  for (let done = 0; done < programs; done++) {
    const graph = drawGraph(random);
    const policy = drawPolicy(random, isProfiled);
    const { how, instructions, inlined, stats } = compareGraph(graph, policy);
    sums.instructions += instructions;
    sums.inlined += inlined;
    for (const name of ['regions', 'revived', 'evicted'] as const) sums[name] += stats[name];
    if (how === undefined) continue;
    const howOf = (candidate: CallGraph): string | undefined => compareGraph(candidate, policy).how;
    const small = shrinks ? shrinkGraph(graph, candidate => howOf(candidate) !== undefined) : graph;
    return { programs: done + 1, ...sums, found: { graph: small, policy, how: howOf(small)! } };
  }
  return { programs, ...sums, found: undefined };
}
