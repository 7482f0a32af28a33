/**
 * Work on whole traces: merge, filter, and the comparison of the guest's buffer with the device's
 * records.
 */

import { CoverageError } from '../base/bytes.ts';
import { proofOf } from './proof.ts';
import {
  COUNT_MAX,
  KIND_CMP,
  KINDS,
  type RecordKind,
  type Source,
  type Trace,
  TraceBuilder,
} from './trace.ts';

/** The records to keep. Both predicates are called once per point or source, not per record. */
export interface RecordFilter {
  point?: (kind: RecordKind, pc: bigint) => boolean;
  source?: (source: Source) => boolean;
}

/**
 * Append the records of `from` to `builder`; `rename` may change their sources, and `areDistinct`
 * says that they stay different from each other and from those that are there: then no text is
 * remembered for each.
 */
function append(
  builder: TraceBuilder,
  from: Trace,
  keep: RecordFilter,
  rename: (source: Source) => Source,
  areDistinct: boolean,
): void {
  const wanted = Uint8Array.from(from.pointPc, (pc, i) =>
    !keep.point || keep.point(KINDS[from.pointKind[i]!]!, pc) ? 1 : 0,
  );
  let cmpAt = 0;
  const sources = from.sources.map(source => {
    if (keep.source && !keep.source(source)) return -1;
    return areDistinct ? builder.newSource(rename(source)) : builder.source(rename(source));
  });
  for (const { source, from: start, to } of from.runs()) {
    const target = sources[source]!;
    for (let i = start; i < to; i++) {
      const point = from.records[i]!;
      const isCmp = from.pointKind[point] === KIND_CMP;
      if (target >= 0 && wanted[point]) {
        const pc = from.pointPc[point]!;
        if (isCmp) builder.cmp(target, from.cmpType[cmpAt]!, from.cmpArg1[cmpAt]!, from.cmpArg2[cmpAt]!, pc);
        else if (KINDS[from.pointKind[point]!] === 'edge') builder.edge(target, pc);
        else builder.pcHalves(target, Number(pc & 0xffffffffn), Number(pc >> 32n));
      }
      if (isCmp) cmpAt++;
    }
  }
  for (const [source, calls] of from.alike?.entries() ?? [])
    if (calls > 0 && sources[source]! >= 0) builder.alike(sources[source]!, calls);
  for (const { source, addr, entered, left } of from.crossings)
    if (sources[source]! >= 0) builder.crossing(sources[source]!, addr, entered, left);
  const known = new Map<number, number>();
  for (const { source, count } of from.missed) known.set(source, (known.get(source) ?? 0) + count);
  // A lost record that is not identified may be at any point, so it stays with its source.
  for (const [source, count] of from.lost.entries()) {
    if (count > 0 && sources[source]! >= 0) builder.lost(sources[source]!, count - (known.get(source) ?? 0));
  }
  for (const { source, kind, pc, count } of from.missed) {
    const what = { kind: KINDS[kind]!, pc };
    if (sources[source]! >= 0 && (keep.point?.(what.kind, pc) ?? true))
      builder.lost(sources[source]!, count, what);
  }
  for (const finding of from.findings) builder.finding(finding);
}

/**
 * True if the remaining records still prove that code did not run. They do not if points are
 * missing, or if a thread keeps only some of its records: its functions would be entered and never
 * left.
 */
function keepsFlow(trace: Trace, keep: RecordFilter): boolean {
  if (keep.point) return false;
  const kept = new Map<string, boolean>();
  const isWhole = (key: string, stays: boolean): boolean => {
    const before = kept.get(key);
    kept.set(key, stays);
    return before === undefined || before === stays;
  };
  return trace.sources.every(source => {
    const { test, process, thread, context, handle, unique } = source;
    const stays = keep.source?.(source) ?? true;
    // A descriptor of a UNIQ mode may go to other threads, and records no PC again there.
    if (unique && !isWhole(`unique ${test}`, stays)) return false;
    return isWhole(`${process} ${thread} ${context} ${handle} ${test}`, stays);
  });
}

/** The records that `keep` selects; all of them are the trace as it was, with its proofs. */
export function filterTrace(trace: Trace, keep: RecordFilter): Trace {
  const { flow, ...header } = trace.header;
  const builder = new TraceBuilder({
    ...header,
    ...(flow && keepsFlow(trace, keep) && { flow }),
    filtered: true,
  });
  append(builder, trace, keep, source => source, true);
  const kept = builder.finish();
  // Without any record there is no sign that the selected code was traced at all.
  if (kept.records.length === 0) delete kept.header.flow;
  const size = ({ records, sources, crossings, lostTotal }: Trace) =>
    `${records.length} ${sources.length} ${crossings.length} ${lostTotal}`;
  return size(kept) === size(trace) ? trace : kept;
}

export interface NamedTrace {
  readonly trace: Trace;
  /** For records without a test name, and to tell tests of one name apart. */
  readonly name: string;
}

/**
 * Names for the tests of all parts, by part. Two trials of one program have one test name; they
 * stay two tests, called `test (name of the part)`.
 */
