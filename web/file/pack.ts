// Packs LZMA when the page is built; unpack.ts is the other direction, and names the format. The
// choice of matches is greedy with one byte of looking ahead, as in the fast mode of XZ Utils.
import {
  afterLiteral,
  afterMatch,
  afterRepeat,
  afterShortRepeat,
  isAfterLiteral,
  type LengthModel,
  model,
} from './unpack.ts';

const [LC, PB] = [3, 2];
const MATCH_MAX = 273;
/** Earlier places that are compared at most. */
const DEPTH = 128;
const HASH_BITS = 18;

/** Writes decisions; the counterpart of the decoder. */
class Encoder {
  #out = new Uint8Array(1 << 20);
  #length = 0;
  #low = 0; // up to 2^33
  #range = 0xffff_ffff;
  #cache = 0;
  #pending = 1;

  #put(byte: number): void {
    if (this.#length === this.#out.length) {
      const more = new Uint8Array(2 * this.#length);
      more.set(this.#out);
      this.#out = more;
    }
    this.#out[this.#length++] = byte;
  }

  /** A carry can still reach bytes of 255 and the one before them, so these wait. */
  #shift(): void {
    if (this.#low < 0xff00_0000 || this.#low > 0xffff_ffff) {
      const carry = this.#low > 0xffff_ffff ? 1 : 0;
      let byte = this.#cache;
      do {
        this.#put((byte + carry) & 255);
        byte = 255;
      } while (--this.#pending > 0);
      this.#cache = Math.floor(this.#low / 0x100_0000) & 255;
    }
    this.#pending++;
    this.#low = (this.#low % 0x100_0000) * 256;
  }

  bit(model: Uint16Array, i: number, bit: number): void {
    const p = model[i]!;
    const bound = (this.#range >>> 11) * p;
    if (bit === 0) {
      this.#range = bound;
      model[i] = p + ((2048 - p) >> 5);
    } else {
      this.#low += bound;
      this.#range -= bound;
      model[i] = p - (p >> 5);
    }
    while (this.#range < 0x100_0000) {
      this.#range = (this.#range << 8) >>> 0;
      this.#shift();
    }
  }

  tree(model: Uint16Array, bits: number, value: number): void {
    let m = 1;
    for (let i = bits - 1; i >= 0; i--) {
      const bit = (value >>> i) & 1;
      this.bit(model, m, bit);
      m = (m << 1) | bit;
    }
  }

  reverse(model: Uint16Array, base: number, bits: number, value: number): void {
    let m = 1;
    for (let i = 0; i < bits; i++) {
      const bit = (value >>> i) & 1;
      this.bit(model, base + m, bit);
      m = (m << 1) | bit;
    }
  }

  direct(bits: number, value: number): void {
    for (let i = bits - 1; i >= 0; i--) {
      this.#range >>>= 1;
      if ((value >>> i) & 1) this.#low += this.#range;
      while (this.#range < 0x100_0000) {
        this.#range = (this.#range << 8) >>> 0;
        this.#shift();
      }
    }
  }

  size(model: LengthModel, position: number, length: number): void {
    this.bit(model.choice, 0, length < 10 ? 0 : 1);
    if (length >= 10) this.bit(model.choice, 1, length < 18 ? 0 : 1);
    if (length < 10) this.tree(model.low[position]!, 3, length - 2);
    else if (length < 18) this.tree(model.middle[position]!, 3, length - 10);
    else this.tree(model.high, 8, length - 18);
  }

  distance(m: ReturnType<typeof model>, length: number, distance: number): void {
    const top = 31 - Math.clz32(distance);
    const slot = distance < 4 ? distance : 2 * top + ((distance >>> (top - 1)) & 1);
    this.tree(m.slots[Math.min(length - 2, 3)]!, 6, slot);
    if (slot < 4) return;
    const bits = (slot >> 1) - 1;
    const high = (2 | (slot & 1)) << bits;
    if (slot < 14) this.reverse(m.distances, high - slot, bits, distance - high);
    else {
      this.direct(bits - 4, (distance - high) >>> 4);
      this.reverse(m.align, 0, 4, distance & 15);
    }
  }

  finish(): Uint8Array {
    for (let i = 0; i < 5; i++) this.#shift();
    return this.#out.subarray(0, this.#length);
  }
}

interface Match {
  readonly length: number;
  /** Of the byte before: 0. */
  readonly distance: number;
}

/** Finds earlier places with the same bytes. */
class Matcher {
  readonly #bytes: Uint8Array;
  readonly #heads = [2, 3, 4].map(() => new Int32Array(1 << HASH_BITS).fill(-1));
  readonly #before: Int32Array;
  #next = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#before = new Int32Array(bytes.length);
  }

  #hash(at: number, count: number): number {
    const b = this.#bytes;
    const word =
      b[at]! | (b[at + 1]! << 8) | (count > 2 ? b[at + 2]! << 16 : 0) | (count > 3 ? b[at + 3]! << 24 : 0);
    return Math.imul(word, 0x9e37_79b1) >>> (32 - HASH_BITS);
  }

