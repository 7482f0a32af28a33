// The parts of a request's arguments that the server reads, checked before it does: a client may
// send anything. Debug Adapter Protocol.
import { z } from 'zod';
import { KcovboxError } from '../../emulator/index.ts';
import { firstIssue } from '../../run/issue.ts';

const number = z.number();
const thread = z.looseObject({ threadId: number });
/** By command. Arguments of other requests are not read, or are optional. */
const REQUESTS: Readonly<Record<string, z.ZodType>> = {
  setBreakpoints: z.looseObject({
    source: z.looseObject({ path: z.string().optional(), name: z.string().optional() }),
    breakpoints: z.array(z.looseObject({ line: number })).optional(),
  }),
  setFunctionBreakpoints: z.looseObject({ breakpoints: z.array(z.looseObject({ name: z.string() })) }),
  dataBreakpointInfo: z.looseObject({ name: z.string() }),
  setDataBreakpoints: z.looseObject({ breakpoints: z.array(z.looseObject({ dataId: z.string() })) }),
  continue: thread,
  reverseContinue: thread,
  next: thread,
  stepIn: thread,
  stepOut: thread,
  stepBack: thread,
  stackTrace: z.looseObject({
    threadId: number,
    startFrame: number.optional(),
    levels: number.optional(),
  }),
  scopes: z.looseObject({ frameId: number }),
  variables: z.looseObject({ variablesReference: number }),
  evaluate: z.looseObject({
    expression: z.string(),
    frameId: number.optional(),
    context: z.string().optional(),
  }),
};

/** The arguments of a request, {} if it has none. Errors: KcovboxError for other shapes. */
export function checkArguments(command: string, given: unknown): object {
  const args = given ?? {};
  if (typeof args !== 'object') throw new KcovboxError('input', `${command}: arguments has to be an object`);
  const result = Object.hasOwn(REQUESTS, command) ? REQUESTS[command]!.safeParse(args) : undefined;
  if (result && !result.success) throw new KcovboxError('input', `${command}: ${firstIssue(result.error)}`);
  return args;
}