function testNames(parts: readonly NamedTrace[]): Map<string, string>[] {
  const own = parts.map(({ trace, name }) => trace.tests.map(test => [test, test || name] as const));
  const times = new Map<string, number>();
  for (const [, name] of own.flat()) times.set(name, (times.get(name) ?? 0) + 1);
  const taken = new Set<string>([...times.keys()]);
  const free = (name: string): string => {
    let unique = name;
    for (let i = 2; taken.has(unique); i++) unique = `${name} #${i}`;
    taken.add(unique);
    return unique;
  };
  return own.map((names, i) => {
    const label = (test: string, name: string) =>
      times.get(name) === 1 ? name : free(test === '' ? name : `${name} (${parts[i]!.name})`);
    return new Map(names.map(([test, name]) => [test, label(test, name)]));
  });
}

/**
 * One trace after the other. System calls are renumbered so that calls of different traces stay
 * apart, and so do tests of one name. The caller has made sure that all are of one image.
 */
export function mergeTraces(parts: readonly NamedTrace[]): Trace {
  const names = testNames(parts);
  return join(parts, (part, test) => names[part]!.get(test)!, true);
}

/** Two traces as two tests of one, whatever tests they had; and the names of these. */
export function pairTraces(a: NamedTrace, b: NamedTrace): { trace: Trace; names: [string, string] } {
  const names: [string, string] = a.name === b.name ? [`A: ${a.name}`, `B: ${b.name}`] : [a.name, b.name];
  const trace = join([a, b], part => names[part]!, false);
  // System calls of two tests may have become one; the PCs of one test say nothing of the other.
  const isProven = [a, b].every(part => proofOf(part.trace).absence);
  if (!isProven && proofOf(trace).absence) delete trace.header.flow;
  return { trace, names };
}

/** The notes on which all runs agree: another one would be said of runs that it is not true of. */
function commonNotes([first, ...rest]: readonly Readonly<Record<string, string>>[]): Record<string, string> {
  const common = Object.entries(first ?? {}).filter(([key, value]) =>
    rest.every(notes => notes[key] === value),
  );
  return Object.fromEntries(common);
}

/** `areDistinct`: tests of two names stay apart. */
function join(
  parts: readonly NamedTrace[],
  testOf: (part: number, test: string) => string,
  areDistinct: boolean,
): Trace {
  const dialects = new Set(parts.flatMap(part => part.trace.header.dialect.split('+')).filter(Boolean));
  const image = parts.find(part => part.trace.header.image !== '')?.trace.header.image ?? '';
  const notes = commonNotes(parts.map(part => part.trace.header.notes));
  const isKnown = parts.length > 0 && parts.every(part => part.trace.header.flow === 'known');
  const flow = isKnown && { flow: 'known' as const };
  const filtered = parts.some(part => part.trace.header.filtered) && { filtered: true as const };
  const builder = new TraceBuilder({
    dialect: [...dialects].sort().join('+'),
    image,
    notes,
    ...flow,
    ...filtered,
  });
  let calls = 0;
  for (const [i, { trace }] of parts.entries()) {
    const base = calls;
    for (const { call } of trace.sources) calls = Math.max(calls, base + call);
    const rename = (source: Source): Source => ({
      ...source,
      test: testOf(i, source.test),
      call: source.call === 0 ? 0 : base + source.call,
    });
    append(builder, trace, {}, rename, areDistinct);
  }
  const joined = builder.finish();
  if (calls > COUNT_MAX || joined.lostTotal > COUNT_MAX)
    throw new CoverageError('the traces have too many system calls or lost records together');
  return joined;
}

/**
 * The difference between the guest's buffer and the records that the device wrote to it; undefined
 * if there is none. `area` begins at word 0, `device` at word 1. A program may reset word 0 or
 * overwrite records; the device's copy is authoritative, and a difference is a finding. A count
 * that is lower than the device's is reported only if `mayReset` is false.
 */
export function compareArea(
  area: Uint8Array,
  device: Uint8Array,
  kind: RecordKind,
  count: number,
  mayReset = true,
): string | undefined {
  const guest = new DataView(area.buffer, area.byteOffset, area.byteLength);
  const seen = new DataView(device.buffer, device.byteOffset, device.byteLength);
  const words = kind === 'cmp' ? 4 : 1;
  if (area.length < 8) return `the area has ${area.length} bytes, not even a count`;
  const stored = guest.getBigUint64(0, true);
  if (stored > BigInt(count) || (!mayReset && stored !== BigInt(count))) {
    return `word 0 of the area says ${stored} records, the device wrote ${count}`;
  }
  const limit = Math.min(
    Number(stored) * words,
    Math.floor((area.length - 8) / 8),
    Math.floor(device.length / 8),
  );
  for (let i = 0; i < limit; i++) {
    const theirs = guest.getBigUint64(8 + 8 * i, true);
    const ours = seen.getBigUint64(8 * i, true);
    if (theirs !== ours) {
      return `word ${i + 1} of the area is 0x${theirs.toString(16)}, the device wrote 0x${ours.toString(16)} (record ${Math.floor(i / words)})`;
    }
  }
  return undefined;
}
