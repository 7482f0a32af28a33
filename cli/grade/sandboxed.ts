// Grading inside of the system's sandbox, where there is one.
import { existsSync, readdirSync } from 'node:fs';
import type { Lab } from '../../host/lab/lab.ts';
import { isSandboxed, runSandboxed } from '../../host/lab/sandbox.ts';
import { canLimit } from '../../toolchain/index.ts';
import { UserError } from '../io/fail.ts';
import { type EndingSignal, SIGNAL_STATUS, whileSignals } from '../io/signals.ts';
import type { Results } from './results.ts';

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
export async function inSandbox(
  lab: Lab,
  folder: string,
  options: Paths,
  results: Results | undefined,
): Promise<number | undefined> {
  if (options.unsafe || isSandboxed()) return undefined;
  const { output, teacher, classroom } = options;
  const hasDevice = lab.manifest.files.some(file => file.device);
  if (!existsSync(folder)) return undefined;
  const reads = [folder, lab.folder, teacher, classroom].filter(
    path => path !== undefined && existsSync(path),
  );
  const visible = {
    reads: reads as string[],
    writes: results ? [[results.folder, output!] as const] : [],
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
  if (status !== undefined && !signal && results && readdirSync(results.folder).length > 0) results.commit();
  else if (status !== undefined) results?.discard();
  if (signal) return SIGNAL_STATUS[signal];
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
