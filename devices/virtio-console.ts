// A virtio console with one port: queue 0 receives, queue 1 transmits.
// Specification: Virtio 1.2, section 5.3, without VIRTIO_CONSOLE_F_MULTIPORT; with a window size when the host has one to tell.

import type { Sink } from '../emulator/bus/device.ts';
import type { VirtioBackend, VirtioPort } from './virtio-mmio.ts';
import { gather, length, scatter } from './virtio-queue.ts';

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
  #wire: number[] = [];
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
    for (const byte of bytes) this.#wire.push(byte & 0xff);
    this.#deliver();
  }

  notify(queue: number): void {
    if (queue === TRANSMIT) this.#transmit();
    else this.#deliver();
  }

  reset(): void {}

  save(): unknown {
    return { wire: [...this.#wire], config: [...this.config] };
  }

  load(state: unknown): void {
    const { wire, config } = state as { wire: number[]; config: number[] };
    this.#wire = [...wire];
    this.config.set(config);
  }

  #transmit(): void {
    const queue = this.#port.queue(TRANSMIT);
    for (let chain = queue.pop(); chain; chain = queue.pop()) {
      for (const byte of gather(this.#port.ram, chain.readable)) this.#out.write(byte);
      queue.push(chain, 0);
      this.#port.used(TRANSMIT);
    }
  }

  #deliver(): void {
    const queue = this.#port.queue(RECEIVE);
    while (this.#wire.length > 0) {
      const chain = queue.pop();
      if (!chain) return;
      const bytes = Uint8Array.from(this.#wire.splice(0, length(chain.writable)));
      queue.push(chain, scatter(this.#port.ram, chain.writable, bytes));
      this.#port.used(RECEIVE);
    }
  }
}
