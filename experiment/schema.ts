// The files of an experiment: the one that a person writes, the plan that follows from it, and the
// result of a trial. docs/schemas/ has them as JSON Schema.
import * as z from 'zod';
import { campaignConfig } from '../fuzz/index.ts';
import { scheduleName } from '../run/schedule-name.ts';
import { type BootDescription, bootDescription, count, runDescription, seed, sha256 } from '../run/schema.ts';

const MIB_MIN = 16;
const MIB_MAX = 2048;
export const TRIALS_MAX = 100_000;
/** Fewer trials say little about a difference. */
export const TRIALS_FEW = 10;

const TEXT_MAX = 65_536;
const text = z.string().max(TEXT_MAX);
const name = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'expected lower-case letters, digits, dots, dashes: at most 64');
const positive = z.int().min(1).max(Number.MAX_SAFE_INTEGER);
const givenSeed = z.union([
  z.int().min(0).max(Number.MAX_SAFE_INTEGER),
  z.string().regex(/^0x[0-9a-fA-F]{1,16}$/, 'expected a whole number, or 0x and up to 16 digits'),
]);

/** The names of `--seed` and `--sched-seed`. */
export const VARIED = ['seed', 'sched-seed'] as const;

/** The options of a program's run, in the words of `kcovbox run`. */
export const programOptions = z.strictObject({
  source: z.string().min(1).max(4096).describe('C source or ELF file, relative to this file'),
  trace: z.boolean().optional().describe('compile kcov into the program; default: into a C source'),
  dialect: z.enum(['openbsd', 'netbsd', 'freebsd', 'linux']).optional(),
  conf: z.string().max(256).optional().describe('kernel configuration, as linux+kasan'),
  harts: z.int().min(1).max(8).optional(),
  memory: z.int().min(MIB_MIN).max(MIB_MAX).optional().describe('MiB; default 256'),
  cpu: z.string().max(4096).optional().describe("as QEMU's -cpu"),
  icount: z.int().min(0).max(10).optional().describe('an instruction takes 2^N ns'),
  cflags: z.array(text).max(256).optional(),
  args: z
    .array(text)
    .max(256)
    .optional()
    .describe('{seed}, {execution} and {trial} stand for the numbers of the execution'),
  env: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), text).optional(),
  append: text.optional().describe('more words of the kernel command line'),
  input: text.optional().describe('standard input'),
  schedule: scheduleName
    .optional()
    .describe('how sched-seed orders the harts; default: turns of random lengths'),
  'max-insns': positive.optional().describe('of one execution; default 100,000,000'),
  vary: z
    .array(z.enum(VARIED))
    .max(2)
    .optional()
    .describe('seeds that differ between executions; default both'),
});
export type ProgramOptions = z.infer<typeof programOptions>;

/** The options of a campaign of the fuzzer, in the words of `kcovbox fuzz`. */
export const fuzzOptions = z.strictObject({
  conf: z.string().max(256).optional().describe('kernel configuration, which begins with linux'),
  harness: z
    .string()
    .min(1)
    .max(4096)
    .optional()
    .describe('C file with LLVMFuzzerTestOneInput, relative to this file, instead of a kernel'),
  cflags: z.array(text).max(256).optional().describe('for the harness'),
  linux: z
    .string()
    .min(1)
    .max(4096)
    .optional()
    .describe('Image of another Linux with KCOV, relative to this file, instead of our kernel'),
  vmlinux: z
    .string()
    .min(1)
    .max(4096)
    .optional()
    .describe('the same Linux with symbols, in which the report finds functions and lines'),
  xv6: z
    .string()
    .min(1)
    .max(4096)
    .optional()
    .describe('folder of a checkout of xv6-riscv, relative to this file, instead of our kernel'),
  append: text.optional().describe('more words of the kernel command line'),
  calls: campaignConfig.shape.calls
    .unwrap()
    .optional()
    .describe('patterns for names of calls; * is any text'),
  describe: z.array(z.string().min(1).max(4096)).max(64).optional().describe('files with more descriptions'),
  signal: z.enum(['edge', 'point']).optional().describe('coverage that makes a program worth keeping'),
  comparisons: z.boolean().optional().describe("try the operands of the kernel's comparisons"),
  snapshots: z.boolean().optional().describe('false: the guest boots for each program'),
  'fail-nth': z.boolean().optional().describe('allocations of calls may fail'),
  settles: z.boolean().optional().describe('sleep behind the last call'),
  schedule: campaignConfig.shape.schedule,
  device: z
    .array(z.string().min(1).max(4096))
    .max(8)
    .optional()
    .describe('devices of your own, as FILE.ts[,NAME=VALUE]..., relative to this file'),
  driver: z.array(z.string().min(1).max(4096)).max(64).optional().describe('C files of their drivers'),
  fault: campaignConfig.shape.faults,
  'max-insns': positive.optional().describe('after which a program hangs'),
  batches: z.int().min(1).max(1024).optional().describe('of an epoch'),
  'per-batch': z.int().min(8).max(65_536).optional().describe('executions of a batch'),
});
export type FuzzOptions = z.infer<typeof fuzzOptions>;

