// The public API of run/: what determines a run, and the files that hold it. Reading loads the checker (read.ts, schema.ts);
// writing needs only the types.
export { canonicalJson } from './canonical.ts';
export type { RunDescription, RunOutcome, RunResult } from './schema.ts';
