// A trial: executions of one variant with seeds that follow from the trial's, until the budget is
// spent. Points and bugs that are found accumulate.
import { Sha256 } from '../emulator/base/sha256.ts';
import { type MachineOptions, RUN_HASH_INTERVAL } from '../emulator/index.ts';
import { describeInput, type RunDescription, type RunOutcome } from '../run/index.ts';
import type { Arrival } from '../run/input.ts';
import { reportLine } from '../run/many/outcome.ts';
import { outcomeOf } from '../run/outcome.ts';
import { CoverageSet } from './coverage-set.ts';
import { type Executed, executeOnce } from './execution.ts';
import { executionSeed, planHash, seedText, shortHash } from './plan.ts';
import type { ExperimentPlan, ExperimentTrial, PlannedProgram, PlannedTrial, ProgramPlan } from './schema.ts';

/** The parts of a capsule. */
export interface Recording {
  readonly run: RunDescription;
  readonly outcome: RunOutcome;
  readonly journal: readonly Arrival[];
  readonly printed: { readonly text: Uint8Array; readonly bytes: number };
}

/** The host's part of a trial. */
export interface TrialHost {
  /** The machine of a description. */
  machineFor(run: RunDescription): MachineOptions;
  /** The bytes of a capsule without images. */
  capsule(recording: Recording): Uint8Array;
  /** Seconds of the processor that this process has used. Only for a budget of them. */
  cpuSeconds(): number;
  /** After each execution. */
  progress(executions: number, instructions: number): void;
}

export interface FinishedTrial {
  readonly trial: ExperimentTrial;
  /** Capsules by the names in `trial`. */
  readonly files: ReadonlyMap<string, Uint8Array>;
}

const encoder = new TextEncoder();
const sha256 = (data: Uint8Array | string): string =>
  new Sha256().update(typeof data === 'string' ? encoder.encode(data) : data).hex();

/** The description of one execution. */
export function descriptionOf(
  { run, vary }: PlannedProgram,
  { index, seed }: PlannedTrial,
  execution: number,
): RunDescription {
  const own = executionSeed(seed, execution, 'seed');
  const words: Readonly<Record<string, string>> = {
    seed: seedText(own),
    execution: String(execution),
    trial: String(index),
  };
  const filled = (text: string): string =>
    text.replace(/\{(seed|execution|trial)\}/g, (_, word: string) => words[word]!);
  const { program, kernel, machine } = run;
  const environment = Object.entries(program.environment).map(([key, value]) => [key, filled(value)]);
  const varies = vary.includes('seed');
  const append = filled(kernel.append);
  return {
    ...run,
    program: {
      ...program,
      argv: program.argv.map(filled),
      environment: Object.fromEntries(environment) as Record<string, string>,
    },
    kernel: {
      ...kernel,
      append: varies ? append.replace(/^(quiet kcov=\w+)/, `$1 seed=${words['seed']}`) : append,
      ...(kernel.tail !== undefined && { tail: filled(kernel.tail) }),
    },
    machine: {
      ...machine,
      seed: varies ? words['seed']! : null,
      schedSeed: vary.includes('sched-seed') ? seedText(executionSeed(seed, execution, 'sched-seed')) : null,
    },
  };
}

interface Found {
  readonly status: number;
  readonly line: string;
}

type Bug = ExperimentPlan['bugs'][string];

/** `isCut`: the budget of the trial ended the execution, and its status says nothing. */
function look(bug: Bug, { text, status }: Executed, isCut: boolean): Found | undefined {
  if (bug.status !== undefined) return !isCut && bug.status === status ? { status, line: '' } : undefined;
  const printed = new TextDecoder().decode(text);
  if (bug.report !== undefined) {
    const line = reportLine(printed);
    return line !== undefined && new RegExp(bug.report).test(line) ? { status, line } : undefined;
  }
  const pattern = new RegExp(bug.console!);
  const line = printed.split('\n').find(line => pattern.test(line));
  return line === undefined ? undefined : { status, line };
}

export class Trial {
  readonly #plan: ProgramPlan;
  readonly #hash: string;
  readonly #planned: PlannedTrial;
  readonly #variant: PlannedProgram;
  readonly #host: TrialHost;
  readonly #input: Uint8Array;
  readonly #set = new CoverageSet();
  readonly #growth: [number, number, number][] = [];
  readonly #points: [string, number][] = [];
  readonly #runs: string[] = [];
  readonly #bugs: ExperimentTrial['bugs'] = [];
  readonly #files = new Map<string, Uint8Array>();
  #instructions = 0;

