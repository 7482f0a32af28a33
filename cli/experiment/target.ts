// The guest that the keys of a campaign's variant ask for, as its plan has it.
import { statSync } from 'node:fs';
import { basename, isAbsolute, join } from 'node:path';
import { Elf } from '../../coverage/index.ts';
import { DEFAULT_EXTENSIONS, KcovboxError, parseFaultChoice } from '../../emulator/index.ts';
import { CODE_BYTES, CODE_STARTS } from '../../experiment/fuzz-trial.ts';
import type { FuzzOptions, PlannedOther, PlannedOwn } from '../../experiment/schema.ts';
import type { TargetKind } from '../../fuzz/index.ts';
import { describe } from '../../host/describe.ts';
import { splitDevice } from '../../host/device-text.ts';
import { describeTarget } from '../../host/fuzz/boot-target.ts';
import {
  type DescriptionTexts,
  descriptionTexts,
  harnessTexts,
  xv6Texts,
} from '../../host/fuzz/descriptions.ts';
import {
  prepareHarness,
  prepareOtherTarget,
  prepareTarget,
  prepareXv6,
  type Target,
  THREADS,
} from '../../host/fuzz/target.ts';
import { checkVmlinux } from '../../host/fuzz/vmlinux.ts';
import { readInput } from '../../host/input.ts';
import { checkFlags, checkMakefile, checkTrust } from '../../host/trust.ts';
import { hashOfXv6, readXv6Tree, sha256 } from '../../toolchain/index.ts';
import { checkFaultable, checkFuzzable } from '../fuzz/choose.ts';
import { UserError } from '../io/fail.ts';
import { loadDevices } from '../run/devices.ts';
import { confOf } from '../run/robust.ts';

/** Says where in the file a key is, and what is wrong with it. */
export type Fail = (key: string, why: string) => never;

export interface PreparedGuest {
  readonly kind: TargetKind;
  readonly planned:
    | Pick<PlannedOwn, 'run' | 'target' | 'devices'>
    | Pick<PlannedOther, 'run' | 'target' | 'symbols' | 'tree'>;
  /** By their SHA-256. */
  readonly images: ReadonlyMap<string, Uint8Array>;
  /** With the user's own, of these files. */
  readonly texts: (more: readonly string[]) => DescriptionTexts;
}

/** Files of a variant are relative to the folder of the experiment's file. */
export interface Asked {
  readonly options: FuzzOptions;
  readonly placed: (path: string) => string;
  readonly fail: Fail;
}

export const placedIn =
  (folder: string) =>
  (path: string): string =>
    isAbsolute(path) ? path : join(folder, path);

/** Keys of which each names a target instead of the kernel of kcovbox. */
const TARGETS = ['harness', 'linux', 'xv6'] as const;
type TargetKey = (typeof TARGETS)[number];
/** Keys that only that kernel has. */
const OWN = ['conf', 'fail-nth', 'schedule', 'device', 'driver', 'fault'] as const;
const BESIDE: Readonly<Record<TargetKey, string>> = {
  harness: 'is for a kernel, not for a harness',
  linux: 'is for the kernels of kcovbox, not for another Linux',
  xv6: 'is for the kernels of kcovbox, not for xv6',
};

/** The target that the keys name; undefined: the kernel. */
function targetOf({ options, fail }: Asked): TargetKey | undefined {
  const [target, second] = TARGETS.filter(key => options[key] !== undefined);
  if (second !== undefined) fail(second, `is a target, and so is ${target}; omit one of the two`);
  if (options.cflags !== undefined && target !== 'harness')
    fail('cflags', 'is for a harness, and there is none');
  if (options.vmlinux !== undefined && target !== 'linux')
    fail('vmlinux', 'is for another Linux, and there is none');
  if (target === undefined) return undefined;
  const wrong = OWN.find(key => options[key] !== undefined);
  if (wrong !== undefined) fail(wrong, `${BESIDE[target]}; omit one of the two`);
  if (options.append !== undefined && target !== 'linux')
    fail('append', `is for a kernel with a command line, which ${target} is not; omit one of the two`);
  return target;
}

/** An error about a key's value gets the place of the key. Those of compilers stay as they are. */
export function told<T>(fail: Fail, key: string, body: () => T): T {
  const raise = (error: unknown): never => {
    const isAboutValue = error instanceof KcovboxError && ABOUT_VALUES.includes(error.kind);
    if (!isAboutValue) throw error;
    return fail(key, error.message);
  };
  try {
    const value = body();
    return value instanceof Promise ? (value.catch(raise) as T) : value;
  } catch (error) {
    return raise(error);
  }
}
const ABOUT_VALUES: readonly string[] = ['input', 'machine', 'coverage'];

const MIB = 2 ** 20;
/** Of a vmlinux: each folder and crate has it whole. */
const SYMBOLS_MAX = 256 * MIB;

