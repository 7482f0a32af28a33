// The engine's own searches for a page: a test bundles this for a browser, and runs the same seeds
// in Node. So nothing that it imports may import Node's modules; the bundle fails if one does.

import { searchInterrupts } from './interrupts/search.ts';
import { EAGEREST, INTERPRETER } from './privileged/policies.ts';
import { compareConfigurations, type Outcome, searchPrivileged } from './privileged/search.ts';
import { search } from './shapes/search.ts';

/** A dose of a search, as JSON. */
export interface Dose {
  readonly search: 'shapes' | 'privileged' | 'interrupts';
  readonly seed: number;
  readonly programs: number;
  /** Of privileged programs; 1 where it is absent. */
  readonly harts?: number;
  /** Units in a row at which an interrupt comes. */
  readonly arrivals?: number;
}

/** The result of one program. */
interface Left {
  /** Of the final state; one for each arrival of an interrupt. */
  readonly hashes: readonly string[];
  readonly instructions: number;
  /** Regions compiled: a proof that compiled code ran. */
  readonly compiled: number;
}

export interface Searched {
  /** In the order of the search. */
  readonly programs: readonly Left[];
  /** The first program whose compiled form differs here from the interpreted one. */
  readonly difference: string | undefined;
}

const PROFILE = { steps: 40, rounds: 3, isPortable: false };

const SEARCHES: Readonly<Record<Dose['search'], (dose: Dose, left: Left[]) => string | undefined>> = {
  shapes({ seed, programs }, left) {
    const { found } = search(seed, programs, undefined, ({ hash, instructions, regions }) =>
      left.push({ hashes: [hash()], instructions, compiled: regions }),
    );
    return found && JSON.stringify(found);
  },
  privileged({ seed, programs, harts = 1 }, left) {
    const { report } = searchPrivileged({
      profile: { ...PROFILE, harts },
      seed,
      programs,
      compare(program, own) {
        const result = compareConfigurations(program, own, [INTERPRETER, EAGEREST]);
        const [{ instret }, { hash, machine }] = result.outcomes as [Outcome, Outcome];
        // To shrink a program compares again.
        if (left.length < programs)
          left.push({ hashes: [hash], instructions: instret, compiled: machine.jit!.stats.regions });
        return result;
      },
    });
    return report?.();
  },
  interrupts({ seed, programs, arrivals = 60 }, left) {
    const { how } = searchInterrupts(seed, programs, arrivals, ({ hashes, instructions, regions }) =>
      left.push({ hashes, instructions, compiled: regions }),
    );
    return how;
  },
};

export function runSearch(dose: Dose): Searched {
  const programs: Left[] = [];
  const difference = SEARCHES[dose.search](dose, programs);
  return { programs, difference };
}

(globalThis as unknown as { runSearch: typeof runSearch }).runSearch = runSearch;
