// Errors of the file system become the library's own.
import { KcovboxError } from '../../emulator/base/errors.ts';
import { systemMessage } from '../../toolchain/index.ts';

/** Runs `body`; an error of the system, which has a code, becomes a KcovboxError. */
export async function guarded<T>(body: () => Promise<T>): Promise<T> {
  try {
    return await body();
  } catch (error) {
    if (error instanceof KcovboxError || !(error instanceof Error)) throw error;
    if (typeof (error as NodeJS.ErrnoException).code !== 'string' || error.name === 'AbortError') throw error;
    throw new KcovboxError('toolchain', systemMessage(error));
  }
}