  constructor(plan: ProgramPlan, planned: PlannedTrial, host: TrialHost) {
    this.#plan = plan;
    this.#hash = planHash(plan);
    this.#planned = planned;
    this.#variant = plan.variants.find(({ name }) => name === planned.variant)!;
    this.#host = host;
    this.#input = encoder.encode(this.#variant.input);
  }

  async run(): Promise<FinishedTrial> {
    const { budget, stopWhenFound, bugs } = this.#plan;
    const { executions = Number.POSITIVE_INFINITY } = budget;
    const deadline = this.#host.cpuSeconds() + (budget['cpu-seconds'] ?? Number.POSITIVE_INFINITY);
    const wanted = stopWhenFound ? Object.keys(bugs).length : Number.POSITIVE_INFINITY;
    while (
      this.#runs.length < executions &&
      this.#left > 0 &&
      this.#host.cpuSeconds() < deadline &&
      this.#bugs.length < wanted
    ) {
      await this.#execute(this.#runs.length + 1);
      this.#host.progress(this.#runs.length, this.#instructions);
    }
    this.#addRow(this.#runs.length, this.#instructions, true);
    const trial: ExperimentTrial = {
      format: 'kcovbox experiment trial',
      version: 1,
      plan: this.#hash,
      ...this.#planned,
      end: this.#bugs.length >= wanted ? 'found' : 'budget',
      executions: this.#runs.length,
      instructions: this.#instructions,
      growth: this.#growth,
      points: this.#points,
      runs: this.#runs,
      bugs: this.#bugs,
    };
    return { trial, files: this.#files };
  }

  get #left(): number {
    return (this.#plan.budget.instructions ?? Number.POSITIVE_INFINITY) - this.#instructions;
  }

  async #execute(execution: number): Promise<void> {
    const whole = descriptionOf(this.#variant, this.#planned, execution);
    const limit = whole.budget ?? Number.POSITIVE_INFINITY;
    const isShort = this.#left < limit;
    const run = isShort ? { ...whole, budget: this.#left } : whole;
    const executed = await executeOnce(this.#host.machineFor(run), {
      input: this.#input,
      maxInsns: run.budget ?? Number.POSITIVE_INFINITY,
      sink: this.#set,
      sample: this.#plan.sample ?? undefined,
      sampled: done => this.#addRow(execution - 1, this.#instructions + done, false),
    });
    this.#instructions += executed.instructions;
    const { status, instructions, consoleHash } = executed;
    const facts = [status, instructions, consoleHash, this.#set.takeRecords()];
    this.#runs.push(shortHash(facts));
    this.#addRow(execution, this.#instructions, false);
    await this.#look(run, execution, executed, isShort && executed.outcome === 'budget');
  }

  /** A row of growth, where something is new. */
  #addRow(executions: number, instructions: number, isLast: boolean): void {
    const fresh = this.#set.takeNew();
    const last = this.#growth.at(-1);
    if (fresh.length === 0 && !(isLast && last?.[1] !== instructions)) return;
    for (const pc of fresh) this.#points.push([pc, this.#growth.length]);
    this.#growth.push([executions, instructions, this.#set.size]);
  }

  async #look(run: RunDescription, execution: number, executed: Executed, isCut: boolean): Promise<void> {
    const known = new Set(this.#bugs.map(({ bug }) => bug));
    for (const [bug, pattern] of Object.entries(this.#plan.bugs)) {
      const found = known.has(bug) ? undefined : look(pattern, executed, isCut);
      if (!found) continue;
      const file = `${bug}.kcapsule`;
      this.#bugs.push({ bug, execution, instructions: this.#instructions, ...found, file });
      this.#files.set(file, await this.#record(run));
    }
  }

  /** Repeats an execution with the hash chain of a capsule. */
  async #record(run: RunDescription): Promise<Uint8Array> {
    const again = await executeOnce(
      { ...this.#host.machineFor(run), runHash: RUN_HASH_INTERVAL },
      {
        input: this.#input,
        maxInsns: run.budget ?? Number.POSITIVE_INFINITY,
        sink: new CoverageSet(),
        sample: undefined,
        sampled: () => {},
      },
    );
    const { machine, outcome: end, status, consoleHash, text, printed } = again;
    const { entries: journal } = machine.journal;
    const input = describeInput(journal, 'idle-64k', sha256);
    const outcome = outcomeOf(machine, { end, status, consoleHash });
    return this.#host.capsule({
      run: { ...run, input },
      outcome,
      journal,
      printed: { text, bytes: printed },
    });
  }
}
