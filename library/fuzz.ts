/**
 * The parts of `kcovbox fuzz` for a fuzzer of your own: the language in which system calls are
 * described, programs and their texts, new and changed programs, and programs in C. Runs in Node
 * and in browsers. `kcovbox/node` has the guest that executes them, and whole campaigns.
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
export { type GeneratorOptions, ProgramGenerator } from './fuzz/generator.ts';
export { Program } from './fuzz/program.ts';
