// Ways to run the same program that must not differ: thresholds from eager to never, batches, small
// caches.

import { HEAT_EAGER } from '../../../emulator/engine/jit/policy/heat.ts';
import type { Configuration } from './search.ts';

export const INTERPRETER: Configuration = { name: 'interpreter', engine: 'interp', piece: 10_000 };

const eager = { ...HEAT_EAGER, arrivalsPerTick: 2, ticksToFillBatch: 0, batchEntries: 1, forgiveUnits: 2000 };

/** Everything is compiled at its second arrival. */
export const EAGEREST: Configuration = {
  name: 'eagerest',
  engine: 'jit',
  piece: 5000,
  tuning: { heat: eager },
};

export const POLICIES: readonly Configuration[] = [
  EAGEREST,
  { name: 'eager', engine: 'jit', piece: 1_000_000, tuning: { heat: { ...HEAT_EAGER, arrivalsPerTick: 5 } } },
  { name: 'default', engine: 'jit', piece: 700 },
  {
    name: 'no warm-up',
    engine: 'jit',
    piece: 20_000,
    tuning: { heat: { warmUpTicks: 0, ticksToMeasure: 2 } },
  },
  { name: 'warm', engine: 'jit', piece: 5000, tuning: { heat: { ...eager, unitsToPromote: Infinity } } },
  { name: 'reached', engine: 'jit', piece: 3000, tuning: { heat: { ...eager, onlyReached: true } } },
  {
    name: 'warm, reached',
    engine: 'jit',
    piece: 1100,
    tuning: { heat: { ...eager, onlyReached: true, unitsToPromote: Infinity } },
  },
  {
    name: 'soon hot',
    engine: 'jit',
    piece: 90,
    tuning: { heat: { ...eager, unitsToPromote: 2, narrowInsns: 60 } },
  },
  {
    name: 'soon hot, batches, eight slots',
    engine: 'jit',
    piece: 400,
    tuning: {
      heat: { ...eager, batchEntries: 6, ticksToFillBatch: 5, unitsToPromote: 5 },
      cache: { slots: 8 },
    },
  },
  { name: 'never', engine: 'jit', piece: 3000, tuning: { heat: { ticksToMeasure: Infinity } } },
  {
    name: 'large batches',
    engine: 'jit',
    piece: 9000,
    tuning: { heat: { ...eager, batchEntries: 40, ticksToFillBatch: 30 } },
  },
  { name: 'eight slots', engine: 'jit', piece: 4000, tuning: { heat: eager, cache: { slots: 8 } } },
  {
    name: 'eight slots, batches',
    engine: 'jit',
    piece: 250,
    tuning: { heat: { ...eager, batchEntries: 6, ticksToFillBatch: 5 }, cache: { slots: 8 } },
  },
  { name: 'few bytes', engine: 'jit', piece: 6000, tuning: { heat: eager, cache: { wasmBytes: 12_000 } } },
  { name: 'few decoded pages', engine: 'jit', piece: 8000, tuning: { heat: eager, decodedPages: 4 } },
  {
    name: 'few decoded pages, reached',
    engine: 'jit',
    piece: 2100,
    tuning: { heat: { ...eager, onlyReached: true, unitsToPromote: 3 }, decodedPages: 4 },
  },
];

/**
 * Exact by construction: one unit at a time, and before each nothing is decoded, compiled or
 * translated. It takes 0.3 ms for a unit.
 */
export const EXACT: Configuration = {
  name: 'exact',
  engine: 'interp',
  piece: 1,
  between: ({ engine, harts }) => {
    engine.reset();
    for (const { mmu } of harts) mmu.tlb.flushAll();
  },
};
