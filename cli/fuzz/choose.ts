// The guest that the options of `kcovbox fuzz` ask for: a kernel of kcovbox with words for its
// command line, another Linux, or a harness.
import type { EngineKind } from '../../emulator/index.ts';
import { type DescriptionTexts, descriptionTexts, harnessTexts } from '../../host/fuzz/descriptions.ts';
import {
  type OtherImages,
  prepareHarness,
  prepareOtherTarget,
  prepareTarget,
  type Target,
} from '../../host/fuzz/target.ts';
import type { GuestImages } from '../../host/guest.ts';
import { findBug } from '../bugs/rows.ts';
import { UserError } from '../io/fail.ts';
import { splitFlags } from '../io/values.ts';
import { chooseKernel, givenCheck, type RobustOptions } from '../run/robust.ts';

export interface GuestChoice extends RobustOptions {
  /** Image of another Linux. */
  linux?: string;
  /** A C file with LLVMFuzzerTestOneInput. */
  harness?: string;
  cflags?: string;
  describe?: string[];
  append?: string;
  /** Allocations may fail. */
  fail?: true;
}

export interface Chosen {
  /** The configuration of the kernel; of another Linux: linux, whose calls it has. */
  readonly conf: string;
  /** The user's words of the command line, and those of the checks. */
  readonly words: string;
  readonly target: Target<GuestImages | OtherImages>;
}

/** Names an option that only kernels of kcovbox can have; undefined: there is none. */
function ownOption(options: GuestChoice, hasThreads: boolean): string | undefined {
  if (options.conf !== undefined) return '--conf';
  if (options.kernelSource !== undefined) return '--kernel-source';
  if (options.fail) return '--fail';
  return givenCheck(options) ?? (hasThreads ? 'a second thread' : undefined);
}

/** The descriptions for what the options name. Errors: as `descriptionTexts`. */
export const textsFor = ({ harness, describe }: GuestChoice): DescriptionTexts =>
  harness === undefined ? descriptionTexts(describe) : harnessTexts(describe);

export const HAS_FAIL_NTH = /\+(fail-nth|debug)\b/;

/**
 * Builds what is missing. Errors: UserError if the kernel is none of Linux, or lacks the bugs that
 * `append` names; those of `prepareTarget`, `prepareOtherTarget` and `prepareHarness`.
 */
export async function prepareChosen(
  options: GuestChoice,
  how: { readonly hasThreads?: boolean; readonly engine?: Exclude<EngineKind, 'lockstep'> } = {},
): Promise<Chosen> {
  const { linux, harness, append = '' } = options;
  if (linux !== undefined && harness !== undefined)
    throw new UserError(`--linux ${linux} and --harness ${harness} are two targets; omit one of them`);
  if (options.cflags !== undefined && harness === undefined)
    throw new UserError('--cflags is for the C file of --harness');
  const given = linux === undefined ? `--harness ${harness}` : `--linux ${linux}`;
  const isOwn = linux === undefined && harness === undefined;
  const wrong = isOwn ? undefined : ownOption(options, how.hasThreads === true);
  if (wrong !== undefined)
    throw new UserError(`${given}: ${wrong} is for the kernels of kcovbox; omit one of the two`);
  if (linux !== undefined)
    return { conf: 'linux', words: append, target: await prepareOtherTarget({ linux, append, ...how }) };
  if (harness !== undefined) {
    if (append !== '') throw new UserError(`${given}: --append is for a kernel; omit it`);
    const cflags = splitFlags(options.cflags);
    return { conf: 'linux', words: '', target: await prepareHarness({ harness, cflags, ...how }) };
  }
  const { conf, append: words } = chooseTarget(options, append);
  const whole = options.fail && !HAS_FAIL_NTH.test(conf) ? `${conf}+fail-nth` : conf;
  const { kernelSource } = options;
  const target = await prepareTarget({ conf: whole, kernelSource, append: words, ...how });
  return { conf: whole, words, target };
}

function chooseTarget(options: RobustOptions, append: string): { conf: string; append: string } {
  const { conf: wanted } = options;
  if (wanted !== undefined && !wanted.split('+').includes('linux'))
    throw new UserError(
      `--conf ${wanted}: the fuzzer needs a kernel with kcov of Linux, such as linux+kasan`,
    );
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
