// The published schemas: file names in docs/schemas/ and what they describe.
import { bugList, bugRun, bugScore } from './bugs/schema.ts';
import { arrival, capsuleManifest } from './capsule/schema.ts';
import { coverageDiff, coverageFile, coverageStats, symbolized } from './coverage/schema.ts';
import { faultSweep } from './faults/schema.ts';
import { campaignEpoch, campaignManifest, fuzzBench, fuzzVerification } from './fuzz/schema.ts';
import { bootDescription, runDescription, runResult } from './schema.ts';
import { snapshotManifest } from './snapshot/schema.ts';
import { whyFile } from './why/schema.ts';

export const SCHEMAS = {
  run: runDescription,
  boot: bootDescription,
  result: runResult,
  capsule: capsuleManifest,
  arrival,
  snapshot: snapshotManifest,
  'fault-sweep': faultSweep,
  why: whyFile,
  'fuzz-campaign': campaignManifest,
  'fuzz-epoch': campaignEpoch,
  'fuzz-verification': fuzzVerification,
  'fuzz-bench': fuzzBench,
  bugs: bugList,
  'bug-run': bugRun,
  'bug-score': bugScore,
  coverage: coverageFile,
  'coverage-stats': coverageStats,
  'coverage-diff': coverageDiff,
  symbolized,
} as const;
