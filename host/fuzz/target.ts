// The guest of a campaign: a kernel of dialect linux with the agent as its program.
import { join } from 'node:path';
import type { EngineKind, MachineOptions } from '../../emulator/index.ts';
import { Executor, type ExecutorOptions } from '../../fuzz/executor/executor.ts';
import { packageRoot } from '../../toolchain/index.ts';
import { type GuestImages, type GuestOptions, prepareGuest } from '../guest.ts';
import { imageOptions } from '../machine.ts';

/**
 * Enough for the kernel with all its checks. A call that touches all of it must not look like one
 * that hangs (BUDGET in fuzz/executor/executor.ts).
 */
const RAM_BYTES = 32 * 2 ** 20;

/** Of the agent with a second thread. */
export const THREADS = '-DTHREADS';

const shapeOf = (hasThreads: boolean): Pick<MachineOptions, 'ramBytes' | 'harts'> => ({
  ramBytes: RAM_BYTES,
  harts: hasThreads ? 2 : 1,
});

export interface TargetOptions {
  /** Kernel configuration, which begins with linux; default: linux. */
  readonly conf?: string;
  readonly kernel?: string | undefined;
  readonly kernelSource?: string | undefined;
  /** Words for the kernel command line. */
  readonly append?: string;
  readonly engine?: Exclude<EngineKind, 'lockstep'>;
  /** The agent has a second thread, on a second hart. */
  readonly hasThreads?: boolean;
  readonly say?: GuestOptions['say'];
}

export interface Target {
  readonly images: GuestImages;
  readonly machine: MachineOptions;
}

/** Builds what is missing. Errors: as `prepareGuest`. */
export async function prepareTarget(options: TargetOptions = {}): Promise<Target> {
  const { conf = 'linux', engine = 'jit', append, kernel, kernelSource, say } = options;
  const hasThreads = options.hasThreads === true;
  const agent = join(packageRoot(), 'guest-programs', 'fuzz', 'agent.c');
  const images = await prepareGuest(agent, [], {
    dialect: 'linux',
    conf,
    kernel,
    kernelSource,
    say,
    kcov: 'device',
    needsSymbols: false,
    ...(append ? { append } : {}),
    ...(hasThreads && { cflags: [THREADS] }),
  });
  return { images, machine: { ...imageOptions(images), ...shapeOf(hasThreads), engine } };
}

/** The machine of a target whose images and command line a file has kept. */
export function targetMachine(
  kernel: Uint8Array,
  initrd: Uint8Array,
  { append, tail }: { readonly append: string; readonly tail: string },
  engine: NonNullable<TargetOptions['engine']>,
  hasThreads: boolean,
): MachineOptions {
  const images = { kernel, loaded: undefined, initrd, append, tail: tail === '' ? undefined : tail };
  return { ...imageOptions(images), ...shapeOf(hasThreads), engine };
}

/** An executor for such a guest. Errors: HostError when the guest does not come to the agent. */
export const openTarget = ({ machine }: Target, options: Omit<ExecutorOptions, 'machine'> = {}): Executor =>
  new Executor({ machine, ...options });
