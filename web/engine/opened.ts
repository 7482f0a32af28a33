// A capsule that is open in the page: its run, executed once and compared, and a debugger that goes
// to any moment of it.
import { codeWindow, Elf } from '../../coverage/index.ts';
import { executablesOf, programOf } from '../../debug/image.ts';
import { DebugSession, type Reason, type Motion as Steps } from '../../debug/session.ts';
import {
  createMachine,
  exhaust,
  KcovboxError,
  Once,
  RUN_HASH_INTERVAL,
  Timeline,
  X_NAMES,
} from '../../emulator/index.ts';
import { machineOptions } from '../../host/machine.ts';
import { choiceOf, differences, endOf, guestOf } from '../../host/replay.ts';
import { Capsule, FormatError } from '../../run/capsule/index.ts';
import type { Focus, Lines, Measure, Motion, Opened } from '../protocol.ts';
import { eventsOf } from './events.ts';
import { type FirstPass, firstPass, Printed } from './first-pass.ts';
import { HOST } from './host.ts';
import { bufferOf } from './kcov-buffer.ts';
import { LineStates } from './lines.ts';
import { ProgramLines } from './program-lines.ts';

/** Instructions between two snapshots at first: a seek executes at most so many. */
const SPACING = 1_000_000;
const VARIABLES_MAX = 200;
const MOMENTS_MAX = 1000;

export interface Images {
  readonly kernel: Uint8Array;
  readonly initrd: Uint8Array;
}

/** The capsule's facts before its images are there. Errors: one line. */
export function readCapsule(bytes: Uint8Array, name: string): Capsule {
  try {
    const capsule = Capsule.open(bytes, HOST);
    if (capsule.manifest.run.format !== 'kcovbox run')
      throw new KcovboxError('input', `${name} is of kcovbox boot; this page opens capsules of kcovbox run`);
    return capsule;
  } catch (error) {
    if (error instanceof FormatError) throw new KcovboxError('input', `capsule ${name} ${error.message}`);
    throw error;
  }
}

export class OpenedRun {
  readonly session: DebugSession;
  readonly states: LineStates;
  readonly summary: Omit<Opened, 'files'>;
  readonly #start: number;
  readonly #program: ProgramLines | undefined;

  constructor(
    capsule: Capsule,
    images: Images,
    sources: Readonly<Record<string, string>>,
    syscalls: Readonly<Record<string, string>>,
    unitsMax = Number.POSITIVE_INFINITY,
  ) {
    const { run, outcome } = capsule.manifest;
    if (run.format !== 'kcovbox run') throw new KcovboxError('input', 'not a capsule of kcovbox run');
    const elf = new Elf(images.kernel, 'kernel');
    const window = codeWindow(elf);
    const parts = new Map([
      ['kernel.bin', images.kernel],
      ['initrd.bin', images.initrd],
    ]);
    const once = new Once(byte => printed.put(byte));
    const machine = createMachine({
      ...machineOptions(guestOf(run, parts, ''), choiceOf(run, outcome, 'jit')),
      retired: window,
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
    const { dialect } = run.kernel;
    const recorded = { dialect, kernel: images.kernel, test: run.program.name };
    const pass = firstPass(timeline, printed, recorded, outcome, window.low);
    const executables = executablesOf(parts, run.program.name);
    this.session = new DebugSession(timeline, executables);
    this.states = new LineStates(elf, pass.trace, pass.exact, run.program.name, sources);
    const isOwn = (path: string): boolean => this.states.text(path) !== undefined;
    const program = programOf(executables);
    this.#program = program && new ProgramLines(timeline, program, isOwn);
    this.#start = this.#firstOfProgram();
    this.summary = this.#summary(capsule, pass, syscalls);
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

  #summary(
    capsule: Capsule,
    pass: FirstPass,
    syscalls: Readonly<Record<string, string>>,
  ): Omit<Opened, 'files'> {
    const { timeline } = this.session;
    const { run } = capsule.manifest;
    const { outcome } = pass;
    const { events, more } = eventsOf(timeline, syscalls);
    return {
      title: run.format === 'kcovbox run' ? run.program.name : '',
      dialect: run.format === 'kcovbox run' ? run.kernel.dialect : '',
      harts: timeline.machine.harts.length,
      instructions: outcome.instret,
      first: timeline.first,
      last: timeline.latest,
      start: this.#start,
      differences: differences(capsule, outcome, pass.console.bytes),
      stateHash: outcome.stateHash,
      end: outcome.end === 'exit' ? `exit, status ${outcome.status}` : outcome.end,
      console: pass.console,
      hasRecords: pass.hasRecords,
      records: outcome.records,
      events,
      moreEvents: more,
      growth: pass.growth,
    };
  }

  /** Lines of a file of the kernel or the program. */
  lines(measure: Measure, path: string): { text: string | undefined; lines: Lines } {
    const lines = this.#program?.has(path) ? this.#program.lines(path) : this.states.lines(measure, path);
    return { text: this.states.text(path), lines };
  }

  seek(unit: number, hart?: number): Focus {
    this.session.goto(unit, hart);
    return this.focus();
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
    return this.focus(exhaust(motions[way]()));
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

  lastWrite(what: string): { unit: number; hart: number; place: string } | undefined {
    const store = this.session.lastWrite(what);
    return store && { unit: store.unit, hart: store.hart, place: this.#placeOf(store.pc) };
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
      variables: session.locals.slice(0, VARIABLES_MAX).map(variable => {
        const value = session.valueOf(variable);
        const { name, isParameter, type } = variable;
        return { name, isParameter, type: type.name, value: value && session.show(value) };
      }),
      registers: [
        ['pc', hart.state.pc] as const,
        ...X_NAMES.map((name, n) => [name, hart.state.getX(n)] as const),
      ].map(([name, value]) => [name, `0x${value.toString(16)}`]),
      records: machine.kcovRecords,
      buffer: bufferOf(machine, hart),
      reason: reason ? reasonText(reason) : '',
    };
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
      return '';
  }
}
