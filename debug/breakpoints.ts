// Breakpoints: where they are, and what happens where the run meets one.
import type { Type } from '../coverage/index.ts';
import type { Range } from '../emulator/index.ts';
import type { Expression } from './expression.ts';
import type { Value } from './values.ts';

/** The user's wishes for a breakpoint or a watch. */
export interface Wish {
  /** A stop only where this expression is not zero. */
  readonly condition?: string | undefined;
  /** In place of a stop, a text; of `{EXPR}` the value is said. */
  readonly log?: { readonly text: string; readonly say: (text: string) => void } | undefined;
}

/** A wish that was read. */
export interface Rule {
  readonly condition?: { readonly text: string; readonly value: Expression };
  readonly log?: { readonly text: string; readonly made: () => string; say(text: string): void };
}

export interface Breakpoint {
  readonly id: number;
  /** As the user wrote it. */
  readonly what: string;
  readonly addresses: ReadonlySet<bigint>;
  /** Of an address in functions that were inlined: which of its frames is meant; else the first. */
  readonly levels: ReadonlyMap<bigint, number>;
  readonly rule: Rule;
}

export interface Watch {
  readonly id: number;
  readonly what: string;
  readonly type: Type;
  /** Of a bit field. */
  readonly bits: Value['bits'];
  readonly va: bigint;
  /** One for each page that it lies in. */
  readonly ranges: readonly Range[];
  readonly rule: Rule;
}

/** All breakpoints of a session, by their addresses. */
export class Breakpoints {
  #list: readonly Breakpoint[] = [];
  #places: Map<bigint, Breakpoint[]> | undefined;

  get list(): readonly Breakpoint[] {
    return this.#list;
  }

  set list(list: readonly Breakpoint[]) {
    this.#list = list;
    this.#places = undefined;
  }

  at(pc: bigint): readonly Breakpoint[] {
    return this.#made.get(pc) ?? [];
  }

  get addresses(): Iterable<bigint> {
    return this.#made.keys();
  }

  get #made(): ReadonlyMap<bigint, readonly Breakpoint[]> {
    if (this.#places) return this.#places;
    this.#places = new Map();
    for (const breakpoint of this.#list)
      for (const pc of breakpoint.addresses) {
        const there = this.#places.get(pc);
        if (there) there.push(breakpoint);
        else this.#places.set(pc, [breakpoint]);
      }
    return this.#places;
  }
}
