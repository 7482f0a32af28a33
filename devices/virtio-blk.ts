// A virtio block device on a disk image.
// Specification: Virtio 1.2, section 5.2. Requests: read, write, flush, get-id; others answer
// UNSUPP.
// Divergences: writes stay in host memory and never reach the image; discard is not offered.

import { Disk, type DiskImage, imageOf, SECTOR } from './virtio-disk.ts';
import type { VirtioBackend, VirtioPort } from './virtio-mmio.ts';
import { type Chain, eachPiece, gather, length, type Progress, scatter } from './virtio-queue.ts';

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
  readonly stateVersion = 2;
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

  reset(): void {}

  save(): unknown {
    return this.#disk.save();
  }

  digest(): unknown {
    return this.#disk.digest();
  }

  load(state: unknown): void {
    this.#disk.load(state);
  }

  /** Header, data, and in the last writable byte the status (section 5.2.6). */
  serve(_queue: number, chain: Chain, limit: number): Progress {
    const { ram } = this.#port;
    const room = length(chain.writable);
    if (room === 0) return { moved: 0, written: 0 };
    const header = gather(ram, chain.readable, HEADER);
    const finish = (status: number, moved = 0, written = 0): Progress => {
      scatter(ram, chain.writable, Uint8Array.of(status), room - 1);
      return { moved, written: written + 1 };
    };
    if (header.length < HEADER) return finish(S_IOERR);
    const view = new DataView(header.buffer);
    const at = Number(view.getBigUint64(8, true)) * SECTOR;
    switch (view.getUint32(0, true)) {
      case T_IN: {
        if (!(at + room - 1 <= this.#disk.bytes)) return finish(S_IOERR);
        const moved = this.#load(chain, at, Math.min(limit, room - 1 - chain.done));
        return chain.done + moved < room - 1 ? { moved } : finish(S_OK, moved, room - 1);
      }
      case T_OUT: {
        const bytes = length(chain.readable) - HEADER;
        if (this.#readOnly || !(at + bytes <= this.#disk.bytes)) return finish(S_IOERR);
        const moved = this.#store(chain, at, Math.min(limit, bytes - chain.done));
        return chain.done + moved < bytes ? { moved } : finish(S_OK, moved);
      }
      case T_FLUSH:
        return finish(S_OK);
      case T_GET_ID: {
        const id = new Uint8Array(Math.min(ID_BYTES, room - 1));
        id.set([...'kcovbox'].map(c => c.charCodeAt(0)).slice(0, id.length));
        return finish(S_OK, id.length, scatter(ram, chain.writable, id));
      }
      default:
        return finish(S_UNSUPP);
    }
  }

  /** Copies bytes [done, done + bytes) of the data from byte `at` of the disk on. */
  #load({ writable, done }: Chain, at: number, bytes: number): number {
    return eachPiece(writable, done, bytes, (pa, n, i) => {
      const piece = new Uint8Array(n);
      this.#disk.read(at + done + i, piece);
      this.#port.ram.write(pa, piece);
    });
  }

  /** The same to the disk. */
  #store({ readable, done }: Chain, at: number, bytes: number): number {
    return eachPiece(readable, HEADER + done, bytes, (pa, n, i) =>
      this.#disk.write(at + done + i, this.#port.ram.read(pa, n)),
    );
  }
}
