// The coverage hooks that regions may inline, as the guest's kernel announced them.

import type { HookPort } from './emit/emit.ts';
import { type HookTable, verifyHook } from './emit/kcov.ts';
import type { RamPlace } from './emit/memory.ts';
import type { GuestCode } from './guest-code.ts';

/** A hook's code lies in the pages of these two bytes. */
const HOOK_ENDS = [0n, 47n];

export class InlineHooks {
  /** What emission needs; undefined = hooks are calls like others. */
  port: HookPort | undefined;
  readonly #kinds = new Map<bigint, number>();

  /** Takes the announced hooks, if their code is what this host knows how to inline. */
  announce(table: HookTable | undefined, code: GuestCode, ram: RamPlace): void {
    this.port = undefined;
    this.#kinds.clear();
    if (!table) return;
    for (const [kind, address] of table.addresses.entries()) {
      const fetch = (at: number) => code.fetchPhysical(address + BigInt(at) - table.kvaOffset);
      if (!verifyHook(kind, table, fetch)) return;
    }
    for (const [kind, address] of table.addresses.entries()) this.#kinds.set(address, kind);
    this.port = { table, ram };
  }

  /** Kind of the hook at an address, -1 = none. */
  kindAt(va: bigint): number {
    return this.#kinds.get(va) ?? -1;
  }

  /** RAM pages of the hooks' code: what was inlined from them goes when they change. */
  *pages(firstPage: number): Generator<number> {
    if (!this.port) return;
    const { addresses, kvaOffset } = this.port.table;
    for (const address of addresses)
      for (const end of HOOK_ENDS) yield Number((address + end - kvaOffset) >> 12n) - firstPage;
  }
}
