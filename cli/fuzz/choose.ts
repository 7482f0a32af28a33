// The guest that the options of `kcovbox fuzz` ask for: a kernel of kcovbox with words for its
// command line, another Linux, xv6, or a harness.
import type { EngineKind } from '../../emulator/index.ts';
import type { LoadedDevice } from '../../host/device.ts';
import {
  type DescriptionTexts,
  descriptionTexts,
  harnessTexts,
  xv6Texts,
} from '../../host/fuzz/descriptions.ts';
import {
  type OtherImages,
  prepareHarness,
  prepareOtherTarget,
  prepareTarget,
  prepareXv6,
  type Target,
} from '../../host/fuzz/target.ts';
import { HAS_FAIL_NTH } from '../../host/fuzz/target-machine.ts';
import type { GuestImages } from '../../host/guest.ts';
import { readInput } from '../../host/input.ts';
import { findBug } from '../bugs/rows.ts';
import { UserError } from '../io/fail.ts';
import { splitFlags } from '../io/values.ts';
import { loadDevices } from '../run/devices.ts';
import { chooseKernel, givenCheck, type RobustOptions } from '../run/robust.ts';
import type { DeviceFile } from './worker.ts';

export interface GuestChoice extends RobustOptions {
  /** Image of another Linux. */
  linux?: string;
  /** Folder of a checkout of xv6-riscv. */
  xv6?: string;
  /** A C file with LLVMFuzzerTestOneInput. */
  harness?: string;
  cflags?: string;
  device?: string[];
  driver?: string[];
  describe?: string[];
  append?: string;
  /** Allocations may fail. */
  fail?: true;
}

export interface Chosen {
  /** The configuration of the kernel; of another Linux: linux, whose calls it has; or xv6. */
  readonly conf: string;
  /** The user's words of the command line, and those of the checks. */
  readonly words: string;
  readonly target: Target<GuestImages | OtherImages>;
  /** Of the user's own. */
  readonly devices: readonly DeviceFile[];
}

interface How {
  readonly hasThreads?: boolean;
  /** Devices of which programs have faults. */
  readonly faultable?: readonly string[] | undefined;
  readonly engine?: Exclude<EngineKind, 'lockstep'>;
}

/** Names an option that only kernels of kcovbox can have; undefined: there is none. */
function ownOption(options: GuestChoice, { hasThreads, faultable }: How): string | undefined {
  if (options.conf !== undefined) return '--conf';
  if (options.kernelSource !== undefined) return '--kernel-source';
  if (options.fail) return '--fail';
  if (options.device) return '--device';
  if (options.driver) return '--driver';
  if (faultable?.length) return 'a fault of a device';
  return givenCheck(options) ?? (hasThreads ? 'a second thread' : undefined);
}

/** The descriptions for what the options name. Errors: as `descriptionTexts`. */
export function textsFor({ harness, xv6, describe }: GuestChoice): DescriptionTexts {
  if (xv6 !== undefined) return xv6Texts(xv6, describe);
  return harness === undefined ? descriptionTexts(describe) : harnessTexts(describe);
}

/** Of targets that are no kernel of kcovbox. */
const NO_KERNEL = { conf: 'linux', devices: [] } as const;

/**
 * Builds what is missing. Errors: UserError if the kernel is none of Linux, or lacks the bugs that
 * `append` names; those of `prepareTarget`, `prepareOtherTarget`, `prepareXv6` and
 * `prepareHarness`.
 */
export async function prepareChosen(options: GuestChoice, { faultable, ...how }: How = {}): Promise<Chosen> {
  const { linux, xv6, harness, append = '' } = options;
  const [given, second] = Object.entries({ linux, xv6, harness })
    .filter(([, path]) => path !== undefined)
    .map(([name, path]) => `--${name} ${path}`);
  if (second !== undefined) throw new UserError(`${given} and ${second} are two targets; omit one of them`);
  if (options.cflags !== undefined && harness === undefined)
    throw new UserError('--cflags is for the C file of --harness');
  const wrong = given === undefined ? undefined : ownOption(options, { ...how, faultable });
  if (wrong !== undefined)
    throw new UserError(`${given}: ${wrong} is for the kernels of kcovbox; omit one of the two`);
  if (linux !== undefined)
    return { ...NO_KERNEL, words: append, target: await prepareOtherTarget({ linux, append, ...how }) };
  if (given !== undefined && append !== '')
    throw new UserError(`${given}: --append is for a kernel with a command line; omit it`);
  if (xv6 !== undefined)
    return { ...NO_KERNEL, conf: 'xv6', words: '', target: await prepareXv6({ xv6, ...how }) };
  if (harness !== undefined) {
    const cflags = splitFlags(options.cflags);
    return { ...NO_KERNEL, words: '', target: await prepareHarness({ harness, cflags, ...how }) };
  }
  const { conf, append: words } = chooseTarget(options, append);
  const whole = options.fail && !HAS_FAIL_NTH.test(conf) ? `${conf}+fail-nth` : conf;
  const { kernelSource, driver: drivers } = options;
  const devices = await loadDevices(options.device);
  checkFaultable(faultable, devices);
  const own = { conf: whole, kernelSource, append: words, devices, drivers, faultable };
  const target = await prepareTarget({ ...own, ...how });
  const files = devices.map(({ definition: { name }, path, params }) => ({
    ...{ name, path, params },
    bytes: readInput(path, 'device'),
  }));
  return { conf: whole, words, target, devices: files };
}

/** Programs reach these devices; slots of virtio are empty. Errors: UserError for another. */
export function checkFaultable(names: readonly string[] = [], devices: readonly LoadedDevice[]): void {
  const known = ['edu', ...devices.map(({ definition }) => definition.name)];
  const wrong = names.find(name => !known.includes(name));
  if (wrong !== undefined)
    throw new UserError(`fault of ${wrong}: the devices of programs are ${known.join(', ')}`);
}

/** `named`: how the user has named it. Errors: UserError, where its kcov is not that of Linux. */
export function checkFuzzable(conf: string, named = conf): void {
  if (!conf.split('+').includes('linux'))
    throw new UserError(`${named}: the fuzzer needs a kernel with kcov of Linux, such as linux+kasan`);
}

function chooseTarget(options: RobustOptions, append: string): { conf: string; append: string } {
  const { conf: wanted } = options;
  if (wanted !== undefined) checkFuzzable(wanted, `--conf ${wanted}`);
  const { conf, words } = chooseKernel({ ...options, dialect: 'linux' }, true);
  checkBugs(append, conf);
  return { conf, append: [...words, append].filter(Boolean).join(' ') };
}

/** A kernel without these bugs ignores the word, and the campaign would be one for nothing. */
function checkBugs(append: string, conf: string): void {
  for (const [, list = ''] of append.matchAll(/(?<!\S)bugs=(\S*)/g)) {
    if (!conf.split('+').includes('bugs'))
      throw new UserError(`--append bugs=${list}: the kernel ${conf} has no bugs; give --conf ${conf}+bugs`);
    for (const id of list.split(',')) if (id !== 'all') findBug(id);
  }
}
