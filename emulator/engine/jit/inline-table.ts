// The active inlined calls: those that the machine announced and whose code is as announced.

import type { GuestCode } from './guest-code.ts';
import type { InlineCall } from './inline-call.ts';

export class InlineTable {
  readonly #byOwner = new Map<string, readonly InlineCall[]>();
  #byAddress: ReadonlyMap<bigint, InlineCall> = new Map();

  /** Replaces the owner's calls by these. False if there were none before, nor are now. */
  announce(owner: string, calls: readonly InlineCall[]): boolean {
    const before = this.#byOwner.get(owner) ?? [];
    this.#byOwner.set(owner, calls);
    const all = [...this.#byOwner.values()].flat();
    this.#byAddress = new Map(all.map(call => [BigInt.asUintN(64, call.address), call]));
    return before.length > 0 || calls.length > 0;
  }

  /** The call at this address, if its code in RAM has the announced words now. */
  at(va: bigint, code: GuestCode): InlineCall | undefined {
    const call = this.#byAddress.get(va);
    return call?.words.every((word, i) => code.wordAt(call.pa + 4 * i) === word >>> 0) ? call : undefined;
  }
}

/** RAM pages of the code of inlined calls: a change of them drops compiled code. */
export function* pagesOfCalls(calls: Iterable<InlineCall>, firstPage: number): Generator<number> {
  for (const { pa, words } of calls)
    for (const at of [pa, pa + 4 * words.length - 1]) yield Math.floor(at / 4096) - firstPage;
}
