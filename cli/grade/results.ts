// The folder of results: it holds those of the whole class or none. They are written beside it, and
// take its name at the end. A command that is killed leaves its folder there; the next one removes
// it.
import { cpSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { isSandboxed } from '../../host/lab/sandbox.ts';
import { systemMessage, temporaryPath } from '../../toolchain/index.ts';
import { UserError } from '../io/fail.ts';
import { behindLinks, fillFolder, sweep, undoOf } from '../io/output.ts';
import { isWithin } from '../io/within.ts';

export interface Results {
  /** Where they are written. */
  readonly folder: string;
  /** They are complete. */
  commit(): void;
  /** All is as before, unless they are complete. */
  discard(): void;
}

/**
 * `output`: a folder that is not there, or is empty, and not among the `submissions`. Errors: one
 * line.
 */
export function resultsIn(output: string, submissions: string): Results {
  if (isWithin(output, submissions))
    throw new UserError(
      `grade: -o ${output} is in ${submissions}, and would be judged as a submission; give a folder elsewhere`,
    );
  const { undo } = undoOf(output);
  fillFolder(output, 'grade', () => {});
  let isDone = false;
  // The command outside of the sandbox has made the folder that is seen here under this name.
  if (isSandboxed())
    return {
      folder: output,
      commit() {
        isDone = true;
      },
      discard() {
        if (!isDone) undo();
      },
    };
  const path = behindLinks(resolve(output));
  sweep(path);
  const folder = temporaryPath(path);
  const discard = (): void => {
    if (isDone) return;
    rmSync(folder, { recursive: true, force: true });
    undo();
  };
  const orDiscard = (step: () => void): void => {
    try {
      step();
    } catch (error) {
      discard();
      throw new UserError(`cannot write ${output}: ${systemMessage(error as NodeJS.ErrnoException)}`);
    }
  };
  const commit = (): void => {
    orDiscard(() => take(folder, path));
    isDone = true;
  };
  orDiscard(() => mkdirSync(folder));
  return { folder, commit, discard };
}

/** Gives the name of the empty folder `path` to `folder`. */
function take(folder: string, path: string): void {
  try {
    renameSync(folder, path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EBUSY' && code !== 'EXDEV' && code !== 'EPERM') throw error;
    // A folder of another file system, as containers have it.
    cpSync(folder, path, { recursive: true });
    rmSync(folder, { recursive: true, force: true });
  }
}
