// A report of `kcovbox bench --json`, from any source: what is printed of it is checked.
import * as z from 'zod';
import type { Report } from '../../bench/bench.ts';
import { firstIssue } from '../../run/issue.ts';
import { UserError } from '../io/fail.ts';

const amount = z.number().nonnegative();
const goals = { must: amount.optional(), aim: amount.optional() };
const text = z.string().max(1000);

const figures = z.looseObject({
  instructions: amount,
  compiledShare: amount,
  compiled: amount,
  regions: amount,
  modules: amount,
  bytesPerInsn: amount,
  microsPerInsn: amount,
  dropped: amount,
  evicted: amount,
});

const reportFile = z.looseObject({
  machine: z.looseObject({ cpu: text, cores: amount, os: text, node: text, v8: text }),
  rounds: z.int().positive(),
  rows: z
    .array(
      z.looseObject({
        workload: z.looseObject({
          name: text,
          title: text,
          ...goals,
          cost: z.looseObject({ of: text, ...goals }).optional(),
        }),
        cells: z.record(
          text,
          z.looseObject({ seconds: amount.optional(), samples: z.array(amount), note: text.optional() }),
        ),
        figures: figures.optional(),
      }),
    )
    .max(10_000),
});

/** Errors: UserError, one line with the file and the field. */
export function parseReport(path: string, json: string): Report {
  const remedy = 'make one with kcovbox bench --json FILE';
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new UserError(`report ${path}: not JSON; ${remedy}`);
  }
  const parsed = reportFile.safeParse(value);
  if (parsed.success) return parsed.data as unknown as Report;
  throw new UserError(`report ${path}: ${firstIssue(parsed.error)}; ${remedy}`);
}
