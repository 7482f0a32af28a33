// The split virtqueue, seen from the device.
// Specification: Virtio 1.2, section 2.7. All three rings are in guest memory, and every word in
// them may come from a hostile driver. Addresses are checked against RAM before use. A queue that
// breaks a rule is broken: it does nothing more until the driver resets the device (section 2.1.2,
// DEVICE_NEEDS_RESET). The rules are:
//   - the three rings lie in RAM and do not overlap one another (section 2.7 gives each its
//     memory);
//   - at most `size` requests wait, and every index is within its table;
//   - a chain has at most as many descriptors as its table and at most 2^32 bytes (2.7.5.2, which
//     also says that this forbids loops);
//   - a buffer that the device writes does not overlap the rings, so a transfer cannot make
//     requests.
//
// `serve` is the only loop over requests. Its work is bounded by its caller: it returns when
// `limit` units are spent or `size` requests were finished, in the middle of a request if need be.
// The request in progress is kept as its head and the number of bytes moved, and its chain is read
// again when it goes on; so no list of the guest's length is ever stored.

import type { RamPort } from '../emulator/bus/device.ts';

const DESC_NEXT = 1;
const DESC_WRITE = 2;
const DESC_INDIRECT = 4;
const AVAIL_NO_INTERRUPT = 1;
const DESC_BYTES = 16;
/** Most bytes of one chain. */
const CHAIN_BYTES_MAX = 2 ** 32;

export const QUEUE_MAX = 1024;
/** Work of taking and returning a request, and of each of its descriptors. */
export const REQUEST_WORK = 64;
export const DESC_WORK = DESC_BYTES;
/** Bytes of RAM that are copied at a time; no host buffer for a transfer is larger. */
export const PIECE = 4096;

/** A piece of a buffer in guest memory. */
export interface Segment {
  addr: number;
  bytes: number;
}

/** One request: the segments for the device to read, and those for it to write. */
export interface Chain {
  readonly head: number;
  readonly readable: readonly Segment[];
  readonly writable: readonly Segment[];
  /** Bytes that earlier calls moved for this request; 0 at its beginning. */
  readonly done: number;
}

/** The result of working on a request. */
export interface Progress {
  /** Bytes moved by this call. */
  moved: number;
  /** Bytes written into the chain in all, once the request is finished. */
  written?: number;
}

/** Moves at most about `limit` bytes of a request; undefined = the request must wait. */
export type Serve = (chain: Chain, limit: number) => Progress | undefined;

export interface QueueState {
  size: number;
  ready: boolean;
  desc: number;
  avail: number;
  used: number;
  lastAvail: number;
  broken: boolean;
  /** The request in progress: its head and the bytes moved; -1 = none. */
  head: number;
  done: number;
}

const initial = (): QueueState => ({
  size: 0,
  ready: false,
  desc: 0,
  avail: 0,
  used: 0,
  lastAvail: 0,
  broken: false,
  head: -1,
  done: 0,
});

export class VirtQueue {
  readonly #ram: RamPort;
  state = initial();
  /** Descriptors that were read for the current request. */
  #walked = 0;

  constructor(ram: RamPort) {
    this.#ram = ram;
  }

  /** Has the driver broken a rule since the last reset? */
  get isBroken(): boolean {
    return this.state.broken;
  }

  reset(): void {
    this.state = initial();
  }

  /**
   * Serves waiting requests until `limit` units of work are spent or `size` of them are finished.
   * Returns the work, which exceeds `limit` by at most one chain of QUEUE_MAX descriptors and one
   * PIECE; the number of requests returned to the driver; and whether some may still wait.
   */
  serve(limit: number, serve: Serve): { work: number; finished: number; more: boolean } {
    const most = this.state.size;
    let work = 0;
    let finished = 0;
    while (work < limit && finished < most) {
      this.#walked = 0;
      const chain = this.#take();
      // An invalid chain has cost the walk up to its error, too.
      work += DESC_WORK * this.#walked;
      if (!chain) return { work, finished, more: false };
      work += REQUEST_WORK;
      const progress = serve(chain, Math.max(1, limit - work));
      if (!progress) return { work, finished, more: false };
      work += progress.moved;
      this.state.done += progress.moved;
      if (progress.written === undefined) continue;
      this.#return(chain.head, progress.written);
      finished++;
    }
    return { work, finished, more: this.#usable() && (this.state.head >= 0 || this.#waiting() > 0) };
  }

  /** Does the driver want an interrupt for used buffers? */
  wantsInterrupt(): boolean {
    const { ready, avail } = this.state;
    return ready && this.#ram.has(avail, 2) && (this.#ram.read16(avail) & AVAIL_NO_INTERRUPT) === 0;
  }

  /**
   * The request in progress, or the next one; undefined when there is none or the queue is broken.
   */
  #take(): Chain | undefined {
    const q = this.state;
    if (!this.#usable()) return undefined;
    if (q.head < 0) {
      const waiting = this.#waiting();
      if (waiting === 0) return undefined;
      if (waiting > q.size) return this.#fail();
      q.head = this.#ram.read16(q.avail + 4 + 2 * (q.lastAvail % q.size));
      q.done = 0;
      q.lastAvail = (q.lastAvail + 1) & 0xffff;
    }
    return this.#walk(q.head, q.done);
  }

  #return(head: number, written: number): void {
    const q = this.state;
    const index = this.#ram.read16(q.used + 2);
    const slot = q.used + 4 + 8 * (index % q.size);
    this.#ram.write32(slot, head);
    this.#ram.write32(slot + 4, written);
    this.#ram.write16(q.used + 2, (index + 1) & 0xffff);
    q.head = -1;
    q.done = 0;
  }

