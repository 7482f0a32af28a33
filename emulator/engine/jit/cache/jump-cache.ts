// The cache from pc to slot, in linear memory, for the dispatcher, computed jumps and calls of code
// that was not compiled when its caller was. It has two ways of 32 KiB of code each. Compiled code
// asks the first one; the interpreter asks the second, too, where an entry goes when another pc
// takes its place. With one way, a program whose system call returns to an address that meets the
// kernel's trap entry would call the host twice in each system call.

import { type JumpCache, secondWay } from '../emit/entry.ts';

const ENTRIES = 16_384;
/** { i64 pc, i32 slot, i32 0 } */
const ENTRY_BYTES = 16;
/** No guest pc is odd. */
const NOWHERE = (1n << 64n) - 1n;

export class JumpCacheMemory implements JumpCache {
  static readonly bytes = 2 * ENTRIES * ENTRY_BYTES;
  /** Bytes of code until two entry points meet. */
  static readonly covers = 2 * ENTRIES;
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

  /** The pc is in neither way. */
  set(pc: bigint, slot: number): void {
    const at = this.#at(pc);
    if (this.#view.getBigUint64(at, true) !== NOWHERE) {
      const entry = at - this.jumpCache;
      this.#bytes.copyWithin(entry + secondWay(this), entry, entry + ENTRY_BYTES);
    }
    this.#view.setBigUint64(at, pc, true);
    this.#view.setInt32(at + 8, slot, true);
  }

  forget(pc: bigint): void {
    for (const at of [this.#at(pc), this.#at(pc) + secondWay(this)])
      if (this.#view.getBigUint64(at, true) === pc) this.#view.setBigUint64(at, NOWHERE, true);
  }

  clear(): void {
    this.#bytes.fill(0xff);
  }

  #at(pc: bigint): number {
    return this.jumpCache + ((Number(pc & 0xffffn) << 3) & (this.jumpCacheMask << 4));
  }
}
