// Compiles kernels and programs of labs for the page, one after the other, confined as for
// `kcovbox lab test`: the compiler sees what is sent, the guest's headers and the kernel's sources.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { type BuildRequest, EMPTY, type Refusal } from '../../grade/judge/portable.ts';
import { below } from '../../grade/schema.ts';
import { buildConfined, buildKernel, CompileError, DIALECTS, packageRoot } from '../../toolchain/index.ts';

/** Of a request, in bytes: the files of a lab. */
export const REQUEST_MAX = 4 << 20;
const WAITING_MAX = 16;
const FILES_MAX = 100;

const files = z.record(below, z.string()).refine(all => Object.keys(all).length <= FILES_MAX);
const buildRequest = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('kernel'),
    conf: z.string().regex(/^[a-z-]{1,40}(?:\+[a-z-]{1,40}){0,8}$/),
    files,
  }),
  z.strictObject({ kind: z.literal('program'), name: below, dialect: z.enum(DIALECTS), files }),
]);

/** A line that a lab adds to a table. */
const ROW = /^(?:SYSCALL\(\d+, \w+, [0-6]\))?$/;

/**
 * May this be a file of the kernel? C is compiled by way of checked text; a header or a file of
 * assembly text would reach the assembler, which reads files.
 */
function isHarmless([path, text]: readonly [string, string]): boolean {
  if (path.endsWith('.c') || text === EMPTY) return true;
  const file = join(packageRoot(), 'kernel', path);
  if (!path.endsWith('.def') || !existsSync(file)) return false;
  const own = readFileSync(file, 'utf8');
  return (
    text.startsWith(own) &&
    text
      .slice(own.length)
      .split('\n')
      .every(line => ROW.test(line))
  );
}

export type BuiltFile =
  | { readonly kind: 'built'; readonly bytes: Uint8Array }
  | { readonly kind: 'refused'; readonly said: Refusal }
  | { readonly kind: 'bad' | 'busy' | 'failed'; readonly said: string };

export class Builder {
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** `text`: of the request. `isWanted` is asked when the turn has come. */
  build(text: string, isWanted: () => boolean): Promise<BuiltFile> {
    const request = requestOf(text);
    if (!request) return Promise.resolve({ kind: 'bad', said: 'no request of the page of labs' });
    if (this.#waiting >= WAITING_MAX)
      return Promise.resolve({ kind: 'busy', said: 'others are compiled; try again' });
    this.#waiting++;
    const turn = this.#last.then(
      async (): Promise<BuiltFile> =>
        isWanted() ? built(request) : { kind: 'failed', said: 'nobody waits for it' },
    );
    this.#last = turn.catch(() => {}).finally(() => this.#waiting--);
    return turn;
  }
}

function requestOf(text: string): BuildRequest | undefined {
  try {
    const request = buildRequest.parse(JSON.parse(text));
    const isGood = request.kind === 'program' || Object.entries(request.files).every(isHarmless);
    return isGood ? request : undefined;
  } catch {
    return undefined;
  }
}

async function built(request: BuildRequest): Promise<BuiltFile> {
  const sources = new Map(Object.entries(request.files).map(([name, text]) => [name, Buffer.from(text)]));
  try {
    const file =
      request.kind === 'kernel'
        ? (await buildKernel(request.conf, sources.size > 0 ? { overlay: sources } : {})).path
        : await buildConfined(sources, request.name, {
            dialect: request.dialect as (typeof DIALECTS)[number],
          });
    return { kind: 'built', bytes: readFileSync(file) };
  } catch (error) {
    const { message } = error as Error;
    if (error instanceof CompileError)
      return { kind: 'refused', said: { message, detail: error.detail ?? '' } };
    return { kind: 'failed', said: message };
  }
}
