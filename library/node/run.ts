// One run of a program in the guest.
import { hasParts } from '../../emulator/base/arguments.ts';
import { KcovboxError } from '../../emulator/base/errors.ts';
import { parseCpu, parseSchedule, RUN_HASH_INTERVAL } from '../../emulator/index.ts';
import { formatCapsule } from '../../host/capsule.ts';
import { describe, resultOf } from '../../host/describe.ts';
import { type GuestImages, kernelDialect, prepareGuest } from '../../host/guest.ts';
import { type MachineChoice, machineOptions } from '../../host/machine.ts';
import { sourceReader, sourceRootOf, syscallName } from '../../host/sources.ts';
import {
  CONSOLE_KEPT,
  type RunDescription as Description,
  type RunOutcome as Outcome,
} from '../../run/index.ts';
import { outcomeOf } from '../../run/outcome.ts';
import { TraceRecorder } from '../../run/trace-recorder.ts';
import { DIALECTS, packageRoot } from '../../toolchain/index.ts';
import { type Coverage, measure } from '../coverage/coverage.ts';
import type { ExportOptions } from '../coverage/export.ts';
import { Image, SELECTION, type Selection } from '../coverage/image.ts';
import { type Trace, toTrace } from '../coverage/trace.ts';
import { A_PATH, check, RUN } from './checks.ts';
import { guarded } from './errors.ts';
import type { Dialect, RunOptions } from './options.ts';
import { asPublic, type RunDescription, type RunOutcome, type RunResult } from './result.ts';
import { type Ended, type Recorded, runSession } from './session.ts';

/** The parts of a run, ended or not. @internal */
export interface Parts {
  readonly images: GuestImages;
  readonly choice: MachineChoice;
  readonly ended: Ended;
  readonly trace: Trace | undefined;
  /** Of the capsule, where this is a replay. */
  readonly description: Description | undefined;
}

/** @internal */
export let toRun: (parts: Parts) => Run;

/** A run that has ended. `run` and `replay` make them. */
export class Run {
  readonly #parts: Parts;
  #description: Description | undefined;
  #outcome: Outcome | undefined;
  #image: Image | undefined;

  static {
    toRun = parts => new Run(parts);
  }

  private constructor(parts: Parts) {
    if (!hasParts(parts, 'ended'))
      throw new KcovboxError('input', 'new Run: the constructor is private; run and replay make one');
    this.#parts = parts;
    this.#description = parts.description;
  }

  /**
   * As the command's exit status: the program's own, 128+n for signal n; see `RunOutcome.status`.
   */
  get status(): number {
    return this.#parts.ended.status;
  }

  /** How it ended. */
  get end(): RunOutcome['end'] {
    return this.#parts.ended.outcome;
  }

  /** The guest's output, with LF as line ends. */
  get output(): Uint8Array {
    return this.#parts.ended.output;
  }

  /** The same as text, read as UTF-8. */
  get text(): string {
    return new TextDecoder().decode(this.output);
  }

  /** The kcov records; undefined without `cover` or `trace`. */
  get trace(): Trace | undefined {
    return this.#parts.trace;
  }

  /** Path of the kernel image. */
  get kernelPath(): string {
    return this.#parts.images.kernelPath;
  }

  /** Input of a replay that did not arrive, because the run ended before. @internal */
  get waiting(): number {
    return this.#parts.ended.machine.journal.waiting;
  }

  /** The kernel image, for `measure` of `kcovbox/coverage`. */
  get image(): Image {
    this.#image ??= new Image(this.#parts.images.kernel, this.kernelPath);
    return this.#image;
  }

  /**
   * Coverage of the kernel by this run.
   *
   * @throws KcovboxError of kind `input` if it recorded no trace.
   */
  coverage(select: Selection = {}): Coverage {
    check('Run.coverage', ['select', select, SELECTION]);
    if (!this.trace)
      throw new KcovboxError('input', 'this run has no trace: give it the option cover or trace');
    return measure(this.trace, this.image, select);
  }

