// Limits of the host for the programs of a search: processor time and memory. Work is counted by
// world.ts; these limits find what nobody counts, such as a loop without end.

import { setFlagsFromString } from 'node:v8';
import { createContext, runInNewContext, Script } from 'node:vm';

export interface HostLimits {
  /** Processor time of one program, in seconds. Programs take some milliseconds. */
  readonly cpuSeconds: number;
  /** Bytes of memory that the process has more after one program, with its garbage. */
  readonly bytesAtOnce: number;
  /** Bytes that all programs together may leave behind when the garbage is collected. */
  readonly bytesKept: number;
}

export const HOST_LIMITS: HostLimits = { cpuSeconds: 10, bytesAtOnce: 64 << 20, bytesKept: 16 << 20 };

/** Exceeding a limit of the host. */
export class HostOverrun extends Error {
  override readonly name = 'HostOverrun';
}

/** On a busy host, time passes in which a program does not run: it begins again so many times. */
const ATTEMPTS = 3;

const context: { action?: () => void } = createContext({});
const script = new Script('action()');

/**
 * Runs `action`, which can be repeated, and ends it when it does not return.
 *
 * @throws HostOverrun when it takes too much time or memory.
 */
export function runWithin({ cpuSeconds, bytesAtOnce }: HostLimits, action: () => void): void {
  const before = memoryUsed();
  for (let attempt = 1; ; attempt++) {
    const start = process.cpuUsage();
    const isOver = returns(action, 1000 * cpuSeconds);
    const { user, system } = process.cpuUsage(start);
    const seconds = (user + system) / 1e6;
    if (seconds > cpuSeconds || (!isOver && attempt === ATTEMPTS)) {
      const text = isOver ? 'takes' : 'does not return within';
      throw new HostOverrun(`the program ${text} ${seconds.toFixed(1)} s of the processor`);
    }
    if (isOver) break;
  }
  const bytes = memoryUsed() - before;
  if (bytes > bytesAtOnce) throw new HostOverrun(`the program takes ${bytes} bytes of memory`);
}

/** False if the action was ended after so many milliseconds; the timer belongs to V8. */
function returns(action: () => void, timeout: number): boolean {
  context.action = action;
  try {
    script.runInContext(context, { timeout });
    return true;
  } catch (e) {
    if ((e as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false;
    throw e;
  }
}

/** Bytes of the heap, garbage too, and of the buffers outside of it. */
function memoryUsed(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Bytes in use after the garbage was collected. */
export function memoryKept(): number {
  collect();
  return memoryUsed();
}
