// Writing the coverage of a run: where bytes go and where sources are.
import { once } from 'node:events';
import { createWriteStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { annotate, Elf, exportTrace, type Trace } from '../coverage/index.ts';
import { packageRoot } from '../toolchain/index.ts';
import { syscallName } from './cov-files.ts';
import type { CoverFormat } from './cover-formats.ts';
import { UserError } from './fail.ts';

/** Source text of the guest kernel by the path in its debug information; undefined where there is none. */
export function readSource(path: string): string | undefined {
  try {
    return readFileSync(join(packageRoot(), path.replace(/^(\.\/)+/, '')), 'utf8');
  } catch {
    return undefined;
  }
}

/** Writes chunks to a file, or to standard output for "-". */
export async function writeChunks(target: string, chunks: Iterable<Uint8Array>): Promise<void> {
  const stream = target === '-' ? process.stdout : createWriteStream(target);
  let failure: Error | undefined;
  stream.once('error', (error: Error) => {
    failure = error;
  });
  for (const chunk of chunks) {
    if (failure) break;
    // `once` also ends on an error of the stream, and takes its listeners away again.
    if (!stream.write(chunk)) await once(stream, 'drain').catch(() => {});
  }
  if (stream !== process.stdout && !failure) {
    stream.end();
    await once(stream, 'finish').catch(() => {});
  }
  // A reader that has seen enough (`| head`) is no fault.
  if (failure && target === '-' && (failure as NodeJS.ErrnoException).code === 'EPIPE') return;
  if (failure) throw new UserError(`cannot write ${target}: ${failure.message}`);
}

/** Writes `trace` of the kernel at `kernelPath`. */
export async function writeCoverage(
  target: string,
  format: CoverFormat,
  trace: Trace,
  kernelPath: string,
  title: string,
): Promise<void> {
  const elf = new Elf(readFileSync(kernelPath), 'kernel.elf');
  const epoch = Number(process.env['SOURCE_DATE_EPOCH'] ?? 0) || 0;
  const chunks =
    format === 'source'
      ? [new TextEncoder().encode(annotate(trace, elf, readSource))]
      : exportTrace(format, trace, elf, { readSource, syscallName, title, epoch, sourceRoot: packageRoot() });
  await writeChunks(target, chunks);
}
