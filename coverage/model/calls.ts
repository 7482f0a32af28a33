/**
 * How often a function was called. An out-of-line copy counts at its entry. An inlined copy has no
 * entry: its code is mixed with that of the caller, and calls may leave on a path without a hook.
 * So a copy gives a lower bound: each call runs a block that is on no cycle of the copy at most
 * once. Copies are different call sites, so their bounds add up.
 *
 * A cycle may also be the caller's loop around the copy; then each turn is another call. DWARF
 * alone does not distinguish the two: an instruction of the caller may be moved into the loop of
 * the copy, and instructions without a line look like the caller's. A hook is not moved, so only a
 * hook with a line of the caller proves that a cycle leaves the copy.
 */

import type { Addr } from '../base/bytes.ts';
import type { Scope } from '../dwarf/dwarf.ts';
import { CallSites, HOOK_PC, hasHooks } from '../elf/callsites.ts';
import { effectsIn } from '../elf/effects.ts';
import { EXIT, ImageFlow } from '../elf/flow.ts';
import { firstBlock, mayHaveRun, pairs } from './lines.ts';
import type { Program, ProgramFunction } from './program.ts';
import { RAN } from './reach.ts';
import type { FunctionVerdict, LineJudge } from './verdict.ts';

export interface FunctionCalls {
  hits: number;
  /** `hits` is the least that is certain. */
  isLeast: boolean;
}

/** The hooks of an image, the times that each ran, at least, and the control flow around them. */
export interface Hooked {
  readonly sites: CallSites;
  /** NaN: not counted. */
  hits(site: number): number;
  /** Of the function that holds an address; undefined where it is not known. */
  graphAt(addr: Addr): Graph | undefined;
}

type Graph = Pick<FunctionVerdict, 'blocks' | 'isOpaque' | 'isInconsistent'>;

/**
 * The hooks of an image whose instructions were counted; undefined: it has none. Their calls are
 * instructions like others, so the counts are exact, and the rules for records hold for them.
 */
export function hookedOf({ elf }: Program, countAt: (addr: Addr) => number): Hooked | undefined {
  if (!hasHooks(elf)) return undefined;
  const sites = new CallSites(elf);
  const flow = new ImageFlow(sites);
  const graphs = new Map<Addr, Graph>();
  return {
    sites,
    hits: site => (sites.hook[site] === HOOK_PC ? countAt(sites.call[site]!) : Number.NaN),
    graphAt: addr => {
      const range = flow.rangeAt(addr);
      if (!range) return undefined;
      let graph = graphs.get(range.low);
      if (!graph) graphs.set(range.low, (graph = { ...flow.flow(range), isInconsistent: false }));
      return graph;
    },
  };
}

/** A run of a program. */
export interface Run {
  readonly program: Program;
  readonly verdicts: LineJudge;
  /** Times that each site ran, at least; exactly if the proof has counts. NaN: not counted. */
  readonly siteHits: Float64Array;
  /** Undefined: the image has no hooks. */
  readonly hooked: Hooked | undefined;
}

/** The calls of a function that ran, in part or in whole, while coverage was recorded. */
export function callsOf(run: Run, fn: ProgramFunction): FunctionCalls {
  const { program, verdicts, siteHits } = run;
  const { absence, counts } = verdicts.proof;
  let hits = 0;
  let isOpen = fn.inlined.length > 0 && fn.copies.length === 0;
  for (const site of fn.entries) {
    if (!(siteHits[site]! > 0)) continue;
    // A jump to the entry repeats the hook without a call.
    const isLoop = program.isLoopEntry(site);
    hits += isLoop ? 1 : siteHits[site]!;
    isOpen ||= isLoop;
  }
  for (const copy of fn.copies) {
    hits += callsOfCopy(run, copy);
    isOpen ||= mayHaveRun(verdicts, copy.ranges);
  }
  // Also where recording began inside of it.
  if (hits === 0 && fn.sites.some(site => siteHits[site]! > 0)) return { hits: 1, isLeast: true };
  return { hits, isLeast: isOpen || !(hits > 0 ? counts : absence) };
}

/** A lower bound for the calls of an inlined copy. */
function callsOfCopy({ program, verdicts, hooked }: Run, copy: Scope): number {
  let least = program.hooks === 'none' && hasActed(program, verdicts, copy) ? 1 : 0;
  if (!hooked) return least;
  const { sites } = hooked;
  for (const [low, high] of pairs(copy.ranges)) {
    for (let site = sites.firstFrom(low); site < sites.count && sites.call[site]! < high; site++) {
      const times = hooked.hits(site);
      const graph = times > least ? hooked.graphAt(low) : undefined;
      if (graph)
        least = times > 1 && runsOnce(program, hooked, graph, site, copy) ? times : Math.max(1, least);
    }
  }
  return least;
}

/**
 * True if an instruction of the copy with an effect ran. Others prove no call: a compiler executes
 * cheap ones before it is known whether their function is called.
 */
function hasActed({ sites, flow }: Program, verdicts: LineJudge, copy: Scope): boolean {
  for (const [addr, effect] of effectsIn(sites.scans, flow, copy.ranges)) {
    const verdict = effect === 'effect' ? verdicts.at(addr) : undefined;
    if (verdict?.states[firstBlock(verdict, addr)] === RAN) return true;
  }
  return false;
}

/** True if a call of the copy runs the block of this site at most once. */
function runsOnce(program: Program, { sites }: Hooked, graph: Graph, site: number, copy: Scope): boolean {
  const { blocks } = graph;
  if (graph.isOpaque || graph.isInconsistent || !program.isWhole(copy)) return false;
  const call = sites.call[site]!;
  const home = firstBlock(graph, call);
  if (home >= blocks.length) return false;
  const isInside = (block: number) =>
    !blocks[block]!.sites.some(other => isOfCaller(program, sites, other, copy));
  if (!isInside(home)) return true;
  const seen = new Uint8Array(blocks.length);
  const next = [home];
  for (let block = next.pop(); block !== undefined; block = next.pop()) {
    for (const to of blocks[block]!.out) {
      if (to === home) return false;
      if (to === EXIT || seen[to]) continue;
      seen[to] = 1;
      if (isInside(to)) next.push(to);
    }
  }
  return true;
}

/** True if a hook is certainly outside of the copy. */
function isOfCaller(
  { symbolizer: { dwarf } }: Program,
  sites: CallSites,
  site: number,
  copy: Scope,
): boolean {
  const call = sites.call[site]!;
  if (sites.hook[site] !== HOOK_PC) return false;
  for (const [low, high] of pairs(copy.ranges)) if (call >= low && call < high) return false;
  const table = dwarf.lineTable(copy.unit);
  const row = table ? table.find(call) : -1;
  return row >= 0 && table!.rows.line[row]! > 0;
}
