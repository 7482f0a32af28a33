// Code with labels, in half-words, so that 32-bit instructions can lie across a page's end.

import { encode, type Mnemonic } from '../../../emulator/isa/index.ts';

type Fields = NonNullable<Parameters<typeof encode>[1]>;

/** A place in the code; set once. */
export class Place {
  at = -1;
}

interface Fixup {
  readonly at: number;
  readonly to: Place;
  readonly write: (distance: number) => number;
}

const C_NOP = 1;

export class Assembly {
  /** Address of the first half-word. */
  readonly base: number;
  readonly #halves: number[] = [];
  readonly #fixups: Fixup[] = [];
  readonly #later: (() => void)[] = [];

  constructor(base: number) {
    this.base = base;
  }

  get pc(): number {
    return this.base + 2 * this.#halves.length;
  }

  put(name: Mnemonic, fields: Fields = {}): this {
    return this.word(encode(name, fields));
  }

  word(word: number): this {
    this.#halves.push(word & 0xffff, word >>> 16);
    return this;
  }

  cNop(): this {
    this.#halves.push(C_NOP);
    return this;
  }

  /** No-operations up to a displacement from the base. */
  skipTo(offset: number): this {
    while (this.pc < this.base + offset) this.cNop();
    return this;
  }

  here(place = new Place()): Place {
    place.at = this.pc;
    return place;
  }

  /** An instruction whose immediate is the distance to a place. */
  toward(name: Mnemonic, to: Place, fields: Fields = {}): this {
    this.#fixups.push({ at: this.pc, to, write: imm => encode(name, { ...fields, imm }) });
    return this.word(0);
  }

  /** The address of a place, by `auipc` and `addi`. */
  address(rd: number, to: Place): this {
    const from = this.pc;
    const low = (distance: number): number => (distance << 20) >> 20;
    this.#fixups.push({ at: from, to, write: d => encode('auipc', { rd, imm: d - low(d) }) });
    this.word(0);
    this.#fixups.push({ at: this.pc, to, write: d => encode('addi', { rd, rs1: rd, imm: low(d + 4) }) });
    return this.word(0);
  }

  /** Code and data after the main code: functions, tables. */
  later(write: () => void): void {
    this.#later.push(write);
  }

  /** Address of a place as 64 bits of data. */
  pointer(to: Place): this {
    const at = this.pc;
    this.#fixups.push({ at, to, write: distance => at + distance });
    return this.word(0).word(0);
  }

  finish(): Uint8Array {
    for (let write = this.#later.shift(); write; write = this.#later.shift()) write();
    for (const { at, to, write } of this.#fixups) {
      if (to.at < 0) throw new Error('a place was never set');
      const word = write(to.at - at);
      const i = (at - this.base) / 2;
      this.#halves[i] = word & 0xffff;
      this.#halves[i + 1] = word >>> 16;
    }
    return new Uint8Array(Uint16Array.from(this.#halves).buffer);
  }
}
