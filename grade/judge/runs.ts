// One run of a program for a check: built from the submission and the lab, with an instruction
// budget, empty input, and nothing of this machine in it.
import { codeWindow, Elf, type ExactCounts, ExecutedLines } from '../../coverage/index.ts';
import {
  BRIEF,
  type Fault,
  type MachineOptions,
  parseCpu,
  RUN_HASH_INTERVAL,
  type Schedule,
} from '../../emulator/index.ts';
import { commandLine } from '../../host/command-line.ts';
import { machineOptions } from '../../host/machine.ts';
import { checkProgram, EXECUTABLE } from '../../host/program.ts';
import { Guest } from '../../run/many/guest.ts';
import { reportLine } from '../../run/many/outcome.ts';
import { outcomeOf } from '../../run/outcome.ts';
import { type Verdict, verdict } from '../../run/verdict.ts';
import { writeCpio } from '../../toolchain/cpio.ts';
import { CompileError } from '../../toolchain/errors.ts';
import type { LabCheck } from '../schema.ts';
import { bytesOf, type Files, type LabContents, refused, type Submission, textOf } from './lab.ts';
import { EMPTY } from './portable.ts';
import type { Choice, Dialect, Images, Workshop } from './workshop.ts';

/** RAM of a run in MiB, unless its check names another size. */
const MEMORY = 64;

/**
 * Instructions are counted in a multiple of so many bytes of code: kernels of other submissions,
 * and those with other options, then share the compiled interpreter (engine/interp/module.ts).
 */
const COUNTED_STEP = 2n ** 18n;

const countedWindow = (elf: Elf): { low: bigint; high: bigint } => {
  const { low, high } = codeWindow(elf);
  return { low, high: low + ((high - low + COUNTED_STEP - 1n) / COUNTED_STEP) * COUNTED_STEP };
};

/** Of a check that runs a program. */
export type RunSpec = Pick<Extract<LabCheck, { kind: 'run' }>, 'program'> &
  Partial<
    Pick<
      Extract<LabCheck, { kind: 'run' }>,
      'args' | 'harts' | 'with' | 'budget' | 'memory' | 'append' | 'devices' | 'solution'
    >
  >;

export interface Ran extends Verdict {
  readonly text: string;
  /** Units since power-on. */
  readonly spent: number;
  /** A report of the kernel or its panic. */
  readonly report: string | undefined;
  readonly executed?: ExecutedLines;
  readonly exact?: { readonly elf: Elf; readonly counts: ExactCounts };
}

/** The parts of a run. */
export interface Prepared {
  readonly images: Images;
  readonly choice: Choice;
  readonly machine: MachineOptions;
  readonly budget: number;
}

interface Variant {
  readonly schedSeed?: bigint;
  readonly schedule?: Schedule;
  readonly dialect?: Dialect;
  /** Instead of the submission's files. */
  readonly overlay?: Files;
  readonly call?: number;
  readonly budget?: number;
  readonly faults?: readonly Fault[];
}

/** A check needs a file of the teacher's, which is not on the machines of students. */
export class NeedsTeacher extends Error {}

/** The runs of one submission. */
export class Runs {
  readonly lab: LabContents;
  readonly submission: Submission;
  readonly workshop: Workshop;
  readonly #solution: Files | undefined;
  /** Of the submission, by configuration and files of the teacher's: checks share them. */
  readonly #kernels = new Map<string, Promise<Uint8Array>>();

  constructor(lab: LabContents, submission: Submission, workshop: Workshop, solution?: Files) {
    this.lab = lab;
    this.submission = submission;
    this.workshop = workshop;
    this.#solution = solution;
  }

  /** The files that are compiled into the kernel, by place: those of the lab, and these. */
  placed(files: ReadonlyMap<string, Uint8Array> = this.submission.files): Files {
    const overlay = this.#emptied(this.lab.manifest.empty ?? []);
    for (const { file, place } of this.lab.manifest.given ?? []) {
      const bytes = this.lab.tests.get(file);
      if (!bytes) throw refused(`the lab has no file ${file}`);
      overlay.set(place, bytes);
    }
    for (const { name, place, adds } of this.lab.manifest.files) {
      const bytes = files.get(name);
      if (place === undefined || !bytes) continue;
      overlay.set(place, adds === undefined ? bytes : this.#withLines(place, bytes, adds));
    }
    return overlay;
  }

  /** A number of 31 bits that follows from the submission. */
  get seed(): number {
    return Number.parseInt(this.submission.sha256.slice(0, 8), 16) >>> 1;
  }

  /** The lab's own programs are the same files for every submission. */
  #program(name: string, dialect: Dialect): Promise<Uint8Array> {
    const { tests } = this.lab;
    const files = tests.has(name) ? tests : new Map([...this.submission.files, ...tests]);
    return this.workshop.program(files, name, dialect);
  }

