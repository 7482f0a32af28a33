/**
 * A device of your own in one file, for `kcovbox run --device FILE.ts`: `defineDevice` gives its
 * handlers their types, `DeviceBench` tests it without a machine. Runs in Node and in browsers.
 *
 * A file that `--device` loads can import nothing but `defineDevice` and types.
 *
 * @module kcovbox/device
 */

export { type ErrorKind, KcovboxError } from '../emulator/base/errors.ts';
export type {
  DeviceContext,
  DeviceDefinition,
  FieldSpec,
  Params,
  Plain,
  RegisterSpec,
  RuleSpec,
  Transfer,
} from '../emulator/bus/define.ts';
export type { RamPort } from '../emulator/bus/device.ts';
export type { Access } from '../emulator/bus/regmap.ts';
export { type BenchOptions, DeviceBench, defineDevice } from '../emulator/machine/device-bench.ts';
