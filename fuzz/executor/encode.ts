// A program as the agent's words, and the memory to which its arguments point.
import { type Direction, FuzzError, type Type } from '../language/types.ts';
import { type Arg, type Call, itemType, type Program, sizeOf } from '../program/program.ts';
import { type Arena, arenaOf, CALL_FORKS, CONTROL, LAYOUT, OP, VMA_BASE } from './layout.ts';

/** All words are modulo 2^64. Arrays are valid until the next program is encoded. */
export interface Encoded {
  /** Initial values of the slots that hold resources. */
  readonly slots: readonly bigint[];
  readonly words: BigUint64Array;
  /** Of the second thread, where there is one. */
  readonly other: BigUint64Array | undefined;
  /** The beginning of the arena; the rest is zero. */
  readonly arena: Uint8Array;
}

/** The agent has no room for a program. */
export class NoRoom extends FuzzError {}

const ALIGN = 16;
const PAGE = 4096;
/** Type and value of each argument in a register. */
const ARGS_WORDS = 12;
const WORDS_MAX = (LAYOUT.CONTROL_BYTES - CONTROL.PROGRAM) / 8;

/** A list of words. Programs are encoded for each execution, so numbers become no BigInt. */
class Words {
  readonly #halves = new Uint32Array(2 * WORDS_MAX);
  readonly #words = new BigUint64Array(this.#halves.buffer);
  length = 0;

  number(...values: readonly number[]): void {
    this.#reserve(values.length);
    for (const value of values) {
      this.#halves[2 * this.length] = value;
      this.#halves[2 * this.length++ + 1] = 0;
    }
  }

  word(value: bigint): void {
    this.#reserve(1);
    this.#words[this.length++] = value;
  }

  #reserve(count: number): void {
    if (this.length + count > WORDS_MAX) throw new NoRoom(`the program takes more than ${WORDS_MAX} words`);
  }

  get view(): BigUint64Array {
    return this.#words.subarray(0, this.length);
  }
}

/** Memory that is written from its beginning and zero elsewhere. */
class Memory {
  readonly #bytes = new Uint8Array(LAYOUT.ARENA_BYTES);
  readonly #view = new DataView(this.#bytes.buffer);
  used = 0;

  bytes(at: number, data: Uint8Array): void {
    this.#bytes.set(data, at);
  }

  /** The low bytes of a value: 1, 2, 4 or 8. */
  value(at: number, bytes: number, value: bigint): void {
    const low = Number(BigInt.asUintN(32, value));
    if (bytes === 8) this.#view.setBigUint64(at, value, true);
    else if (bytes === 4) this.#view.setUint32(at, low, true);
    else if (bytes === 2) this.#view.setUint16(at, low, true);
    else this.#view.setUint8(at, low);
  }

  get view(): Uint8Array {
    return this.#bytes.subarray(0, this.used);
  }

  clear(): void {
    this.#bytes.fill(0, 0, this.used);
    this.used = 0;
  }
}

interface Stored {
  readonly at: number;
  readonly bytes: number;
  readonly slot: number;
}

// Room for one program.
const WORDS = new Words();
const OTHER = new Words();
const MEMORY = new Memory();

/** The place of a resource among all that the calls of a program make. */
const keyOf = (call: number, out: number): number => call * 0x1_0000 + out;

class Encoder {
  readonly #arena: Arena;
  readonly #memory: Memory;
  readonly #slots = new Map<number, number>();
  readonly slots: bigint[] = [];

  constructor(arena: Arena, memory: Memory) {
    this.#arena = arena;
    this.#memory = memory;
  }

  program({ calls }: Program, hasThreads: boolean, words: Words, other: Words): void {
    for (const call of calls) for (const arg of call.args) this.#findSlots(arg);
    if (this.slots.length > LAYOUT.MAX_SLOTS || calls.length > LAYOUT.MAX_CALLS)
      throw new NoRoom(`${calls.length} calls with ${this.slots.length} resources are too many`);
    const go = hasThreads ? calls.findIndex(({ thread }) => thread > 0) : -1;
    for (const [index, call] of calls.entries()) {
      if (index === go) words.number(OP.GO);
      this.#call(index, call, hasThreads && call.thread === 2 ? other : words);
    }
    words.number(OP.END);
    other.number(OP.END);
  }

