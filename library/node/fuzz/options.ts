// The options of a target, of an execution and of a campaign.
import {
  aBoolean,
  aFunction,
  aString,
  aUint64,
  aWhole,
  is,
  listOf,
  oneOf,
  optional,
  optionsOf,
} from '../../../emulator/base/arguments.ts';
import { CALL_PATTERN } from '../../../run/fuzz/schema.ts';
import { RACE_ORDER } from '../../../run/schedule-text.ts';
import { aFilledList } from '../../fuzz/checks.ts';
import { A_CONF, A_PATH, A_WORD, SIGNAL } from '../checks.ts';
import type { Signal } from '../options.ts';

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

export interface ExecuteOptions {
  /**
   * kcov records points, or comparisons, for which all calls are made in one thread. Default:
   * `pc`.
   */
  readonly record?: 'pc' | 'cmp';
  /** Sleep behind the last call, so that deferred work is done. Default: false. */
  readonly settle?: boolean;
}

/** The configuration of a campaign, and its observers. */
export interface CampaignOptions {
  /** At least so many; a campaign is made of epochs of 1,024. */
  readonly executions: number;
  /** Of all random choices. Default: 1n. */
  readonly seed?: bigint;
  /** Names of the calls that programs may make; `*` stands for any text. Default: all calls. */
  readonly calls?: readonly string[];
  /** Try the operands of the comparisons of the kernel. Default: true. */
  readonly comparisons?: boolean;
  /** Sleep behind the last call of each program. Default: false. */
  readonly settle?: boolean;
  /**
   * The order of the two threads, as `fuzz run --schedule` takes it; the target needs `threads`.
   * Absent: programs have one thread.
   */
  readonly schedule?: string;
  /**
   * Devices that may fail, as `fuzz run --fault` takes them; the target must have them as
   * `faultable`.
   */
  readonly faults?: readonly string[];
  /** Called behind each epoch. */
  readonly onEpoch?: (progress: CampaignProgress) => void;
  /** Ends the campaign early; it rejects with the signal's reason. */
  readonly signal?: Signal;
}

/** Totals behind an epoch. */
export interface CampaignProgress {
  readonly executions: number;
  /** Of all executions, exceptions included. */
  readonly instructions: number;
  /** Edges that the corpus covers: pairs of points that ran one after the other in a call. */
  readonly edges: number;
  /** Programs of the corpus. */
  readonly programs: number;
  readonly crashes: number;
}

const A_LINUX = is(
  'the name of a configuration with kcov of Linux, such as "linux" or "linux+kasan"',
  value => A_CONF(value, '') === undefined && (value as string).split('+').includes('linux'),
);

/** @internal */
export const TARGET = optionsOf<FuzzTargetOptions>({
  conf: optional(A_LINUX),
  kernelSource: optional(A_PATH),
  append: optional(A_WORD),
  describe: optional(listOf(A_PATH)),
  threads: optional(aBoolean),
  faultable: optional(listOf(oneOf('edu'))),
  engine: optional(oneOf('jit', 'interp')),
  onMessage: optional(aFunction),
});

const PATTERNS = listOf(
  is(
    'the name of a call, in which * stands for any text',
    value => typeof value === 'string' && CALL_PATTERN.test(value),
  ),
);
const AN_ORDER = is(
  'turns, rw, rp, pos or pct:DEPTH[:UNITS] with a depth of 1 to 16, such as pct:3',
  value => typeof value === 'string' && RACE_ORDER.test(value),
);

/** @internal */
export const EXECUTE = optionsOf<ExecuteOptions>({
  record: optional(oneOf('pc', 'cmp')),
  settle: optional(aBoolean),
});

/** @internal */
export const CAMPAIGN = optionsOf<CampaignOptions>({
  executions: aWhole(1),
  seed: optional(aUint64),
  calls: optional((value, path) => PATTERNS(value, path) ?? aFilledList(value, path)),
  comparisons: optional(aBoolean),
  settle: optional(aBoolean),
  schedule: optional(AN_ORDER),
  faults: optional((value, path) => listOf(aString)(value, path) ?? aFilledList(value, path)),
  onEpoch: optional(aFunction),
  signal: optional(SIGNAL),
});

/** @internal */
export const PATHS = listOf(A_PATH);
