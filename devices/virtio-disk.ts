// The contents of a disk: an image that is only read, and over it the blocks that the guest has
// written. The image may be far larger than the host's memory; a block of it is copied when the
// guest first writes there.
//
// The guest may write gigabytes, so a saved state shares the blocks with the disk, which copies
// such a block before it changes it. The hash of the disk is a sum, to which each written block
// adds the hash of its number and contents: only blocks that changed are hashed again.

import { StateHash } from '../emulator/base/state-hash.ts';

/**
 * The source of the unwritten contents. The same position must give the same bytes for the whole
 * run.
 */
export interface DiskImage {
  /** Size in bytes. */
  readonly bytes: number;
  /** Fills `into` with the bytes from `at` on; all of them lie inside the image. */
  read(at: number, into: Uint8Array): void;
}

export const SECTOR = 512;
const BLOCK = 4096;

/** An image in host memory. */
export const imageOf = (data: Uint8Array): DiskImage => ({
  bytes: data.length,
  read: (at, into) => into.set(data.subarray(at, at + into.length)),
});

/** Contents of a block; a list of numbers in JSON. Immutable once it was saved. */
class Block extends Uint8Array {
  toJSON(): number[] {
    return [...this];
  }
}

/** A disk of whole sectors; the bytes after the image's end are zero. */
export class Disk {
  readonly bytes: number;
  readonly #image: DiskImage;
  /** The blocks that the guest has written. */
  readonly #blocks = new Map<number, Block>();
  /** Of these, the blocks that no saved state shares. */
  readonly #own = new Set<number>();
  /** Blocks that changed since they were hashed. */
  readonly #pending = new Set<number>();
  readonly #hashes = new Map<number, readonly [number, number]>();
  /** Of all hashes, each half modulo 2^32. */
  #sum: readonly [number, number] = [0, 0];

  constructor(image: DiskImage) {
    this.#image = image;
    this.bytes = Math.ceil(image.bytes / SECTOR) * SECTOR;
  }

  get sectors(): number {
    return this.bytes / SECTOR;
  }

  /** Copies the bytes from `at` on into `into`. */
  read(at: number, into: Uint8Array): void {
    for (const { n, from, start, end } of pieces(at, into.length)) {
      const part = into.subarray(start, end);
      const block = this.#blocks.get(n);
      if (block) part.set(block.subarray(from, from + part.length));
      else this.#original(n * BLOCK + from, part);
    }
  }

  write(at: number, data: Uint8Array): void {
    for (const { n, from, start, end } of pieces(at, data.length))
      this.#writable(n).set(data.subarray(start, end), from);
  }

  /** The written blocks with their numbers, in order; they are shared and must not be changed. */
  save(): unknown {
    this.#own.clear();
    return [...this.#blocks].sort(([a], [b]) => a - b);
  }

  /** For the state hash: the number of written blocks, and the sum of their hashes. */
  digest(): unknown {
    for (const n of this.#pending) this.#hash(n);
    this.#pending.clear();
    return { blocks: this.#blocks.size, sum: this.#sum };
  }

  /** Errors: RangeError when a block is not one of this disk. */
  load(state: unknown): void {
    const saved = new Map(
      (state as [number, Uint8Array | number[]][]).map(([n, bytes]) => [n, this.#block(n, bytes)]),
    );
    for (const n of this.#blocks.keys()) if (!saved.has(n)) this.#pending.add(n);
    for (const [n, block] of saved) if (this.#blocks.get(n) !== block) this.#pending.add(n);
    this.#own.clear();
    this.#blocks.clear();
    for (const [n, block] of saved) this.#blocks.set(n, block);
  }

  #block(n: number, bytes: Uint8Array | readonly number[]): Block {
    if (!(Number.isInteger(n) && n >= 0 && bytes.length > 0 && bytes.length === this.#sizeOf(n)))
      throw new RangeError(`block ${n} of ${bytes.length} bytes on a disk of ${this.bytes}`);
    return bytes instanceof Block ? bytes : new Block(bytes as ArrayLike<number>);
  }

  /** The block for a write: the image's contents at first, and a copy of one that is shared. */
  #writable(n: number): Block {
    let block = this.#blocks.get(n);
    if (!block || !this.#own.has(n)) {
      const before = block;
      block = new Block(this.#sizeOf(n));
      if (before) block.set(before);
      else this.#original(n * BLOCK, block);
      this.#blocks.set(n, block);
      this.#own.add(n);
    }
    this.#pending.add(n);
    return block;
  }

  /** Bytes of block `n`; the last one may be shorter. */
  #sizeOf(n: number): number {
    return Math.min(BLOCK, this.bytes - n * BLOCK);
  }

  /** Brings its hash and the sum up to date; a block that is unwritten again adds 0. */
  #hash(n: number): void {
    const block = this.#blocks.get(n);
    const before = this.#hashes.get(n) ?? [0, 0];
    const now = block ? hashOf(n, block) : ([0, 0] as const);
    if (block) this.#hashes.set(n, now);
    else this.#hashes.delete(n);
    this.#sum = [(this.#sum[0] + now[0] - before[0]) | 0, (this.#sum[1] + now[1] - before[1]) | 0];
  }

  #original(at: number, into: Uint8Array): void {
    const inside = Math.max(0, Math.min(into.length, this.#image.bytes - at));
    if (inside > 0) this.#image.read(at, into.subarray(0, inside));
    into.fill(0, inside);
  }
}

function hashOf(n: number, block: Block): readonly [number, number] {
  const hash = new StateHash();
  hash.word(n);
  hash.words(new Int32Array(block.buffer, block.byteOffset, block.length / 4));
  return hash.halves;
}

/** The parts of [at, at + bytes) that lie in block `n` each; `start` and `end` count from `at`. */
function* pieces(at: number, bytes: number) {
  for (let start = 0; start < bytes; ) {
    const n = Math.floor((at + start) / BLOCK);
    const from = at + start - n * BLOCK;
    const end = Math.min(bytes, start + BLOCK - from);
    yield { n, from, start, end };
    start = end;
  }
}
