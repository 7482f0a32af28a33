// Rounds of all engines over all workloads, alternated so that other load of the machine affects
// all engines; then medians and ratios.
import { cpus, release, type } from 'node:os';
import { type BenchEngine, ENGINES, measure, OURS, shareOf } from './engines.ts';
import { type Figures, figuresOf } from './system/figures.ts';
import type { Workload } from './workloads.ts';

export interface Cell {
  /** Median CPU seconds; undefined with the reason in `note`. */
  readonly seconds?: number;
  readonly samples: readonly number[];
  readonly note?: string;
}

export interface Row {
  readonly workload: Workload;
  readonly cells: Readonly<Record<string, Cell>>;
  /** Of a system workload, when our JIT has run it. */
  readonly figures?: Figures;
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

export type ProgressReport = (done: number, total: number, what: string) => void;

export interface BenchOptions {
  readonly rounds: number;
  readonly workloads: readonly Workload[];
  /** Names; all engines when empty. */
  readonly engines: readonly string[];
  readonly progress?: ProgressReport;
  /** The results after each round, so that a stopped run is not lost. */
  readonly onRound?: (report: Report) => void;
  /** The same after each measurement. */
  readonly onSample?: (report: Report) => void;
}

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
};

/** The check value of the interpreter for the part of the work that a slow engine does. */
const reference = async (engine: BenchEngine, w: Workload): Promise<string> => {
  const interp = ENGINES.find(e => e.name === 'kcovbox interp')!;
  return (await measure(interp, shareOf(w, engine))).check;
};

/** Measures. A check value that differs between engines is an error: something computed wrongly. */
export async function runBench(options: BenchOptions): Promise<Report> {
  const { workloads } = options;
  const engines = ENGINES.filter(e => options.engines.length === 0 || options.engines.includes(e.name));
  const samples = new Map<string, number[]>();
  const notes = new Map<string, string>();
  const checks = new Map<string, string>();
  const figures = new Map<Workload, Figures>();
  const total = options.rounds * workloads.length * engines.length;
  let done = 0;
  const cellOf = (key: string): Cell => {
    const of = samples.get(key) ?? [];
    const note = notes.get(key);
    return { samples: of, ...(of.length > 0 ? { seconds: median(of) } : {}), ...(note ? { note } : {}) };
  };
  const report = (rounds: number): Report => ({
    machine: {
      cpu: cpus()[0]?.model ?? '',
      cores: cpus().length,
      os: `${type()} ${release()}`,
      node: process.version,
      v8: process.versions.v8,
    },
    rounds,
    rows: workloads.map(workload => ({
      workload,
      cells: Object.fromEntries(engines.map(e => [e.name, cellOf(`${workload.name} ${e.name}`)])),
      ...(figures.has(workload) && { figures: figures.get(workload)! }),
    })),
  });
  for (let round = 0; round < options.rounds; round++) {
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
          const part = `${w.name} ${shareOf(w, engine).repeat}`;
          const known = checks.get(part) ?? (engine.share ? await reference(engine, w) : check);
          checks.set(part, known);
          if (check !== known) notes.set(key, `computed ${check}, others ${known}`);
        } catch (error) {
          notes.set(key, (error as Error).message);
        }
        options.onSample?.(report(options.rounds));
      }
    options.onRound?.(report(round + 1));
  }
  for (const w of workloads) {
    if (!w.system || !samples.has(`${w.name} ${OURS}`)) continue;
    options.progress?.(total, total, `${w.name} figures`);
    try {
      figures.set(w, await figuresOf(w.system));
    } catch (error) {
      notes.set(`${w.name} ${OURS}`, (error as Error).message); // its times are right
    }
  }
  options.progress?.(total, total, 'done');
  return report(options.rounds);
}

/** How many times faster than QEMU: above 1 is faster. */
export function ratio(row: Row, engine: string, against = 'qemu'): number | undefined {
  const a = row.cells[against]?.seconds;
  const b = row.cells[engine]?.seconds;
  return a === undefined || b === undefined || b <= 0 ? undefined : a / b;
}

/** CPU seconds of our JIT as a multiple of those of the workload that `cost` names. */
export function costOf(report: Report, row: Row, engine: string): number | undefined {
  const of = report.rows.find(r => r.workload.name === row.workload.cost?.of)?.cells[engine]?.seconds;
  const own = row.cells[engine]?.seconds;
  return of === undefined || own === undefined || of <= 0 ? undefined : own / of;
}

/** Geometric mean of the ratios that exist. */
export function geometricMean(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter(v => v !== undefined);
  return known.length === 0
    ? undefined
    : Math.exp(known.reduce((sum, v) => sum + Math.log(v), 0) / known.length);
}