  /**
   * Options for `Coverage.export`: a title, the kernel's source text, and the names of its system
   * calls.
   */
  get exportOptions(): ExportOptions {
    const image = this.#parts.images.kernel;
    const root = sourceRootOf(image) ?? { sourceRoot: packageRoot() };
    return { title: this.#parts.images.name, readSource: sourceReader({}, image), syscallName, ...root };
  }

  /** The run description. */
  get description(): RunDescription {
    return this.#describe();
  }

  /** How it ended, with hashes of the states on the way and of the output. */
  get outcome(): RunOutcome {
    return this.#judge();
  }

  /** Description, outcome and host: what `--result` of the command writes. */
  async result(): Promise<RunResult> {
    return asPublic(await resultOf(this.#describe(), this.#judge(), this.#parts.choice.engine));
  }

  /**
   * The bytes of a capsule: one file with the images, the input and the outcome, for `replay` and
   * `kcovbox replay` on any machine.
   *
   * @throws KcovboxError of kind `input` if the guest has rebooted, this is a replay, or the
   *   capsule would be too large.
   */
  capsule(): Uint8Array {
    const { images, ended } = this.#parts;
    if (this.#parts.description) throw new KcovboxError('input', 'this run is a replay: keep its capsule');
    if (ended.reboots > 0)
      throw new KcovboxError('input', 'the guest has rebooted: such a run cannot be recorded');
    const contents = {
      run: this.#describe(),
      outcome: this.#judge(),
      journal: ended.machine.journal.entries,
      printed: { text: this.output.subarray(0, CONSOLE_KEPT), bytes: this.output.length },
      images: new Map([
        ['kernel.bin', images.kernel],
        ['initrd.bin', images.initrd],
      ]),
    };
    return formatCapsule(contents, false, `of ${images.name}`);
  }

  #describe(): Description {
    const { images, choice, ended } = this.#parts;
    this.#description ??= describe(images, choice, ended.machine.journal.entries, false);
    return this.#description;
  }

  #judge(): Outcome {
    if (this.#outcome) return this.#outcome;
    const { machine, outcome: end, status, outputHash: consoleHash } = this.#parts.ended;
    this.#outcome = outcomeOf(machine, { end, status, consoleHash });
    return this.#outcome;
  }
}

/**
 * Runs a program as the first process of the guest: `program` is the path of a C source, which is
 * compiled, or of a static RISC-V executable. The guest runs in this thread, in slices of some tens
 * of milliseconds.
 *
 * @throws KcovboxError of kind `input`, `machine` for what cannot be run, `compile` if the program
 *   does not compile, `toolchain` if a tool is missing; the reason of `signal` when that is
 *   aborted. A program that fails is no error: look at `status`.
 */
export const run = (program: string, options: RunOptions = {}): Promise<Run> =>
  guarded(async () => {
    check('run', ['program', program, A_PATH], ['options', options, RUN]);
    try {
      return await prepareAndExecute(program, options);
    } finally {
      if (options.signal?.aborted) destroyStream(options.input);
    }
  });

/**
 * Closes an input that is a stream of Node. The iterator of one would do so behind the chunk that
 * is awaited, which may never come; meanwhile the process could not end.
 */
function destroyStream(input: RunOptions['input']): void {
  const stream = input as { destroy?: unknown } | undefined;
  if (typeof stream?.destroy === 'function') stream.destroy();
}

async function prepareAndExecute(program: string, options: RunOptions): Promise<Run> {
  options.signal?.throwIfAborted();
  const choice = choiceOf(program, options);
  const images = await prepareGuest(program, options.args ?? [], {
    ...choice,
    kernel: options.kernel,
    kernelSource: options.kernelSource,
    say: options.onMessage ?? (() => {}),
    ...(options.append === undefined ? {} : { append: options.append }),
  });
  options.signal?.throwIfAborted();
  return execute(images, choice, options);
}

/** Runs images that are there. @internal */
export async function execute(
  images: GuestImages,
  choice: MachineChoice,
  options: Pick<RunOptions, 'input' | 'cover' | 'trace' | 'testName' | 'onOutput' | 'signal'>,
  recorded?: Recorded & { readonly description: Description },
): Promise<Run> {
  const { cover, trace, testName = images.name } = options;
  const recorder =
    cover || trace
      ? new TraceRecorder(choice.dialect, images.kernel, testName, { keepLost: trace })
      : undefined;
  const ended = await runSession({
    machine: { ...machineOptions(images, choice), runHash: RUN_HASH_INTERVAL },
    input: options.input ?? '',
    recorded,
    maxInsns: choice.maxInsns ?? Number.POSITIVE_INFINITY,
    signal: options.signal,
    onOutput: options.onOutput,
    prepare: machine => recorder?.attach(machine),
  });
  const description = recorded?.description;
  return toRun({ images, choice, ended, trace: recorder && toTrace(recorder.finish()), description });
}

const MEMORY_USUAL = 256 * 2 ** 20;

function choiceOf(program: string, options: RunOptions): MachineChoice {
  const { conf, memory = MEMORY_USUAL, maxInsns, kcov = 'device', cflags = [] } = options;
  const dialect = dialectOf(options);
  if (options.trace) checkTrace(program, kcov);
  return {
    dialect,
    conf: conf ?? dialect,
    kcov,
    engine: options.engine ?? 'jit',
    smp: options.harts ?? 1,
    cpu: parseCpu(options.cpu ?? 'rv64'),
    memory,
    seed: options.seed,
    schedSeed: options.schedSeed,
    schedule: options.schedule === undefined ? undefined : parseSchedule(options.schedule),
    icount: options.icount ?? 0,
    maxInsns,
    cflags,
    trace: options.trace === true,
    env: options.env ?? {},
  };
}

function dialectOf({ conf, kernel, kernelSource, dialect: given }: RunOptions): Dialect {
  if (kernel !== undefined) {
    if (conf !== undefined || kernelSource !== undefined)
      throw new KcovboxError('input', `kernel ${kernel} is already built: omit conf and kernelSource`);
    const own = kernelDialect(kernel);
    if (own === undefined || given === undefined || own === given) return own ?? given ?? 'openbsd';
    throw new KcovboxError('input', `kernel ${kernel} is one of ${own}, dialect is ${given}: omit dialect`);
  }
  if (conf === undefined) return given ?? 'openbsd';
  const named = DIALECTS.filter(name => conf.split('+').includes(name));
  if (named.length === 1 && (given === undefined || given === named[0])) return named[0]!;
  throw new KcovboxError(
    'input',
    `conf ${conf} is not a configuration of ${given ?? `one dialect; there are ${DIALECTS.join(', ')}`}`,
  );
}

function checkTrace(program: string, kcov: MachineChoice['kcov']): void {
  if (kcov !== 'device')
    throw new KcovboxError('input', `trace needs the kcov device: leave out kcov ${kcov}`);
  if (!/\.c$/i.test(program))
    throw new KcovboxError(
      'input',
      `trace compiles kcov into a C program, and ${program} is compiled already`,
    );
}
