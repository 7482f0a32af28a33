// Rounds of all engines over all workloads, alternated so that a busy minute of the machine hits everyone; then medians and ratios.
import { cpus, release, type } from 'node:os';
import { ENGINES, measure } from './engines.ts';
import { WORKLOADS, type Workload } from './workloads.ts';

export interface Cell {
  /** Median CPU seconds; undefined with the reason in `note`. */
  readonly seconds?: number;
  readonly samples: readonly number[];
  readonly note?: string;
}

export interface Row {
  readonly workload: Workload;
  readonly cells: Readonly<Record<string, Cell>>;
}

export interface Report {
  readonly machine: {
    readonly cpu: string;
    readonly cores: number;
    readonly os: string;
    readonly node: string;
    readonly v8: string;
  };
  readonly rounds: number;
  readonly rows: readonly Row[];
}

export interface BenchOptions {
  readonly rounds: number;
  /** Names of workloads and engines; all when empty. */
  readonly workloads: readonly string[];
  readonly engines: readonly string[];
  readonly progress?: (done: number, total: number, what: string) => void;
}

const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
};

/** Measures. A check value that differs between engines is an error: something computed wrongly. */
export async function runBench(options: BenchOptions): Promise<Report> {
  const workloads = WORKLOADS.filter(
    w => options.workloads.length === 0 || options.workloads.includes(w.name),
  );
  const engines = ENGINES.filter(e => options.engines.length === 0 || options.engines.includes(e.name));
  const samples = new Map<string, number[]>();
  const notes = new Map<string, string>();
  const checks = new Map<string, string>();
  const total = options.rounds * workloads.length * engines.length;
  let done = 0;
  for (let round = 0; round < options.rounds; round++)
    for (const w of workloads)
      for (const engine of engines) {
        const key = `${w.name} ${engine.name}`;
        options.progress?.(done++, total, key);
        const missing = engine.missing(w) ?? notes.get(key);
        if (missing) {
          notes.set(key, missing);
          continue;
        }
        try {
          const { seconds, check } = await measure(engine, w);
          samples.set(key, [...(samples.get(key) ?? []), seconds]);
          const known = checks.get(w.name) ?? check;
          checks.set(w.name, known);
          if (check !== known) notes.set(key, `computed ${check}, others ${known}`);
        } catch (error) {
          notes.set(key, (error as Error).message);
        }
      }
  options.progress?.(total, total, 'done');
  const cellOf = (key: string): Cell => {
    const of = samples.get(key) ?? [];
    const note = notes.get(key);
    return { samples: of, ...(of.length > 0 ? { seconds: median(of) } : {}), ...(note ? { note } : {}) };
  };
  return {
    machine: {
      cpu: cpus()[0]?.model ?? '',
      cores: cpus().length,
      os: `${type()} ${release()}`,
      node: process.version,
      v8: process.versions.v8,
    },
    rounds: options.rounds,
    rows: workloads.map(workload => ({
      workload,
      cells: Object.fromEntries(engines.map(e => [e.name, cellOf(`${workload.name} ${e.name}`)])),
    })),
  };
}

/** How many times faster than QEMU: above 1 is faster. */
export function ratio(row: Row, engine: string, against = 'qemu'): number | undefined {
  const a = row.cells[against]?.seconds;
  const b = row.cells[engine]?.seconds;
  return a === undefined || b === undefined || b <= 0 ? undefined : a / b;
}

/** Geometric mean of the ratios that exist. */
export function geometricMean(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter(v => v !== undefined);
  return known.length === 0
    ? undefined
    : Math.exp(known.reduce((sum, v) => sum + Math.log(v), 0) / known.length);
}
