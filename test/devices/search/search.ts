// The search: many random programs, each within its budget; the first that exceeds it is shrunk.
// Some are run again, to compare: the same program is the same run, with a listener and without.

import { Random, seedText } from '../../support/random.ts';
import { generateProgram } from './generate.ts';
import { listing, type Program } from './program.ts';
import { type Costs, World } from './world.ts';

/** Every so many programs are run again. */
const AGAIN = 32;

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

  run(seed: number, programs: number): SearchResult {
    const random = new Random(seed);
    let actions = 0;
    for (let n = 0; n < programs; n++) {
      const program = generateProgram(new Random(random.u32()));
      actions += program.actions.length;
      const isRepeated = n % AGAIN === 0;
      const failure = this.#failure(program, isRepeated);
      if (failure === undefined) continue;
      const small = this.#shrink(program, isRepeated);
      const reason = this.#failure(small, isRepeated) ?? failure;
      const report = `seed ${seedText(seed)}, program ${n}: ${reason}\n${listing(small)}`;
      return { programs: n + 1, actions, costs: this.#costs(), report };
    }
    return { programs, actions, costs: this.#costs(), report: undefined };
  }

  /** The violation in a program's run, or undefined. */
  #failure(program: Program, isRepeated: boolean): string | undefined {
    const world = program.legacy ? this.#worlds.legacy : this.#worlds.modern;
    try {
      if (!isRepeated) {
        world.reset();
        for (const action of program.actions) world.act(action);
        return undefined;
      }
      const state = world.run(program);
      world.checkSizes();
      if (world.run(program) !== state) return 'a second run is another run';
      if (world.run(program, true) !== state) return 'a listener changes the run';
      return undefined;
    } catch (e) {
      return e instanceof Error ? `${e.name}: ${e.message}` : String(e);
    }
  }

  /** Removes actions by halves, quarters, ... while the program still fails. */
  #shrink(program: Program, isRepeated: boolean): Program {
    let best = program;
    for (let chunk = best.actions.length; chunk >= 1; chunk >>>= 1) {
      for (let start = best.actions.length - chunk; start > -chunk; start -= chunk) {
        const from = Math.max(start, 0);
        const smaller = { ...best, actions: best.actions.toSpliced(from, chunk) };
        if (this.#failure(smaller, isRepeated) !== undefined) best = smaller;
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
