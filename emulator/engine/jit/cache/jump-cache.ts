// The direct-mapped cache from pc to slot, in linear memory, for the dispatcher, computed jumps and
// calls of code that was not compiled when its caller was.

import type { JumpCache } from '../emit/entry.ts';

const ENTRIES = 4096;
/** { i64 pc, i32 slot, i32 0 } */
const ENTRY_BYTES = 16;

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
    const at = this.jumpCache + ((Number(pc & 0xffffn) << 3) & (this.jumpCacheMask << 4));
    this.#view.setBigUint64(at, pc, true);
    this.#view.setInt32(at + 8, slot, true);
  }

  /** No guest pc is odd. */
  clear(): void {
    this.#bytes.fill(0xff);
  }
}