const budget = z
  .strictObject({
    executions: positive.optional(),
    instructions: positive.optional(),
    'cpu-seconds': z.number().positive().max(1e9).optional().describe('not comparable between machines'),
  })
  .refine(given => Object.keys(given).length === 1, {
    error: 'expected one of executions, instructions and cpu-seconds',
  });

const bug = z
  .strictObject({
    console: z.string().min(1).max(4096).optional().describe('a pattern for a line of the console'),
    report: z.string().min(1).max(4096).optional().describe("a pattern for the kernel's report or panic"),
    status: z.int().min(0).max(255).optional().describe('exit status of kcovbox run'),
    canary: z
      .string()
      .regex(/^\w{1,64}$/)
      .optional()
      .describe('a historical bug of the kernel that is triggered; of a campaign alone'),
  })
  .refine(given => Object.keys(given).length === 1, {
    error: 'expected one of console, report, status and canary',
  });

const ofEveryFile = {
  name,
  baseline: name.optional().describe('the variant that others are compared with; default: the first'),
  trials: z.int().min(1).max(TRIALS_MAX).optional().describe('of each variant; their seeds follow from seed'),
  seed: givenSeed.optional().describe('default 0'),
  seeds: z.array(givenSeed).min(1).max(TRIALS_MAX).optional().describe('of the trials, instead of trials'),
  budget,
  bugs: z.record(name, bug).optional().describe('to look for, by name'),
  'stop-when-found': z.boolean().optional().describe('a trial ends when it has found every bug'),
  functions: z.array(z.string().min(1).max(256)).max(1000).optional().describe('of the kernel, to report on'),
};

/** A file about a program that runs many times. */
export const programFile = z.strictObject({
  ...ofEveryFile,
  program: programOptions,
  variants: z.record(name, programOptions.partial()).describe('by name, with options that differ'),
  sample: positive
    .optional()
    .describe('also count the coverage every so many instructions of an execution, not only at its end'),
});
export type ProgramFile = z.infer<typeof programFile>;

/** A file about campaigns of the fuzzer. */
export const fuzzFile = z.strictObject({
  ...ofEveryFile,
  fuzz: fuzzOptions,
  variants: z.record(name, fuzzOptions).describe('by name, with options that differ'),
});
export type FuzzFile = z.infer<typeof fuzzFile>;

/** The file that a person writes. */
export const experimentFile = z.union([programFile, fuzzFile]);
export type ExperimentFile = ProgramFile | FuzzFile;

const trialKey = { variant: name, index: z.int().min(0).max(TRIALS_MAX), seed };

const plannedProgram = z.strictObject({
  name,
  run: runDescription.describe('of an execution, with placeholders and without seeds'),
  input: text,
  vary: z.array(z.enum(VARIED)),
});
export type PlannedProgram = z.infer<typeof plannedProgram>;

const ofEveryCampaign = {
  campaign: campaignConfig.omit({ seed: true }),
  descriptions: sha256.describe('of the texts of descriptions, and the tables of system calls'),
};

/** A campaign on a kernel of kcovbox, or on a harness. */
const plannedOwn = z.strictObject({
  name,
  run: runDescription.describe('of the guest'),
  target: z.literal('harness').optional().describe('absent: the kernel'),
  devices: z
    .array(z.string().regex(/^[^/\\]{1,255}$/))
    .optional()
    .describe("names of the files of the user's own devices, which run lists"),
  ...ofEveryCampaign,
});
export type PlannedOwn = z.infer<typeof plannedOwn>;

