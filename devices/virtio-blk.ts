// A virtio block device on an image in host memory.
// Specification: Virtio 1.2, section 5.2. Requests: read, write, flush, get-id; others answer UNSUPP.
// Divergences: writes change our copy of the image only, never the file that it came from; discard is not offered.

import type { VirtioBackend, VirtioPort } from './virtio-mmio.ts';
import { type Chain, gather, length, type Segment, scatter } from './virtio-queue.ts';

const SECTOR = 512;
const T_IN = 0;
const T_OUT = 1;
const T_FLUSH = 4;
const T_GET_ID = 8;
const S_OK = 0;
const S_IOERR = 1;
const S_UNSUPP = 2;
const F_SEG_MAX = 1n << 2n;
const F_RO = 1n << 5n;
const F_BLK_SIZE = 1n << 6n;
const F_FLUSH = 1n << 9n;
const HEADER = 16;
const ID_BYTES = 20;
const SEG_MAX = 126;

export class VirtioBlk implements VirtioBackend {
  readonly deviceId = 2;
  readonly queues = 1;
  readonly features: bigint;
  readonly config = new Uint8Array(60);
  /** The contents; requests change it in place. */
  readonly image: Uint8Array;
  /** Sectors that differ from the image at power-on, so that a snapshot holds only these. */
  readonly #dirty = new Set<number>();
  readonly #original: Uint8Array;
  readonly #readOnly: boolean;
  #port!: VirtioPort;

  constructor(image: Uint8Array, readOnly = false) {
    const sectors = Math.ceil(image.length / SECTOR);
    this.#original = image;
    this.image = new Uint8Array(sectors * SECTOR);
    this.image.set(image);
    this.#readOnly = readOnly;
    this.features = F_SEG_MAX | F_BLK_SIZE | F_FLUSH | (readOnly ? F_RO : 0n);
    const config = new DataView(this.config.buffer);
    config.setBigUint64(0, BigInt(sectors), true);
    config.setUint32(12, SEG_MAX, true);
    config.setUint32(20, SECTOR, true);
  }

  attach(port: VirtioPort): void {
    this.#port = port;
  }

  notify(): void {
    const queue = this.#port.queue(0);
    for (let chain = queue.pop(); chain; chain = queue.pop()) {
      queue.push(chain, this.#serve(chain));
      this.#port.used(0);
    }
  }

  reset(): void {}

  save(): unknown {
    return [...this.#dirty]
      .sort((a, b) => a - b)
      .map(n => [n, [...this.image.subarray(n * SECTOR, (n + 1) * SECTOR)]] as const);
  }

  load(state: unknown): void {
    this.image.fill(0);
    this.image.set(this.#original);
    this.#dirty.clear();
    for (const [n, bytes] of state as [number, number[]][]) {
      this.image.set(bytes, n * SECTOR);
      this.#dirty.add(n);
    }
  }

  /** Serves one request; returns the bytes written into the chain, status byte included. */
  #serve(chain: Chain): number {
    const { ram } = this.#port;
    const room = length(chain.writable);
    if (room === 0) return 0;
    const header = gather(ram, chain.readable, HEADER);
    let written = 0;
    let status = S_IOERR;
    if (header.length === HEADER) {
      const view = new DataView(header.buffer);
      const type = view.getUint32(0, true);
      const at = Number(view.getBigUint64(8, true)) * SECTOR;
      [status, written] = this.#request(type, at, chain, room - 1);
    }
    scatter(ram, chain.writable, Uint8Array.of(status), room - 1);
    return written + 1;
  }

  #request(type: number, at: number, chain: Chain, room: number): [status: number, written: number] {
    switch (type) {
      case T_IN:
        if (!(at + room <= this.image.length)) return [S_IOERR, 0];
        return [S_OK, scatter(this.#port.ram, chain.writable, this.image.subarray(at, at + room))];
      case T_OUT:
        return [this.#store(at, chain.readable), 0];
      case T_FLUSH:
        return [S_OK, 0];
      case T_GET_ID: {
        const id = new Uint8Array(Math.min(ID_BYTES, room));
        id.set([...'kcovbox'].map(c => c.charCodeAt(0)).slice(0, id.length));
        return [S_OK, scatter(this.#port.ram, chain.writable, id)];
      }
      default:
        return [S_UNSUPP, 0];
    }
  }

  #store(at: number, readable: readonly Segment[]): number {
    const bytes = length(readable) - HEADER;
    if (this.#readOnly || !(at + bytes <= this.image.length)) return S_IOERR;
    const data = gather(this.#port.ram, readable).subarray(HEADER);
    this.image.set(data, at);
    for (let n = Math.floor(at / SECTOR); n * SECTOR < at + bytes; n++) this.#dirty.add(n);
    return S_OK;
  }
}
