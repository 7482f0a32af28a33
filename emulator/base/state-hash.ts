// A 64-bit hash of machine state, for comparing runs, not for resisting attacks. Two 32-bit lanes
// like MurmurHash3's body, over 32-bit words. RAM has a separate hash:
// machine/memory-hash.ts.

export class StateHash {
  #a = 0x9747_b28c | 0;
  #b = 0x3c6e_f372 | 0;
  #count = 0;

  word(value: number): void {
    let k = Math.imul(value, 0xcc9e_2d51);
    k = Math.imul((k << 15) | (k >>> 17), 0x1b87_3593);
    this.#a = (Math.imul(((this.#a ^ k) << 13) | ((this.#a ^ k) >>> 19), 5) + 0xe654_6b64) | 0;
    this.#b = Math.imul(this.#b ^ value, 0x85eb_ca6b);
    this.#b = (((this.#b << 17) | (this.#b >>> 15)) + this.#a) | 0;
    this.#count++;
  }

  /**
   * `word` for each of them; in locals, because millions of words pass here before the code is
   * optimised.
   */
  words(values: Int32Array, from = 0, to = values.length): void {
    let a = this.#a;
    let b = this.#b;
    for (let i = from; i < to; i++) {
      const value = values[i]!;
      let k = Math.imul(value, 0xcc9e_2d51);
      k = Math.imul((k << 15) | (k >>> 17), 0x1b87_3593);
      k ^= a;
      a = (Math.imul((k << 13) | (k >>> 19), 5) + 0xe654_6b64) | 0;
      b = Math.imul(b ^ value, 0x85eb_ca6b);
      b = (((b << 17) | (b >>> 15)) + a) | 0;
    }
    this.#a = a;
    this.#b = b;
    this.#count += to - from;
  }

  /** A word for the length, and one for each UTF-16 code unit. */
  text(value: string): void {
    const codes = new Int32Array(value.length);
    for (let i = 0; i < codes.length; i++) codes[i] = value.charCodeAt(i);
    this.word(value.length);
    this.words(codes);
  }

  /** The digest as two signed words. */
  get halves(): readonly [number, number] {
    const mix = (h: number): number => {
      let x = h ^ this.#count;
      x = Math.imul(x ^ (x >>> 16), 0x85eb_ca6b);
      x = Math.imul(x ^ (x >>> 13), 0xc2b2_ae35);
      return x ^ (x >>> 16);
    };
    return [mix(this.#a), mix(this.#b)];
  }

  /** 16 hexadecimal digits. */
  digest(): string {
    return this.halves.map(half => (half >>> 0).toString(16).padStart(8, '0')).join('');
  }
}
