// The guest of a campaign: a kernel of dialect linux with the agent as its program; or another
// Linux with KCOV and the agent as its first process; or a harness, code of the user's own in the
// agent; or xv6 with hooks.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type EngineKind, isLinuxImage, KcovboxError, type MachineOptions } from '../../emulator/index.ts';
import { Executor, type ExecutorOptions } from '../../fuzz/executor/executor.ts';
import type { TargetKind } from '../../fuzz/executor/layout.ts';
import {
  buildXv6,
  buildXv6Program,
  packageRoot,
  readXv6Tree,
  sha256,
  withRepro,
} from '../../toolchain/index.ts';
import type { LoadedDevice } from '../device.ts';
import { type GuestImages, type GuestOptions, packProgram, prepareGuest } from '../guest.ts';
import { readInput } from '../input.ts';
import { deviceOptions, imageOptions } from '../machine.ts';
import { EXECUTABLE } from '../program.ts';
import {
  faultOptions,
  OTHER_RAM_BYTES,
  SHAPES,
  XV6_ICOUNT,
  XV6_RAM_BYTES,
  xv6Machine,
} from './target-machine.ts';

/** Of the agent with a second thread. */
export const THREADS = '-DTHREADS';
/** Of the agent of another Linux. */
const OTHER_LINUX = '-DOTHER_LINUX';

/**
 * The console is the board's; messages of the boot are not of interest; a panic restarts the
 * machine, which is how the host sees it. No address is random, as far as the kernel lets us say.
 */
const OTHER_WORDS = 'console=ttyS0 quiet panic=-1 nokaslr rdinit=/bin/init';

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
  /** Of the user's own, and the C files of drivers that are compiled into the kernel. */
  readonly devices?: readonly LoadedDevice[] | undefined;
  readonly drivers?: readonly string[] | undefined;
  /** Names of devices of which programs may have faults. */
  readonly faultable?: readonly string[] | undefined;
  readonly say?: GuestOptions['say'];
}

export interface Target<Images = GuestImages> {
  readonly images: Images;
  readonly machine: MachineOptions;
  /** Default: own. */
  readonly kind?: TargetKind;
}

const fileOf = (name: string): string => join(packageRoot(), 'guest-programs', 'fuzz', name);
const agentFile = (): string => fileOf('agent.c');

/** Builds what is missing. Errors: as `prepareGuest`. */
export async function prepareTarget(options: TargetOptions = {}): Promise<Target> {
  const { conf = 'linux', engine = 'jit', append, kernel, kernelSource, devices, drivers, say } = options;
  const hasThreads = options.hasThreads === true;
  const images = await prepareGuest(agentFile(), [], {
    dialect: 'linux',
    conf,
    kernel,
    kernelSource,
    devices,
    drivers,
    say,
    kcov: 'device',
    needsSymbols: false,
    ...(append ? { append } : {}),
    ...(hasThreads && { cflags: [THREADS] }),
  });
  const machine = {
    ...imageOptions(images),
    ...SHAPES.own(hasThreads),
    engine,
    ...deviceOptions(images, devices),
    ...faultOptions(options.faultable),
  };
  return { images, machine };
}

export interface OtherTargetOptions extends Pick<TargetOptions, 'append' | 'engine' | 'say'> {
  /** File of a Linux Image with KCOV. */
  readonly linux: string;
}

/** The files and words that a machine gets of another Linux. */
export type OtherImages = Required<Pick<GuestImages, 'kernel' | 'loaded' | 'initrd' | 'append' | 'tail'>>;

/** A Linux Image with the agent. Errors: KcovboxError if it is none; as `packProgram`. */
export async function prepareOtherTarget(options: OtherTargetOptions): Promise<Target<OtherImages>> {
  const { linux, append, engine = 'jit', say } = options;
  const kernel = readInput(linux, 'kernel', OTHER_RAM_BYTES);
  if (!isLinuxImage(kernel))
    throw new KcovboxError('input', `${linux} is not an Image of Linux for RISC-V (arch/riscv/boot/Image)`);
  const { initrd } = await packProgram(agentFile(), {
    dialect: 'linux',
    cflags: [OTHER_LINUX],
    name: 'init',
    say,
  });
  const words = [OTHER_WORDS, append].filter(Boolean).join(' ');
  const images = { kernel, loaded: undefined, initrd, append: words, tail: undefined };
  return { images, machine: { ...imageOptions(images), ...SHAPES.other(false), engine }, kind: 'other' };
}