  #waiting(): number {
    return (this.#ram.read16(this.state.avail + 2) - this.state.lastAvail) & 0xffff;
  }

  /**
   * The three rings. Without VIRTIO_F_EVENT_IDX they end before their event fields (section 2.7.6).
   */
  #rings(): [at: number, bytes: number][] {
    const { size, desc, avail, used } = this.state;
    return [
      [desc, DESC_BYTES * size],
      [avail, 4 + 2 * size],
      [used, 4 + 8 * size],
    ];
  }

  #usable(): boolean {
    const q = this.state;
    if (!q.ready || q.broken || q.size === 0) return false;
    const rings = this.#rings();
    const isSound =
      rings.every(([at, bytes]) => this.#ram.has(at, bytes)) &&
      !rings.some(([at, bytes], i) => rings.slice(i + 1).some(other => overlap(at, bytes, ...other)));
    if (!isSound) q.broken = true;
    return isSound;
  }

  #fail(): undefined {
    this.state.broken = true;
    return undefined;
  }

  #walk(head: number, done: number): Chain | undefined {
    const readable: Segment[] = [];
    const writable: Segment[] = [];
    const rings = this.#rings();
    let table = this.state.desc;
    let isIndirect = false;
    let entries = this.state.size;
    let index = head;
    let total = 0;
    for (let left = entries; left > 0; left--) {
      this.#walked++;
      if (index >= entries) return this.#fail();
      const at = table + DESC_BYTES * index;
      const addr = Number(this.#ram.read64(at));
      const bytes = this.#ram.read32(at + 8);
      const flags = this.#ram.read16(at + 12);
      if (!this.#ram.has(addr, bytes)) return this.#fail();
      if (flags & DESC_INDIRECT) {
        const isTable = bytes > 0 && bytes % DESC_BYTES === 0;
        // An indirect table may be the descriptor table itself, so its address tells nothing.
        if (isIndirect || !isTable || flags & DESC_NEXT) return this.#fail();
        isIndirect = true;
        table = addr;
        entries = Math.min(bytes / DESC_BYTES, QUEUE_MAX);
        index = 0;
        left = entries + 1;
        continue;
      }
      const isWritable = (flags & DESC_WRITE) !== 0;
      total += bytes;
      if (total > CHAIN_BYTES_MAX) return this.#fail();
      if (isWritable && rings.some(ring => overlap(addr, bytes, ...ring))) return this.#fail();
      (isWritable ? writable : readable).push({ addr, bytes });
      if (!(flags & DESC_NEXT)) return { head, readable, writable, done };
      index = this.#ram.read16(at + 14);
    }
    return this.#fail();
  }
}

/** Do [a, a + aBytes) and [b, b + bBytes) have a byte in common? */
function overlap(a: number, aBytes: number, b: number, bBytes: number): boolean {
  return aBytes > 0 && bBytes > 0 && a < b + bBytes && b < a + aBytes;
}

export function length(segments: readonly Segment[]): number {
  let total = 0;
  for (const s of segments) total += s.bytes;
  return total;
}

/**
 * Calls `move` for the physical ranges that hold bytes [from, from + bytes) of the segments, in
 * order, at most PIECE bytes each; `at` counts from `from`. Stops where the segments end; returns
 * the number of bytes covered.
 */
export function eachPiece(
  segments: readonly Segment[],
  from: number,
  bytes: number,
  move: (pa: number, bytes: number, at: number) => void,
): number {
  let skip = from;
  let at = 0;
  for (const s of segments) {
    if (at >= bytes) break;
    if (skip >= s.bytes) {
      skip -= s.bytes;
      continue;
    }
    const end = Math.min(s.bytes, skip + bytes - at);
    while (skip < end) {
      const piece = Math.min(PIECE, end - skip);
      move(s.addr + skip, piece, at);
      skip += piece;
      at += piece;
    }
    skip = 0;
  }
  return at;
}

/** Bytes [0, bytes) of the segments, or as many as there are. `bytes` is at most PIECE. */
export function gather(ram: RamPort, segments: readonly Segment[], bytes: number): Uint8Array {
  const out = new Uint8Array(Math.min(bytes, PIECE));
  const total = eachPiece(segments, 0, out.length, (pa, n, at) => out.set(ram.read(pa, n), at));
  return out.subarray(0, total);
}

/** Writes `data` into the segments from byte `skip` on; returns how many bytes fitted. */
export function scatter(ram: RamPort, segments: readonly Segment[], data: Uint8Array, skip = 0): number {
  return eachPiece(segments, skip, data.length, (pa, n, at) => ram.write(pa, data.subarray(at, at + n)));
}
