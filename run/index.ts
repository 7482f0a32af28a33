// The public API of run/: what determines a run, and how it ended. Capsules, which load the checker
// of files, are in capsule/index.ts.
export { canonicalJson } from './canonical.ts';
export { CONSOLE_KEPT, INPUT_MAX, LOADS_MAX } from './capsule/limits.ts';
export { describeExtensions, extensionsOf } from './extensions.ts';
export { describeInput, type InputDescription } from './input.ts';
export type { BootDescription, RunDescription, RunOutcome, RunResult } from './schema.ts';
