// Unpacks LZMA, the compression of the page as one file. A browser has DEFLATE of its own, but the
// window of DEFLATE is 32 KiB: debug information and programs with one C library take 60 % more.
// The format is that of the LZMA SDK (lzma-specification.txt, 9.20): properties, size of the
// dictionary, size of the contents, stream. The contents are one buffer, which is the dictionary.

const HEADER = 13;
export const STATES = 12;
/** Literals behind a match take the byte that the match would have gone on with as a context. */
export const isAfterLiteral = (state: number): boolean => state < 7;
export const afterLiteral = (state: number): number => (state < 4 ? 0 : state < 10 ? state - 3 : state - 6);
export const afterMatch = (state: number): number => (state < 7 ? 7 : 10);
export const afterRepeat = (state: number): number => (state < 7 ? 8 : 11);
export const afterShortRepeat = (state: number): number => (state < 7 ? 9 : 11);

/** Probabilities of one kind of decision, each one half at first. */
const half = (count: number): Uint16Array => new Uint16Array(count).fill(1024);
const halves = (rows: number, count: number): Uint16Array[] =>
  Array.from({ length: rows }, () => half(count));

export interface LengthModel {
  readonly choice: Uint16Array;
  readonly low: readonly Uint16Array[];
  readonly middle: readonly Uint16Array[];
  readonly high: Uint16Array;
}
const lengthModel = (positions: number): LengthModel => ({
  choice: half(2),
  low: halves(positions, 8),
  middle: halves(positions, 8),
  high: half(256),
});

/** All that the coder has learned, for `lc` bits of the byte before and `pb` of the position. */
export const model = (lc: number, pb: number) => ({
  literals: halves(1 << lc, 0x300),
  isMatch: halves(STATES, 1 << pb),
  isRepeat: half(STATES),
  isRepeat1: half(STATES),
  isRepeat2: half(STATES),
  isRepeat3: half(STATES),
  isLong: halves(STATES, 1 << pb),
  slots: halves(4, 64),
  distances: half(128),
  align: half(16),
  matches: lengthModel(1 << pb),
  repeats: lengthModel(1 << pb),
});

/** Reads decisions from the stream. */
class Decoder {
  readonly #bytes: Uint8Array;
  #at: number;
  #range = 0xffff_ffff;
  #code = 0;

  constructor(bytes: Uint8Array, start: number) {
    this.#bytes = bytes;
    this.#at = start + 1; // the first byte is always 0
    for (let i = 0; i < 4; i++) this.#code = ((this.#code << 8) | bytes[this.#at++]!) >>> 0;
  }

  #normalize(): void {
    if (this.#range >= 0x0100_0000) return;
    if (this.#at >= this.#bytes.length) throw new Error('the data of this page is cut off');
    this.#range = (this.#range << 8) >>> 0;
    this.#code = ((this.#code << 8) | this.#bytes[this.#at++]!) >>> 0;
  }

  bit(model: Uint16Array, i: number): number {
    const p = model[i]!;
    const bound = (this.#range >>> 11) * p;
    const bit = this.#code < bound ? 0 : 1;
    if (bit === 0) {
      this.#range = bound;
      model[i] = p + ((2048 - p) >> 5);
    } else {
      this.#range = (this.#range - bound) >>> 0;
      this.#code = (this.#code - bound) >>> 0;
      model[i] = p - (p >> 5);
    }
    this.#normalize();
    return bit;
  }

  tree(model: Uint16Array, bits: number): number {
    let m = 1;
    for (let i = 0; i < bits; i++) m = (m << 1) | this.bit(model, m);
    return m - (1 << bits);
  }

  /** The lowest bit first; `base` is added to the places in the model. */
  reverse(model: Uint16Array, base: number, bits: number): number {
    let m = 1;
    let value = 0;
    for (let i = 0; i < bits; i++) {
      const bit = this.bit(model, base + m);
      m = (m << 1) | bit;
      value |= bit << i;
    }
    return value;
  }

  /** Bits without a model. */
  direct(bits: number): number {
    let value = 0;
    for (let i = 0; i < bits; i++) {
      this.#range >>>= 1;
      const bit = this.#code >= this.#range ? 1 : 0;
      if (bit) this.#code = (this.#code - this.#range) >>> 0;
      value = ((value << 1) | bit) >>> 0;
      this.#normalize();
    }
    return value;
  }

  length(model: LengthModel, position: number): number {
    if (!this.bit(model.choice, 0)) return 2 + this.tree(model.low[position]!, 3);
    if (!this.bit(model.choice, 1)) return 10 + this.tree(model.middle[position]!, 3);
    return 18 + this.tree(model.high, 8);
  }

  distance(m: ReturnType<typeof model>, length: number): number {
    const slot = this.tree(m.slots[Math.min(length - 2, 3)]!, 6);
    if (slot < 4) return slot;
    const bits = (slot >> 1) - 1;
    const high = ((2 | (slot & 1)) << bits) >>> 0;
    if (slot < 14) return high + this.reverse(m.distances, high - slot, bits);
    return high + this.direct(bits - 4) * 16 + this.reverse(m.align, 0, 4);
  }
}

/** The contents of an LZMA file. Errors: one line; only a damaged page has them. */
export function unpack(bytes: Uint8Array): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const props = bytes[0]!;
  const [lc, pb] = [props % 9, Math.floor(props / 45)];
  const out = new Uint8Array(view.getUint32(5, true));
  const m = model(lc, pb);
  const input = new Decoder(bytes, HEADER);
  const mask = (1 << pb) - 1;
  let state = 0;
  let [d0, d1, d2, d3] = [0, 0, 0, 0];
  let at = 0;
  while (at < out.length) {
    const position = at & mask;
    if (!input.bit(m.isMatch[state]!, position)) {
      const literal = m.literals[(at > 0 ? out[at - 1]! : 0) >> (8 - lc)]!;
      let symbol = 1;
      if (!isAfterLiteral(state)) {
        let expected = out[at - d0 - 1]!;
        while (symbol < 0x100) {
          const bit = (expected >> 7) & 1;
          expected <<= 1;
          const own = input.bit(literal, ((1 + bit) << 8) + symbol);
          symbol = (symbol << 1) | own;
          if (own !== bit) break;
        }
      }
      while (symbol < 0x100) symbol = (symbol << 1) | input.bit(literal, symbol);
      out[at++] = symbol;
      state = afterLiteral(state);
      continue;
    }
    let length: number;
    if (!input.bit(m.isRepeat, state)) {
      [d1, d2, d3] = [d0, d1, d2];
      length = input.length(m.matches, position);
      d0 = input.distance(m, length);
      state = afterMatch(state);
    } else {
      if (!input.bit(m.isRepeat1, state)) {
        if (!input.bit(m.isLong[state]!, position)) {
          state = afterShortRepeat(state);
          out[at] = out[at - d0 - 1]!;
          at++;
          continue;
        }
      } else {
        let d = d1;
        if (input.bit(m.isRepeat2, state)) {
          d = d2;
          if (input.bit(m.isRepeat3, state)) {
            d = d3;
            d3 = d2;
          }
          d2 = d1;
        }
        d1 = d0;
        d0 = d;
      }
      length = input.length(m.repeats, position);
      state = afterRepeat(state);
    }
    if (d0 >= at) throw new Error('the data of this page is damaged');
    const end = Math.min(at + length, out.length);
    for (let from = at - d0 - 1; at < end; ) out[at++] = out[from++]!;
  }
  return out;
}
