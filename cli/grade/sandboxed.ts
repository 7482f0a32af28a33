// Grading inside of the system's sandbox, where there is one; and the folder of results, which
// holds those of the whole class or none.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Lab } from '../../host/lab/lab.ts';
import { isSandboxed, runSandboxed } from '../../host/lab/sandbox.ts';
import { canLimit } from '../../toolchain/index.ts';
import { UserError } from '../io/fail.ts';
import { fillFolder } from '../io/output.ts';
import { type EndingSignal, SIGNAL_STATUS, whileSignals } from '../io/signals.ts';

interface Paths {
  readonly output?: string;
  readonly teacher?: string;
  readonly classroom?: string;
  readonly unsafe?: true;
}

/**
 * Exit status of the same command in a sandbox; undefined: go on here. Errors: UserError where the
 * lab may not be graded without one.
 */
export async function inSandbox(lab: Lab, folder: string, options: Paths): Promise<number | undefined> {
  if (options.unsafe || isSandboxed()) return undefined;
  const { output, teacher, classroom } = options;
  const hasDevice = lab.manifest.files.some(file => file.device);
  if (!existsSync(folder)) return undefined;
  const isNew = output !== undefined && !existsSync(output);
  if (output !== undefined) fillFolder(output, 'grade', () => {});
  const reads = [folder, lab.folder, teacher, classroom].filter(
    path => path !== undefined && existsSync(path),
  );
  const visible = {
    reads: reads as string[],
    writes: output === undefined ? [] : [output],
    ownCache: hasDevice,
  };
  const stop = new AbortController();
  let signal: EndingSignal | undefined;
  const onSignal = (which: EndingSignal): void => {
    signal ??= which;
    stop.abort();
  };
  const run = (): Promise<number | undefined> => runSandboxed(process.argv.slice(2), visible, stop.signal);
  const status = await whileSignals(onSignal, run);
  if (signal) {
    if (output !== undefined) discardResults(output, isNew);
    return SIGNAL_STATUS[signal];
  }
  if (isNew && (status === undefined || readdirSync(output).length === 0)) discardResults(output, isNew);
  if (status !== undefined) return status;
  if (hasDevice)
    throw new UserError(
      `grade: ${lab.name} has devices of students, which run on this machine: install bubblewrap, or use a container and --unsafe`,
    );
  if (!canLimit())
    throw new UserError(
      'grade: this system has no shell that limits the compiler; use a container, or --unsafe',
    );
  return undefined;
}

/** Empties the folder of results; one that this command made is removed. */
export function discardResults(folder: string, isNew: boolean): void {
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true, force: true });
  if (isNew) rmSync(folder, { recursive: true, force: true });
}
