// Which calls are worth making together: those that take what a program has made, and those that
// programs of the corpus make beside the same call. It is the idea of syzkaller's priorities of
// pairs; drawing from the lists themselves gives each pair the weight that a table would have.
import { type CallType, type Descriptions, fits, type Resource } from '../language/types.ts';
import type { Program } from './program.ts';
import type { Random } from './random.ts';
import { resourcesTaken } from './resources.ts';

/** Programs of the corpus by the calls that they make. */
export class Neighbours {
  readonly #with = new Map<CallType, Program[]>();

  add(program: Program): void {
    for (const type of new Set(program.calls.map(call => call.type))) {
      const programs = this.#with.get(type);
      if (programs) programs.push(program);
      else this.#with.set(type, [program]);
    }
  }

  /** A call that a program of the corpus makes beside `type`; undefined: no program makes that. */
  of(type: CallType, random: Random): CallType | undefined {
    const programs = this.#with.get(type);
    return programs && random.of(random.of(programs).calls).type;
  }
}

/** The calls that take each resource. */
export class Takers {
  readonly #exact = new Map<Resource, CallType[]>();
  readonly #wide = new Map<Resource, CallType[]>();

  constructor({ resources }: Descriptions, calls: readonly CallType[]) {
    const taken = calls.map(type => ({ type, resources: resourcesTaken(type) }));
    for (const resource of resources.values()) {
      const those = (suits: (wanted: Resource) => boolean): CallType[] =>
        taken.filter(call => [...call.resources].some(suits)).map(({ type }) => type);
      this.#exact.set(
        resource,
        those(wanted => wanted === resource),
      );
      this.#wide.set(
        resource,
        those(wanted => fits(resource, wanted)),
      );
    }
  }

  /** A call that takes the resource: mostly one that takes no other kind in its place. */
  of(resource: Resource, random: Random): CallType | undefined {
    const exact = this.#exact.get(resource) ?? [];
    const from = exact.length > 0 && !random.oneIn(4) ? exact : (this.#wide.get(resource) ?? []);
    return from.length > 0 ? random.of(from) : undefined;
  }
}
