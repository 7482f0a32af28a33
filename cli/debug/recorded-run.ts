// A capsule that is debugged: its machine with all its input, its end, and its executables.
import { executablesOf, type Image } from '../../debug/image.ts';
import type { EngineKind, MachineOptions } from '../../emulator/index.ts';
import { inCapsule, openCapsule } from '../../host/capsule.ts';
import { capsuleImages } from '../../host/capsule-images.ts';
import { endOf } from '../../host/replay.ts';
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
  return {
    capsule,
    machine: { ...(await recordedMachine(capsule, images, options)), replay: journal },
    end: endOf(run, outcome),
    images: executablesOf(images, run.format === 'kcovbox run' ? run.program.name : undefined),
  };
}
