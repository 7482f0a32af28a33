// A capsule that is debugged: its machine with all its input, its end, and its executables.
import { fileOfCpio, type Image, imageOf } from '../../debug/image.ts';
import type { EngineKind, MachineOptions } from '../../emulator/index.ts';
import { inCapsule, openCapsule } from '../../host/capsule.ts';
import { capsuleImages } from '../../host/capsule-images.ts';
import { limitOf } from '../../host/replay.ts';
import type { Capsule } from '../../run/capsule/index.ts';
import { recordedMachine } from '../run/recorded.ts';

export interface DebugOptions {
  readonly engine: EngineKind;
  readonly device?: readonly string[];
}

export interface RecordedRun {
  readonly capsule: Capsule;
  readonly machine: MachineOptions;
  /** Of the run, see TimelineOptions. */
  readonly end: { readonly units: number; readonly time: number };
  /** In the order in which names are looked up: the program, if there is one, and the kernel. */
  readonly images: readonly Image[];
}

/** `files`: images that a thin capsule names by hash. */
export async function openRecorded(
  path: string,
  files: readonly string[],
  options: DebugOptions,
): Promise<RecordedRun> {
  const capsule = openCapsule(path);
  const images = await capsuleImages(path, capsule, {
    files,
    kernelHint: 'give it as a further file',
    fileHint: name => `give ${name} as a further file`,
  });
  const { run, outcome } = capsule.manifest;
  const journal = inCapsule(path, () => capsule.journal());
  const initrd = images.get('initrd.bin');
  const program =
    run.format === 'kcovbox run' && initrd ? fileOfCpio(initrd, `bin/${run.program.name}`) : undefined;
  const found = [
    program && imageOf(program, 'program'),
    imageOf(images.get('kernel.bin') ?? new Uint8Array(0), 'kernel'),
  ];
  return {
    capsule,
    machine: { ...(await recordedMachine(capsule, images, options)), replay: journal },
    end: {
      units: limitOf(run, outcome),
      time: outcome.end === 'interrupted' ? outcome.time : Number.POSITIVE_INFINITY,
    },
    images: found.filter(image => image !== undefined),
  };
}

/** The program's first instruction; undefined: there is no program, or it is no executable. */
export function entryOf(images: readonly Image[]): bigint | undefined {
  const [program] = images;
  return program?.name === 'program' ? BigInt(program.elf.entry) : undefined;
}
