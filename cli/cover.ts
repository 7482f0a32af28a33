// Writing the coverage of a run: one place that knows the formats' names and where bytes go.
import { once } from 'node:events';
import { createWriteStream, readFileSync } from 'node:fs';
import { Elf, type Trace, writeTrace } from '../coverage/index.ts';
import { UserError } from './fail.ts';

/** `trace` is our own file, for `kcovbox cov`; the others are what other tools read. */
export const COVER_FORMATS = ['trace'] as const;
export type CoverFormat = string;

/** Writes chunks to a file, or to standard output for "-". */
export async function writeChunks(target: string, chunks: Iterable<Uint8Array>): Promise<void> {
  const stream = target === '-' ? process.stdout : createWriteStream(target);
  try {
    for (const chunk of chunks) if (!stream.write(chunk)) await once(stream, 'drain');
    if (stream !== process.stdout) {
      stream.end();
      await once(stream, 'finish');
    }
  } catch (error) {
    throw new UserError(`cannot write ${target}: ${(error as Error).message}`);
  }
}

export async function writeCoverage(
  target: string,
  format: CoverFormat,
  trace: Trace,
  kernelPath: string,
): Promise<void> {
  void new Elf(readFileSync(kernelPath), kernelPath);
  if (format !== 'trace') throw new UserError(`unknown format ${format}`);
  await writeChunks(target, writeTrace(trace));
}
