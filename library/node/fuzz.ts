// Targets of the fuzzer from configurations and files.
import {
  aBoolean,
  aFunction,
  is,
  listOf,
  oneOf,
  optional,
  optionsOf,
} from '../../emulator/base/arguments.ts';
import { descriptionTexts, loadDescriptions } from '../../host/fuzz/descriptions.ts';
import { prepareTarget } from '../../host/fuzz/target.ts';
import { type Descriptions, toDescriptions } from '../fuzz/descriptions.ts';
import { type FuzzTarget, openFuzzTarget } from '../fuzz/target.ts';
import { A_CONF, A_PATH, A_WORD, check } from './checks.ts';
import { guarded } from './errors.ts';

export interface FuzzTargetOptions {
  /** Kernel configuration, a Linux: `linux+kasan`. Default: `linux`. */
  readonly conf?: string;
  /** Folder to build the kernel from, a copy of the package's `kernel/`. */
  readonly kernelSource?: string;
  /** More words of the kernel command line. */
  readonly append?: string;
  /** Paths of description files of your own, behind those of the package. */
  readonly describe?: readonly string[];
  /** Programs may have a second thread, on a second hart. Default: false. */
  readonly threads?: boolean;
  /** Devices of which programs may have faults. Default: none. */
  readonly faultable?: readonly 'edu'[];
  /** Default: `jit`. Executions are the same with each. */
  readonly engine?: 'jit' | 'interp';
  /** Takes lines about builds. */
  readonly onMessage?: (text: string) => void;
}

const A_LINUX = is(
  'the name of a configuration with kcov of Linux, such as "linux" or "linux+kasan"',
  value => A_CONF(value, '') === undefined && (value as string).split('+').includes('linux'),
);

const TARGET = optionsOf<FuzzTargetOptions>({
  conf: optional(A_LINUX),
  kernelSource: optional(A_PATH),
  append: optional(A_WORD),
  describe: optional(listOf(A_PATH)),
  threads: optional(aBoolean),
  faultable: optional(listOf(oneOf('edu'))),
  engine: optional(oneOf('jit', 'interp')),
  onMessage: optional(aFunction),
});

const PATHS = listOf(A_PATH);

/**
 * The system calls of the guest kernel, as `kcovbox fuzz` describes them.
 *
 * @param describe - paths of description files of your own, behind those of the package.
 * @throws KcovboxError of kind `input` for one that cannot be read, with file and line.
 */
export function kernelDescriptions(describe: readonly string[] = []): Descriptions {
  check('kernelDescriptions', ['describe', describe, PATHS]);
  return toDescriptions(loadDescriptions(descriptionTexts(describe)));
}

/**
 * Builds what is missing and boots the guest to the snapshot from which programs are executed. The
 * kernel of `linux` travels in the package; other configurations need clang 16 or newer.
 *
 * @throws KcovboxError of kind `toolchain` if the configuration does not exist or does not build;
 *   of kind `input` for description files that cannot be read; of kind `machine` if the guest does
 *   not come to its program.
 */
export const fuzzTarget = (options: FuzzTargetOptions = {}): Promise<FuzzTarget> =>
  guarded(async () => {
    check('fuzzTarget', ['options', options, TARGET]);
    const { describe, threads = false, faultable = [], conf = 'linux', engine = 'jit' } = options;
    const { kernelSource, append, onMessage: say } = options;
    const { tables, sources } = descriptionTexts(describe);
    const own = { conf, kernelSource, ...(append !== undefined && { append }), hasThreads: threads, say };
    const { images } = await prepareTarget(own);
    const { kernel, initrd, append: words, tail = '' } = images;
    const syscalls = tables.join('\n');
    const guest = { conf, kernel, initrd, append: words, tail, threads, faultable, files: sources, syscalls };
    return openFuzzTarget(guest, { engine });
  });
