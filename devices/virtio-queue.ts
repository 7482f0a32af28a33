// The split virtqueue, seen from the device.
// Specification: Virtio 1.2, section 2.7. All three rings are in guest memory and every word in them is an allegation of
// a possibly hostile driver: addresses are checked against RAM, chains are limited to the queue size, and a broken
// queue answers with an error once, after which it stays quiet until reset (section 2.1.2, DEVICE_NEEDS_RESET).

import type { RamPort } from '../emulator/bus/device.ts';

const DESC_NEXT = 1;
const DESC_WRITE = 2;
const DESC_INDIRECT = 4;
const AVAIL_NO_INTERRUPT = 1;

/** A piece of a buffer in guest memory. */
export interface Segment {
  addr: number;
  bytes: number;
}

/** One request: what the driver wrote for us, and where it lets us write. */
export interface Chain {
  head: number;
  readable: Segment[];
  writable: Segment[];
}

export interface QueueState {
  size: number;
  ready: boolean;
  desc: number;
  avail: number;
  used: number;
  lastAvail: number;
  broken: boolean;
}

export const QUEUE_MAX = 1024;

const initial = (): QueueState => ({
  size: 0,
  ready: false,
  desc: 0,
  avail: 0,
  used: 0,
  lastAvail: 0,
  broken: false,
});

export class VirtQueue {
  readonly #ram: RamPort;
  state = initial();

  constructor(ram: RamPort) {
    this.#ram = ram;
  }

  reset(): void {
    this.state = initial();
  }

  /** The next request, or undefined when there is none or the queue is broken. */
  pop(): Chain | undefined {
    const q = this.state;
    if (!this.#usable()) return undefined;
    const index = this.#ram.read16(q.avail + 2);
    const waiting = (index - q.lastAvail) & 0xffff;
    if (waiting === 0) return undefined;
    if (waiting > q.size) return this.#fail();
    const head = this.#ram.read16(q.avail + 4 + 2 * (q.lastAvail % q.size));
    q.lastAvail = (q.lastAvail + 1) & 0xffff;
    return this.#walk(head);
  }

  /** Returns a request to the driver with the number of bytes written into it. */
  push(chain: Chain, written: number): void {
    const q = this.state;
    if (!this.#usable()) return;
    const index = this.#ram.read16(q.used + 2);
    const slot = q.used + 4 + 8 * (index % q.size);
    this.#ram.write32(slot, chain.head);
    this.#ram.write32(slot + 4, written);
    this.#ram.write16(q.used + 2, (index + 1) & 0xffff);
  }

  /** Does the driver want an interrupt for used buffers? */
  wantsInterrupt(): boolean {
    return this.#usable() && (this.#ram.read16(this.state.avail) & AVAIL_NO_INTERRUPT) === 0;
  }

  #usable(): boolean {
    const q = this.state;
    if (!q.ready || q.broken || q.size === 0) return false;
    const ok =
      this.#ram.has(q.desc, 16 * q.size) &&
      this.#ram.has(q.avail, 6 + 2 * q.size) &&
      this.#ram.has(q.used, 6 + 8 * q.size);
    if (!ok) q.broken = true;
    return ok;
  }

  #fail(): undefined {
    this.state.broken = true;
    return undefined;
  }

  #walk(head: number): Chain | undefined {
    const chain: Chain = { head, readable: [], writable: [] };
    let table = this.state.desc;
    let entries = this.state.size;
    let index = head;
    // A chain has at most `size` descriptors (section 2.7.5.2), so a loop among them ends here.
    for (let steps = 0; steps <= 2 * QUEUE_MAX; steps++) {
      if (index >= entries) return this.#fail();
      const at = table + 16 * index;
      const addr = Number(this.#ram.read64(at));
      const bytes = this.#ram.read32(at + 8);
      const flags = this.#ram.read16(at + 12);
      if (!this.#ram.has(addr, bytes)) return this.#fail();
      if (flags & DESC_INDIRECT) {
        if (table !== this.state.desc || bytes % 16 !== 0 || bytes === 0 || flags & DESC_NEXT)
          return this.#fail();
        table = addr;
        entries = bytes / 16;
        index = 0;
        continue;
      }
      (flags & DESC_WRITE ? chain.writable : chain.readable).push({ addr, bytes });
      if (!(flags & DESC_NEXT)) return chain;
      index = this.#ram.read16(at + 14);
    }
    return this.#fail();
  }
}

/** The readable part of a chain as one array, at most `limit` bytes of it. */
export function gather(ram: RamPort, segments: readonly Segment[], limit = Infinity): Uint8Array {
  const total = Math.min(limit, length(segments));
  const out = new Uint8Array(total);
  let at = 0;
  for (const s of segments) {
    if (at >= total) break;
    const part = ram.read(s.addr, Math.min(s.bytes, total - at));
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** Writes `data` into the segments from byte `skip` on; returns how many bytes fitted. */
export function scatter(ram: RamPort, segments: readonly Segment[], data: Uint8Array, skip = 0): number {
  let at = 0;
  let before = skip;
  for (const s of segments) {
    if (at >= data.length) break;
    if (before >= s.bytes) {
      before -= s.bytes;
      continue;
    }
    const part = data.subarray(at, at + s.bytes - before);
    ram.write(s.addr + before, part);
    at += part.length;
    before = 0;
  }
  return at;
}

export function length(segments: readonly Segment[]): number {
  let total = 0;
  for (const s of segments) total += s.bytes;
  return total;
}
