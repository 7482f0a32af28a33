// A virtio block device on a disk image.
// Specification: Virtio 1.2, section 5.2. Requests: read, write, flush, get-id; others answer UNSUPP.
// Divergences: writes stay in host memory and never reach the image; discard is not offered.

import { Disk, type DiskImage, imageOf, SECTOR } from './virtio-disk.ts';
import type { VirtioBackend, VirtioPort } from './virtio-mmio.ts';
import { type Chain, gather, length, type Segment, scatter } from './virtio-queue.ts';

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
/** Bytes that are copied at a time, whatever the length of a request. */
const PIECE = 1 << 16;

export class VirtioBlk implements VirtioBackend {
  readonly deviceId = 2;
  readonly queues = 1;
  readonly features: bigint;
  readonly config = new Uint8Array(60);
  readonly #disk: Disk;
  readonly #readOnly: boolean;
  #port!: VirtioPort;

  constructor(image: Uint8Array | DiskImage, readOnly = false) {
    this.#disk = new Disk(image instanceof Uint8Array ? imageOf(image) : image);
    this.#readOnly = readOnly;
    this.features = F_SEG_MAX | F_BLK_SIZE | F_FLUSH | (readOnly ? F_RO : 0n);
    const config = new DataView(this.config.buffer);
    config.setBigUint64(0, BigInt(this.#disk.sectors), true);
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
    return this.#disk.save();
  }

  load(state: unknown): void {
    this.#disk.load(state);
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
        if (!(at + room <= this.#disk.bytes)) return [S_IOERR, 0];
        this.#fetch(at, room, chain.writable);
        return [S_OK, room];
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

  #fetch(at: number, bytes: number, writable: readonly Segment[]): void {
    const buffer = new Uint8Array(Math.min(PIECE, bytes));
    for (let done = 0; done < bytes; done += buffer.length) {
      const piece = buffer.subarray(0, Math.min(buffer.length, bytes - done));
      this.#disk.read(at + done, piece);
      scatter(this.#port.ram, writable, piece, done);
    }
  }

  #store(at: number, readable: readonly Segment[]): number {
    const bytes = length(readable) - HEADER;
    if (this.#readOnly || !(at + bytes <= this.#disk.bytes)) return S_IOERR;
    this.#disk.write(at, gather(this.#port.ram, readable).subarray(HEADER));
    return S_OK;
  }
}
