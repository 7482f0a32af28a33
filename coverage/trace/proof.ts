/** The proofs that a trace permits. */
import { KIND_PC, type Source, type Trace } from './trace.ts';

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
 * False if code ran while only comparisons or edges were recorded. A mode of comparisons excludes
 * that of PCs, so the records of one system call tell. The UNIQ modes combine, and record a PC once
 * for all system calls; so there the records of the whole thread tell.
 */
function hasAllPcs(trace: Trace): boolean {
  const isOther = (kind: number): boolean => kind !== KIND_PC;
  if (!trace.pointKind.some(isOther) && !trace.missed.some(({ kind }) => isOther(kind))) return true;
  const groups = new Map<string, { pcs: boolean; others: boolean }>();
  const groupOf = trace.sources.map((source, i) => {
    const key = source.unique ? threadOf(source) : String(i);
    let group = groups.get(key);
    if (!group) groups.set(key, (group = { pcs: false, others: false }));
    return group;
  });
  const add = (source: number, kind: number): void => {
    groupOf[source]![kind === KIND_PC ? 'pcs' : 'others'] = true;
  };
  for (const { source, from, to } of trace.runs())
    for (let i = from; i < to; i++) add(source, trace.pointKind[trace.records[i]!]!);
  for (const { source, kind } of trace.missed) add(source, kind);
  return [...groups.values()].every(({ pcs, others }) => pcs || !others);
}

const threadOf = ({ test, process, thread, context, handle }: Source): string =>
  `${process} ${thread} ${context} ${handle} ${test}`;
