// Names of the orders in which harts can take turns besides round robin: the algorithms of
// controlled concurrency testing, with instruction counts as scheduling points.

import { HostError } from '../base/errors.ts';

/** How a run with a schedule orders its harts from the first instruction in user mode on. */
export type Schedule =
  /** Random walk: at each point any hart that can run is next. */
  | { readonly kind: 'rw' }
  /**
   * Random priorities: at each point one hart gets a new one, and the highest is next. It is any
   * hart, not the one that ran: of two harts the other would keep a priority that only falls.
   */
  | { readonly kind: 'rp' }
  /**
   * Partial order sampling (Yuan, Yang and Gu, CAV 2018): each access has a random priority, and
   * the highest is next; the ones that race with an access get new priorities behind it. A random
   * sample of the accesses takes part.
   */
  | { readonly kind: 'pos' }
  /**
   * Probabilistic concurrency testing (Burckhardt et al., ASPLOS 2010): fixed priorities, and
   * `depth` - 1 points among the next `units` (default: UNITS_DEFAULT) at which the running hart
   * gets the lowest. Units count while several harts can run.
   */
  | { readonly kind: 'pct'; readonly depth: number; readonly units?: number };

/** A bug of a higher depth is out of reach: its probability is 1 in harts * units^(depth - 1). */
export const DEPTH_MAX = 16;
const UNITS_MAX = 1e9;
/** About the units of a small program with two threads while both can run. */
export const UNITS_DEFAULT = 100_000;

/** `rw`, `rp`, `pos` or `pct:DEPTH[:UNITS]`. Errors: HostError. */
export function parseSchedule(text: string): Schedule {
  if (text === 'rw' || text === 'rp' || text === 'pos') return { kind: text };
  const [, depthText = '', unitsText] = /^pct:(\d{1,2})(?::(\d{1,10}))?$/.exec(text) ?? [];
  const depth = Number(depthText);
  const units = Number(unitsText ?? UNITS_DEFAULT);
  if (!(depth >= 1 && depth <= DEPTH_MAX && units >= 1 && units <= UNITS_MAX))
    throw new HostError(
      `schedule "${text}": rw, rp, pos or pct:DEPTH[:UNITS] with a depth of 1 to ${DEPTH_MAX}, such as pct:3`,
    );
  return { kind: 'pct', depth, ...(unitsText !== undefined && { units }) };
}

/** As `parseSchedule` reads it. */
export const scheduleText = (schedule: Schedule): string =>
  schedule.kind === 'pct'
    ? `pct:${schedule.depth}${schedule.units === undefined ? '' : `:${schedule.units}`}`
    : schedule.kind;
