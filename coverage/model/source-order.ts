/**
 * A compiler that knows the outcome of a condition on one path leaves its code only on the others,
 * and it moves an assignment to the branch that needs it. Such a line ran although none of its
 * instructions did. The line table does not mark it, but the code betrays it: control comes to a
 * line that the source skipped from the line in front of it, while code that was moved or left over
 * is entered from elsewhere.
 *
 * So a line that did not run is *out of order* if the line in front of it ran and
 * - no run code leads to it other than through code of other lines that did not run, or
 * - it is entered from lines behind it, or
 * - it branches, and the line behind it ran as well.
 *
 * A call, or a store that is not to the stack, is not computed at compile time; lines with one are
 * in order.
 */
import { type Addr, upperBound } from '../base/bytes.ts';
import { ROW_END_SEQUENCE } from '../dwarf/line.ts';
import type { Frame, Symbolizer } from '../dwarf/symbolize.ts';
import type { CallSites } from '../elf/callsites.ts';
import { effectsIn } from '../elf/effects.ts';
import type { CodeRange, FlowBlock, ImageFlow } from '../elf/flow.ts';
import { didRun, type LineCode, type LineState, pairs, someMayHaveRun } from './lines.ts';
import { Undecided } from './undecided.ts';
import type { LineJudge } from './verdict.ts';

/** A program whose lines are placed. */
interface Placed {
  readonly sites: CallSites;
  readonly flow: ImageFlow;
  readonly symbolizer: Symbolizer;
  findLine(path: string, line: number): LineCode | undefined;
  /** Of a program of one file, its path; whether the code is that of a line of it. */
  readonly onlyFile: string | undefined;
  isOwn(code: LineCode): boolean;
}

interface Graph {
  readonly blocks: readonly FlowBlock[];
  readonly before: readonly (readonly number[])[];
}

/** The lines from which run code leads to a line, or that there is none. */
interface Approach {
  isEntered: boolean;
  fromPrevious: boolean;
  fromBefore: boolean;
  fromBehind: boolean;
}

export class SourceOrder {
  readonly #program: Placed;
  readonly #verdicts: LineJudge;
  /** Of the line's own code. */
  readonly #state: (code: LineCode) => LineState;
  readonly #graphs = new Map<Addr, Graph | undefined>();
  /** By start of a block: whether it holds code of a line that did not run. */
  readonly #holdsIdle = new Map<Addr, boolean>();

  constructor(program: Placed, verdicts: LineJudge, state: (code: LineCode) => LineState) {
    this.#program = program;
    this.#verdicts = verdicts;
    this.#state = state;
  }

  /** True if a line none of whose instructions ran is out of order. */
  isOutOfOrder(code: LineCode): boolean {
    const { previous, next } = code;
    if (!previous) return false;
    const follows = this.#ran(previous);
    const leads = next !== undefined && this.#ran(next);
    if (!follows && !leads) return false;
    const { own, hooks, calls } = code;
    const home = own[0] ?? hooks[0];
    if (home === undefined || calls.length > 0) return false;
    const { branches, effects } = this.#effects(own);
    if (effects || !(follows || branches)) return false;
    const here = this.#program.symbolizer.frames(home)[0];
    if (!here || !this.#isOf(here, previous) || !(follows || this.#isOf(here, next!))) return false;
    if (follows && leads && branches && this.#isOf(here, next)) return true;
    const approach = this.#approach(code, here);
    if (!approach) return false;
    const isBackward = approach.fromBehind && !approach.fromBefore;
    return follows ? !approach.isEntered || isBackward : isBackward && !approach.fromPrevious;
  }

  #ran(code: LineCode): boolean {
    return didRun(this.#state(code));
  }

  #effects(ranges: readonly Addr[]): { branches: boolean; effects: boolean } {
    const { sites, flow } = this.#program;
    let branches = false;
    for (const [, effect] of effectsIn(sites.scans, flow, ranges)) {
      if (effect === 'effect') return { branches, effects: true };
      branches ||= effect === 'branch';
    }
    return { branches, effects: false };
  }

  /** True if a line belongs to the function of a frame. */
  #isOf(here: Frame, code: LineCode | undefined): boolean {
    const at = code?.own[0] ?? code?.hooks[0] ?? code?.calls[0];
    return at !== undefined && this.#program.symbolizer.frames(at).some(frame => isSame(frame, here));
  }

