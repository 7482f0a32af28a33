// A trial of the fuzzer: one campaign with the trial's seed, until the budget is spent. Coverage
// and finds are known behind each epoch.
import {
  type Crash,
  type Descriptions,
  type Entry,
  type EpochResult,
  type Executor,
  epochSize,
  LAYOUT,
  mergeEpoch,
  runBatch,
  State,
  type TargetKind,
} from '../fuzz/index.ts';
import { planHash, shortHash } from './plan.ts';
import type { ExperimentTrial, FuzzPlan, PlannedFuzz, PlannedTrial } from './schema.ts';
import type { FinishedTrial } from './trial.ts';

/** The host's part of a trial. */
export interface FuzzHost {
  executor(variant: PlannedFuzz): Executor;
  descriptions(variant: PlannedFuzz): Descriptions;
  cpuSeconds(): number;
  progress(executions: number, instructions: number): void;
}

/** Points are numbered by their place in the kernel; an edge is a pair of them (fuzz/guide). */
const POINTS = 2 ** 24;
/** Code behind so many bytes has the points of code before it. */
export const CODE_BYTES = POINTS * 2;
/** Where the code of a target begins. A harness is in the low addresses. */
export const CODE_STARTS: Readonly<Record<TargetKind, bigint>> = {
  own: 0xffff_ffff_8000_0000n,
  other: 0xffff_ffff_8000_0000n,
  harness: 0n,
  xv6: 0x8000_0000n,
};

const returnAddress = (point: number, base: bigint): string =>
  `0x${(base + BigInt(point) * 2n).toString(16)}`;

export class FuzzTrial {
  readonly #plan: FuzzPlan;
  readonly #planned: PlannedTrial;
  readonly #variant: PlannedFuzz;
  readonly #host: FuzzHost;
  readonly #seen = new Set<number>();
  readonly #growth: [number, number, number][] = [];
  readonly #points: [string, number][] = [];
  readonly #runs: string[] = [];
  readonly #bugs: ExperimentTrial['bugs'] = [];
  readonly #files = new Map<string, Uint8Array>();

  constructor(plan: FuzzPlan, planned: PlannedTrial, host: FuzzHost) {
    this.#plan = plan;
    this.#planned = planned;
    this.#variant = plan.variants.find(({ name }) => name === planned.variant)!;
    this.#host = host;
  }

  run(): FinishedTrial {
    const { budget, stopWhenFound, bugs } = this.#plan;
    const config = { ...this.#variant.campaign, seed: this.#planned.seed };
    const executor = this.#host.executor(this.#variant);
    const state = new State(config, this.#host.descriptions(this.#variant));
    const size = epochSize(config);
    const deadline = this.#host.cpuSeconds() + (budget['cpu-seconds'] ?? Number.POSITIVE_INFINITY);
    const wanted = stopWhenFound ? Object.keys(bugs).length : Number.POSITIVE_INFINITY;
    const { executions: most = Number.POSITIVE_INFINITY, instructions = Number.POSITIVE_INFINITY } = budget;
    while (
      state.epoch * size < most &&
      state.units < instructions &&
      this.#host.cpuSeconds() < deadline &&
      this.#bugs.length < wanted
    ) {
      const batches = Array.from({ length: config.batches }, (_, batch) => runBatch(state, executor, batch));
      const result = mergeEpoch(state, batches);
      state.add(result);
      this.#see(result, state.epoch * size, state.units);
      this.#host.progress(state.epoch * size, state.units);
    }
    const trial: ExperimentTrial = {
      format: 'kcovbox experiment trial',
      version: 1,
      plan: planHash(this.#plan),
      ...this.#planned,
      end: this.#bugs.length >= wanted ? 'found' : 'budget',
      executions: state.epoch * size,
      instructions: state.units,
      growth: this.#growth,
      points: this.#points,
      runs: this.#runs,
      bugs: this.#bugs,
    };
    return { trial, files: this.#files };
  }

  #see(result: EpochResult, executions: number, instructions: number): void {
    const row = this.#growth.length;
    const { target = 'own' } = this.#variant;
    const isHarness = target === 'harness';
    const base = CODE_STARTS[target];
    for (const { elements } of result.entries)
      for (const element of elements) {
        const point = element % POINTS;
        if (this.#seen.has(point) || (isHarness && point >= LAYOUT.MATCHED / 2)) continue;
        this.#seen.add(point);
        this.#points.push([returnAddress(point, base), row]);
      }
    this.#growth.push([executions, instructions, this.#seen.size]);
    const entries = result.entries.map(({ text, execution }) => [text, execution]);
    this.#runs.push(shortHash([result.units, entries, result.crashes, result.words]));
    for (const crash of result.crashes) this.#look(crash, instructions);
    for (const find of result.bugs)
      if (find.kind === 'triggered')
        for (const [bug, { canary }] of Object.entries(this.#plan.bugs))
          if (canary === find.bug) this.#found(bug, `triggers ${canary}`, find, instructions);
  }

  #look(crash: Crash, instructions: number): void {
    for (const [bug, { report }] of Object.entries(this.#plan.bugs))
      if (report !== undefined && new RegExp(report).test(crash.title))
        this.#found(bug, crash.title, crash, instructions);
  }

  #found(bug: string, line: string, { text, execution }: Entry, instructions: number): void {
    if (this.#bugs.some(found => found.bug === bug)) return;
    const file = `${bug}.txt`;
    this.#bugs.push({ bug, execution, instructions, status: 0, line, file });
    this.#files.set(file, new TextEncoder().encode(text));
  }
}
