// The inlined calls that are in force: those that the machine announced, wherever their code is what it says.

import type { GuestCode } from './guest-code.ts';
import type { InlineCall } from './inline-call.ts';

export class InlineTable {
  readonly #calls = new Map<bigint, InlineCall>();

  /** Takes these calls instead of all before. */
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

/** RAM pages of the code of inlined calls: what was compiled goes when that changes. */
export function* pagesOfCalls(calls: Iterable<InlineCall>, firstPage: number): Generator<number> {
  for (const { pa, words } of calls)
    for (const at of [pa, pa + 4 * words.length - 1]) yield Math.floor(at / 4096) - firstPage;
}
