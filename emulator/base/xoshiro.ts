// The random numbers of a run: xoshiro128** (Blackman and Vigna), seeded by splitmix32. They follow
// from the seed alone.

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