  #findSlots(arg: Arg): void {
    if (arg.kind === 'group') for (const item of arg.items) this.#findSlots(item);
    else if (arg.kind === 'pointer' && arg.to) this.#findSlots(arg.to);
    else if (arg.kind === 'ref' && !this.#slots.has(keyOf(arg.call, arg.out))) {
      this.#slots.set(keyOf(arg.call, arg.out), this.slots.length);
      this.slots.push(arg.value);
    }
  }

  #slotOf({ call, out }: Extract<Arg, { kind: 'ref' }>): number {
    return this.#slots.get(keyOf(call, out))!;
  }

  #call(index: number, call: Call, words: Words): void {
    const stores: Stored[] = [];
    const loads: Stored[] = [];
    const memory = this.#memory;
    let out = 0;
    const place = (type: Type, arg: Arg, direction: Direction, at: number): number => {
      if (arg.kind === 'group')
        return arg.items.reduce((end, item, i) => place(itemType(type, i), item, direction, end), at);
      const bytes = sizeOf(type, arg);
      if (type.kind === 'resource' && direction !== 'in') {
        const slot = this.#slots.get(keyOf(index, ++out));
        if (slot !== undefined) loads.push({ at, bytes, slot });
      }
      if (arg.kind === 'bytes') memory.bytes(at, arg.data);
      else if (arg.kind === 'ref') stores.push({ at, bytes, slot: this.#slotOf(arg) });
      else memory.value(at, bytes, value(type, arg));
      return at + bytes;
    };
    const pointed = (type: Type, arg: Arg, direction: Direction): bigint => {
      const bytes = sizeOf(type, arg);
      const at = memory.used;
      if (at + bytes > this.#arena.bytes) throw new NoRoom('the memory of the arguments is full');
      memory.used = Math.ceil((at + bytes) / ALIGN) * ALIGN;
      place(type, arg, direction, at);
      return BigInt(this.#arena.at + at);
    };
    const value = (type: Type, arg: Arg): bigint => {
      if (arg.kind === 'int') return arg.value;
      if (arg.kind === 'vma') return BigInt(VMA_BASE + arg.page * PAGE);
      if (arg.kind === 'pointer' && type.kind === 'pointer')
        return arg.to ? pointed(type.to, arg.to, type.direction) : 0n;
      throw new Error(`${arg.kind} is no value`);
    };
    // Stores come before the call, and are known when its arguments are.
    const args = call.type.args.map(({ type }, i) => {
      const arg = call.args[i]!;
      return arg.kind === 'ref' ? arg : inRegister(type, value(type, arg));
    });
    for (const { at, bytes, slot } of stores) words.number(OP.STORE, this.#arena.at + at, bytes, slot);
    words.number(OP.CALL, call.type.number, call.type.forks ? CALL_FORKS : 0, call.failNth);
    const slot = this.#slots.get(keyOf(index, 0));
    if (slot === undefined) words.word(NO_SLOT);
    else words.number(slot);
    const end = words.length + ARGS_WORDS;
    for (const arg of args) {
      if (typeof arg === 'bigint') {
        words.number(0);
        words.word(arg);
      } else words.number(1, this.#slotOf(arg));
    }
    while (words.length < end) words.number(0);
    for (const { at, bytes, slot } of loads) words.number(OP.LOAD, this.#arena.at + at, bytes, slot);
  }
}

const NO_SLOT = (1n << 64n) - 1n;

/** Narrow numbers are extended by their sign, as C does with an int. */
function inRegister(type: Type, value: bigint): bigint {
  const width = type.kind === 'resource' ? type.resource.width : 'width' in type ? type.width : 8;
  return width === 4 ? BigInt.asUintN(64, BigInt.asIntN(32, value)) : value;
}

/** The memory to which the first argument of the last call points. */
export function inputOf({ calls }: Program): Uint8Array {
  const { type, args } = calls.at(-1)!;
  const [first, arg] = [type.args[0]?.type, args[0]];
  if (first?.kind !== 'pointer' || arg?.kind !== 'pointer' || !arg.to) return new Uint8Array();
  const { arena } = encode({ calls: [calls.at(-1)!] });
  return arena.slice(0, sizeOf(first.to, arg.to));
}

/**
 * `hasThreads`: the agent has a second thread, which makes its own calls; otherwise one thread
 * makes all calls in their order. Errors: NoRoom when the agent has none for it.
 */
export function encode(program: Program, hasThreads = false, arena = arenaOf('own')): Encoded {
  MEMORY.clear();
  WORDS.length = 0;
  OTHER.length = 0;
  const encoder = new Encoder(arena, MEMORY);
  encoder.program(program, hasThreads, WORDS, OTHER);
  const other = OTHER.length > 1 ? OTHER.view : undefined;
  return { slots: encoder.slots, words: WORDS.view, other, arena: MEMORY.view };
}
