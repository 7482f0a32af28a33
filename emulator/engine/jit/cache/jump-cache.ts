// The direct-mapped cache from pc to slot, in linear memory, for the dispatcher, computed jumps and
// calls of code that was not compiled when its caller was. It covers 32 KiB of code: two functions
// that call each other from opposite ends of a kernel must seldom meet in one entry, because each
// arrival then goes to the host.

import type { JumpCache } from '../emit/entry.ts';

const ENTRIES = 16_384;
/** { i64 pc, i32 slot, i32 0 } */
const ENTRY_BYTES = 16;
/** No guest pc is odd. */
const NOWHERE = (1n << 64n) - 1n;

export class JumpCacheMemory implements JumpCache {
  static readonly bytes = ENTRIES * ENTRY_BYTES;
  readonly jumpCache: number;
  readonly jumpCacheMask = ENTRIES - 1;
  readonly #view: DataView;
  readonly #bytes: Uint8Array;

  /** `base`: `bytes` of linear memory. */
  constructor(memory: WebAssembly.Memory, base: number) {
    this.jumpCache = base;
    this.#view = new DataView(memory.buffer);
    this.#bytes = new Uint8Array(memory.buffer, base, JumpCacheMemory.bytes);
    this.clear();
  }

  set(pc: bigint, slot: number): void {
    const at = this.#at(pc);
    this.#view.setBigUint64(at, pc, true);
    this.#view.setInt32(at + 8, slot, true);
  }

  forget(pc: bigint): void {
    const at = this.#at(pc);
    if (this.#view.getBigUint64(at, true) === pc) this.#view.setBigUint64(at, NOWHERE, true);
  }

  clear(): void {
    this.#bytes.fill(0xff);
  }

  #at(pc: bigint): number {
    return this.jumpCache + ((Number(pc & 0xffffn) << 3) & (this.jumpCacheMask << 4));
  }
}
