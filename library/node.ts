/**
 * Programs in the guest, from Node: compiles a C program, boots the guest kernel with it as first
 * process, and answers with its exit status, its output, the description of the run and the trace
 * of what kcov recorded. The same program, options and input give the same run, on any host.
 *
 * Needs no compiler for static RISC-V executables on the four kernels that travel in the package,
 * and for the programs of its `examples/` and `guest-programs/`; clang 16 or newer for everything
 * else. Products are cached, as those of the command are (`KCOVBOX_CACHE`). Nothing is printed, no
 * signal handler is installed, and the process does not end.
 *
 * @module kcovbox/node
 */

export { type ErrorKind, KcovboxError } from '../emulator/base/errors.ts';
export { buildKernel, type CompiledProgram, compile, type KernelFile } from './node/compile.ts';
export { type FuzzTargetOptions, fuzzTarget, kernelDescriptions } from './node/fuzz.ts';
export type {
  CompileOptions,
  Dialect,
  KernelOptions,
  RecordedFiles,
  ReplayOptions,
  RunOptions,
  WhyOptions,
  WhyPlace,
} from './node/options.ts';
export { type Replay, replay } from './node/replay.ts';
export type { RunDescription, RunOutcome, RunResult } from './node/result.ts';
export { Run, run } from './node/run.ts';
export { type Why, type WhyCall, type WhyDecision, type WhyEvent, why } from './node/why.ts';
export type { Signal } from './signal.ts';
