// The run description (run/schema.ts) of a guest and its machine. Also runs in the page.
import { faultText, hostileText, type JournalEntry, scheduleText } from '../emulator/index.ts';
import { describeExtensions, describeInput, type RunDescription } from '../run/index.ts';
import type { Sha256 } from '../run/input.ts';
import type { LoadedDevice } from './device.ts';
import type { GuestImages } from './guest.ts';
import type { MachineChoice } from './machine.ts';

const hexOf = (seed: bigint | undefined): string | null =>
  seed === undefined ? null : `0x${seed.toString(16)}`;

/**
 * The description of a run, whose images have the hashes of `names`. `journal`: what has arrived by
 * the end of the run; `isInteractive`: as it was typed, not by the rule of a stream.
 */
export function describeRun(
  names: RunDescription['images'],
  images: Omit<GuestImages, 'kernelPath'>,
  choice: MachineChoice,
  journal: readonly JournalEntry[],
  isInteractive: boolean,
  sha256: Sha256,
): RunDescription {
  const { size } = images;
  return {
    format: 'kcovbox run',
    version: 1,
    images: names,
    program: {
      name: images.name,
      argv: [images.name, ...images.args],
      environment: { ...choice.env },
      cflags: [...choice.cflags],
      ...(choice.trace && { trace: true as const }),
    },
    kernel: {
      dialect: choice.dialect,
      conf: choice.conf,
      append: images.append,
      ...(images.tail !== undefined && { tail: images.tail }),
    },
    machine: {
      harts: choice.smp,
      ...describeExtensions(choice.cpu),
      memory: choice.memory,
      kcov: choice.kcov,
      seed: hexOf(choice.seed),
      schedSeed: hexOf(choice.schedSeed),
      ...(choice.schedule && { schedule: scheduleText(choice.schedule) }),
      icountShift: choice.icount,
      devices: size ? [{ kind: 'console', rows: size.rows, cols: size.cols }] : [],
      ...(choice.devices?.length && { own: choice.devices.map(ownDevice) }),
      ...(choice.faults?.length && { faults: choice.faults.map(faultText) }),
      ...(choice.hostile?.length && { hostile: choice.hostile.map(hostileText) }),
    },
    budget: choice.maxInsns ?? null,
    input: describeInput(journal, isInteractive ? 'interactive' : 'idle-64k', sha256),
  };
}

/** A device of the user's own, by its code and its parameters. */
const ownDevice = ({ definition, sha256: code, params }: LoadedDevice) => ({
  name: definition.name,
  sha256: code,
  params: { ...params },
});
