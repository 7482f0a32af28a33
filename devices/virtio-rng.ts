// A virtio entropy device whose bytes come from the seed of the run, so that they are the same
// every time.
// Specification: Virtio 1.2, section 5.4. The bytes are not secret and must never be used where
// secrecy matters.

import { Xoshiro } from '../emulator/base/xoshiro.ts';
import type { VirtioBackend, VirtioPort } from './virtio-mmio.ts';
import { type Chain, length, type Progress, scatter } from './virtio-queue.ts';

/** Most bytes served per request; a driver may offer an absurdly large buffer. */
const REQUEST_MAX = 4096;

export class VirtioRng implements VirtioBackend {
  readonly deviceId = 4;
  readonly features = 0n;
  readonly queues = 1;
  readonly config = new Uint8Array(0);
  readonly #rng: Xoshiro;
  #port!: VirtioPort;

  constructor(seed: bigint) {
    this.#rng = new Xoshiro(seed);
  }

  attach(port: VirtioPort): void {
    this.#port = port;
  }

  serve(_queue: number, chain: Chain): Progress {
    const bytes = new Uint8Array(Math.min(REQUEST_MAX, length(chain.writable)));
    for (let i = 0; i < bytes.length; i++) bytes[i] = this.#rng.next() >>> 24;
    const written = scatter(this.#port.ram, chain.writable, bytes);
    return { moved: written, written };
  }

  reset(): void {}

  save(): unknown {
    return [...this.#rng.state];
  }

  load(state: unknown): void {
    this.#rng.state = [...(state as Xoshiro['state'])];
  }

  reseed(seed: number): void {
    this.#rng.state = new Xoshiro(BigInt(seed)).state;
  }
}