export interface HarnessOptions extends Pick<TargetOptions, 'engine' | 'say'> {
  /** A C file with LLVMFuzzerTestOneInput. */
  readonly harness: string;
  readonly cflags?: readonly string[];
}

/** Functions that compare strings, whose code has no hooks. */
const COMPARED = ['memcmp', 'bcmp', 'strcmp', 'strncmp'];
/** Functions by which a process is made and its end is seen. */
const PROCESSES = ['fork', 'wait', 'wait3', 'wait4', 'waitpid', 'waitid'];
/** For the compiler, in front of the user's own flags. */
const HARNESS_FLAGS = [
  '-DKCOVBOX_HARNESS',
  '-DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION',
  '-fsanitize-coverage=trace-pc,trace-cmp',
  '-fno-sanitize-link-runtime',
  ...COMPARED.flatMap(name => [`-fno-builtin-${name}`, `-Wl,--wrap=${name}`]),
  ...PROCESSES.map(name => `-Wl,--wrap=${name}`),
];

/** A harness with the agent. Errors: as `prepareGuest`. */
export async function prepareHarness({
  harness,
  cflags = [],
  engine = 'jit',
  say,
}: HarnessOptions): Promise<Target> {
  const images = await prepareGuest(harness, [], {
    dialect: 'linux',
    conf: 'linux',
    say,
    kcov: 'device',
    needsSymbols: false,
    cflags: [...HARNESS_FLAGS, ...cflags, ...agentSources()],
  });
  return { images, machine: { ...imageOptions(images), ...SHAPES.harness(false), engine }, kind: 'harness' };
}

/** The agent beside a harness; the compiler's own list of what it has read leaves it out. */
function agentSources(): string[] {
  const names = ['agent.c', 'words.h', 'harness.h', 'hooks.h'];
  const version = sha256(names.map(name => readFileSync(fileOf(name), 'utf8')).join('\0'));
  return [`-DAGENT_VERSION=0x${version.slice(0, 15)}`, agentFile()];
}

export interface Xv6Options extends Pick<TargetOptions, 'engine'> {
  /** Folder of a checkout of xv6-riscv. */
  readonly xv6: string;
}

/** The words of `kcovbox boot` for such a machine with these files. */
export const xv6Words = (kernel: string, disk: string): string[] => [
  ...['boot', '-bios', 'none', '-kernel', kernel, '-m', `${XV6_RAM_BYTES / 2 ** 20}M`, '-smp', '1'],
  ...['--kcov', 'off', '-icount', `shift=${XV6_ICOUNT}`, '-global', 'virtio-mmio.force-legacy=false'],
  ...['-drive', `file=${disk.replaceAll(',', ',,')},if=none,format=raw,id=x0`],
  ...['-device', 'virtio-blk-device,drive=x0,bus=virtio-mmio-bus.0'],
];

/** xv6 with hooks, and the agent as its first program. Errors: as `readXv6Tree` and `buildXv6`. */
export async function prepareXv6({ xv6, engine = 'jit' }: Xv6Options): Promise<Target<OtherImages>> {
  const { kernel, disk } = await buildXv6(readXv6Tree(xv6), xv6);
  const images = { kernel, loaded: undefined, initrd: disk, append: '', tail: undefined };
  return { images, machine: { ...xv6Machine(kernel, disk), engine }, kind: 'xv6' };
}

/** The disk of a campaign with the C program at `path` as /repro. Errors: CompileError. */
export async function xv6Disk(path: string, disk: Uint8Array, scratch: string): Promise<Uint8Array> {
  const output = join(scratch, 'repro');
  await buildXv6Program(path, output);
  return withRepro(disk, readFileSync(output));
}

/** The initrd of another Linux that runs the C program at `path`. Errors: as `packProgram`. */
export async function otherInitrd(path: string): Promise<Uint8Array> {
  const { program } = await packProgram(path, { dialect: 'linux' });
  const files = [{ path: 'bin/repro', mode: EXECUTABLE, data: program }];
  const { initrd } = await packProgram(fileOf('other-init.c'), { dialect: 'linux', name: 'init', files });
  return initrd;
}

/** An executor for such a guest. Errors: HostError when the guest does not come to the agent. */
export const openTarget = (
  { machine, kind = 'own' }: Pick<Target, 'machine' | 'kind'>,
  options: Omit<ExecutorOptions, 'machine' | 'kind'> = {},
): Executor => new Executor({ machine, kind, ...options });
