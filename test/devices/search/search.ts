// The search: many random programs, each within its budget; the first that exceeds it is shrunk.
// Some are run again, to compare: the same program is the same run, with a listener and without.
// Each has limits of the host's time and memory, too.

import { Random, seedText } from '../../support/random.ts';
import { generateProgram } from './generate.ts';
import { HOST_LIMITS, type HostLimits, HostOverrun, memoryKept, runWithin } from './limits.ts';
import { listing, type Program } from './program.ts';
import { type Costs, World } from './world.ts';

/** Every so many programs are run again. */
const AGAIN = 32;
/** Programs between two looks at the memory that they leave behind. */
const ROUND = 250;

export interface SearchResult {
  readonly programs: number;
  readonly actions: number;
  /** The dearest action of each kind of cost. */
  readonly costs: Costs;
  /** The first failure, shrunk and listed. */
  readonly report: string | undefined;
}

export class Search {
  readonly #worlds = { legacy: new World(true), modern: new World(false) };

  readonly #limits: HostLimits;
  /** Programs so far, and the memory in use after the first round of them. */
  #programs = 0;
  #keptAtFirst = Infinity;

  constructor(limits: HostLimits = HOST_LIMITS) {
    this.#limits = limits;
  }

  run(seed: number, programs: number): SearchResult {
    const random = new Random(seed);
    let actions = 0;
    for (let n = 0; n < programs; n++) {
      const program = generateProgram(new Random(random.u32()));
      actions += program.actions.length;
      const isRepeated = n % AGAIN === 0;
      const failure = this.#failure(program, isRepeated);
      const kept = failure === undefined ? this.#kept() : undefined;
      if (failure === undefined && kept === undefined) continue;
      const small = failure === undefined ? program : this.#shrink(program, isRepeated);
      const reason = kept ?? this.#failure(small, isRepeated) ?? failure;
      const report = `seed ${seedText(seed)}, program ${n}: ${reason}\n${listing(small)}`;
      return { programs: n + 1, actions, costs: this.#costs(), report };
    }
    return { programs, actions, costs: this.#costs(), report: undefined };
  }

  /** The violation in a program's run, or undefined. */
  #failure(program: Program, isRepeated: boolean, limits = this.#limits): string | undefined {
    let result: string | undefined;
    try {
      runWithin(limits, () => (result = this.#difference(program, isRepeated)));
      return result;
    } catch (e) {
      return e instanceof Error ? `${e.name}: ${e.message}` : String(e);
    }
  }

  #difference(program: Program, isRepeated: boolean): string | undefined {
    const world = program.legacy ? this.#worlds.legacy : this.#worlds.modern;
    if (!isRepeated) {
      world.reset();
      for (const action of program.actions) world.act(action);
      world.checkSizes();
      return undefined;
    }
    const state = world.run(program);
    world.checkSizes();
    if (world.run(program) !== state) return 'a second run is another run';
    if (world.run(program, true) !== state) return 'a listener changes the run';
    return undefined;
  }

  /** Once in a round: the violation when programs have left too much memory behind. */
  #kept(): string | undefined {
    if (++this.#programs % ROUND !== 0) return undefined;
    const kept = memoryKept();
    if (this.#programs === ROUND) this.#keptAtFirst = kept;
    const bytes = kept - this.#keptAtFirst;
    if (bytes <= this.#limits.bytesKept) return undefined;
    const programs = this.#programs - ROUND;
    return `${HostOverrun.name}: this program and ${programs} before it leave ${bytes} bytes behind`;
  }

  /**
   * Removes actions by halves, quarters, ... while the program still fails. A program that does not
   * return may take less time here, so that this ends.
   */
  #shrink(program: Program, isRepeated: boolean): Program {
    let best = program;
    const limits = { ...this.#limits, cpuSeconds: this.#limits.cpuSeconds / 10 };
    for (let chunk = best.actions.length; chunk >= 1; chunk >>>= 1) {
      for (let start = best.actions.length - chunk; start > -chunk; start -= chunk) {
        const from = Math.max(start, 0);
        const smaller = { ...best, actions: best.actions.toSpliced(from, chunk) };
        if (this.#failure(smaller, isRepeated, limits) !== undefined) best = smaller;
      }
    }
    return best;
  }

  #costs(): Costs {
    const [a, b] = [this.#worlds.legacy.costs, this.#worlds.modern.costs];
    return {
      work: Math.max(a.work, b.work),
      ops: Math.max(a.ops, b.ops),
      moved: Math.max(a.moved, b.moved),
      sent: Math.max(a.sent, b.sent),
    };
  }
}
