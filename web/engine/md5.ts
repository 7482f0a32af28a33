// The MD5 sum of a source text (RFC 1321): clang names texts by it, and browsers have no function
// for it. A library of hashes has 2.4 kB packed, of the 800 kB of a first visit.

/** Rotations of the four rounds (3.4). */
const TURNS = [
  [7, 12, 17, 22],
  [5, 9, 14, 20],
  [4, 11, 16, 23],
  [6, 10, 15, 21],
] as const;
/** A round takes word `a * i + b` of the block at step i. */
const WORDS = [
  [1, 0],
  [5, 1],
  [3, 5],
  [7, 0],
] as const;
const BLOCK = 64;

/** In hexadecimal. */
export function md5(text: Uint8Array): string {
  const padded = new DataView(new ArrayBuffer((((text.length + 8) >> 6) + 1) * BLOCK));
  new Uint8Array(padded.buffer).set(text);
  padded.setUint8(text.length, 0x80);
  padded.setBigUint64(padded.byteLength - 8, BigInt(text.length) * 8n, true);
  const sum = Uint32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476);
  for (let at = 0; at < padded.byteLength; at += BLOCK) {
    let [a, b, c, d] = sum as unknown as [number, number, number, number];
    for (let i = 0; i < 64; i++) {
      const round = i >> 4;
      const mixed = [(b & c) | (~b & d), (d & b) | (~d & c), b ^ c ^ d, c ^ (b | ~d)][round]!;
      const [factor, first] = WORDS[round]!;
      const word = padded.getUint32(at + ((factor * i + first) & 15) * 4, true);
      const constant = Math.floor(2 ** 32 * Math.abs(Math.sin(i + 1)));
      const turned = (a + mixed + word + constant) | 0;
      const turn = TURNS[round]![i & 3]!;
      [a, d, c, b] = [d, c, b, (b + ((turned << turn) | (turned >>> (32 - turn)))) | 0];
    }
    for (const [i, value] of [a, b, c, d].entries()) sum[i]! += value;
  }
  const bytes = new DataView(sum.buffer);
  for (const [i, value] of sum.entries()) bytes.setUint32(i * 4, value, true);
  return [...new Uint8Array(sum.buffer)].map(byte => byte.toString(16).padStart(2, '0')).join('');
}