/** Errors: KcovboxError with what to do about a file that is too large. */
function readVmlinux(path: string): Uint8Array {
  const { size = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
  if (size > SYMBOLS_MAX)
    throw new UserError(
      `${path} has ${Math.ceil(size / MIB)} MiB, and the limit is ${SYMBOLS_MAX / MIB} MiB; build the kernel with ` +
        'less debug information (CONFIG_DEBUG_INFO_REDUCED)',
    );
  return readInput(path, 'vmlinux', SYMBOLS_MAX);
}

async function linuxGuest({ options, placed, fail }: Asked): Promise<PreparedGuest> {
  const { linux = '', vmlinux, append } = options;
  if (vmlinux === undefined)
    return fail('linux', 'an Image has no names of functions; give its vmlinux, from the same build, too');
  const target = await told(fail, 'linux', () =>
    prepareOtherTarget({ linux: placed(linux), ...(append !== undefined && { append }) }),
  );
  const bytes = told(fail, 'vmlinux', () => {
    const file = readVmlinux(placed(vmlinux));
    const range = { base: CODE_STARTS.other, bytes: CODE_BYTES };
    checkVmlinux(new Elf(file, vmlinux), target.images.kernel, range);
    return file;
  });
  const { run, images } = describeTarget(target);
  const symbols = sha256(bytes);
  return {
    kind: 'other',
    planned: { run, target: 'other', symbols },
    images: new Map([...images, [symbols, bytes]]),
    texts: descriptionTexts,
  };
}

async function xv6Guest({ options, placed, fail }: Asked): Promise<PreparedGuest> {
  const xv6 = placed(options.xv6!);
  const tree = told(fail, 'xv6', () => {
    checkMakefile(xv6);
    return readXv6Tree(xv6);
  });
  const { run, images } = describeTarget(await prepareXv6({ xv6 }));
  const planned = { run, target: 'xv6' as const, tree: hashOfXv6(tree) };
  return { kind: 'xv6', planned, images, texts: more => xv6Texts(xv6, more) };
}

/** The description of a guest whose kernel is ours. */
const describeOwn = (
  { images, machine }: Target,
  choice: Pick<Parameters<typeof describe>[1], 'conf' | 'cflags' | 'devices'>,
): PlannedOwn['run'] =>
  describe(
    images,
    {
      dialect: 'linux',
      kcov: 'device',
      engine: 'jit',
      smp: machine.harts!,
      cpu: DEFAULT_EXTENSIONS,
      memory: machine.ramBytes!,
      icount: 0,
      env: {},
      ...choice,
    },
    [],
    false,
  );

async function harnessGuest({ options, placed, fail }: Asked): Promise<PreparedGuest> {
  const { harness = '', cflags = [] } = options;
  told(fail, 'cflags', () => checkFlags(cflags));
  const target = await prepareHarness({ harness: placed(harness), cflags });
  const run = describeOwn(target, { conf: 'linux', cflags });
  const { kernel, initrd, program } = target.images;
  const images = new Map([
    [run.images.kernel.sha256, kernel],
    [run.images.initrd, initrd],
    [run.images.program, program],
  ]);
  return { kind: 'harness', planned: { run, target: 'harness' }, images, texts: harnessTexts };
}

async function ownGuest({ options, placed, fail }: Asked): Promise<PreparedGuest> {
  const { conf = 'linux', append, schedule, device, driver, fault } = options;
  told(fail, 'conf', () => {
    checkFuzzable(conf);
    confOf(conf, undefined, 'linux');
  });
  const named = device?.map(placed) ?? [];
  told(fail, 'device', () => checkTrust(named.map(text => splitDevice(text).path)));
  const devices = await loadDevices(named);
  const faultable = fault?.map(text => parseFaultChoice(text).device);
  told(fail, 'fault', () => checkFaultable(faultable, devices));
  const hasThreads = schedule !== undefined;
  const drivers = driver?.map(placed);
  const words = append === undefined ? {} : { append };
  const target = await prepareTarget({ conf, hasThreads, devices, drivers, faultable, ...words });
  const run = describeOwn(target, { conf, cflags: hasThreads ? [THREADS] : [], devices });
  const images = new Map([
    [run.images.kernel.sha256, target.images.kernel],
    [run.images.initrd, target.images.initrd],
    ...devices.map(({ path, sha256: hash }) => [hash, readInput(path, 'device')] as const),
  ]);
  const files = devices.map(({ path }) => basename(path));
  const planned = { run, ...(files.length > 0 && { devices: files }) };
  return { kind: 'own', planned, images, texts: descriptionTexts };
}

const GUESTS = { harness: harnessGuest, linux: linuxGuest, xv6: xv6Guest } as const;

/** Builds what is missing. Errors: UserError with the place in the file; those of compilers. */
export function prepareGuestOf(asked: Asked): Promise<PreparedGuest> {
  const target = targetOf(asked);
  return (target === undefined ? ownGuest : GUESTS[target])(asked);
}
