/**
 * The parts of `kcovbox fuzz` for a fuzzer of your own: the language in which system calls are
 * described, programs and their texts, new and changed programs, programs in C, and a guest that
 * executes them and runs campaigns. Runs in Node and in browsers. `fuzzTarget` of `kcovbox/node`
 * makes the images of the guest.
 *
 * @module kcovbox/fuzz
 */

export { type ErrorKind, KcovboxError } from '../emulator/base/errors.ts';
export type {
  CallType,
  Direction,
  Field,
  FlagSet,
  Resource,
  StringSet,
  Struct,
  Type,
  Width,
} from '../fuzz/language/types.ts';
export { type DescriptionFile, Descriptions, parseDescriptions } from './fuzz/descriptions.ts';
export type { Comparison, ExecutedCall, Execution } from './fuzz/execution.ts';
export { type GeneratorOptions, ProgramGenerator } from './fuzz/generator.ts';
export type {
  CampaignOptions,
  CampaignProgress,
  ExecuteOptions,
  FuzzImages,
  OpenOptions,
} from './fuzz/options.ts';
export { Program } from './fuzz/program.ts';
export { type Campaign, type Found, FuzzTarget, openFuzzTarget } from './fuzz/target.ts';
