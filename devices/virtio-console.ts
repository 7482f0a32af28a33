// A virtio console with one port: queue 0 receives, queue 1 transmits.
// Specification: Virtio 1.2, section 5.3, without VIRTIO_CONSOLE_F_MULTIPORT and without a window size.

import type { Sink } from '../emulator/bus/device.ts';
import type { VirtioBackend, VirtioPort } from './virtio-mmio.ts';
import { gather, length, scatter } from './virtio-queue.ts';

const RECEIVE = 0;
const TRANSMIT = 1;

export class VirtioConsole implements VirtioBackend {
  readonly deviceId = 3;
  readonly features = 0n;
  readonly queues = 2;
  readonly config = new Uint8Array(12);
  readonly #out: Sink;
  #wire: number[] = [];
  #port!: VirtioPort;

  constructor(out: Sink) {
    this.#out = out;
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
    return [...this.#wire];
  }

  load(state: unknown): void {
    this.#wire = [...(state as number[])];
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
