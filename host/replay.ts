// A recording as a run: its machine, its images, found by hash, and what differed when it ran
// again.
import { type EngineKind, KcovboxError } from '../emulator/index.ts';
import type { RunOutcome } from '../run/index.ts';
import { buildKernel } from '../toolchain/index.ts';
import { sha256 } from './describe.ts';
import { type GuestImages, packProgram } from './guest.ts';
import { findImage } from './image-store.ts';
import { readInput } from './input.ts';
import type { MachineChoice } from './machine.ts';
import type { Recording } from './recording.ts';

/** What the caller gives to a replay, where it is not found by its hash. */
export interface Given {
  /** Path of a C source or ELF file. */
  readonly program?: string | undefined;
  /** Compiler flags of the program. */
  readonly cflags?: readonly string[];
  /** Path of a kernel image. */
  readonly kernel?: string | undefined;
  /** How the caller is told to give a kernel: the end of a sentence. */
  readonly kernelHint: string;
  /** How the caller is told to give the program of this name. */
  readonly programHint: (name: string) => string;
}

const refused = (why: string): KcovboxError => new KcovboxError('input', why);

/** The machine of a recording. */
export function choiceOf({ run, outcome }: Recording, engine: EngineKind): MachineChoice {
  const { kernel, machine, program, budget } = run;
  const seedOf = (text: string | null): bigint | undefined => (text === null ? undefined : BigInt(text));
  return {
    dialect: kernel.dialect,
    conf: kernel.conf,
    kcov: machine.kcov,
    engine,
    smp: machine.harts,
    memory: machine.memory,
    seed: seedOf(machine.seed),
    schedSeed: seedOf(machine.schedSeed),
    icount: machine.icountShift,
    // A run that goes on behind its recorded end is another one already.
    maxInsns: Math.min(budget ?? Number.POSITIVE_INFINITY, outcome.time + 1),
    cflags: [], // a stranger's flags do not reach the compiler
    env: program.environment,
  };
}

interface Image {
  readonly path: string;
  readonly bytes: Uint8Array;
}

const short = (hash: string): string => `sha256 ${hash.slice(0, 16)}...`;

/**
 * The recorded kernel: the file that was given, one that was kept, or one that is built for its
 * configuration.
 */
async function kernelOf(name: string, { run }: Recording, { kernel, kernelHint }: Given): Promise<Image> {
  const wanted = run.images.kernel.sha256;
  const image =
    kernel === undefined ? findImage(wanted) : { path: kernel, bytes: readInput(kernel, 'kernel') };
  if (image !== undefined && sha256(image.bytes) === wanted) return image;
  if (image !== undefined)
    throw refused(
      `${name} was recorded with another kernel: ${short(wanted)}, ${kernel} is ${short(sha256(image.bytes))}`,
    );
  const built = (await buildKernel(run.kernel.conf)).path;
  const bytes = readInput(built, 'kernel');
  if (sha256(bytes) === wanted) return { path: built, bytes };
  throw refused(
    `${name} was recorded with another guest kernel: ${short(wanted)}, the ${run.kernel.conf} kernel is ${short(sha256(bytes))} now; ${kernelHint}`,
  );
}

/**
 * The recorded root file system: kept from the recording, or made of the program that was given.
 */
async function initrdOf(name: string, { run }: Recording, given: Given): Promise<Uint8Array> {
  const { program, cflags = [], programHint } = given;
  const wanted = run.images.initrd;
  if (program === undefined) {
    const kept = findImage(wanted);
    if (kept) return kept.bytes;
    throw refused(
      `the program of ${name} is not in the cache (${run.program.name}, ${short(run.images.program)}): ${programHint(run.program.name)}`,
    );
  }
  const { initrd, bytes } = await packProgram(program, { dialect: run.kernel.dialect, cflags });
  if (sha256(initrd) === wanted) return initrd;
  throw refused(
    `${name} was recorded with another program: ${run.program.name} ${short(run.images.program)}, ${program} is ${short(sha256(bytes))}; bring it back as it was, with the same compiler flags`,
  );
}

/**
 * The images of a recording; `name`: of it, for messages. Errors: one is not here, or not as it
 * was.
 */
export async function recordedImages(name: string, recording: Recording, given: Given): Promise<GuestImages> {
  const kernel = await kernelOf(name, recording, given);
  const initrd = await initrdOf(name, recording, given);
  const { run } = recording;
  return {
    kernelPath: kernel.path,
    kernel: kernel.bytes,
    initrd,
    append: run.kernel.append,
    size: run.machine.devices[0], // the terminal of then, not of now
    name: run.program.name,
    args: run.program.argv.slice(1),
    program: new Uint8Array(0),
  };
}

const COMPARED = ['end', 'status', 'instret', 'time', 'consoleHash', 'records', 'stateHash'] as const;

/** What is not as it was, one short text each: "status is 1, was 0". */
export function differences(then: RunOutcome, now: RunOutcome): string[] {
  return COMPARED.filter(name => then[name] !== now[name]).map(
    name => `${name} is ${now[name]}, was ${then[name]}`,
  );
}
