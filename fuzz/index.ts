// The fuzzer as a library: descriptions, programs, executor, campaigns. Nothing here needs Node.

export { type CampaignConfig, campaignConfig } from '../run/fuzz/schema.ts';
export { type BatchResult, runBatch } from './campaign/batch.ts';
export {
  type CampaignEnd,
  type CampaignOptions,
  campaignSteps,
  coveredBy,
  mergeEpoch,
  type Progress,
  progressOf,
  runCampaign,
} from './campaign/campaign.ts';
export { epochSize } from './campaign/config.ts';
export { crashOf, examine } from './campaign/crash.ts';
export { type Crash, type Entry, type EpochResult, State } from './campaign/state.ts';
export { inputOf } from './executor/encode.ts';
export {
  BOOT_MAX,
  BUDGET,
  budgetOf,
  type Execution,
  Executor,
  type ExecutorOptions,
} from './executor/executor.ts';
export { LAYOUT, MARK, type TargetKind } from './executor/layout.ts';
export { HALVES } from './executor/records.ts';
export { titleOf, violationTitle } from './executor/title.ts';
export { smallCover } from './guide/cover.ts';
export { covered, NumberSet } from './guide/edges.ts';
export { comparisonsOf } from './guide/hints.ts';
export { type Step, steps } from './guide/steps.ts';
export { parseDescriptions, type Source } from './language/parse.ts';
export { parseSyscalls } from './language/syscalls.ts';
export { type Descriptions, FuzzError } from './language/types.ts';
export { programC } from './program/c.ts';
export { programXv6C } from './program/c-xv6.ts';
export { changeFaults, devicesOf } from './program/faults.ts';
export { Choice, Generator } from './program/generate.ts';
export { mutate } from './program/mutate.ts';
export { copyProgram, type Program } from './program/program.ts';
export { Random } from './program/random.ts';
export { reduce } from './program/reduce.ts';
export { parseProgram, programText } from './program/text.ts';
