/** The proofs that a trace permits. */
import { KIND_CMP, KIND_PC, type Source, type Trace } from './trace.ts';

export interface Proof {
  /** A hook without a record did not run. */
  absence: boolean;
  /** The number of records is the number of executions. */
  counts: boolean;
  /** The crossings between recorded and unrecorded execution are known. */
  crossings: boolean;
}

export function proofOf(trace: Trace): Proof {
  const crossings = trace.header.flow === 'known';
  const missed = trace.missed.reduce((sum, row) => sum + row.count, 0);
  const absence = crossings && trace.lostTotal === missed && hasAllPcs(trace);
  return { crossings, absence, counts: absence && !trace.sources.some(source => source.unique) };
}

/**
 * False if code ran while only comparisons or edges were recorded. The recorder marks such sources.
 * In other traces the records tell: a mode of comparisons excludes that of PCs, so those of one
 * system call do. The UNIQ mode of edges combines with that of PCs, which records each once for all
 * system calls; so there the records of the whole thread tell.
 */
function hasAllPcs(trace: Trace): boolean {
  const { sources, pointKind } = trace;
  if (sources.some(source => source.withoutPcs)) return false;
  const isOther = (kind: number): boolean => kind !== KIND_PC;
  if (!pointKind.some(isOther) && !trace.missed.some(({ kind }) => isOther(kind))) return true;
  const groups = new Map<string, { pcs: boolean; others: boolean }>();
  const groupOf = sources.map((source, i) => {
    const key = source.unique ? threadOf(source) : String(i);
    let group = groups.get(key);
    if (!group) groups.set(key, (group = { pcs: false, others: false }));
    return group;
  });
  let isMixed = false;
  const add = (source: number, kind: number): void => {
    groupOf[source]![kind === KIND_PC ? 'pcs' : 'others'] = true;
    if (kind === KIND_CMP && sources[source]!.unique) isMixed = true;
  };
  for (const { source, from, to } of trace.runs())
    for (let i = from; i < to; i++) add(source, pointKind[trace.records[i]!]!);
  for (const { source, kind } of trace.missed) add(source, kind);
  return !isMixed && [...groups.values()].every(({ pcs, others }) => pcs || !others);
}

const threadOf = ({ test, process, thread, context, handle }: Source): string =>
  `${process} ${thread} ${context} ${handle} ${test}`;
