// The calls of the system calls and remote sections with most records, with the moments at which
// they were first recorded.
import { type Coverage, callPaths, type Source } from '../../coverage/index.ts';
import type { Assets, CallsOf } from '../protocol.ts';
import type { KcovLog } from './kcov-log.ts';

const CALLS_MAX = 40;
const NODES_MAX = 1500;

export function callsOf(
  coverage: Coverage,
  log: KcovLog,
  syscalls: Assets['syscalls'],
): { calls: CallsOf[]; more: number } {
  const { trace, mapped, program } = coverage;
  // Of each source: its records that have a point, by their numbers in the trace.
  const records = new Map<number, number[]>();
  for (const { source, from, to } of trace.runs()) {
    let own = records.get(source);
    if (!own) records.set(source, (own = []));
    for (let i = from; i < to; i++) if (mapped[trace.records[i]!]! >= 0) own.push(i);
  }
  const sources = [...records].filter(([, own]) => own.length > 0);
  const chosen = sources.sort(([, a], [, b]) => b.length - a.length).slice(0, CALLS_MAX);
  const only = new Set(chosen.map(([source]) => source));
  const isTimed = log.isNumberedAs(trace.records.length);
  const calls = callPaths(coverage, { limit: NODES_MAX, only }).map(path => ({
    ...labelOf(trace.sources[path.source]!, syscalls),
    records: path.records,
    isCut: path.isCut,
    nodes: path.nodes.map(({ name, depth, from, inline, point }) => {
      const [frame] = program.frames(point);
      const record = records.get(path.source)![from];
      const unit = isTimed && record !== undefined ? log.unitOf(record) : undefined;
      return { name, depth, file: frame!.file, line: frame!.line, unit, isInlined: inline };
    }),
  }));
  return { calls, more: sources.length - chosen.length };
}

function labelOf(
  { syscall, context, handle, process, thread }: Source,
  syscalls: Assets['syscalls'],
): Pick<CallsOf, 'label' | 'by'> {
  const isRemote = context === 'remote';
  const call = syscall < 0 ? 'outside system calls' : (syscalls[syscall] ?? `system call ${syscall}`);
  return {
    label: isRemote ? `remote section 0x${handle.toString(16)}` : call,
    by: `process ${process}, thread ${thread}`,
  };
}
