// The active inlined calls: those that the machine announced and whose code is as announced.

import type { GuestCode } from './guest-code.ts';
import type { InlineCall } from './inline-call.ts';

export class InlineTable {
  readonly #calls = new Map<bigint, InlineCall>();

  /** Replaces all calls by these. */
  announce(calls: readonly InlineCall[]): void {
    this.#calls.clear();
    for (const call of calls) this.#calls.set(BigInt.asUintN(64, call.address), call);
  }

  get size(): number {
    return this.#calls.size;
  }

  /** The call at this address, if its code in RAM has the announced words now. */
  at(va: bigint, code: GuestCode): InlineCall | undefined {
    const call = this.#calls.get(va);
    return call?.words.every((word, i) => code.wordAt(call.pa + 4 * i) === word >>> 0) ? call : undefined;
  }
}

/** RAM pages of the code of inlined calls: a change of them drops compiled code. */
export function* pagesOfCalls(calls: Iterable<InlineCall>, firstPage: number): Generator<number> {
  for (const { pa, words } of calls)
    for (const at of [pa, pa + 4 * words.length - 1]) yield Math.floor(at / 4096) - firstPage;
}
