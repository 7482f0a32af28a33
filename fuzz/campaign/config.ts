// All that determines a campaign. Equal configurations, images and seeds give equal campaigns, on
// any machine and with any number of workers.
import * as z from 'zod';

export const campaignConfig = z.strictObject({
  seed: z
    .string()
    .regex(/^0x(0|[1-9a-f][0-9a-f]{0,15})$/)
    .default('0x1')
    .describe('of all random choices'),
  calls: z
    .array(z.string().regex(/^[\w$*]{1,64}$/))
    .min(1)
    .max(1000)
    .default(['*$*', '*'])
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
    .describe('instructions after which a program hangs'),
  batches: z.int().min(1).max(1024).default(16).describe('of an epoch'),
  perBatch: z.int().min(8).max(65_536).default(64).describe('executions of a batch'),
});
export type CampaignConfig = z.infer<typeof campaignConfig>;

/** Executions of an epoch. */
export const epochSize = ({ batches, perBatch }: CampaignConfig): number => batches * perBatch;
