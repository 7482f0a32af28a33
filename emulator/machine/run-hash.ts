// The run hash: a chain of hashes that shows how far two runs were the same. Link 0 is taken before
// the first instruction, link k after unit k * interval (one instruction or exception, of any
// hart), and the last at the end of the run. Each link hashes the link before it and the state of
// the machine, so equal links mean equal runs up to there, and the first pair of links that differ
// encloses the first difference.
//
// A link is taken where a quantum ends, before events, input or another hart's turn: that point is
// the same in every run, however the host cuts it into pieces.

import { HostError } from '../base/errors.ts';
import { StateHash } from '../base/state-hash.ts';

/** The chain of a run, or of a part of one that began at power-on. */
export interface RunHash {
  /** Units between two links. */
  readonly interval: number;
  /** 16 hexadecimal digits each; the last is that of the end. */
  readonly links: readonly string[];
}

/** About 30 ms of compiled code. */
export const RUN_HASH_INTERVAL = 10_000_000;

/** A run is not the recorded one: equal up to unit `from`, and different at unit `to`. */
export class RunDifference extends HostError {
  /** Undefined: the runs differ before their first instruction. */
  readonly from: number | undefined;
  readonly to: number;

  constructor(from: number | undefined, to: number) {
    super(
      from === undefined
        ? 'the runs differ before their first instruction'
        : `the runs are the same up to unit ${from}, and differ at unit ${to}`,
    );
    this.from = from;
    this.to = to;
  }
}

export class RunHasher {
  readonly interval: number;
  readonly #state: () => string;
  #links: string[] = [];
  /** The chain of an earlier run, to which this one is compared link by link. */
  #expected: RunHash | undefined;

  /** `state` hashes the machine as it is now; two states with equal hashes are equal. */
  constructor(interval: number, state: () => string) {
    this.interval = interval;
    this.#state = state;
  }

  /** Units spent since power-on when the next link is due. */
  get next(): number {
    return this.#links.length * this.interval;
  }

  /** `spent` units have been executed since power-on, and the machine is between two quanta. */
  reached(spent: number): void {
    if (spent !== this.next) return;
    this.#links.push(this.#link());
    this.#compare();
  }

  /**
   * Compares this run with an earlier one, link by link; before the first instruction. Errors, also
   * later from `reached`: RunDifference at the first link that differs.
   */
  compareWith(chain: RunHash): void {
    this.#expected = chain;
    this.#compare();
  }

  /** Errors: RunDifference at the first link that is not the expected one. */
  #compare(): void {
    const { interval } = this;
    const expected = this.#expected;
    const k = this.#links.length - 1;
    // The last link of a chain is that of its end.
    if (expected?.interval !== interval || k >= expected.links.length - 1) return;
    if (this.#links[k] === expected.links[k]) return;
    throw new RunDifference(k === 0 ? undefined : (k - 1) * interval, k * interval);
  }

  /** The guest is switched on. */
  reset(): void {
    this.#links = [];
    this.reached(0);
  }

  /** The links up to now, without one of the present state. */
  save(): RunHash {
    return { interval: this.interval, links: this.#links.slice() };
  }

  /** Errors: HostError when the chain has another interval, or there is none. */
  checkFits(chain: RunHash | null): void {
    if (chain?.interval !== this.interval)
      throw new HostError(
        `the snapshot has ${chain ? `a run hash of ${chain.interval} units` : 'no run hash'}; this run wants one of ${this.interval}`,
      );
  }

  restore(chain: RunHash | null): void {
    this.#links = chain?.links.slice() ?? [];
  }

  /** The chain up to now, closed by a link of the present state, whose hash is `state`. */
  result(state = this.#state()): RunHash {
    return { interval: this.interval, links: [...this.#links, this.#link(state)] };
  }

  #link(state = this.#state()): string {
    const hash = new StateHash();
    hash.text(this.#links.at(-1) ?? '');
    hash.text(state);
    return hash.digest();
  }
}
