// A virtio console with one port: queue 0 receives, queue 1 transmits.
// Specification: Virtio 1.2, section 5.3, without VIRTIO_CONSOLE_F_MULTIPORT; with a window size if
// the host has one.

import type { Sink } from '../emulator/bus/device.ts';
import type { VirtioBackend, VirtioPort } from './virtio-mmio.ts';
import { type Chain, eachPiece, length, PIECE, type Progress, scatter } from './virtio-queue.ts';

const F_SIZE = 1n;
/** Of u16 fields in the configuration space. */
const COLS = 0;
const ROWS = 2;
const RECEIVE = 0;
const TRANSMIT = 1;

export class VirtioConsole implements VirtioBackend {
  readonly deviceId = 3;
  readonly features: bigint;
  readonly queues = 2;
  readonly config = new Uint8Array(12);
  readonly #out: Sink;
  /** Input from the host that is not in a buffer yet: [#sent, end). */
  #wire = new Uint8Array(0);
  #sent = 0;
  #end = 0;
  #port!: VirtioPort;

  constructor(out: Sink, size?: { readonly rows: number; readonly cols: number }) {
    this.#out = out;
    this.features = size ? F_SIZE : 0n;
    if (size) this.#setSize(size.rows, size.cols);
  }

  #setSize(rows: number, cols: number): void {
    const view = new DataView(this.config.buffer);
    view.setUint16(COLS, cols, true);
    view.setUint16(ROWS, rows, true);
  }

  /** The window has a new size. */
  resize(rows: number, cols: number): void {
    if (!(this.features & F_SIZE)) return;
    this.#setSize(rows, cols);
    this.#port.configChanged();
  }

  attach(port: VirtioPort): void {
    this.#port = port;
  }

  /** Bytes from the host; they wait until the driver offers buffers. */
  receive(bytes: Iterable<number>): void {
    this.#append(Uint8Array.from(bytes));
    this.#port.kick(RECEIVE);
  }

  /** A full buffer is copied to one of twice the bytes, so that time is linear in them. */
  #append(bytes: Uint8Array): void {
    if (this.#end + bytes.length > this.#wire.length) {
      const waiting = this.#wire.subarray(this.#sent, this.#end);
      this.#wire = new Uint8Array(2 * (waiting.length + bytes.length));
      this.#wire.set(waiting);
      this.#sent = 0;
      this.#end = waiting.length;
    }
    this.#wire.set(bytes, this.#end);
    this.#end += bytes.length;
  }

  serve(queue: number, chain: Chain, limit: number): Progress | undefined {
    return queue === TRANSMIT ? this.#transmit(chain, limit) : this.#deliver(chain, limit);
  }

  reset(): void {}

  save(): unknown {
    return { wire: Array.from(this.#wire.subarray(this.#sent, this.#end)), config: [...this.config] };
  }

  load(state: unknown): void {
    const { wire, config } = state as { wire: number[]; config: number[] };
    this.#wire = Uint8Array.from(wire);
    this.#sent = 0;
    this.#end = wire.length;
    this.config.set(config);
  }

  #transmit({ readable, done }: Chain, limit: number): Progress {
    const moved = eachPiece(readable, done, limit, (pa, bytes) => {
      for (const byte of this.#port.ram.read(pa, bytes)) this.#out.write(byte);
    });
    return done + moved < length(readable) ? { moved } : { moved, written: 0 };
  }

  /**
   * Fills one buffer with waiting input, up to its length and `limit`; the rest waits for the next
   * one.
   */
  #deliver({ writable }: Chain, limit: number): Progress | undefined {
    const waiting = this.#end - this.#sent;
    if (waiting === 0) return undefined;
    const bytes = Math.min(waiting, limit, PIECE, length(writable));
    const data = this.#wire.subarray(this.#sent, this.#sent + bytes);
    this.#sent += scatter(this.#port.ram, writable, data);
    return { moved: bytes, written: bytes };
  }
}
