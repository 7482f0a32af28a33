// The kind of run that a capsule has: of a program on the guest kernel, or of a whole machine.
import {
  createMachine,
  HostError,
  KcovboxError,
  type Machine,
  type MachineOptions,
} from '../../emulator/index.ts';
import { bootMachine } from '../../host/boot-machine.ts';
import { machineOptions } from '../../host/machine.ts';
import { choiceOf, guestOf } from '../../host/replay.ts';
import type { CapsuleManifest } from '../../run/capsule/index.ts';
import type { KernelImage } from './images.ts';

/** For the header of a trace, where the description does not name the kernel's dialect. */
const DIALECT = 'openbsd';
const MEGABYTE = 2 ** 20;

export interface RecordedKind {
  readonly title: string;
  /** '': not known. */
  readonly dialect: string;
  /** The program among the executables. */
  readonly program: string | undefined;
  /** The dialect of its records; undefined: the kernel has no kcov. */
  readonly kcov: string | undefined;
  /** A reboot ends the run. */
  readonly endsAtReboot: boolean;
  readonly options: MachineOptions;
  /** System calls have the numbers of the guest kernel. */
  readonly hasSyscalls: boolean;
}

/** `parts`: the images, by the names of the capsule's parts. */
export function kindOf(
  { run, outcome }: CapsuleManifest,
  parts: ReadonlyMap<string, Uint8Array>,
  kernel: KernelImage | undefined,
): RecordedKind {
  if (run.format === 'kcovbox run') {
    const { dialect } = run.kernel;
    return {
      title: run.program.name,
      dialect,
      program: run.program.name,
      kcov: dialect,
      endsAtReboot: false,
      options: machineOptions(guestOf(run, parts, ''), choiceOf(run, outcome, 'jit')),
      hasSyscalls: true,
    };
  }
  const files = new Map([...parts].map(([name, bytes]) => [name, { name, bytes }]));
  const hasKcov = kernel?.elf !== undefined;
  return {
    title: 'a whole machine',
    dialect: '',
    program: undefined,
    kcov: hasKcov ? DIALECT : undefined,
    endsAtReboot: run.noReboot,
    options: bootMachine(run, { files, drives: parts }, 'jit'),
    hasSyscalls: hasKcov,
  };
}

/** Errors: one line, also where the browser has too little memory. */
export function machineOf(options: MachineOptions): Machine {
  try {
    return createMachine(options);
  } catch (error) {
    if (!(error instanceof HostError && error.cause instanceof RangeError)) throw error;
    const size = Math.round((options.ramBytes ?? 0) / MEGABYTE);
    throw new KcovboxError(
      'input',
      `this browser has no room for a machine with ${size} MiB of RAM; kcovbox replay runs it`,
    );
  }
}
