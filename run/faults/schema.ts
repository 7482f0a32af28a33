// The file of `kcovbox faults sweep -o FILE`.
import * as z from 'zod';
import { FAULT_KINDS, type FaultKind } from '../../emulator/index.ts';
import { OUTCOMES } from '../many/outcome.ts';
import { count, runDescription } from '../schema.ts';

const name = z.string().regex(/^[a-z][a-z0-9_]{0,23}$/);

export const faultSweep = z.strictObject({
  format: z.literal('kcovbox fault sweep'),
  version: z.literal(1),
  run: runDescription.describe('of the run without a fault'),
  without: z.strictObject({
    status: z.int().min(0).max(255),
    console: z.string().describe('what it printed; at most 262,144 characters'),
  }),
  maxInsns: count.describe('instructions since power-on after which a run hangs'),
  devices: z.array(
    z.strictObject({
      name,
      events: z.record(z.string(), count).describe('of the run without a fault, by what happened'),
    }),
  ),
  rows: z.array(
    z.strictObject({
      device: name,
      kind: z.enum(Object.keys(FAULT_KINDS) as [FaultKind, ...FaultKind[]]),
      at: z.int().min(1).describe('1 is the first event'),
      outcome: z.enum(OUTCOMES),
      status: z.int().min(0).max(255).describe('exit status of the command'),
      line: z.string().describe('the line of the console that tells most'),
      command: z.string().describe('repeats the run, in a shell'),
    }),
  ),
});
export type FaultSweep = z.infer<typeof faultSweep>;
