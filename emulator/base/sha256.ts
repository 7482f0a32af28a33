/**
 * SHA-256 (FIPS 180-4), synchronous and without host help, so that an image has the same name in
 * Node and in a page. Used only to name images that carry no build id; about 150 MB/s.
 */

const K = new Uint32Array(64);
const INITIAL = new Uint32Array(8);

/**
 * The constants are the first 32 bits of the fractions of cube and square roots of the first primes
 * (§4.2.2, §5.3.3).
 */
function fillConstants(): void {
  const fraction = (x: number) => ((x - Math.floor(x)) * 0x1_0000_0000) >>> 0;
  let found = 0;
  for (let n = 2; found < 64; n++) {
    let prime = true;
    for (let d = 2; d * d <= n; d++) if (n % d === 0) prime = false;
    if (!prime) continue;
    if (found < 8) INITIAL[found] = fraction(Math.sqrt(n));
    K[found++] = fraction(Math.cbrt(n));
  }
}
fillConstants();

export class Sha256 {
  private readonly state = INITIAL.slice();
  private readonly block = new Uint8Array(64);
  private readonly schedule = new Int32Array(64);
  private used = 0;
  private total = 0;

  update(bytes: Uint8Array): this {
    this.total += bytes.length;
    for (let at = 0; at < bytes.length; ) {
      const count = Math.min(64 - this.used, bytes.length - at);
      this.block.set(bytes.subarray(at, at + count), this.used);
      this.used += count;
      at += count;
      if (this.used === 64) this.compress();
    }
    return this;
  }

  hex(): string {
    const bits = this.total * 8;
    this.block.fill(0, this.used);
    this.block[this.used] = 0x80;
    if (this.used >= 56) {
      this.compress();
      this.block.fill(0);
    }
    const view = new DataView(this.block.buffer);
    view.setUint32(56, Math.floor(bits / 0x1_0000_0000));
    view.setUint32(60, bits >>> 0);
    this.compress();
    return [...this.state].map(word => word.toString(16).padStart(8, '0')).join('');
  }

  private compress(): void {
    const w = this.schedule;
    const s = this.state;
    const block = this.block;
    for (let i = 0; i < 16; i++) {
      w[i] = (block[4 * i]! << 24) | (block[4 * i + 1]! << 16) | (block[4 * i + 2]! << 8) | block[4 * i + 3]!;
    }
    for (let i = 16; i < 64; i++) {
      const x = w[i - 15]!;
      const y = w[i - 2]!;
      const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
      const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
      w[i] = (w[i - 16]! + s0 + w[i - 7]! + s1) | 0;
    }
    let [a, b, c, d, e, f, g, h] = s as unknown as number[] as [
      number,
      number,
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    for (let i = 0; i < 64; i++) {
      const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
      const t1 = (h + s1 + ((e & f) ^ (~e & g)) + K[i]! + w[i]!) | 0;
      const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + t1) | 0;
      d = c;
      c = b;
      b = a;
      a = (t1 + t2) | 0;
    }
    const out = [a, b, c, d, e, f, g, h];
    for (let i = 0; i < 8; i++) s[i] = (s[i]! + out[i]!) >>> 0;
    this.used = 0;
  }
}
