// Runs the host tools that compile the guest, and ends them with us.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { atEnd, isTied } from './ending.ts';
import { type CompileError, ToolchainError } from './errors.ts';
import { APT_INSTALL, DEBIAN } from './packages.ts';
import { systemMessage } from './system-errors.ts';

/** Loaded when something is built: a cached program starts sooner without. */
const childProcess = () =>
  createRequire(import.meta.url)('node:child_process') as typeof import('node:child_process');

/** Where Debian and Ubuntu put the riscv64 glibc that programs are linked with. */
export const GLIBC_ROOT = '/usr/riscv64-linux-gnu';

/** True when programs can be linked against a riscv64 glibc. */
export const hasGlibc = (): boolean => existsSync(join(GLIBC_ROOT, 'lib', 'libc.a'));

/** Errors: ToolchainError that says what to install. */
export function requireGlibc(): void {
  if (hasGlibc()) return;
  throw new ToolchainError(
    `the riscv64 C library is not here; install it (Debian, Ubuntu: ${APT_INSTALL} ${DEBIAN.glibc}); kcovbox doctor lists installed tools`,
  );
}

/** Process groups of the tools that run now. */
const running = new Set<number>();

function endTools(signal: NodeJS.Signals): void {
  for (const group of running)
    try {
      process.kill(-group, signal);
    } catch {} // it has just ended
}

/** Stops the calls of `endTools`. */
let untie = (): void => {};

/** Ties the tool to our life: a signal to us alone ends it too, with whatever it has started. */
function adopt(group: number): void {
  if (running.size === 0) untie = atEnd(endTools);
  running.add(group);
}

function release(group: number): void {
  running.delete(group);
  if (running.size === 0) untie();
}

/**
 * Runs a tool; resolves with its output, rejects with a ToolchainError made from `failure` and the
 * output.
 */
export function runTool(
  path: string,
  args: readonly string[],
  cwd: string,
  failure: string | ((output: string) => string),
  Failure: typeof ToolchainError | typeof CompileError = ToolchainError,
): Promise<string> {
  const line = (output: string): string => (typeof failure === 'string' ? failure : failure(output));
  return new Promise((resolve, reject) => {
    // Tied, in a group of its own, so that one signal reaches make and every compiler below it.
    const child = childProcess().spawn(path, args, {
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: isTied(),
    });
    const pid = isTied() ? child.pid : undefined;
    if (pid !== undefined) adopt(pid);
    let output = '';
    child.stdout.on('data', chunk => (output += chunk));
    child.stderr.on('data', chunk => (output += chunk));
    child.on('error', error => reject(new ToolchainError(`${line('')}: ${systemMessage(error)}`)));
    child.on('close', (code, signal) => {
      if (pid !== undefined) release(pid);
      if (code === 0) resolve(output);
      else if (signal) reject(new ToolchainError(`${line(output)} (killed by ${signal})`, output.trimEnd()));
      else reject(new Failure(line(output), output.trimEnd()));
    });
  });
}
