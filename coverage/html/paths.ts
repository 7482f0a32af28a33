/**
 * Call paths worth drawing, by interest: first the call that reaches most, then always one that
 * reaches points which no call before it in the list reached, and then calls whose points are rare.
 * Of calls that reached the same points one is drawn.
 */
import type { ExportOptions } from '../export/common.ts';
import { callPaths } from '../model/callpath.ts';
import type { Coverage } from '../model/coverage.ts';
import type { Source, Trace } from '../trace/trace.ts';
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

/** Runs of each source: the first one, and behind each run the next of its source; -1: none. */
function chainsOf({ sources, runSource }: Trace): { first: Int32Array; next: Int32Array } {
  const first = new Int32Array(sources.length).fill(-1);
  const last = new Int32Array(sources.length).fill(-1);
  const next = new Int32Array(runSource.length).fill(-1);
  for (const [run, source] of runSource.entries()) {
    if (first[source] === -1) first[source] = run;
    else next[last[source]!] = run;
    last[source] = run;
  }
  return { first, next };
}

/**
 * Distinct points of every source with records; sources with equal sets are one candidate. A trace
 * may have millions of system calls, so nothing is allocated for one whose set is known.
 */
function candidates({ trace, mapped, program }: Pick<Coverage, 'trace' | 'mapped' | 'program'>): Candidate[] {
  const { records, runStart, runSource, sources, alike } = trace;
  const { first, next } = chainsOf(trace);
  const stamp = new Int32Array(program.count).fill(-1);
  const touched = new Uint32Array(program.count);
  const known = new KnownSets();
  const found: Candidate[] = [];
  for (const [run, source] of runSource.entries()) {
    if (first[source] !== run) continue;
    let count = 0;
    let [a, b] = [0, 0];
    for (let part = run; part >= 0; part = next[part]!) {
      const to = runStart[part + 1] ?? records.length;
      for (let i = runStart[part]!; i < to; i++) {
        const point = mapped[records[i]!]!;
        if (point < 0 || stamp[point] === source) continue;
        stamp[point] = source;
        touched[count++] = point;
        a = (a + mixed(point, 0x7feb352d)) | 0;
        b = (b + mixed(point, 0x2c1b3c6d)) | 0;
      }
    }
    if (count === 0) continue;
    const same = known.find(sources[source]!.syscall, count, a, b);
    if (same) {
      same.same += 1 + (alike?.[source] ?? 0);
      continue;
    }
    const points = touched.slice(0, count).sort();
    const candidate = { source, points, rarity: 0, same: alike?.[source] ?? 0, fresh: 0 };
    found.push(candidate);
    known.add(sources[source]!.syscall, count, a, b, candidate);
  }
  return found;
}

/** A hash of one point; those of a set are added up, so their order does not matter. */
function mixed(point: number, factor: number): number {
  const first = Math.imul(point ^ (point >>> 16) ^ 0x9e3779b1, factor);
  return Math.imul(first ^ (first >>> 15), 0x846ca68b) ^ (first >>> 13);
}

/** Sets count as equal when their sizes and both of their hashes are. */
class KnownSets {
  readonly #byHash = new Map<number, (readonly [syscall: number, count: number, b: number, Candidate])[]>();

  find(syscall: number, count: number, a: number, b: number): Candidate | undefined {
    const list = this.#byHash.get(a);
    if (!list) return undefined;
    for (const entry of list)
      if (entry[0] === syscall && entry[1] === count && entry[2] === b) return entry[3];
    return undefined;
  }

  add(syscall: number, count: number, a: number, b: number, candidate: Candidate): void {
    const list = this.#byHash.get(a);
    if (list) list.push([syscall, count, b, candidate]);
    else this.#byHash.set(a, [[syscall, count, b, candidate]]);
  }
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
