// The parts of a request's arguments that the server reads, checked before it does: a client may
// send anything. Debug Adapter Protocol.
import { z } from 'zod';
import { KcovboxError } from '../../emulator/index.ts';
import { firstIssue } from '../../run/issue.ts';

const number = z.number();
const thread = z.looseObject({ threadId: number });
/** Its arguments are not read, or are optional. */
const anything = z.unknown();
/** Of every breakpoint; some clients send null for none. */
const wish = {
  condition: z.string().nullish(),
  hitCondition: z.string().nullish(),
  logMessage: z.string().nullish(),
};
/** The requests that the server meets. */
const REQUESTS: Readonly<Record<string, z.ZodType>> = {
  initialize: anything,
  launch: z.looseObject({
    images: z.array(z.string()).optional(),
    sources: z.array(z.string()).optional(),
    stopOnEntry: z.boolean().optional(),
  }),
  configurationDone: anything,
  disconnect: anything,
  terminate: anything,
  threads: anything,
  pause: anything,
  setExceptionBreakpoints: z.looseObject({ filters: z.array(z.string()).optional() }),
  setBreakpoints: z.looseObject({
    source: z.looseObject({ path: z.string().optional(), name: z.string().optional() }),
    breakpoints: z.array(z.looseObject({ line: number, ...wish })).optional(),
  }),
  setFunctionBreakpoints: z.looseObject({
    breakpoints: z.array(z.looseObject({ name: z.string(), ...wish })),
  }),
  dataBreakpointInfo: z.looseObject({ name: z.string() }),
  setDataBreakpoints: z.looseObject({
    breakpoints: z.array(z.looseObject({ dataId: z.string(), ...wish })),
  }),
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

/** Of some others, what to do instead. */
const INSTEAD: Readonly<Record<string, string>> = {
  attach: 'launch a capsule',
  restart: 'goto start is a command of the console',
};

/**
 * The arguments of a request, {} if it has none. Errors: KcovboxError for other shapes, and for
 * requests that the server does not meet.
 */
export function checkArguments(command: unknown, given: unknown): object {
  if (typeof command !== 'string') throw new KcovboxError('input', 'the request has no command');
  if (!Object.hasOwn(REQUESTS, command)) {
    const instead = Object.hasOwn(INSTEAD, command) ? `: ${INSTEAD[command]}` : '';
    throw new KcovboxError('input', `${command} is not supported${instead}`);
  }
  const args = given ?? {};
  if (typeof args !== 'object') throw new KcovboxError('input', `${command}: arguments has to be an object`);
  const result = REQUESTS[command]!.safeParse(args);
  if (!result.success) throw new KcovboxError('input', `${command}: ${firstIssue(result.error)}`);
  return args;
}
