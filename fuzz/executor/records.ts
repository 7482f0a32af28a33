// Where the records of the agent's kcov are, and how the mode of kcov is chosen.
import { HostError, type Machine } from '../../emulator/index.ts';
import { LAYOUT } from './layout.ts';

/** The records of kcov during a program: points of the kernel, or comparisons. */
export type Mode = 'pc' | 'cmp';

/** Halves of a record: a point, or type, two operands and the place. */
export const HALVES = { pc: 2, cmp: 8 } as const;

const MODE_BITS = { pc: 1, cmp: 2 } as const;
const CONTEXT_MODE = 0;
const CONTEXT_AREA = 8;
const PAGE = 4096;
const HALVES_PER_PAGE = PAGE / 4;

/** Of one thread. */
export interface Records {
  /** In halves; the first two are their number. */
  readonly area: Uint32Array;
  /** Those of deferred work. */
  readonly extra: Uint32Array;
  /** Before a program runs. */
  choose(mode: Mode): void;
  /** Behind a program: `area` and `extra` are what the guest has recorded. */
  collect(mode: Mode): void;
}

/** A live view of `words` words of RAM. Errors: HostError where they are not in RAM. */
export function halvesAt({ ram }: Machine, pa: number, words: number): Uint32Array {
  if (!ram.has(pa, words * 8)) throw new HostError('the buffer of kcov is outside RAM');
  return new Uint32Array(ram.data.buffer, ram.data.byteOffset + pa - ram.base, words * 2);
}

/**
 * Of kcovbox's own kernel: buffers are one piece of RAM each, and the block of the thread has mode
 * and buffer.
 */
export class OwnRecords implements Records {
  readonly area: Uint32Array;
  readonly extra: Uint32Array;
  readonly #machine: Machine;
  readonly #context: number;

  /** `context`: physical address of the thread's block; `extra`: that of the other buffer. */
  constructor(machine: Machine, context: number, extra: number) {
    this.#machine = machine;
    this.#context = context;
    this.area = halvesAt(machine, Number(machine.ram.read64(context + CONTEXT_AREA)), LAYOUT.AREA_WORDS);
    this.extra = halvesAt(machine, extra, LAYOUT.EXTRA_WORDS);
  }

  choose(mode: Mode): void {
    this.#machine.ram.write32(this.#context + CONTEXT_MODE, MODE_BITS[mode]);
  }

  collect(): void {}
}

/** Of a kernel that hooks are linked with: a buffer at a fixed place, and no deferred work. */
export class LinkedRecords implements Records {
  readonly area: Uint32Array;
  readonly extra = new Uint32Array(2);
  readonly #machine: Machine;
  readonly #mode: number;

  /** Physical addresses of the buffer and of the word that chooses the mode. */
  constructor(machine: Machine, area: number, mode: number) {
    this.#machine = machine;
    this.area = halvesAt(machine, area, LAYOUT.AREA_WORDS);
    this.#mode = mode;
  }

  choose(mode: Mode): void {
    this.#machine.ram.write32(this.#mode, MODE_BITS[mode]);
  }

  collect(): void {}
}

/**
 * Buffers that are anywhere in RAM, page by page, in the memory of the agent alone: copied behind
 * each execution.
 */
export class CopiedRecords implements Records {
  readonly area = new Uint32Array(LAYOUT.AREA_WORDS * 2);
  readonly extra = new Uint32Array(LAYOUT.EXTRA_WORDS * 2);
  readonly #machine: Machine;
  readonly #pages: { readonly area: readonly number[]; readonly extra: readonly number[] };
  readonly #mode: number;

  /** Physical addresses of the pages of both buffers, and of the word in which the agent looks. */
  constructor(
    machine: Machine,
    pages: { readonly area: readonly number[]; readonly extra: readonly number[] },
    mode: number,
  ) {
    this.#machine = machine;
    this.#pages = pages;
    this.#mode = mode;
  }

  choose(mode: Mode): void {
    this.#machine.ram.write32(this.#mode, MODE_BITS[mode]);
  }

  collect(mode: Mode): void {
    this.#copy(this.area, this.#pages.area, HALVES[mode]);
    this.#copy(this.extra, this.#pages.extra, HALVES.pc);
  }

  /** As many pages as the number of records asks for; it may be any. */
  #copy(to: Uint32Array, pages: readonly number[], halves: number): void {
    const { ram } = this.#machine;
    const count = ram.read32(pages[0]!);
    const used = Math.min(pages.length, Math.ceil((2 + halves * count) / HALVES_PER_PAGE));
    for (let n = 0; n < used; n++) to.set(halvesAt(this.#machine, pages[n]!, PAGE / 8), n * HALVES_PER_PAGE);
  }
}
