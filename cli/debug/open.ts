// A capsule as a debug session: its machine, at the program's first instruction, and its images.

import { fileOfCpio, imageOf } from '../../debug/image.ts';
import { DebugSession } from '../../debug/session.ts';
import { createMachine, type EngineKind, Once, Timeline } from '../../emulator/index.ts';
import { inCapsule, openCapsule } from '../../host/capsule.ts';
import { capsuleImages } from '../../host/capsule-images.ts';
import { limitOf } from '../../host/replay.ts';
import { recordedMachine } from '../run/recorded.ts';

export interface DebugOptions {
  readonly engine: EngineKind;
  readonly device?: readonly string[];
}

export interface Opened {
  readonly session: DebugSession;
  /** Units before the first instruction of the program; 0 without one. */
  readonly start: number;
}

/** `onConsole`: each byte of the guest's output, when the run first comes to it. */
export async function openDebugger(
  path: string,
  files: readonly string[],
  options: DebugOptions,
  onConsole: (byte: number) => void,
): Promise<Opened> {
  const capsule = openCapsule(path);
  const images = await capsuleImages(path, capsule, {
    files,
    kernelHint: 'give it as a further file',
    fileHint: name => `give ${name} as a further file`,
  });
  const { run, outcome } = capsule.manifest;
  const journal = inCapsule(path, () => capsule.journal());
  const once = new Once(onConsole);
  const machine = createMachine({
    ...(await recordedMachine(capsule, images, options)),
    replay: journal,
    onConsole: byte => once.put(byte),
  });
  const end = {
    units: limitOf(run, outcome),
    time: outcome.end === 'interrupted' ? outcome.time : Number.POSITIVE_INFINITY,
  };
  const timeline = new Timeline(machine, { end, companions: [once] });
  const initrd = images.get('initrd.bin');
  const program =
    run.format === 'kcovbox run' && initrd ? fileOfCpio(initrd, `bin/${run.program.name}`) : undefined;
  const found = [
    program && imageOf(program, 'program'),
    imageOf(images.get('kernel.bin') ?? new Uint8Array(0), 'kernel'),
  ].filter(image => image !== undefined);
  const session = new DebugSession(timeline, found);
  return { session, start: firstOf(session) };
}

/** Goes to the program's entry point. */
function firstOf(session: DebugSession): number {
  const [program] = session.images;
  if (program?.name !== 'program') return 0;
  const moment = session.timeline.next(BigInt(program.elf.entry));
  if (!moment) return 0;
  session.goto(moment.unit, moment.hart);
  return moment.unit;
}
