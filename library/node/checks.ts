// The arguments of kcovbox/node.
import {
  type Argument,
  aBoolean,
  aFunction,
  aName,
  aString,
  aUint64,
  aWhole,
  type Check,
  checkArguments,
  hasParts,
  is,
  isBytes,
  listOf,
  oneOf,
  optional,
  optionsOf,
  recordOf,
} from '../../emulator/base/arguments.ts';
import { ICOUNT_MAX, MAX_HARTS } from '../../emulator/index.ts';
import { FORKS, SPREAD } from '../../run/why/why.ts';
import { DIALECTS } from '../../toolchain/index.ts';
import { SIGNAL } from '../signal.ts';
import type { CompileOptions, KernelOptions, ReplayOptions, RunOptions, WhyOptions } from './options.ts';

/** @internal */
export const check = (where: string, ...args: readonly Argument[]): void =>
  checkArguments('input', where, args);

/** Without NUL and halves of surrogate pairs, which no byte sequence of UTF-8 stands for. */
const isWord = (value: unknown): boolean => typeof value === 'string' && !/[\0\p{Surrogate}]/u.test(value);

/** @internal */
export const A_PATH = is(
  'a path: a string that is not empty and has no NUL',
  value => value !== '' && isWord(value),
);

/** @internal */
export const A_CONF = is(
  'the name of a configuration, such as "linux" or "openbsd+kasan"',
  value => typeof value === 'string',
);

const MIB = 2 ** 20;
const PATH = optional(A_PATH);
/** @internal */
export const A_WORD = is('a string of Unicode characters other than NUL', isWord);
const WORDS = optional(listOf(A_WORD));
const FUNCTION = optional(aFunction);
const DIALECT = optional(oneOf(...DIALECTS));
const SEED = optional(aUint64);
const ENGINE = optional(oneOf('jit', 'interp', 'lockstep'));

const INPUT: Check = is(
  'text, a Uint8Array, or an async iterable of them such as a stream',
  value => typeof value === 'string' || isBytes(value) || hasParts(value, Symbol.asyncIterator),
);

const ENVIRONMENT: Check = (value, path) =>
  recordOf(A_WORD)(value, path) ??
  is('names of letters, digits and _', () =>
    Object.keys(value as object).every(name => /^[A-Za-z_]\w*$/.test(name)),
  )(value, path);

const MEMORY = is(
  'bytes: a whole number of MiB from 16 MiB to 2 GiB, such as 256 * 2 ** 20',
  value => typeof value === 'number' && value >= 16 * MIB && value <= 2048 * MIB && value % MIB === 0,
);

/** @internal */
export const COMPILE = optionsOf<CompileOptions>({ dialect: DIALECT, cflags: WORDS });

/** @internal */
export const KERNEL = optionsOf<KernelOptions>({ source: PATH, onMessage: FUNCTION });

/** @internal */
export const RUN = optionsOf<RunOptions>({
  args: WORDS,
  env: optional(ENVIRONMENT),
  input: optional(INPUT),
  dialect: DIALECT,
  conf: optional(A_CONF),
  kernel: PATH,
  kernelSource: PATH,
  cflags: WORDS,
  append: optional(A_WORD),
  kcov: optional(oneOf('device', 'guest', 'off')),
  engine: ENGINE,
  harts: optional(aWhole(1, MAX_HARTS)),
  cpu: optional(aString),
  memory: optional(MEMORY),
  seed: SEED,
  schedSeed: SEED,
  schedule: optional(aString),
  icount: optional(aWhole(0, ICOUNT_MAX)),
  maxInsns: optional(aWhole(1)),
  cover: optional(aBoolean),
  trace: optional(aBoolean),
  testName: optional(aName),
  onOutput: FUNCTION,
  onMessage: FUNCTION,
  signal: optional(SIGNAL),
});

/** @internal */
export const REPLAY = optionsOf<ReplayOptions>({
  engine: ENGINE,
  cover: optional(aBoolean),
  testName: optional(aName),
  onOutput: FUNCTION,
  signal: optional(SIGNAL),
  cflags: WORDS,
  files: optional(listOf(A_PATH)),
  kernel: PATH,
});

const FAILURE: Check = is(
  '{ console: a RegExp } or { status: a whole number from 0 to 255 }',
  value =>
    hasParts(value) &&
    Object.keys(value as object).length === 1 &&
    (Object.prototype.toString.call((value as { console?: unknown }).console) === '[object RegExp]' ||
      aWhole(0, 255)((value as { status?: unknown }).status, '') === undefined),
);

/** @internal */
export const WHY = optionsOf<WhyOptions>({
  failure: optional(FAILURE),
  forks: optional(aWhole(FORKS.least, FORKS.most)),
  spread: optional(aWhole(SPREAD.least, SPREAD.most)),
  seed: SEED,
  budget: optional(aWhole(1)),
  engine: optional(oneOf('jit', 'interp')),
  onProgress: FUNCTION,
  signal: optional(SIGNAL),
  cflags: WORDS,
  files: optional(listOf(A_PATH)),
  kernel: PATH,
});
