/**
 * Call paths worth drawing, by interest: first the call that reaches most, then always one that
 * reaches points which no call before it in the list reached, and then calls whose points are rare.
 * Of calls that reached the same points one is drawn.
 */
import type { ExportOptions } from '../export/common.ts';
import { callPaths } from '../model/callpath.ts';
import type { Coverage } from '../model/coverage.ts';
import type { Source } from '../trace/trace.ts';
import { belongs, contextOf, type Name } from './groups.ts';
import type { PageIndex, PagePath } from './page.ts';

const PATHS = 400;

/** One call with distinct points. */
interface Candidate {
  source: number;
  points: Uint32Array;
  rarity: number;
  same: number;
  fresh: number;
}

/** Distinct points of every source with records; sources with equal sets are one candidate. */
function candidates({ trace, mapped, program }: Coverage): Candidate[] {
  const runs = new Map<number, { from: number; to: number }[]>();
  for (const { source, from, to } of trace.runs()) {
    const list = runs.get(source);
    if (list) list.push({ from, to });
    else runs.set(source, [{ from, to }]);
  }
  const stamp = new Int32Array(program.count).fill(-1);
  const known = new Map<string, Candidate>();
  for (const [source, list] of runs) {
    const touched: number[] = [];
    for (const { from, to } of list) {
      for (let i = from; i < to; i++) {
        const point = mapped[trace.records[i]!]!;
        if (point < 0 || stamp[point] === source) continue;
        stamp[point] = source;
        touched.push(point);
      }
    }
    if (touched.length === 0) continue;
    const points = Uint32Array.from(touched).sort();
    const key = `${trace.sources[source]!.syscall} ${digest(points)}`;
    const same = known.get(key);
    if (same) same.same++;
    else known.set(key, { source, points, rarity: 0, same: 0, fresh: 0 });
  }
  return [...known.values()];
}

/**
 * Two 32-bit hashes and the length (FNV-1a with two primes): calls count as equal when these are.
 */
function digest(points: Uint32Array): string {
  let [a, b] = [0x811c9dc5, 0x9e3779b1];
  for (const point of points) {
    a = Math.imul(a ^ point, 0x01000193);
    b = Math.imul(b ^ point, 0x85ebca6b);
  }
  return `${a >>> 0} ${b >>> 0} ${points.length}`;
}

/** The candidates by interest, at most `limit`. */
export function byInterest(all: Candidate[], count: number, limit: number): Candidate[] {
  const reach = new Uint32Array(count);
  for (const { points } of all) for (const point of points) reach[point]!++;
  for (const one of all) one.rarity = one.points.reduce((sum, point) => sum + 1 / reach[point]!, 0);
  const order = (a: Candidate, b: Candidate) => b.rarity - a.rarity || a.source - b.source;
  const seen = new Uint8Array(count);
  // In order of rarity, a call that shows something new goes before all that show nothing new.
  for (const one of [...all].sort(order)) {
    for (const point of one.points) {
      if (seen[point] === 0) one.fresh++;
      seen[point] = 1;
    }
  }
  return all.sort((a, b) => Number(b.fresh > 0) - Number(a.fresh > 0) || order(a, b)).slice(0, limit);
}

/** A part of an URL that names a source among all. */
function idOf({ test, process, thread, call, context, handle, syscall }: Source): string {
  const section = context === 'remote' ? `remote-0x${handle.toString(16)}` : '';
  return [test, process, thread, section || (call > 0 ? call : syscall < 0 ? 'outside' : `n${syscall}`)].join(
    '/',
  );
}

/** Fills `paths`, `names` and `morePaths` of the page. */
export function addPaths(
  coverage: Coverage,
  options: ExportOptions,
  data: PageIndex,
  groups: readonly Name[],
): void {
  const { trace, program } = coverage;
  const all = candidates(coverage);
  const chosen = byInterest(all, program.count, PATHS);
  data.morePaths = all.length - chosen.length;
  const drawn = new Map(
    callPaths(coverage, { only: new Set(chosen.map(one => one.source)) }).map(path => [path.source, path]),
  );
  const fileIndex = new Map(data.files.map((file, i) => [file.p, i]));
  const nameIndex = new Map<string, number>();
  const nameOf = (name: string): number => {
    let index = nameIndex.get(name);
    if (index === undefined) {
      index = data.names.push(name) - 1;
      nameIndex.set(name, index);
    }
    return index;
  };
  const place = (point: number): [number, number] => {
    const [frame] = program.frames(point);
    return [fileIndex.get(frame!.file) ?? -1, frame!.line];
  };
  const ids = new Set<string>();
  for (const { source, fresh, same } of chosen) {
    const path = drawn.get(source)!;
    const s = trace.sources[source]!;
    let id = idOf(s);
    while (ids.has(id)) id += '+';
    ids.add(id);
    const entry: PagePath = {
      id,
      ...wording(s, options),
      records: path.records,
      fresh,
      same,
      cut: path.isCut,
      g: groups.flatMap((group, i) => (belongs(s, group) ? [i] : [])),
      n: path.nodes.map(n => [nameOf(n.name), n.depth, n.from, n.to, n.inline ? 1 : 0, ...place(n.point)]),
    };
    data.paths.push(entry);
  }
}

function wording(s: Source, options: ExportOptions): { label: string; by: string } {
  const isRemote = s.context === 'remote';
  const call =
    s.syscall < 0 ? 'outside system calls' : (options.syscallName?.(s.syscall) ?? `system call ${s.syscall}`);
  const parts = [
    s.test,
    `process ${s.process}, thread ${s.thread}`,
    isRemote ? `remote ${contextOf(s)}` : '',
  ];
  return {
    label: isRemote && s.syscall < 0 ? 'remote section' : call,
    by: parts.filter(text => text !== '').join(' \u00b7 '),
  };
}