  same(at: number, from: number, max: number): number {
    const b = this.#bytes;
    let n = 0;
    while (n < max && b[at + n] === b[from + n]) n++;
    return n;
  }

  /** Makes all places below `end` known. */
  skip(end: number): void {
    for (; this.#next < end; this.#next++) {
      const at = this.#next;
      if (at + 4 > this.#bytes.length) continue;
      this.#before[at] = this.#heads[2]![this.#hash(at, 4)]!;
      for (const count of [2, 3, 4]) this.#heads[count - 2]![this.#hash(at, count)] = at;
    }
  }

  /** Ever longer matches of `at`, which is the next place: the nearest of each length. */
  find(at: number): Match[] {
    const found: Match[] = [];
    this.skip(at);
    const max = Math.min(MATCH_MAX, this.#bytes.length - at);
    if (max < 4) return found;
    let longest = 1;
    const compare = (from: number): void => {
      if (from < 0 || this.#bytes[from + longest] !== this.#bytes[at + longest]) return;
      const length = this.same(at, from, max);
      if (length <= longest) return;
      longest = length;
      found.push({ length, distance: at - from - 1 });
    };
    compare(this.#heads[0]![this.#hash(at, 2)]!);
    if (longest < max) compare(this.#heads[1]![this.#hash(at, 3)]!);
    let from = this.#heads[2]![this.#hash(at, 4)]!;
    for (let i = 0; i < DEPTH && from >= 0 && longest < max; i++) {
      compare(from);
      from = this.#before[from]!;
    }
    return found;
  }
}

/** Is the nearer distance worth more than a byte of length? */
const isMuchNearer = (near: number, far: number): boolean => near < far >>> 7;

/** One step: a literal, a match, or the distance of a recent match again. */
type Choice = { readonly length: number; readonly distance: number; readonly repeat: number };
const LITERAL: Choice = { length: 1, distance: -1, repeat: -1 };

class Parser {
  readonly #matcher: Matcher;
  readonly #size: number;
  #ahead: { at: number; matches: Match[] } | undefined;

  constructor(bytes: Uint8Array) {
    this.#matcher = new Matcher(bytes);
    this.#size = bytes.length;
  }

  #matches(at: number): Match[] {
    const matches = this.#ahead?.at === at ? this.#ahead.matches : this.#matcher.find(at);
    this.#ahead = undefined;
    return matches;
  }

  choose(at: number, recent: readonly number[]): Choice {
    const max = Math.min(MATCH_MAX, this.#size - at);
    const matches = this.#matches(at);
    let repeat: Choice = LITERAL;
    for (const [i, distance] of recent.entries()) {
      if (distance >= at) continue;
      const length = this.#matcher.same(at, at - distance - 1, max);
      if (length >= 2 && length > repeat.length) repeat = { length, distance, repeat: i };
    }
    if (repeat.length === MATCH_MAX) return repeat;
    const main = shortened(matches);
    if (main.length === MATCH_MAX) return { ...main, repeat: -1 };
    if (isRepeatBetter(repeat.length, main)) return repeat;
    if (main.length < 2 || max <= 2) return LITERAL;
    return this.#isNextBetter(at + 1, main, recent) ? LITERAL : { ...main, repeat: -1 };
  }

  /** Is a literal and what is behind it better than the match? */
  #isNextBetter(at: number, main: Match, recent: readonly number[]): boolean {
    const matches = this.#matcher.find(at);
    this.#ahead = { at, matches };
    const next = matches.at(-1);
    if (next) {
      const { length, distance } = next;
      if (
        (length >= main.length && distance < main.distance) ||
        (length === main.length + 1 && !isMuchNearer(main.distance, distance)) ||
        length > main.length + 1 ||
        (length + 1 >= main.length && main.length >= 3 && isMuchNearer(distance, main.distance))
      )
        return true;
    }
    const limit = Math.max(2, main.length - 1);
    return recent.some(
      distance => distance < at && this.#matcher.same(at, at - distance - 1, limit) === limit,
    );
  }
}

/** The longest match, or one that is little shorter and much nearer. */
function shortened(matches: readonly Match[]): Match {
  let i = matches.length - 1;
  let main = matches[i];
  if (!main) return LITERAL;
  while (
    i > 0 &&
    main.length === matches[i - 1]!.length + 1 &&
    isMuchNearer(matches[i - 1]!.distance, main.distance)
  )
    main = matches[--i]!;
  return main.length === 2 && main.distance >= 0x80 ? LITERAL : main;
}

const isRepeatBetter = (repeat: number, { length, distance }: Match): boolean =>
  repeat >= 2 &&
  (repeat + 1 >= length ||
    (repeat + 2 >= length && distance > 1 << 9) ||
    (repeat + 3 >= length && distance > 1 << 15));

/** The LZMA file of these contents. */
export function pack(bytes: Uint8Array): Uint8Array {
  const m = model(LC, PB);
  const out = new Encoder();
  const parser = new Parser(bytes);
  const recent = [0, 0, 0, 0];
  let state = 0;
  for (let at = 0; at < bytes.length; ) {
    const { length, distance, repeat } = parser.choose(at, recent);
    const position = at & ((1 << PB) - 1);
    const isShortRepeat = length === 1 && recent[0]! < at && bytes[at] === bytes[at - recent[0]! - 1];
    if (length === 1 && !(isShortRepeat && !isAfterLiteral(state))) {
      out.bit(m.isMatch[state]!, position, 0);
      literal(
        out,
        m.literals[(at > 0 ? bytes[at - 1]! : 0) >> (8 - LC)]!,
        bytes,
        at,
        isAfterLiteral(state) ? -1 : recent[0]!,
      );
      state = afterLiteral(state);
      at++;
      continue;
    }
    out.bit(m.isMatch[state]!, position, 1);
    if (length === 1) {
      out.bit(m.isRepeat, state, 1);
      out.bit(m.isRepeat1, state, 0);
      out.bit(m.isLong[state]!, position, 0);
      state = afterShortRepeat(state);
      at++;
      continue;
    }
    out.bit(m.isRepeat, state, repeat < 0 ? 0 : 1);
    if (repeat < 0) {
      out.size(m.matches, position, length);
      out.distance(m, length, distance);
      recent.pop();
      recent.unshift(distance);
      state = afterMatch(state);
    } else {
      out.bit(m.isRepeat1, state, repeat === 0 ? 0 : 1);
      if (repeat === 0) out.bit(m.isLong[state]!, position, 1);
      else {
        out.bit(m.isRepeat2, state, repeat === 1 ? 0 : 1);
        if (repeat > 1) out.bit(m.isRepeat3, state, repeat === 2 ? 0 : 1);
      }
      recent.splice(repeat, 1);
      recent.unshift(distance);
      out.size(m.repeats, position, length);
      state = afterRepeat(state);
    }
    at += length;
  }
  return withHeader(bytes.length, out.finish());
}

function literal(out: Encoder, model: Uint16Array, bytes: Uint8Array, at: number, distance: number): void {
  const byte = bytes[at]!;
  const expected = distance < 0 ? -1 : bytes[at - distance - 1]!;
  let symbol = 1;
  let isSame = expected >= 0;
  for (let i = 7; i >= 0; i--) {
    const bit = (byte >> i) & 1;
    const wanted = (expected >> i) & 1;
    out.bit(model, isSame ? ((1 + wanted) << 8) + symbol : symbol, bit);
    if (bit !== wanted) isSame = false;
    symbol = (symbol << 1) | bit;
  }
}

/** Properties, dictionary and size before the stream. */
function withHeader(size: number, stream: Uint8Array): Uint8Array {
  const file = new Uint8Array(13 + stream.length);
  const view = new DataView(file.buffer);
  file[0] = (PB * 5 + 0) * 9 + LC;
  view.setUint32(1, 2 ** Math.ceil(Math.log2(Math.max(size, 4096))), true);
  view.setUint32(5, size, true);
  file.set(stream, 13);
  return file;
}
