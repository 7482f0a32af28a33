// A capsule that is open in the page: its run, executed once and compared, and a debugger that goes
// to any moment of it.
import { CoverageError, codeWindow, Elf, KIND_PC, sourceSums } from '../../coverage/index.ts';
import { executablesOf, Image, KERNEL, programOf } from '../../debug/image.ts';
import type { Reason, Motion as Steps } from '../../debug/motion.ts';
import { DebugSession } from '../../debug/session.ts';
import { exhaust, KcovboxError, Once, RUN_HASH_INTERVAL, Timeline, X_NAMES } from '../../emulator/index.ts';
import { differences, endOf } from '../../host/replay.ts';
import { Capsule, FormatError } from '../../run/capsule/index.ts';
import type {
  Assets,
  BufferView,
  CallsOf,
  Details,
  FileRow,
  Focus,
  FunctionRow,
  Measure,
  Motion,
  Opened,
  SourceLines,
  Stranger,
  Texts,
  VariableRow,
} from '../protocol.ts';
import { Data } from './datum.ts';
import { eventsOf } from './events.ts';
import { type FirstPass, firstPass, Printed } from './first-pass.ts';
import { HOST } from './host.ts';
import type { KernelImage } from './images.ts';
import { bufferOf } from './kcov-buffer.ts';
import type { KcovLog } from './kcov-log.ts';
import { lanesOf } from './lanes.ts';
import type { LineStates } from './lines.ts';
import { ProgramLines } from './program-lines.ts';
import { kindOf, machineOf, type RecordedKind } from './recorded.ts';
import { RemoteFunctions } from './remotes.ts';
import type { Compiled, Sources, Sums } from './sources.ts';
import { tidPlace } from './threads.ts';

/** Instructions between two snapshots at first: a seek executes at most so many. */
const SPACING = 1_000_000;
const VARIABLES_MAX = 200;
const MOMENTS_MAX = 1000;
/** Hooks of kcov, as the compiler names them. */
const HOOK = /^__sanitizer_cov_trace_/;

export interface Images {
  /** Undefined: the machine has firmware only. */
  readonly kernel: KernelImage | undefined;
  /** By the names of the capsule's parts. */
  readonly others: ReadonlyMap<string, Uint8Array>;
}

/** Facts beside the run. */
export interface Facts {
  /** Undefined: the kernel has no hooks of kcov. */
  readonly states: LineStates | undefined;
  readonly sources: Sources;
  /** Is the run's kernel one of the page's? */
  readonly isOfPage: boolean;
  readonly syscalls: Assets['syscalls'];
}

/** The capsule's facts before its images are there. Errors: one line. */
export function readCapsule(bytes: Uint8Array, name: string): Capsule {
  try {
    return Capsule.open(bytes, HOST);
  } catch (error) {
    if (error instanceof FormatError) throw new KcovboxError('input', `capsule ${name} ${error.message}`);
    throw error;
  }
}

export class OpenedRun {
  readonly session: DebugSession;
  readonly summary: Opened;
  readonly data: Data;
  readonly #states: LineStates | undefined;
  readonly #sources: Sources;
  readonly #log: KcovLog;
  readonly #syscalls: Assets['syscalls'];
  readonly #kernelFacts: Parameters<typeof eventsOf>[2];
  /** The kernel without types and variables. */
  #linesOnly: Image | undefined;
  /** The program. */
  readonly #image: Image | undefined;
  readonly #kernel: Image | undefined;
  readonly #isOfPage: boolean;
  /** Undefined: the run was not the recorded one, or the capsule has none. */
  readonly #seal: string | undefined;
  #programLines: ProgramLines | undefined;
  readonly #sums = new Map<Image, Sums>();
  #details: Details | undefined;

