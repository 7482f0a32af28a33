// The consequences of a plan: its hash, the seeds of its trials and executions, and its shards.
import { Sha256 } from '../emulator/base/sha256.ts';
import { canonicalJson } from '../run/index.ts';
import type { ExperimentPlan, PlannedOther, PlannedTrial, PlannedVariant } from './schema.ts';

const encoder = new TextEncoder();
const HASH_DIGITS = 16;

const hashOf = (text: string): string => new Sha256().update(encoder.encode(text)).hex();

/** Names a plan: equal plans give equal results. */
export const planHash = (plan: ExperimentPlan): string => hashOf(canonicalJson(plan));

/** Of any JSON value, with as many digits as an execution or an epoch has in a trial. */
export const shortHash = (value: unknown): string => hashOf(canonicalJson(value)).slice(0, HASH_DIGITS);

/** Is its guest a kernel that is none of kcovbox? */
export const isOther = (variant: PlannedVariant): variant is PlannedOther =>
  variant.run.format === 'kcovbox boot';

/** The images that the machine of a variant begins with: kernel, initrd, disk. */
export function guestImages(variant: PlannedVariant): string[] {
  if (!isOther(variant)) return [variant.run.images.kernel.sha256, variant.run.images.initrd];
  const { kernel, initrd, drives } = variant.run.images;
  return [kernel, initrd, ...drives].filter(hash => hash !== null);
}

/** The image whose points a variant records. */
export function codeOf(variant: PlannedVariant): string {
  if (isOther(variant) && variant.symbols !== undefined) return variant.symbols;
  const isHarness = 'target' in variant && variant.target === 'harness';
  return isHarness ? variant.run.images.program : guestImages(variant)[0]!;
}

/** The files of `images/` that a variant needs. */
export const imagesOf = (variant: PlannedVariant): string[] => [
  ...new Set([
    ...guestImages(variant),
    codeOf(variant),
    ...('descriptions' in variant ? [variant.descriptions] : []),
    ...(isOther(variant) ? [] : (variant.run.machine.own ?? []).map(device => device.sha256)),
  ]),
];

const OTHERS = { other: 'linux', xv6: 'xv6' } as const;

/** The name of the program or the kernel that a variant runs. */
export const subjectOf = (variant: PlannedVariant): string =>
  isOther(variant) ? OTHERS[variant.target] : variant.run.program.name;

/** The kernel of a variant: its configuration, or enough of its hash to tell it from others. */
export function kernelText(variant: PlannedVariant): string {
  if (!isOther(variant)) return variant.run.kernel.conf;
  return `${subjectOf(variant)} ${(variant.tree ?? guestImages(variant)[0]!).slice(0, HASH_DIGITS)}`;
}

/** Names the configuration of a variant, its seeds apart. */
export const variantHash = (variant: PlannedVariant): string => hashOf(canonicalJson(variant));

/** 64 bits that follow from words, as a seed of a run. */
const derived = (...words: readonly (string | number)[]): bigint =>
  BigInt(`0x${hashOf(canonicalJson(words)).slice(0, HASH_DIGITS)}`);

export const seedText = (value: bigint): string => `0x${value.toString(16)}`;

/** The seed of a trial where the file does not list them. */
export const trialSeed = (base: bigint, variant: string, index: number): string =>
  seedText(derived('trial', seedText(base), variant, index));

/** Of one of the seeds of an execution, which is counted from 1. */
export const executionSeed = (trial: string, execution: number, what: string): bigint =>
  derived('execution', trial, execution, what);

const DIGITS = 4;

/** The name of a trial, and of its folder: `plain/0007`. */
export const trialId = ({ variant, index }: Pick<PlannedTrial, 'variant' | 'index'>): string =>
  `${variant}/${String(index).padStart(DIGITS, '0')}`;

/**
 * The trials of shard `index` of `of`: a function of the plan and the two numbers. Trials are dealt
 * in the order of their hashes, so that each shard has trials of every variant and length.
 */
export function shardOf(plan: ExperimentPlan, index: number, of: number): PlannedTrial[] {
  const hash = planHash(plan);
  const dealt = plan.trials
    .map(trial => ({ trial, key: hashOf(`${hash} ${trialId(trial)}`) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  return dealt.filter((_, at) => at % of === index).map(({ trial }) => trial);
}

/** A stable draw of `percent` of the trials, at least one of them: for a check of samples. */
export function sampleOf(plan: ExperimentPlan, percent: number): PlannedTrial[] {
  const wanted = Math.max(1, Math.ceil((plan.trials.length * percent) / 100));
  return shardOf(plan, 0, 1).slice(0, wanted);
}
