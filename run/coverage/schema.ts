// The JSON about coverage: `cov export --format json`, `cov stats --json`, `cov diff --json` and
// the lines of `symbolize --json`.
import * as z from 'zod';
import { count } from '../schema.ts';

const address = z.string().regex(/^0x[0-9a-f]{1,16}$/);
const path = z.string().describe('of a source file, as the image has it');
const line = count.describe('1 is the first line of the file; 0: the image names none');
const filtered = z.boolean().describe('records were left out of the trace; code may have run in them');
const atLeast = z.literal(true).optional().describe('the count is a lower bound');
const percent = z.number().min(0).max(100).nullable();

const share = z.strictObject({ covered: count, total: count });
const functionsOf = z.strictObject({
  covered: count.describe('functions that ran, in part or as a whole'),
  total: count.describe('without unknown functions'),
  unknown: count,
});
const linesOf = z.strictObject({
  covered: count.describe('lines that ran, in part or as a whole'),
  total: count.describe('without unknown lines'),
  partly: count.describe('of `covered`: code of the line did not run, or it is not known'),
  unknown: count,
});
const proven = { percent: percent.describe('null: the trace does not show which did not run') };
const totals = z.strictObject({
  lines: linesOf.extend(proven),
  functions: functionsOf.extend(proven),
  points: share.extend({ percent }),
});

export const coverageFile = z.strictObject({
  format: z.literal('kcovbox-coverage'),
  version: z.literal(1),
  dialect: z.string(),
  image: z.string().describe('build-id:HEX or sha256:HEX'),
  notes: z.record(z.string(), z.string()),
  denominators: z.string().describe('what a point is'),
  records: count,
  lost: count,
  filtered,
  findings: z.array(z.string()),
  tests: z.array(z.strictObject({ name: z.string(), points: count })),
  totals,
  files: z.array(
    z.strictObject({
      path,
      totals,
      functions: z.array(
        z.strictObject({
          name: z.string(),
          line,
          hits: count.describe('calls').nullable(),
          atLeast,
          points: share,
        }),
      ),
      lines: z.array(
        z.strictObject({
          line,
          state: z.enum(['covered', 'partly', 'uncovered', 'unknown']),
          hits: count.nullable().describe('null: not counted'),
          atLeast,
        }),
      ),
    }),
  ),
  points: z.array(z.strictObject({ pc: address, call: address, hits: count })),
});

export const coverageStats = z.strictObject({
  dialect: z.string(),
  image: z.string().describe('build-id:HEX or sha256:HEX'),
  records: count,
  pc_records: count,
  cmp_records: count,
  edge_records: count,
  distinct: count,
  most_hits_of_a_pc: count,
  sources: count,
  threads: count,
  remote_sources: count,
  lost: count,
  filtered,
  tests: z.array(z.string()),
  findings: z.array(z.string()),
  totals: z
    .strictObject({ lines: linesOf, functions: functionsOf, points: share })
    .nullable()
    .describe('null: the image was not found'),
});

const places = z.array(z.strictObject({ file: path, line }));

export const coverageDiff = z.strictObject({
  filteredA: filtered,
  filteredB: filtered,
  points: z.strictObject({ onlyA: count, onlyB: count, both: count, neither: count }),
  functions: z.array(
    z.strictObject({
      name: z.string(),
      file: path,
      line,
      onlyA: count,
      onlyB: count,
      both: count,
      total: count,
    }),
  ),
  linesOnlyA: places,
  linesOnlyB: places,
});

export const symbolized = z.strictObject({
  pc: address,
  call: address.optional().describe('of the hook whose return address the PC is'),
  frames: z
    .array(z.strictObject({ function: z.string(), file: path, line, column: count, inline: z.boolean() }))
    .min(1)
    .describe('the innermost first'),
});
