// The JSON of `kcovbox bugs list`, `run` and `score`.
import * as z from 'zod';
import { count } from '../schema.ts';
import { BUG_CLASSES, bugRow, DETECTORS } from './row.ts';

const id = z.string().regex(/^[a-z][a-z0-9_]{0,38}$/);
const version = z.literal(1);

export const bugList = z.strictObject({
  format: z.literal('kcovbox bugs'),
  version,
  bugs: z.array(z.strictObject({ id, ...bugRow.shape })).describe('by class, then by name'),
});
export type BugListFile = z.infer<typeof bugList>;

export const bugRun = z.strictObject({
  format: z.literal('kcovbox bug run'),
  version,
  bug: id,
  on: z.boolean().describe('false: the kernel was without the bug, by --off'),
  conf: z.string().describe('of the kernel'),
  reached: count.describe('times that the faulty code was executed'),
  triggered: count.describe('times that its condition held'),
  detected: z.enum(DETECTORS).nullable().describe('what saw it first; null: nothing did'),
  line: z.string().describe('the line of the console that tells most; empty: none'),
  status: z.int().min(0).max(255).describe('exit status of the run'),
});
export type BugRunFile = z.infer<typeof bugRun>;

const programs = z.array(z.string()).describe('programs, the first ones first');

export const bugScore = z.strictObject({
  format: z.literal('kcovbox bug score'),
  version,
  bugs: z
    .array(
      z.strictObject({
        id,
        class: z.enum(BUG_CLASSES),
        reached: programs,
        triggered: programs,
        detected: programs,
      }),
    )
    .describe('all of them, also those that no program reached'),
});
export type BugScoreFile = z.infer<typeof bugScore>;