  constructor(
    capsule: Capsule,
    { kernel, others }: Images,
    { states, sources, isOfPage, syscalls }: Facts,
    unitsMax = Number.POSITIVE_INFINITY,
  ) {
    const { run, outcome } = capsule.manifest;
    const parts = new Map(others);
    if (kernel) parts.set('kernel.bin', kernel.bytes);
    const kind = kindOf(capsule.manifest, parts, kernel);
    const window = kernel?.elf && codeWindow(kernel.elf);
    const once = new Once(byte => printed.put(byte));
    const machine = machineOf({
      ...kind.options,
      ...(window && { retired: window }),
      replay: capsule.journal(),
      runHash: RUN_HASH_INTERVAL,
      onConsole: byte => once.put(byte),
    });
    const printed = new Printed(() => machine.spentNow);
    const end = endOf(run, outcome);
    const timeline = new Timeline(machine, {
      spacing: SPACING,
      end: { ...end, units: Math.min(end.units, unitsMax) },
      companions: [once],
    });
    const pass = firstPass(timeline, printed, outcome, {
      kcov:
        kind.kcov === undefined
          ? undefined
          : { dialect: kind.kcov, kernel: kernel!.elf ?? new Elf(kernel!.bytes, 'kernel'), test: kind.title },
      low: window?.low,
      endsAtReboot: kind.endsAtReboot,
    });
    const executables = executablesOf(parts, kind.program);
    this.session = new DebugSession(timeline, executables);
    const image = executables.find(({ name }) => name === KERNEL);
    if (kernel && !kernel.isWhole) this.#linesOnly = image;
    this.#kernelFacts = {
      remotes: kernel?.elf && new RemoteFunctions(kernel.elf),
      tidPlace: kernel && !kernel.isWhole ? kernel.tidPlace : image && tidPlace(image),
    };
    this.data = new Data(this.session, pass.log, pc => this.#placeOf(pc));
    if (pass.exact) states?.take(pass.trace, pass.exact, kind.title);
    this.#states = states;
    this.#sources = sources;
    this.#log = pass.log;
    this.#syscalls = kind.hasSyscalls ? syscalls : [];
    this.#image = programOf(executables);
    this.#kernel = image;
    this.#isOfPage = isOfPage;
    this.summary = this.#summary(capsule, pass, kind);
    this.#seal = this.summary.differences.length === 0 ? capsule.manifest.seal : undefined;
  }

