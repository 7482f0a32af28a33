// The files of a campaign of `kcovbox fuzz`: its manifest, and a line of its journal for each
// epoch.
import * as z from 'zod';
import { HostError, parseFaultChoice } from '../../emulator/index.ts';
import { RACE_ORDER } from '../schedule-text.ts';
import { count, sha256 } from '../schema.ts';

/** Longest text of a program. */
const TEXT_MAX = 1 << 20;
const text = z.string().max(TEXT_MAX);

/** The name of a call, in which * stands for any text. */
export const CALL_PATTERN = /^[\w$*]{1,64}$/;
/** A device that may fail, as `fuzz run --fault` takes it. */
export const faultChoice = z
  .string()
  .max(1000)
  .superRefine((given, context) => {
    try {
      parseFaultChoice(given);
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      context.addIssue({ code: 'custom', message: error.message });
    }
  });
/** Most devices that a campaign lets fail. */
export const FAULTY_MAX = 16;

/**
 * All that determines a campaign, besides its images. Equal campaigns are equal on any machine and
 * with any number of workers.
 */
export const campaignConfig = z.strictObject({
  seed: z
    .string()
    .regex(/^0x(0|[1-9a-f][0-9a-f]{0,15})$/)
    .default('0x1')
    .describe('of all random choices'),
  calls: z
    .array(z.string().regex(CALL_PATTERN))
    .min(1)
    .max(1000)
    .default(['*'])
    .describe('names of calls that programs may make; * stands for any text'),
  signal: z.enum(['edge', 'point']).default('edge').describe('coverage that makes a program worth keeping'),
  comparisons: z.boolean().default(true).describe('try the operands of the comparisons of the kernel'),
  snapshots: z.boolean().default(true).describe('false: the guest boots for each program'),
  failNth: z.boolean().default(false).describe('allocations of calls may fail; the kernel needs fail-nth'),
  settles: z.boolean().default(false).describe('sleep behind the last call, so that deferred work is done'),
  budget: z
    .int()
    .min(100_000)
    .max(10_000_000_000)
    .default(50_000_000)
    .describe('instructions after which a call hangs'),
  schedule: z
    .string()
    .regex(RACE_ORDER)
    .optional()
    .describe(
      'programs may have a second thread, on a second hart, and this is the order of the two; turns: of random lengths; absent: one thread',
    ),
  faults: z
    .array(faultChoice)
    .min(1)
    .max(FAULTY_MAX)
    .optional()
    .describe(
      'devices that may fail, as DEVICE or DEVICE:KIND,...: programs have faults of them; absent: programs have none',
    ),
  batches: z.int().min(1).max(1024).default(16).describe('of an epoch'),
  perBatch: z.int().min(8).max(65_536).default(64).describe('executions of a batch'),
});
export type CampaignConfig = z.infer<typeof campaignConfig>;

/** `campaign.json`. */
export const campaignManifest = z.strictObject({
  format: z.literal('kcovbox fuzz campaign'),
  version: z.literal(1),
  config: campaignConfig,
  conf: z.string().max(255).describe('configuration of the kernel, for the programs of crashes'),
  guest: z
    .enum(['other', 'harness', 'xv6'])
    .optional()
    .describe(
      "other: a Linux that was not built by kcovbox; harness: code of the user's own; xv6: that kernel, with hooks; absent: a kernel of kcovbox",
    ),
  words: z
    .string()
    .max(1 << 16)
    .describe('for its command line, for the programs of crashes'),
  append: z
    .string()
    .max(1 << 16)
    .describe('kernel command line'),
  tail: z
    .string()
    .max(1 << 16)
    .describe('its end, which the kernel reads behind the boot'),
  canaries: z
    .strictObject({ pa: count, rows: z.int().min(1).max(1000) })
    .optional()
    .describe('of historical bugs, in the memory of the kernel'),
  devices: z
    .array(
      z.strictObject({
        file: z
          .string()
          .regex(/^[a-z][a-z0-9_]{0,23}\.[cm]?[jt]s$/)
          .describe('in devices/'),
        params: z.record(z.string().max(255), z.string().max(4096)),
        sha256,
      }),
    )
    .min(1)
    .max(8)
    .optional()
    .describe("devices of the user's own, in their order"),
  whole: z
    .literal(true)
    .optional()
    .describe(
      "kernel.bin has its symbols, and programs of crashes run on it: it has drivers or sources of the user's own",
    ),
  kernel: sha256.describe('of kernel.bin'),
  initrd: sha256.describe('of initrd.bin, which holds the agent; of xv6: its disk'),
  descriptions: sha256.describe('of descriptions.json'),
});
export type CampaignManifest = z.infer<typeof campaignManifest>;

