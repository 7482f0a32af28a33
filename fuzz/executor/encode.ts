// A program as the agent's words, and the memory to which its arguments point.
import { type Direction, FuzzError, type Type } from '../language/types.ts';
import { type Arg, type Call, itemType, type Program, sizeOf, visit } from '../program/program.ts';
import { type Arena, arenaOf, CALL_FORKS, CONTROL, LAYOUT, OP, VMA_BASE } from './layout.ts';

export interface Encoded {
  /** Initial values of the slots that hold resources. */
  readonly slots: readonly bigint[];
  readonly words: readonly bigint[];
  /** Of the second thread, where there is one. */
  readonly other: readonly bigint[] | undefined;
  /** The beginning of the arena; the rest is zero. */
  readonly arena: Uint8Array;
}

const NO_SLOT = (1n << 64n) - 1n;
const ALIGN = 16;
const PAGE = 4096n;
const WORDS_MAX = (LAYOUT.CONTROL_BYTES - CONTROL.PROGRAM) / 8;

interface Stored {
  readonly address: bigint;
  readonly bytes: number;
  readonly slot: number;
}

class Encoder {
  readonly #arena: Arena;
  readonly #slots = new Map<string, number>();
  readonly slots: bigint[] = [];
  readonly words: bigint[] = [];
  readonly other: bigint[] = [];
  arena = new Uint8Array(1024);
  used = 0;

  constructor(arena: Arena) {
    this.#arena = arena;
  }

  program({ calls }: Program, hasThreads: boolean): void {
    for (const call of calls)
      visit(call, ({ arg }) => {
        if (arg.kind !== 'ref') return;
        const key = `${arg.call}.${arg.out}`;
        if (this.#slots.has(key)) return;
        this.#slots.set(key, this.slots.length);
        this.slots.push(arg.value);
      });
    if (this.slots.length > LAYOUT.MAX_SLOTS || calls.length > LAYOUT.MAX_CALLS)
      throw new FuzzError(`${calls.length} calls with ${this.slots.length} resources are too many`);
    const go = hasThreads ? calls.findIndex(({ thread }) => thread > 0) : -1;
    for (const [index, call] of calls.entries()) {
      if (index === go) this.words.push(BigInt(OP.GO));
      this.#call(index, call, hasThreads && call.thread === 2 ? this.other : this.words);
    }
    for (const words of [this.words, this.other]) {
      words.push(BigInt(OP.END));
      if (words.length > WORDS_MAX) throw new FuzzError(`the program takes ${words.length} words`);
    }
  }

  #call(index: number, call: Call, words: bigint[]): void {
    const stores: Stored[] = [];
    const loads: Stored[] = [];
    let out = 0;
    const place = (type: Type, arg: Arg, direction: Direction, at: number): number => {
      if (arg.kind === 'group')
        return arg.items.reduce((end, item, i) => place(itemType(type, i), item, direction, end), at);
      const bytes = sizeOf(type, arg);
      if (type.kind === 'resource' && direction !== 'in') {
        const slot = this.#slots.get(`${index}.${++out}`);
        if (slot !== undefined) loads.push({ address: BigInt(this.#arena.at + at), bytes, slot });
      }
      if (arg.kind === 'bytes') this.arena.set(arg.data, at);
      else if (arg.kind === 'ref') {
        const slot = this.#slots.get(`${arg.call}.${arg.out}`)!;
        stores.push({ address: BigInt(this.#arena.at + at), bytes, slot });
      } else this.#put(at, bytes, value(type, arg));
      return at + bytes;
    };
    const pointed = (type: Type, arg: Arg, direction: Direction): bigint => {
      const bytes = sizeOf(type, arg);
      const at = this.used;
      if (at + bytes > this.#arena.bytes) throw new FuzzError('the memory of the arguments is full');
      this.used = Math.ceil((at + bytes) / ALIGN) * ALIGN;
      this.#provide(this.used);
      place(type, arg, direction, at);
      return BigInt(this.#arena.at + at);
    };
    const value = (type: Type, arg: Arg): bigint => {
      if (arg.kind === 'int') return arg.value;
      if (arg.kind === 'vma') return BigInt(VMA_BASE) + BigInt(arg.page) * PAGE;
      if (arg.kind === 'pointer' && type.kind === 'pointer')
        return arg.to ? pointed(type.to, arg.to, type.direction) : 0n;
      throw new Error(`${arg.kind} is no value`);
    };
    const args: bigint[] = [];
    for (const [i, field] of call.type.args.entries()) {
      const arg = call.args[i]!;
      if (arg.kind === 'ref') args.push(1n, BigInt(this.#slots.get(`${arg.call}.${arg.out}`)!));
      else args.push(0n, inRegister(field.type, value(field.type, arg)));
    }
    while (args.length < 12) args.push(0n);
    for (const { address, bytes, slot } of stores)
      words.push(BigInt(OP.STORE), address, BigInt(bytes), BigInt(slot));
    const slot = this.#slots.get(`${index}.0`);
    words.push(
      BigInt(OP.CALL),
      BigInt(call.type.number),
      call.type.forks ? BigInt(CALL_FORKS) : 0n,
      BigInt(call.failNth),
      slot === undefined ? NO_SLOT : BigInt(slot),
      ...args,
    );
    for (const { address, bytes, slot } of loads)
      words.push(BigInt(OP.LOAD), address, BigInt(bytes), BigInt(slot));
  }

  #provide(bytes: number): void {
    if (bytes <= this.arena.length) return;
    const larger = new Uint8Array(Math.max(bytes, 2 * this.arena.length));
    larger.set(this.arena);
    this.arena = larger;
  }

  #put(at: number, bytes: number, value: bigint): void {
    for (let i = 0, rest = value; i < bytes; i++, rest >>= 8n) this.arena[at + i] = Number(rest & 255n);
  }
}

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
 * makes all calls in their order. Errors: FuzzError when the agent has no room for it.
 */
export function encode(program: Program, hasThreads = false, arena = arenaOf('own')): Encoded {
  const encoder = new Encoder(arena);
  encoder.program(program, hasThreads);
  const { slots, words, other, used } = encoder;
  const memory = encoder.arena.subarray(0, used);
  return { slots, words, other: other.length > 1 ? other : undefined, arena: memory };
}
