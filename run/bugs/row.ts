// bug.json of a historical bug: its origin, what its re-creation changes in our kernel, and which
// run shows it.
import * as z from 'zod';

export const BUG_CLASSES = ['memory', 'logic', 'concurrency'] as const;

/** The first thing that shows a bug, on the kernel with all checkers. */
export const DETECTORS = ['kasan', 'ubsan', 'panic', 'hang', 'result'] as const;
export type Detector = (typeof DETECTORS)[number];

const line = z
  .string()
  .min(1)
  .regex(/^[^\n]+$/);

export const bugRow = z.strictObject({
  class: z.enum(BUG_CLASSES),
  title: line.describe('one line for tables'),
  upstream: z.strictObject({
    project: z.enum(['Linux', 'FreeBSD', 'NetBSD', 'OpenBSD']),
    ids: z
      .array(z.string().regex(/^(CVE-\d{4}-\d{4,}|(FreeBSD|NetBSD)-SA[-\d.:a-z]+)$/))
      .describe('of CVE records and advisories'),
    commit: z
      .string()
      .regex(/^[0-9a-f]{12,40}$/)
      .optional()
      .describe('of the fix, in the mainline of the project'),
    subject: line.optional().describe('subject of that commit, where neither it nor a record is known'),
    place: line.describe('the faulty file or call there'),
    fixed: line.describe('first release or date with the fix'),
    text: line.describe('what was wrong'),
  }),
  here: line.describe('what the guard changes in our kernel'),
  detector: z.enum(DETECTORS),
  harts: z.int().min(1).max(8),
  schedSeed: z
    .string()
    .regex(/^0x[0-9a-f]{1,16}$/)
    .optional()
    .describe('order of the harts that shows it'),
});
export type BugRow = z.infer<typeof bugRow>;

/** A row with its name. */
export interface Bug extends BugRow {
  readonly id: string;
}