  /** Found when it is first asked for. */
  get details(): Details {
    if (this.#details) return this.#details;
    const { events, more } = eventsOf(this.session.timeline, this.#syscalls, this.#kernelFacts);
    const all = [...events, ...this.#log.events].sort((a, b) => a.unit - b.unit);
    const { lanes, more: moreLanes } = lanesOf(this.#log, events);
    this.#details = { start: this.#firstOfProgram(), events: all, moreEvents: more, lanes, moreLanes };
    return this.#details;
  }

  /** Executes the run again when it is first asked for. */
  get #program(): ProgramLines | undefined {
    if (!this.#image) return undefined;
    return (this.#programLines ??= new ProgramLines(this.session.timeline, this.#image, path =>
      this.#sources.has(path),
    ));
  }

  /** The place of the program's first statement in main, or of the run. */
  #firstOfProgram(): number {
    const { session } = this;
    try {
      return session.moments('main', 1)[0]?.unit ?? session.timeline.first;
    } catch {
      return session.timeline.first; // a program without debug information
    }
  }

  #summary(capsule: Capsule, pass: FirstPass, { title, dialect }: RecordedKind): Opened {
    const { timeline } = this.session;
    const { outcome } = pass;
    return {
      title,
      dialect,
      harts: timeline.machine.harts.length,
      instructions: outcome.instret,
      first: timeline.first,
      last: timeline.latest,
      differences: differences(capsule, outcome, pass.console.bytes),
      stateHash: outcome.stateHash,
      end: outcome.end === 'exit' ? `exit, status ${outcome.status}` : outcome.end,
      console: pass.console,
      hasPoints: pass.trace?.pointKind.includes(KIND_PC) ?? false,
      records: outcome.records,
      growth: pass.growth,
    };
  }

  files(measure: Measure): FileRow[] {
    const rows = this.#states?.files(measure) ?? [];
    return rows.map(row => ({ ...row, hasText: this.#sources.has(row.path) }));
  }

  functions(measure: Measure): FunctionRow[] {
    return this.#states?.functions(measure) ?? [];
  }

  calls(): { calls: CallsOf[]; more: number } {
    return this.#states?.calls(this.#log, this.#syscalls) ?? { calls: [], more: 0 };
  }

  /** Lines of a file of the kernel or the program. */
  async lines(measure: Measure, path: string): Promise<SourceLines> {
    const text = this.#sources.text(path, () => this.#compiledAs(path));
    text.catch(() => {}); // awaited below
    const program = this.#states?.has(path) ? undefined : this.#program;
    const lines = program?.has(path) ? program.lines(path) : (this.#states?.lines(measure, path) ?? []);
    return { ...(await text), lines, seal: this.#seal };
  }

  #compiledAs(path: string): Compiled {
    const isOfKernel = this.#states?.has(path) === true;
    if (isOfKernel && this.#isOfPage) return 'page';
    const image = isOfKernel ? this.#kernel : this.#image;
    return image && this.#sumsOf(image).get(path);
  }

  #sumsOf(image: Image): Sums {
    let sums = this.#sums.get(image);
    try {
      sums ??= sourceSums(image.elf);
    } catch (error) {
      if (!(error instanceof CoverageError)) throw error;
      sums = new Map(); // the reader of its lines reports it
    }
    this.#sums.set(image, sums);
    return sums;
  }

  /** Those of `texts`, or of all that the reader gave, that are no sources of this run. */
  strangers(texts?: Texts): Stranger[] {
    const kernel = this.#isOfPage ? undefined : this.#kernel;
    const images = [kernel, this.#image].filter(image => image?.elf.section('.debug_line'));
    return this.#sources.strangers(
      images.map(image => this.#sumsOf(image!)),
      this.#isOfPage,
      texts,
    );
  }

  /** When there are more texts: the lines of files with one are counted. */
  forgetProgramLines(): void {
    this.#programLines = undefined;
  }

  /** The kernel with all of its debug information. */
  takeWhole(bytes: Uint8Array): void {
    if (!this.#linesOnly) return;
    this.session.replaceImage(this.#linesOnly, new Image(bytes, KERNEL));
    this.#linesOnly = undefined;
  }

  /** Without a unit: to the beginning of the program. */
  seek(unit = this.details.start, hart?: number): Focus {
    this.session.goto(unit, hart);
    // The reader looks for the code that a hook records, not for the hook.
    const { frames } = this.session;
    if (frames.length > 1 && HOOK.test(frames[0]!.function)) this.session.selectFrame(1);
    else this.#lookAtText();
    return this.focus();
  }

  /** Of a function that was inlined, and whose text is not here (the C library), its call. */
  #lookAtText(): void {
    const { frames } = this.session;
    const level = frames.findIndex(({ isInlined, file }) => !isInlined || this.#sources.has(file));
    if (level > 0) this.session.selectFrame(level);
  }

  /** Looks at another hart or frame; the run stays. */
  look(hart?: number, level?: number): Focus {
    if (hart !== undefined) this.session.selectHart(hart);
    if (level !== undefined) this.session.selectFrame(level);
    return this.focus();
  }

  move({ way, direction }: Motion): Focus {
    const { session } = this;
    const motions: Readonly<Record<Motion['way'], () => Steps>> = {
      step: () => session.step(direction),
      next: () => session.next(direction),
      finish: () => session.finish(direction),
      instruction: () => session.stepInstruction(direction),
      continue: () => session.continue(direction),
    };
    const reason = exhaust(motions[way]());
    this.#lookAtText();
    return this.focus(reason);
  }

  /** Replaces all breakpoints. Answers with the places that have no code. */
  setBreakpoints(places: readonly string[]): string[] {
    this.session.deleteAll();
    return places.filter(place => {
      try {
        this.session.break(place);
        return false;
      } catch {
        return true;
      }
    });
  }

  moments(place: string): { unit: number; hart: number }[] {
    return this.session.moments(place, MOMENTS_MAX).map(({ unit, hart }) => ({ unit, hart }));
  }

  /** Records of the kcov buffer from an index on; without one: the last ones. */
  buffer(from?: number): BufferView | undefined {
    const { hart, timeline } = this.session;
    return bufferOf(timeline.machine, hart, this.#log, pc => this.session.describe(pc), from);
  }

  focus(reason?: Reason): Focus {
    const { session } = this;
    const { machine, position } = session.timeline;
    const { hart, frames, level } = session;
    return {
      unit: position,
      hart: hart.id,
      harts: machine.harts.map(one => ({
        id: one.id,
        place: this.#placeOf(one.state.pc),
        isWaiting: one.waiting,
      })),
      frames: frames.map(({ function: name, file, line, pc, isInlined }) => ({
        function: name,
        file,
        line,
        pc: `0x${pc.toString(16)}`,
        isInlined,
      })),
      level,
      variables: this.#variables(),
      registers: [
        ['pc', hart.state.pc] as const,
        ...X_NAMES.map((name, n) => [name, hart.state.getX(n)] as const),
      ].map(([name, value]) => [name, `0x${value.toString(16)}`]),
      records: machine.kcovRecords,
      buffer: this.buffer(),
      reason: reason ? reasonText(reason) : '',
    };
  }

  #variables(): VariableRow[] | undefined {
    const { session } = this;
    if (this.#linesOnly && session.frame.image === this.#linesOnly) return undefined;
    return session.locals.slice(0, VARIABLES_MAX).map(variable => {
      const { name, isParameter, type } = variable;
      const value = session.valueHere(variable);
      const shown = typeof value === 'string' ? { absence: value } : { value: session.show(value) };
      return { name, isParameter, type: type.name, ...shown };
    });
  }

  #placeOf(pc: bigint): string {
    const { function: name, file, line } = this.session.describe(pc);
    return `${name} at ${file === '' ? `0x${pc.toString(16)}` : `${file}:${line}`}`;
  }
}

function reasonText(reason: Reason): string {
  switch (reason.kind) {
    case 'breakpoint':
      return 'breakpoint';
    case 'watch':
      return `changed from ${reason.before} to ${reason.after}`;
    case 'begin':
      return 'the beginning of the run';
    case 'end':
      return 'the end of the run';
    default:
      return reason.note ?? '';
  }
}
