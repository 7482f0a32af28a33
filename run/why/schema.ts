// The file of `kcovbox why -o FILE`.
import * as z from 'zod';
import { count } from '../schema.ts';

const share = z.number().min(0).max(1);

const sample = z.strictObject({
  unit: count,
  forks: count.describe('that started here'),
  fails: count.describe('of them that failed like the run'),
  interval: z.strictObject({ low: share, high: share }).describe('of the share, 95 % confidence (Wilson)'),
});

const call = z.strictObject({
  function: z.string(),
  file: z.string(),
  line: count,
  pc: z.string(),
  isInlined: z.boolean(),
});
/** Of a backtrace, from the innermost out. */
export type Call = z.infer<typeof call>;
const backtrace = z.array(call);

const side = z
  .strictObject({
    unit: count.describe('the event is in front of the instruction at this unit'),
    kind: z.enum(['turn', 'interrupt']),
    from: count.describe('the hart that stops, or is interrupted'),
    to: count.describe('the hart that goes on'),
    cause: count.nullable().describe('of an interrupt: scause or mcause without its highest bit'),
    stops: backtrace,
    goesOn: backtrace,
  })
  .nullable();

export const whyFile = z.strictObject({
  format: z.literal('kcovbox why'),
  version: z.literal(1),
  failure: z.string(),
  forks: z.strictObject({
    most: count.describe('at each place'),
    seed: z.string().regex(/^0x[0-9a-f]{1,16}$/),
    spread: count.describe('turns of harts lasted up to twice as many units, alarms were up to so late'),
    executed: count.describe('units of all forks together'),
  }),
  run: z.strictObject({
    first: count.describe('the first instruction of the program'),
    failed: count.describe('the failure was there'),
  }),
  answer: z
    .enum(['decided', 'gradual', 'always', 'unfinished'])
    .describe(
      'decided: by one unit; gradual: one unit made it likely, later ones inevitable; always: forks fail from the first place on; unfinished: the budget was spent',
    ),
  samples: z.array(sample).describe('by place'),
  decision: z
    .strictObject({
      before: sample.describe('the last place where at most half of the forks fail'),
      after: sample.describe('the place behind it, where more than half of them fail'),
      inevitable: sample.describe('the first place where at least 95 % fail'),
      parting: count.nullable().describe('the unit at which the run and a fork that does not fail differ'),
      failing: side,
      fork: side,
    })
    .nullable(),
});
export type Why = z.infer<typeof whyFile>;
