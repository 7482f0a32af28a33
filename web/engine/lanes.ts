// The lanes of threads and remote sections: their records, and the traps of threads, also of those
// that record nothing.
import type { Lane, RunEvent } from '../protocol.ts';
import type { KcovLog } from './kcov-log.ts';

/** Marks that are drawn of one lane, and lanes. */
const MARKS_MAX = 20_000;
const LANES_MAX = 16;

/** Those that record come first; then the ones with most traps. */
export function lanesOf(log: KcovLog, events: readonly RunEvent[]): { lanes: Lane[]; more: number } {
  const traps = new Map<string, number[]>();
  for (const { thread, unit } of events) {
    if (thread === undefined || thread === 0) continue;
    const name = `thread ${thread}`;
    const units = traps.get(name);
    if (units) units.push(unit);
    else traps.set(name, [unit]);
  }
  const recorded = log.lanes(MARKS_MAX).map(({ name, units }): Lane => {
    const own = traps.get(name) ?? [];
    traps.delete(name);
    return { name, units, traps: own };
  });
  const others = [...traps].sort(([, a], [, b]) => b.length - a.length);
  const all = [...recorded, ...others.map(([name, own]): Lane => ({ name, units: [], traps: own }))];
  return { lanes: all.slice(0, LANES_MAX), more: Math.max(0, all.length - LANES_MAX) };
}
