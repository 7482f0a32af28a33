// When compiling pays. The interpreter counts arrivals at the targets of calls and backward jumps
// in the decoded record; each time that counter runs out, the entry point's hotness counter gets
// one tick.
//
// The problem: compiling costs 40 us per guest instruction for a warm region and 200 for a hot one,
// so code that runs briefly must never be compiled, nor optimised for loops. The trick is ski
// rental, twice: wait until interpreting the entry point has cost about what a warm region will,
// and until that has run about as long as making a hot one takes. A wrong decision then costs at
// most twice the best one, whatever the guest does. Time in a warm region is sampled: the
// units between two samples count for the region in which the second finds the guest (samples.ts).
//
// Of a narrow guest, all code is loops sooner or later: while little has been compiled, regions are
// hot at once, and wait as long as hot ones cost. That is bounded by `narrowInsns`, once a run.

/**
 * All counts are deterministic: they depend on what the guest executes, never on the host's clock.
 */
export interface HeatThresholds {
  /** Arrivals for one tick; 1 to 254, the range of R_ENTRY. */
  readonly arrivalsPerTick: number;
  /** Ticks until discovery measures the region. Infinity = nothing is ever compiled. */
  readonly ticksToMeasure: number;
  /** Further ticks for each of its instructions until a warm region waits for a batch. */
  readonly ticksPerInsn: number;
  /** The same for a warm region with inlined calls, which take more code than the calls. */
  readonly ticksPerInsnWithCalls: number;
  /** The same for a region that is hot at once. */
  readonly hotTicksPerInsn: number;
  /** Further ticks after which it is compiled although its batch is not full. */
  readonly ticksToFillBatch: number;
  /** The same of entry points that a profile says are hot. */
  readonly ticksToFillHinted: number;
  /** Entry points that make a batch. A batch is one WebAssembly module. */
  readonly batchEntries: number;
  /**
   * Ticks of all entry points together before any of them counts: some ten milliseconds. A kernel
   * that boots for one small program is done by then, and the emitter itself has to be compiled
   * first.
   */
  readonly warmUpTicks: number;
  /**
   * Units of virtual time that a warm region must run, for each of its instructions, until it is
   * compiled again as a hot one. 0 = regions are hot at once; Infinity = they stay warm.
   */
  readonly unitsToPromote: number;
  /**
   * Mean units between samples. V8 does not replace the code of a running function, so a loop stays
   * in the code of the first compiler as long; and each costs the host some microseconds. 0: the
   * end of each quantum is one.
   */
  readonly unitsToSample: number;
  /**
   * Instructions that may be compiled before a guest counts as wide. Until then regions are hot at
   * once: the loops of a narrow guest repay it.
   */
  readonly narrowInsns: number;
  /** Regions leave out code that control has never reached; see CodeView.wasReached. */
  readonly onlyReached: boolean;
  /** Units of virtual time until one invalidation of a page is forgiven; see invalidations.ts. */
  readonly forgiveUnits: number;
}

export const HEAT_DEFAULT: HeatThresholds = {
  arrivalsPerTick: 200,
  ticksToMeasure: 20,
  ticksPerInsn: 0.15,
  ticksPerInsnWithCalls: 0.5,
  hotTicksPerInsn: 1,
  ticksToFillBatch: 30,
  ticksToFillHinted: 10,
  batchEntries: 12,
  warmUpTicks: 1500,
  unitsToPromote: 500_000,
  unitsToSample: 1_000_000,
  narrowInsns: 2000,
  onlyReached: true,
  forgiveUnits: 4_000_000,
};

/** Compiles as early as possible, even if it does not pay: for tests of compiled code. */
export const HEAT_EAGER: HeatThresholds = {
  ...HEAT_DEFAULT,
  arrivalsPerTick: 40,
  ticksToMeasure: 1,
  ticksPerInsn: 0,
  ticksPerInsnWithCalls: 0,
  hotTicksPerInsn: 0,
  ticksToFillBatch: 1,
  warmUpTicks: 0,
  unitsToPromote: 0,
  unitsToSample: 0,
  narrowInsns: 0,
  onlyReached: false,
};

/**
 * For guests of which most run some ten million instructions: those are done within the warm-up,
 * and a loop without end is compiled all the same.
 */
export const HEAT_BRIEF: HeatThresholds = { ...HEAT_DEFAULT, hotTicksPerInsn: 5, warmUpTicks: 20_000 };

/**
 * For guests that go back to a snapshot and do much the same again, as a fuzzer's: compiling early
 * is repaid in minutes. Their paths are short and many, so regions stay warm, unless one loops: a
 * hot region is entered at more cost, and such a guest needs a tenth more time with them.
 */
export const HEAT_REPEATED: HeatThresholds = {
  ...HEAT_DEFAULT,
  ticksPerInsn: 0.05,
  ticksPerInsnWithCalls: 0.1,
  narrowInsns: 0,
  unitsToPromote: 50_000_000,
};

/** The same as HEAT_EAGER, with warm regions only. */
export const HEAT_EAGER_WARM: HeatThresholds = { ...HEAT_EAGER, unitsToPromote: Infinity };

/** After so many hints, code that is patched again and again has to become hot by itself. */
export const MOST_HINTS = 5;

/**
 * Functions that are due at once because they ask the host: so many, and one more for each time in
 * which an invalidation is forgiven. The hooks of a kernel are ten, in a few views.
 */
export const MOST_EARLY = 100;

/** The counters of one entry point. */
export interface Heat {
  /** Its hotness counter: ticks since it was first reached or last invalidated. */
  ticks: number;
  /** Ticks at which it waits for a batch; Infinity until it has been measured. */
  due: number;
  /** Guest instructions of its region when it was last compiled. */
  size: number;
  /** Units of virtual time sampled in its warm region. */
  units: number;
  /** Times that a profile has said that it is hot. */
  hints: number;
  /** `DecodedPages.recycled` when it was measured: since then, records tell what was reached. */
  recycled: number;
}

export const coldHeat = (): Heat => ({
  ticks: 0,
  due: Infinity,
  size: 0,
  units: 0,
  hints: 0,
  recycled: 0,
});

/** After an invalidation the count starts again. */
export function cool(heat: Heat): void {
  heat.ticks = 0;
  heat.due = Infinity;
  heat.units = 0;
}