  #confOf(spec: RunSpec, variant: Variant): { dialect: Dialect; conf: string } {
    const own = this.lab.manifest.conf.split('+');
    const dialect = variant.dialect ?? (own[0] as Dialect);
    return { dialect, conf: [dialect, ...own.slice(1), ...(spec.with ?? [])].join('+') };
  }

  /** The kernel of a run. */
  kernel(spec: RunSpec, variant: Variant = {}): Promise<Uint8Array> {
    const { conf } = this.#confOf(spec, variant);
    if (variant.overlay) return this.workshop.kernel(conf, variant.overlay);
    const names = spec.solution ?? [];
    const key = [conf, ...names].join('\0');
    let built = this.#kernels.get(key);
    if (!built) {
      this.#kernels.set(key, (built = this.#ownKernel(conf, names)));
      // One that does not compile stays so; what failed for another reason is tried again.
      built.catch(error => error instanceof CompileError || this.#kernels.delete(key));
    }
    return built;
  }

  async #ownKernel(conf: string, solution: readonly string[]): Promise<Uint8Array> {
    return this.workshop.kernel(conf, this.placed(this.#withSolution(solution)));
  }

  async prepare(spec: RunSpec, variant: Variant = {}): Promise<Prepared> {
    const { manifest } = this.lab;
    const files = this.#withSolution(spec.solution ?? []);
    const { dialect, conf } = this.#confOf(spec, variant);
    const [kernel, program] = await Promise.all([
      this.kernel(spec, variant),
      this.#program(spec.program, dialect),
    ]);
    const words = { seed: `${this.seed}`, call: `${variant.call ?? ''}` };
    const filled = (text: string): string =>
      text.replace(/\{(seed|call)\}/g, (_, name: keyof typeof words) => words[name]);
    const args = (spec.args ?? []).map(filled);
    const budget = variant.budget ?? spec.budget ?? manifest.budget;
    const choice: Choice = {
      dialect,
      conf,
      kcov: 'device',
      engine: 'jit',
      smp: spec.harts ?? 1,
      cpu: parseCpu('rv64'),
      memory: (spec.memory ?? MEMORY) * 2 ** 20,
      schedSeed: variant.schedSeed,
      ...(variant.schedule && { schedule: variant.schedule }),
      icount: 0,
      maxInsns: budget,
      ...(spec.devices && { devices: spec.devices.map(name => this.#device(name, files)) }),
      ...(variant.faults && { faults: variant.faults }),
      cflags: [],
      env: {},
    };
    const append = [spec.with?.length ? 'panic_on_warn' : '', filled(spec.append ?? '')]
      .filter(Boolean)
      .join(' ');
    const name = spec.program.replace(/^.*\//, '').replace(/\.c$/, '');
    checkProgram(name, program);
    const initrd = writeCpio([{ path: `bin/${name}`, mode: EXECUTABLE, data: program }]);
    const line = commandLine(name, args, { kcov: choice.kcov, append });
    const whole = { append: `${line.append} ${line.tail}`, tail: undefined };
    const images = { kernelPath: '', kernel, program, initrd, size: undefined, name, args, ...whole };
    return { images, choice, machine: { ...machineOptions(images, choice), tuning: BRIEF }, budget };
  }

  /** The submission's files, these ones from the teacher. */
  #withSolution(names: readonly string[]): Files {
    const files = new Map(this.submission.files);
    for (const name of names) {
      const bytes = this.#solution?.get(name);
      if (!bytes) throw new NeedsTeacher(name);
      files.set(name, bytes);
    }
    return files;
  }

  #device(name: string, files: Files): ReturnType<Workshop['device']> {
    const bytes = this.lab.tests.get(name) ?? files.get(name);
    if (!bytes) throw refused(`the lab has no device ${name}`);
    try {
      return this.workshop.device(name, bytes);
    } catch (error) {
      throw new CompileError((error as Error).message);
    }
  }

  /** `exact`: counts what the kernel executes. */
  async run(
    { images, machine, budget }: Prepared,
    exact = false,
    attach?: (guest: Guest) => void,
  ): Promise<Ran> {
    const elf = exact ? new Elf(images.kernel, 'kernel') : undefined;
    const retired = elf && countedWindow(elf);
    const guest = new Guest({ ...machine, ...(retired && { retired }) });
    attach?.(guest);
    const ran = await this.finish(guest, budget);
    if (!elf || !retired) return ran;
    const counts = { low: retired.low, counts: guest.machine.retired!.read() };
    return { ...ran, executed: new ExecutedLines(elf, counts), exact: { elf, counts } };
  }

  /** The run again, as a capsule. */
  async record({ images, choice, machine, budget }: Prepared): Promise<Uint8Array> {
    const guest = new Guest({ ...machine, runHash: RUN_HASH_INTERVAL });
    const { text, outcome: end, status } = await this.finish(guest, budget);
    const printed = Uint8Array.from(text, letter => letter.charCodeAt(0)); // each is a byte
    const consoleHash = this.workshop.sha256(printed);
    const outcome = outcomeOf(guest.machine, { end, status, consoleHash });
    const journal = guest.machine.journal.entries;
    return this.workshop.capsule({ images, choice, outcome, journal, printed });
  }

  /** Runs a guest to its end. */
  async finish(guest: Guest, budget: number): Promise<Ran> {
    await this.workshop.turn(); // compiled programs would run one after the other until the last
    const { text, result } = await guest.runToEnd(budget);
    return { ...verdict(result), text, spent: guest.machine.spent, report: reportLine(text) };
  }

  /**
   * The kernel's file with lines of the student's: those who add the same lines compile the same
   * text.
   */
  #withLines(place: string, bytes: Uint8Array, adds: string): Uint8Array {
    const own = this.workshop.source(place);
    if (own === undefined) throw refused(`the kernel has no file ${place}`);
    const pattern = new RegExp(`^(?:${adds})$`);
    const lines = textOf(bytes)
      .split('\n')
      .map(line => line.trim());
    return bytesOf(`${own}${lines.filter(line => pattern.test(line)).join('\n')}\n`);
  }

  /** Files of the kernel's folders that have nothing in them. */
  #emptied(folders: readonly string[]): Files {
    const files: Files = new Map();
    for (const folder of folders)
      for (const name of this.workshop.folder(folder))
        if (/\.[chS]$/.test(name)) files.set(`${folder}/${name}`, bytesOf(EMPTY));
    return files;
  }
}
