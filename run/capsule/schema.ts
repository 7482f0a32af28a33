// The manifest of a capsule and the lines of its journal, as schemas (docs/capsules.md).
import * as z from 'zod';
import { bootDescription, count, runDescription, runOutcome, sha256 } from '../schema.ts';
import { INPUT_MAX } from './limits.ts';

/** The version that is written. The golden capsules of test/capsule/ stay readable. */
export const CAPSULE_VERSION = 2;
/** Without a seal: its hashes cover what the parts unpack to, not their packed bytes. */
export const UNSEALED_VERSION = 1;
/** Changes whenever the hashes of an outcome are computed in another way. */
export const STATE_HASH = 'state-1';

const part = z.strictObject({
  name: z.string().max(32),
  bytes: count,
  sha256,
  isPresent: z.boolean().describe('false: a thin capsule has only the hash'),
});
export type Part = z.infer<typeof part>;

export const capsuleManifest = z.strictObject({
  format: z.literal('kcovbox capsule'),
  version: z.literal([UNSEALED_VERSION, CAPSULE_VERSION]),
  kcovbox: z
    .string()
    .regex(/^[\w.+-]{1,64}$/)
    .describe('the version that recorded it'),
  stateHash: z
    .string()
    .regex(/^[a-z0-9-]{1,32}$/)
    .describe('how the hashes of the state are computed; another kcovbox may compute others'),
  run: z.discriminatedUnion('format', [runDescription, bootDescription]),
  outcome: runOutcome,
  console: z.strictObject({ bytes: count.describe('printed in all, after newline conversion') }),
  parts: z.array(part).max(32),
  seal: sha256.optional().describe('of all bytes of the file; from version 2 on'),
});
/** The facts of a run that are known before it starts, in either of its descriptions. */
export const capsuleRun = capsuleManifest.shape.run;
export type CapsuleManifest = z.infer<typeof capsuleManifest>;

/** A line of journal.jsonl. The bytes are in input.bin, one arrival behind the other. */
export const arrival = z.discriminatedUnion('port', [
  z.strictObject({
    at: count,
    port: z.enum(['uart', 'console']),
    bytes: z.int().min(1).max(INPUT_MAX),
  }),
  z.strictObject({ at: count, port: z.literal('break') }),
  z.strictObject({
    at: count,
    port: z.literal('resize'),
    rows: z.int().min(0).max(65535),
    cols: z.int().min(0).max(65535),
  }),
]);
export type ArrivalLine = z.infer<typeof arrival>;
