// When compiling pays. The interpreter counts arrivals at the targets of calls and backward jumps
// in the decoded record; each time that counter runs out, the entry point's hotness counter gets
// one tick.
//
// The problem: compiling costs about 200 us per guest instruction, so code that runs briefly must
// never be compiled. The trick is ski rental: wait until interpreting the entry point has cost
// about what compiling it will. A wrong decision then costs at most twice the best one, whatever
// the guest does.

/**
 * All counts are deterministic: they depend on what the guest executes, never on the host's clock.
 */
export interface HeatThresholds {
  /** Arrivals for one tick; 1 to 254, the range of R_ENTRY. */
  readonly arrivalsPerTick: number;
  /** Ticks until discovery measures the region. Infinity = nothing is ever compiled. */
  readonly ticksToMeasure: number;
  /** Further ticks for each of its instructions until it waits for a batch. */
  readonly ticksPerInsn: number;
  /** The same for a region whose interpretation costs much more (`isCostly` of region.ts). */
  readonly ticksPerCostlyInsn: number;
  /** Further ticks after which it is compiled although its batch is not full. */
  readonly ticksToFillBatch: number;
  /** Entry points that make a batch. A batch is one WebAssembly module. */
  readonly batchEntries: number;
  /**
   * Ticks of all entry points together before any of them counts: some ten milliseconds. A kernel
   * that boots for one small program is done by then, and the emitter itself has to be compiled
   * first.
   */
  readonly warmUpTicks: number;
  /** Units of virtual time until one invalidation of a page is forgiven; see invalidations.ts. */
  readonly forgiveUnits: number;
}

export const HEAT_DEFAULT: HeatThresholds = {
  arrivalsPerTick: 200,
  ticksToMeasure: 20,
  ticksPerInsn: 3,
  ticksPerCostlyInsn: 1,
  ticksToFillBatch: 1,
  batchEntries: 12,
  warmUpTicks: 1500,
  forgiveUnits: 4_000_000,
};

/** Compiles as early as possible, even if it does not pay: for tests of compiled code. */
export const HEAT_EAGER: HeatThresholds = {
  ...HEAT_DEFAULT,
  arrivalsPerTick: 40,
  ticksToMeasure: 1,
  ticksPerInsn: 0,
  ticksPerCostlyInsn: 0,
  warmUpTicks: 0,
};

/** The counters of one entry point. */
export interface Heat {
  /** Its hotness counter: ticks since it was first reached or last invalidated. */
  ticks: number;
  /** Ticks at which it waits for a batch; Infinity until it has been measured. */
  due: number;
  /** Guest instructions of its region when it was measured. */
  size: number;
}

export const coldHeat = (): Heat => ({ ticks: 0, due: Infinity, size: 0 });

/** After an invalidation the count starts again. */
export function cool(heat: Heat): void {
  heat.ticks = 0;
  heat.due = Infinity;
}
