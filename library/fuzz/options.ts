// The options of an execution and of a campaign, and the images of a target.
import {
  aBoolean,
  aFunction,
  aString,
  aUint64,
  aWhole,
  bytesOf,
  is,
  listOf,
  oneOf,
  optional,
  optionsOf,
} from '../../emulator/base/arguments.ts';
import { CALL_PATTERN } from '../../run/fuzz/schema.ts';
import { RACE_ORDER } from '../../run/schedule-text.ts';
import { SIGNAL, type Signal } from '../signal.ts';
import { A_FILE, aFilledList } from './checks.ts';
import type { DescriptionFile } from './descriptions.ts';

/**
 * The guest of a target as plain data, all of which determines its executions. A structured clone
 * carries it to a worker or a page.
 */
export interface FuzzImages {
  /** Kernel configuration: `linux+kasan`. */
  readonly conf: string;
  /** The kernel with its symbols. */
  readonly kernel: Uint8Array;
  /** The root file system, whose first program executes programs. */
  readonly initrd: Uint8Array;
  /** The kernel command line. */
  readonly append: string;
  /** Its end, which the kernel reads behind the boot; '' if there is none. */
  readonly tail: string;
  /** Programs may have a second thread, on a second hart. */
  readonly threads: boolean;
  /** Devices of which programs may have faults. */
  readonly faultable: readonly 'edu'[];
  /** The arguments of `parseDescriptions`. */
  readonly files: readonly DescriptionFile[];
  readonly syscalls: string;
}

export interface OpenOptions {
  /** Default: `jit`. Executions are the same with each. */
  readonly engine?: 'jit' | 'interp';
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

/** As the manifest of a campaign has it. */
const WORDS_MAX = 1 << 16;
const WORDS = is(
  `a string of at most ${WORDS_MAX} characters without NUL`,
  value => typeof value === 'string' && value.length <= WORDS_MAX && !value.includes('\0'),
);

/** @internal */
export const IMAGES = optionsOf<FuzzImages>({
  conf: aString,
  kernel: bytesOf('a kernel'),
  initrd: bytesOf('a root file system'),
  append: WORDS,
  tail: WORDS,
  threads: aBoolean,
  faultable: listOf(oneOf('edu')),
  files: listOf(A_FILE),
  syscalls: aString,
});

/** @internal */
export const OPEN = optionsOf<OpenOptions>({ engine: optional(oneOf('jit', 'interp')) });

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