/** Does a machine need no images but the kernel, an initrd and disks that are there? */
const isCampaignBoot = ({ images, machine }: BootDescription): boolean =>
  images.kernel !== null &&
  (images.bios === 'default' || images.bios === 'none') &&
  images.dtb === null &&
  images.loads.length === 0 &&
  machine.virtio.every(({ drive }) => drive === null || drive < images.drives.length);

/** A campaign on a kernel that is none of kcovbox. */
const plannedOther = z.strictObject({
  name,
  run: bootDescription
    .refine(isCampaignBoot, { error: 'expected a kernel, its initrd or disk, and nothing else to boot' })
    .describe('of the guest'),
  target: z.enum(['other', 'xv6']).describe('other: a Linux that was not built by kcovbox'),
  symbols: sha256.optional().describe('of another Linux: of its vmlinux'),
  tree: sha256.optional().describe('of xv6: of its sources, by path, length and contents'),
  ...ofEveryCampaign,
});
export type PlannedOther = z.infer<typeof plannedOther>;

const plannedFuzz = z.discriminatedUnion('target', [plannedOwn, plannedOther]);
export type PlannedFuzz = z.infer<typeof plannedFuzz>;

const ofEveryPlan = {
  format: z.literal('kcovbox experiment plan'),
  version: z.literal(1),
  name,
  baseline: name,
  budget,
  bugs: z.record(name, bug),
  stopWhenFound: z.boolean(),
  functions: z.array(z.string()),
  trials: z.array(z.strictObject(trialKey)).min(1),
};

/** The plan: everything that determines the bytes of the results. */
export const experimentPlan = z.discriminatedUnion('kind', [
  z.strictObject({
    ...ofEveryPlan,
    kind: z.literal('program'),
    sample: positive.nullable(),
    variants: z.array(plannedProgram).min(1),
  }),
  z.strictObject({ ...ofEveryPlan, kind: z.literal('fuzz'), variants: z.array(plannedFuzz).min(1) }),
]);
export type ExperimentPlan = z.infer<typeof experimentPlan>;
export type ProgramPlan = Extract<ExperimentPlan, { kind: 'program' }>;
export type FuzzPlan = Extract<ExperimentPlan, { kind: 'fuzz' }>;
export type PlannedVariant = ExperimentPlan['variants'][number];
export type PlannedTrial = ExperimentPlan['trials'][number];

/** The result of a trial. */
export const experimentTrial = z.strictObject({
  format: z.literal('kcovbox experiment trial'),
  version: z.literal(1),
  plan: sha256.describe('of the plan as canonical JSON'),
  ...trialKey,
  end: z.enum(['budget', 'found']).describe('found: every bug, with stop-when-found'),
  executions: count,
  instructions: count.describe('of all executions, since power-on of each'),
  growth: z
    .array(z.tuple([count, count, count]))
    .describe('executions, instructions and points covered, where the latter changed, and at the end'),
  points: z
    .array(z.tuple([z.string().regex(/^0x[0-9a-f]{1,16}$/), count]))
    .describe('return address of the hook call, and the row of growth in which it was new'),
  runs: z
    .array(z.string().regex(/^[0-9a-f]{16}$/))
    .describe('a hash of the results of each execution; of a campaign: of each epoch'),
  bugs: z.array(
    z.strictObject({
      bug: name,
      execution: count.describe('1 is the first'),
      instructions: count.describe('of the trial, at the end of that execution'),
      status: z.int().min(0).max(255),
      line: z.string().describe('of the console; empty for a status; of a campaign: the title'),
      file: z.string().describe('beside this one: a capsule of the execution, or the program of a campaign'),
    }),
  ),
});
export type ExperimentTrial = z.infer<typeof experimentTrial>;

/** Output of `experiment verify --json`. */
export const experimentVerification = z.strictObject({
  format: z.literal('kcovbox experiment verification'),
  version: z.literal(1),
  plan: sha256.describe('of the plan as canonical JSON'),
  trials: count.describe('that are finished'),
  repeated: z.array(z.string()).describe('trials that ran again, by their names'),
  differs: z
    .array(z.strictObject({ trial: z.string(), difference: z.string().describe('the first one') }))
    .describe('those of them that have other bytes'),
});
export type ExperimentVerification = z.infer<typeof experimentVerification>;