  /** Undefined if the flow of a function with code of the line is not known. */
  #approach(code: LineCode, here: Frame): Approach | undefined {
    const found: Approach = { isEntered: false, fromPrevious: false, fromBefore: false, fromBehind: false };
    for (const [low, high] of [...pairs(code.own), ...pairs(code.hooks)]) {
      const range = this.#program.flow.rangeAt(low);
      const graph = range && this.#graph(range);
      if (!graph) return undefined;
      const start = Math.max(0, upperBound(graph.blocks.length, low, k => graph.blocks[k]!.low) - 1);
      const queue: number[] = [];
      for (let i = start; i < graph.blocks.length && graph.blocks[i]!.low < high; i++) queue.push(i);
      const seen = new Set(queue);
      for (let i = queue.pop(); i !== undefined; i = queue.pop()) {
        if (i === 0) found.isEntered = found.fromBefore = true; // the whole function did not run
        for (const from of graph.before[i]!) {
          if (seen.has(from)) continue;
          seen.add(from);
          const block = graph.blocks[from]!;
          if (this.#mayHaveRun(block)) this.#enter(found, block, code, here);
          else if (block.isEdge || !this.#isIdle(block)) queue.push(from);
        }
      }
    }
    return found;
  }

  #enter(found: Approach, block: FlowBlock, { line, previous }: LineCode, here: Frame): void {
    found.isEntered = true;
    const frame = this.#program.symbolizer.frames(block.high - 2).find(other => isSame(other, here));
    if (!frame)
      found.fromBefore = true; // the caller's
    else if (frame.line === previous!.line) found.fromPrevious = true;
    else if (frame.line > line) found.fromBehind = true;
    else if (frame.line > 0 && frame.line < line) found.fromBefore = true;
  }

  #graph(range: CodeRange): Graph | undefined {
    if (this.#graphs.has(range.low)) return this.#graphs.get(range.low);
    const { blocks, isOpaque } = this.#program.flow.flow(range);
    const before: number[][] = blocks.map(() => []);
    for (const [i, { out }] of blocks.entries()) for (const to of out) before[to]?.push(i);
    const graph = isOpaque ? undefined : { blocks, before };
    this.#graphs.set(range.low, graph);
    return graph;
  }

  #mayHaveRun({ low, high }: FlowBlock): boolean {
    if (this.#verdicts.neverRan(low)) return false;
    const verdict = this.#verdicts.at(low);
    return !verdict || someMayHaveRun(verdict, low, high);
  }

  #isIdle({ low, high }: FlowBlock): boolean {
    let idle = this.#holdsIdle.get(low);
    if (idle === undefined) {
      const lines = [...this.#linesOf(low, high)];
      const { onlyFile } = this.#program;
      const known = onlyFile === undefined ? lines : lines.filter(code => this.#program.isOwn(code));
      idle = known.some(code => this.#state(code) === 'uncovered');
      // A line of another file may have code that this program has not.
      if (!idle && known.length < lines.length)
        throw new Undecided(`${onlyFile}: a line depends on another file`);
      this.#holdsIdle.set(low, idle);
    }
    return idle;
  }

  *#linesOf(low: Addr, high: Addr): Generator<LineCode> {
    const { dwarf } = this.#program.symbolizer;
    const unit = dwarf.unitAt(low);
    const table = unit && dwarf.lineTable(unit);
    if (!table) return;
    const [from, to] = table.range(low, high);
    const { address, file, line, flags } = table.rows;
    for (let row = from; row < to; row++) {
      if (flags[row]! & ROW_END_SEQUENCE || line[row] === 0 || address[row + 1]! <= low) continue;
      const code = this.#program.findLine(table.cleanPath(file[row]!, unit.compDir), line[row]!);
      if (code) yield code;
    }
  }
}

const isSame = (a: Frame, b: Frame): boolean =>
  a.function === b.function && a.declLine === b.declLine && a.declFile === b.declFile;
