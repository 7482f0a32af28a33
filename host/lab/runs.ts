// One run of a program for a check: built from the submission and the lab, with an instruction
// budget, empty input, and nothing of this machine in it.
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Coverage, codeWindow, Elf } from '../../coverage/index.ts';
import { type MachineOptions, parseCpu, RUN_HASH_INTERVAL } from '../../emulator/index.ts';
import type { LabCheck } from '../../grade/schema.ts';
import { Guest } from '../../run/faults/guest.ts';
import { reportLine } from '../../run/faults/outcome.ts';
import { outcomeOf } from '../../run/outcome.ts';
import { type Verdict, verdict } from '../../run/verdict.ts';
import { buildConfined, buildKernel, type Dialect, packageRoot, sha256 } from '../../toolchain/index.ts';
import { formatCapsule } from '../capsule.ts';
import { describe } from '../describe.ts';
import { type GuestImages, prepareGuest } from '../guest.ts';
import { type MachineChoice, machineOptions } from '../machine.ts';
import type { Files, Lab, Submission } from './lab.ts';

/** Bytes of RAM of a run. */
const MEMORY = 64 * 2 ** 20;

/** Of a check that runs a program. */
export type RunSpec = Pick<Extract<LabCheck, { kind: 'run' }>, 'program'> &
  Partial<Pick<Extract<LabCheck, { kind: 'run' }>, 'args' | 'harts' | 'with' | 'budget' | 'append'>>;

export interface Ran extends Verdict {
  readonly text: string;
  /** Units since power-on. */
  readonly spent: number;
  /** A report of the kernel or its panic. */
  readonly report: string | undefined;
  readonly coverage?: Coverage;
}

/** The parts of a run. */
export interface Prepared {
  readonly images: GuestImages;
  readonly choice: MachineChoice;
  readonly machine: MachineOptions;
  readonly budget: number;
}

interface Variant {
  readonly schedSeed?: bigint;
  readonly dialect?: Dialect;
  /** Instead of the submission's files. */
  readonly overlay?: Files;
  readonly call?: number;
  readonly budget?: number;
}

/** The runs of one submission. */
export class Runs {
  readonly lab: Lab;
  readonly submission: Submission;
  /** Folders of reports and notes of the compiler. */
  readonly #say: (line: string) => void;

  constructor(lab: Lab, submission: Submission, say: (line: string) => void) {
    this.lab = lab;
    this.submission = submission;
    this.#say = say;
  }

  /** The files that are compiled into the kernel, by place. */
  placed(files: ReadonlyMap<string, Uint8Array> = this.submission.files): Files {
    const overlay: Files = new Map();
    for (const { name, place, adds } of this.lab.manifest.files) {
      const bytes = files.get(name);
      if (place === undefined || !bytes) continue;
      overlay.set(place, adds === undefined ? bytes : withLines(place, bytes, adds));
    }
    return overlay;
  }

  /** A number of 31 bits that follows from the submission. */
  get seed(): number {
    return Number.parseInt(this.submission.sha256.slice(0, 8), 16) >>> 1;
  }

  /** Path of the kernel. */
  async kernel(conf: string, overlay = this.placed()): Promise<string> {
    const options = { say: this.#say, ...(overlay.size > 0 && { overlay }) };
    return (await buildKernel(conf, options)).path;
  }

  /** Path of the program. The lab's own are the same files for every submission. */
  program(name: string, dialect: Dialect): Promise<string> {
    const { tests } = this.lab;
    const files = tests.has(name) ? tests : new Map([...this.submission.files, ...tests]);
    return buildConfined(files, name, { dialect });
  }

  async prepare(spec: RunSpec, variant: Variant = {}): Promise<Prepared> {
    const { manifest } = this.lab;
    const own = manifest.conf.split('+');
    const dialect = variant.dialect ?? (own[0] as Dialect);
    const conf = [dialect, ...own.slice(1), ...(spec.with ?? [])].join('+');
    const [kernel, program] = await Promise.all([
      this.kernel(conf, variant.overlay),
      this.program(spec.program, dialect),
    ]);
    const words = { seed: `${this.seed}`, call: `${variant.call ?? ''}` };
    const args = (spec.args ?? []).map(arg =>
      arg.replace(/\{(seed|call)\}/g, (_, name: keyof typeof words) => words[name]),
    );
    const budget = variant.budget ?? spec.budget ?? manifest.budget;
    const choice: MachineChoice = {
      dialect,
      conf,
      kcov: 'device',
      engine: 'jit',
      smp: spec.harts ?? 1,
      cpu: parseCpu('rv64'),
      memory: MEMORY,
      schedSeed: variant.schedSeed,
      icount: 0,
      maxInsns: budget,
      cflags: [],
      env: {},
    };
    const append = [spec.with?.length ? 'panic_on_warn' : '', spec.append ?? ''].filter(Boolean).join(' ');
    const images = await prepareGuest(program, args, {
      ...choice,
      kernel,
      name: basename(spec.program, '.c'), // the cache has another
      ...(append && { append }),
    });
    return { images, choice, machine: machineOptions(images, choice), budget };
  }

  /** `exact`: counts what the kernel executes. */
  async run(
    { images, machine, budget }: Prepared,
    exact = false,
    attach?: (guest: Guest) => void,
  ): Promise<Ran> {
    const elf = exact ? new Elf(images.kernel, 'kernel') : undefined;
    const retired = elf && codeWindow(elf);
    const guest = new Guest({ ...machine, ...(retired && { retired }) });
    attach?.(guest);
    const ran = await finish(guest, budget);
    if (!elf || !retired) return ran;
    const counts = { low: retired.low, counts: guest.machine.retired!.read() };
    return { ...ran, coverage: Coverage.exact(elf, counts, 'check') };
  }

  /** The run again, as a capsule. */
  async record({ images, choice, machine, budget }: Prepared): Promise<Uint8Array> {
    const guest = new Guest({ ...machine, runHash: RUN_HASH_INTERVAL });
    const ran = await finish(guest, budget);
    const printed = Buffer.from(ran.text, 'latin1');
    const { journal } = guest.machine;
    return formatCapsule(
      {
        run: describe(images, choice, journal.entries, false),
        outcome: outcomeOf(guest.machine, {
          end: ran.outcome,
          status: ran.status,
          consoleHash: sha256(printed),
        }),
        journal: journal.entries,
        printed: { text: printed, bytes: printed.length },
        images: new Map([
          ['kernel.bin', images.kernel],
          ['initrd.bin', images.initrd],
        ]),
      },
      false,
      `of ${images.name}`,
    );
  }
}

/**
 * The kernel's file with lines of the student's: those who add the same lines compile the same
 * text.
 */
function withLines(place: string, bytes: Uint8Array, adds: string): Uint8Array {
  const own = readFileSync(join(packageRoot(), 'kernel', place), 'utf8');
  const pattern = new RegExp(`^(?:${adds})$`);
  const lines = Buffer.from(bytes)
    .toString('utf8')
    .split('\n')
    .map(line => line.trim());
  return Buffer.from(`${own}${lines.filter(line => pattern.test(line)).join('\n')}\n`);
}

/** Runs a guest to its end. */
export async function finish(guest: Guest, budget: number): Promise<Ran> {
  const { text, result } = await guest.runToEnd(budget);
  return { ...verdict(result), text, spent: guest.machine.spent, report: reportLine(text) };
}
