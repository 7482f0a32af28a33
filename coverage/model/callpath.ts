/**
 * The call path of a system call, rebuilt from the order of its records: a record at a function's
 * entry is a call, a record of a function further up the stack is a return to it, inlined functions
 * are the frames DWARF gives for the point.
 *
 * Derived, not recorded: a function that is entered while its caller has already returned without a
 * record of its own is placed under the nearest function on the stack that holds a call of it
 * (callgraph.ts), else the nearest that reaches it by a few direct calls, else the nearest that
 * makes indirect calls.
 */
import { CallGraph } from './callgraph.ts';
import type { Coverage } from './coverage.ts';

/** One box of the picture: `[from, to)` counts the records of its system call. */
export interface PathNode {
  name: string;
  depth: number;
  from: number;
  to: number;
  inline: boolean;
  /** Program point of its first record, to jump to the source. */
  point: number;
}

export interface CallPath {
  /** Number of the source in the trace. */
  source: number;
  records: number;
  /** In order of `from`, parents before children. */
  nodes: PathNode[];
  /** True if the paths were cut at the limit of nodes. */
  isCut: boolean;
}

interface Open {
  node: PathNode | undefined;
  /** Outer function number for a real call, -1 for an inlined frame. */
  outer: number;
}

class PathBuilder {
  readonly nodes: PathNode[] = [];
  isCut = false;
  private readonly stack: Open[] = [];
  private readonly coverage: Coverage;
  private readonly graph: CallGraph;
  private readonly inlineOf: (point: number) => string[];
  private readonly limit: number;
  private at = 0;

  constructor(coverage: Coverage, graph: CallGraph, inlineOf: (point: number) => string[], limit: number) {
    this.coverage = coverage;
    this.graph = graph;
    this.inlineOf = inlineOf;
    this.limit = limit;
  }

  record(point: number): void {
    const { program } = this.coverage;
    const outer = program.outerOf[point]!;
    if (program.isEntry[point]) this.enter(outer, point);
    else this.resume(outer, point);
    this.inline(point);
    this.at++;
  }

  finish(): void {
    this.cut(0);
  }

  private push(name: string, outer: number, inline: boolean, point: number): void {
    let node: PathNode | undefined;
    if (this.nodes.length < this.limit) {
      node = { name, depth: this.stack.length, from: this.at, to: this.at, inline, point };
      this.nodes.push(node);
    } else this.isCut = true;
    this.stack.push({ node, outer });
  }

  /** Close everything above `depth`. */
  private cut(depth: number): void {
    while (this.stack.length > depth) {
      const { node } = this.stack.pop()!;
      if (node) node.to = this.at;
    }
  }

  private enter(outer: number, point: number): void {
    const { name } = this.coverage.program.outer[outer]!;
    this.cut(this.callerDepth(outer));
    this.push(name, outer, false, point);
  }

  /**
   * The part of the stack that stays open under a call of `outer`; `otherwise` if no function on it
   * is known to call it.
   */
  private callerDepth(outer: number, otherwise = this.stack.length): number {
    const functions = this.coverage.program.outer;
    const callee = functions[outer]!.start;
    let distant = 0;
    let indirect = 0;
    for (let i = this.stack.length - 1; i >= 0; i--) {
      const caller = this.stack[i]!.outer;
      if (caller < 0) continue;
      const { start } = functions[caller]!;
      // Inlined frames above a caller stay only if it is the innermost call.
      const depth = this.isInnermost(i) ? this.stack.length : i + 1;
      if (this.graph.calls(start, callee)) return depth;
      if (distant === 0 && this.graph.reaches(start, callee)) distant = depth;
      if (indirect === 0 && this.graph.callsIndirectly(start)) indirect = depth;
    }
    return distant || indirect || otherwise;
  }

  private isInnermost(index: number): boolean {
    for (let i = index + 1; i < this.stack.length; i++) if (this.stack[i]!.outer >= 0) return false;
    return true;
  }

  private resume(outer: number, point: number): void {
    let i = this.stack.length - 1;
    while (i >= 0 && this.stack[i]!.outer !== outer) i--;
    if (i < 0) {
      // Its entry was not recorded: the trace began inside it, or the mode records each PC only
      // once.
      this.cut(this.callerDepth(outer, 0));
      this.push(this.coverage.program.outer[outer]!.name, outer, false, point);
      return;
    }
    let keep = i + 1;
    while (keep < this.stack.length && this.stack[keep]!.outer < 0) keep++;
    this.cut(keep);
  }

  /** Make the inlined frames on top of the stack those of the point. */
  private inline(point: number): void {
    const names = this.inlineOf(point);
    let base = this.stack.length;
    while (base > 0 && this.stack[base - 1]!.outer < 0) base--;
    let same = 0;
    while (same < names.length && this.stack[base + same]?.node?.name === names[same]) same++;
    this.cut(base + same);
    for (const name of names.slice(same)) this.push(name, -1, true, point);
  }
}

export interface CallPathOptions {
  /** Boxes of a path at most. */
  limit?: number;
  /** Sources whose paths are wanted; all by default. */
  only?: ReadonlySet<number>;
}

/**
 * Call paths of the sources that have records of covered points, in order of their first record.
 */
export function callPaths(coverage: Coverage, { limit = 4000, only }: CallPathOptions = {}): CallPath[] {
  const { trace, program, mapped } = coverage;
  if (trace.records.length === 0) return [];
  const graph = new CallGraph(program.elf);
  const inlineNames = new Map<number, string[]>();
  const inlineOf = (point: number) => {
    let names = inlineNames.get(point);
    if (!names) {
      names = program
        .frames(point)
        .filter(frame => frame.inline)
        .map(frame => frame.function)
        .reverse();
      inlineNames.set(point, names);
    }
    return names;
  };
  const builders = new Map<number, { builder: PathBuilder; records: number }>();
  for (const { source, from, to } of trace.runs()) {
    if (only && !only.has(source)) continue;
    let entry = builders.get(source);
    if (!entry) {
      entry = { builder: new PathBuilder(coverage, graph, inlineOf, limit), records: 0 };
      builders.set(source, entry);
    }
    for (let i = from; i < to; i++) {
      const point = mapped[trace.records[i]!]!;
      if (point < 0) continue;
      entry.builder.record(point);
      entry.records++;
    }
  }
  return [...builders]
    .filter(([, entry]) => entry.records > 0)
    .map(([source, { builder, records }]) => {
      builder.finish();
      return { source, records, nodes: builder.nodes, isCut: builder.isCut };
    });
}
