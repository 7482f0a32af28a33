// Finding the independent programs that tests compare with. Nothing is required: a test names what
// is absent and why that makes it skip.

import { spawnSync } from 'node:child_process';
import { accessSync, constants, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

/** The absolute path of the first of these programs on PATH. */
export function findProgram(...names: string[]): string | undefined {
  for (const name of names) {
    for (const directory of (process.env['PATH'] ?? '').split(delimiter)) {
      const path = join(directory, name);
      try {
        accessSync(path, constants.X_OK);
        return path;
      } catch {
        // not here
      }
    }
  }
  return undefined;
}

/** An LLVM tool under its Debian name or its own. */
export const findLlvm = (tool: string): string | undefined => findProgram(`${tool}-19`, tool);

/** The newest shared library whose file name starts with `stem` in the usual places. */
export function findLibrary(stem: string): string | undefined {
  const places = [
    '/usr/lib/x86_64-linux-gnu',
    '/usr/lib/aarch64-linux-gnu',
    '/usr/lib64',
    '/usr/local/lib',
    '/usr/lib',
  ];
  for (const place of places) {
    try {
      const found = readdirSync(place)
        .filter(name => name.startsWith(stem))
        .sort()
        .at(-1);
      if (found !== undefined) return join(place, found);
    } catch {
      // no such directory
    }
  }
  return undefined;
}

/** Runs `body` with a scratch directory that is gone afterwards. */
export function withScratch<T>(body: (directory: string) => T): T {
  const directory = mkdtempSync(join(tmpdir(), 'kcovbox-test-'));
  try {
    return body(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The same for a body that waits. */
export async function withScratchAsync<T>(body: (directory: string) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'kcovbox-test-'));
  try {
    return await body(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/**
 * Runs a program to its end and returns its stdout; a failure throws with the end of its stderr.
 */
export function runProgram(program: string, args: readonly string[], timeout = 60_000): string {
  const result = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 1 << 30, timeout });
  if (result.error !== undefined) throw result.error;
  if (result.status !== 0)
    throw new Error(`${program} ended with ${result.status}: ${result.stderr.slice(-400)}`);
  return result.stdout;
}

/** Says on the console why an oracle test does not run, and returns whether it must be skipped. */
export function missing(what: string, found: unknown): boolean {
  if (found !== undefined) return false;
  console.warn(`skipped: ${what} is not installed`);
  return true;
}
