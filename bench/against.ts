// Two checkouts of kcovbox on the same binaries. The two of a pair run at the same time on one
// processor, which they share in turns of milliseconds, so other load meets both alike; the ratio
// of their CPU time is taken pair by pair.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot, which } from '../toolchain/index.ts';
import { median, type ProgressReport } from './bench.ts';
import { type BenchEngine, checkoutEngine, measure } from './engines.ts';
import type { Workload } from './workloads.ts';

export interface PairedRow {
  readonly workload: Workload;
  /** CPU seconds of each pair, and its ratio. */
  readonly pairs: readonly { readonly now: number; readonly before: number; readonly ratio: number }[];
}

/** CPU seconds of all living threads of a process, in nanoseconds' steps; Linux only. */
function cpuSeconds(pid: number): number {
  let nanoseconds = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      nanoseconds += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
    } catch {} // it has ended since
  }
  return nanoseconds / 1e9;
}

/** On the first processor that this process may use. */
function onOneProcessor(engine: BenchEngine): BenchEngine {
  const allowed = /^Cpus_allowed_list:\s*(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))![1]!;
  return { ...engine, command: async w => ['taskset', '-c', allowed, ...(await engine.command(w))] };
}

/** Reason why checkouts cannot be compared here; undefined if they can. */
export function missingForPairs(checkout: string): string | undefined {
  if (!existsSync(join(checkout, 'bin', 'kcovbox.cjs')))
    return `${checkout} is no checkout of kcovbox: it has no bin/kcovbox.cjs`;
  if (!existsSync('/proc/self/schedstat')) return 'this system does not count the CPU time of threads';
  return which('taskset') ? undefined : 'taskset is not installed';
}

export interface PairsOptions {
  readonly progress: ProgressReport;
  /** The results after each pair, so that a stopped run is not lost. */
  readonly onPair?: (rows: readonly PairedRow[]) => void;
}

/** Errors: a run that does not end, or whose result differs from that of the other checkout. */
export async function runPairs(
  checkout: string,
  workloads: readonly Workload[],
  rounds: number,
  { progress, onPair }: PairsOptions,
): Promise<PairedRow[]> {
  const [now, before] = [packageRoot(), checkout].map(path => onOneProcessor(checkoutEngine(path)));
  const rows: PairedRow[] = [];
  const total = rounds * workloads.length;
  for (const workload of workloads) {
    await now!.command(workload); // builds the guest, once
    const pairs: PairedRow['pairs'][number][] = [];
    rows.push({ workload, pairs });
    for (let round = 0; round < rounds; round++) {
      progress((rows.length - 1) * rounds + round, total, workload.name);
      const both = [now!, before!].map(engine => measure(engine, workload, { cpuSeconds }));
      const [a, b] = await Promise.all(both);
      if (a!.check !== b!.check)
        throw new Error(`${workload.name}: this checkout computed ${a!.check}, the other ${b!.check}`);
      pairs.push({ now: a!.seconds, before: b!.seconds, ratio: a!.seconds / b!.seconds });
      onPair?.(rows);
    }
  }
  progress(total, total, 'done');
  return rows;
}

/**
 * Markdown: medians of the CPU seconds and of the ratios, and the range of the ratios. Rows of an
 * interrupted run have fewer pairs, or none, and then are left out.
 */
export function pairsTable(rows: readonly PairedRow[], rounds: number): string {
  const measured = rows.filter(({ pairs }) => pairs.length > 0);
  const isWhole = measured.every(({ pairs }) => pairs.length === rounds);
  const lines = measured.map(({ workload, pairs }) => {
    const of = (key: 'now' | 'before' | 'ratio'): number[] => pairs.map(pair => pair[key]);
    const ratios = of('ratio');
    const range = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`;
    const [before, now] = [median(of('before')).toFixed(3), median(of('now')).toFixed(3)];
    return `| ${workload.name} | ${before} | ${now} | ${median(ratios).toFixed(2)} | ${range} |`;
  });
  return [
    '| workload | then | now | now / then | range |',
    '| --- | ---: | ---: | ---: | ---: |',
    ...lines,
    '',
    `CPU seconds between the marks, medians of ${isWhole ? '' : 'at most '}${rounds}, both at the same time on one processor.`,
  ].join('\n');
}
