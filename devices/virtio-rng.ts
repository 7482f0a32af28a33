// A virtio entropy device whose bytes come from the seed of the run, so that they are the same
// every time.
// Specification: Virtio 1.2, section 5.4. The generator is xoshiro128** (Blackman and Vigna),
// seeded by splitmix32. It is not secret and must never be used where secrecy matters.

import type { VirtioBackend, VirtioPort } from './virtio-mmio.ts';
import { type Chain, length, type Progress, scatter } from './virtio-queue.ts';

/** Most bytes served per request; a driver may offer an absurdly large buffer. */
const REQUEST_MAX = 4096;

export class Xoshiro {
  state: [number, number, number, number];

  constructor(seed: bigint) {
    // splitmix32 of the two halves spreads small seeds over the whole state.
    let x = Number(BigInt.asUintN(32, seed ^ (seed >> 32n)));
    const next = (): number => {
      x = (x + 0x9e37_79b9) | 0;
      let z = x ^ (x >>> 16);
      z = Math.imul(z, 0x21f0_aaad);
      z ^= z >>> 15;
      z = Math.imul(z, 0x735a_2d97);
      return (z ^ (z >>> 15)) >>> 0;
    };
    this.state = [next(), next(), next(), next() | 1];
  }

  next(): number {
    const s = this.state;
    const rotl = (v: number, k: number): number => (v << k) | (v >>> (32 - k));
    const result = Math.imul(rotl(Math.imul(s[1], 5), 7), 9) >>> 0;
    const t = s[1] << 9;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotl(s[3], 11);
    return result;
  }
}

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