/** `descriptions.json`: the kernel's tables of system calls, and the description files. */
export const campaignDescriptions = z.strictObject({
  tables: z.array(text).max(1000),
  sources: z.array(z.strictObject({ name: z.string().max(255), text })).max(1000),
});

export const crash = z.strictObject({
  title: z.string().max(1000),
  text: text.describe('the program, with as few calls as show the title'),
  execution: count.describe('that found it, from 1 on'),
});

/** The first time that a campaign reached or triggered a historical bug of its kernel. */
export const bugFind = z.strictObject({
  bug: z.string().regex(/^[a-z][a-z0-9_]{0,63}$/),
  kind: z.enum(['reached', 'triggered']),
  text: text.describe('a program that does so'),
  execution: count.describe('that did so first, from 1 on'),
});
export type BugFind = z.infer<typeof bugFind>;

/**
 * Sources of programs: new, changed at random, or changed in one place to a value that is
 * known to be worth it: a limit, or an operand of a comparison.
 */
export const SOURCES = ['new', 'change', 'step'] as const;
const yields = z.tuple([count, count]).describe('programs of this source, and how many were kept');

/** A line of `epochs.jsonl`. */
export const campaignEpoch = z.strictObject({
  epoch: count,
  entries: z.array(z.strictObject({ text, execution: count })).describe('programs that are kept'),
  crashes: z.array(crash),
  words: z.array(z.string().regex(/^0x[0-9a-f]{1,16}$/)).describe('new words of the dictionary'),
  bugs: z.array(bugFind).default([]).describe('historical bugs that were new'),
  looked: z.array(count).describe('entries of the corpus that were changed step by step'),
  steps: z.array(z.string().max(200)).describe('values that were tried: call, place and value'),
  yields: z.strictObject({ new: yields, change: yields, step: yields }),
  units: count.describe('instructions of the executions'),
  more: count.describe('executions beyond the own of the epoch, to reduce programs'),
  covered: count.describe('edges or points that the corpus covers, behind this epoch'),
});
export type CampaignEpoch = z.infer<typeof campaignEpoch>;

/** Output of `fuzz verify --json`. */
export const fuzzVerification = z.strictObject({
  format: z.literal('kcovbox fuzz verification'),
  version: z.literal(1),
  epochs: count.describe('of the campaign'),
  repeated: z.array(count).describe('epochs that were repeated and are equal'),
  differs: z
    .strictObject({
      epoch: count,
      byte: count.describe('of the line in the journal, the first that differs'),
      journal: z.string().describe('text around that byte'),
      now: z.string().describe('the same of the repetition'),
    })
    .nullable()
    .describe('null: no epoch differs'),
});
export type FuzzVerification = z.infer<typeof fuzzVerification>;

const perExecution = z.number().min(0);

/** Output of `fuzz bench --json`. */
export const fuzzBench = z.strictObject({
  format: z.literal('kcovbox fuzz bench'),
  version: z.literal(1),
  programs: count,
  calls: count.describe('of a program'),
  rounds: count.describe('executions of each program'),
  unstable: z
    .string()
    .nullable()
    .describe('the first difference between two executions of a program; null: there is none'),
  rows: z
    .array(
      z.strictObject({
        what: z.enum(['points', 'comparisons', 'both']).describe('that were recorded'),
        target: perExecution.describe('microseconds of the processor in the guest'),
        reset: perExecution.describe('microseconds of the processor for going back'),
        pages: perExecution.describe('that were restored'),
        units: perExecution.describe('instructions'),
        records: perExecution,
        rate: perExecution.describe('executions in a second of the processor'),
        resident: z.number().min(0).describe('MiB of the process behind the last execution'),
      }),
    )
    .describe('means of an execution; empty where executions are not stable'),
});
export type FuzzBench = z.infer<typeof fuzzBench>;
