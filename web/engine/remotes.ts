// Remotes of kcov that come and go: the kernel's functions that add one to its table and remove it.

import { type Elf, pcOf } from '../../coverage/index.ts';
import { REG, REMOTE, REMOTES } from '../../devices/kcov-layout.ts';
import type { Hart, Machine } from '../../emulator/index.ts';

const [A0, A1] = [10, 11];
/** kernel/kcov/remote.c; a kernel of another version has other names, and no such events. */
const ADD = 'kcov_remote_alloc';
const REMOVE = 'kcov_remote_free';
/** The kernel's own part of the table, in the same order. */
const TABLE = 'remotes';

const word = (value: bigint): bigint => BigInt.asUintN(64, value);

export class RemoteFunctions {
  /** Addresses of the two functions; without those that the kernel has not. */
  readonly entries: ReadonlySet<bigint>;
  readonly #add: bigint | undefined;
  readonly #table: { readonly at: bigint; readonly bytes: number } | undefined;

  constructor({ symbols }: Elf) {
    const at = (name: string): bigint | undefined => {
      const [symbol] = symbols.named(name);
      return symbol && pcOf(symbol.addr);
    };
    this.#add = at(ADD);
    const [table] = symbols.named(TABLE);
    this.#table = table && { at: pcOf(table.addr), bytes: table.size };
    this.entries = new Set([this.#add, at(REMOVE)].filter(pc => pc !== undefined));
  }

  /** The event of a hart that enters one of the functions; undefined: the remote is not known. */
  nameAt(machine: Machine, { state }: Hart, pc: bigint): string | undefined {
    if (pc === this.#add) return `remote 0x${word(state.getX(A1)).toString(16)} is registered`;
    const id = this.#idOf(machine, word(state.getX(A0)));
    return id === undefined ? undefined : `remote 0x${id.toString(16)} is unregistered`;
  }

  /** By the entry of the shared table that belongs to a private one. */
  #idOf({ board, ram }: Machine, entry: bigint): bigint | undefined {
    if (!board.kcov || !this.#table) return undefined;
    const half = (at: number): number => board.kcov!.peek(REG.REMOTES + at, 4);
    const shared = half(4) * 2 ** 32 + half(0);
    if (shared === 0 || !ram.has(shared, REMOTES.HEADER)) return undefined;
    const count = ram.read32(shared + REMOTES.COUNT);
    const index = (Number(entry - this.#table.at) * count) / this.#table.bytes;
    if (!Number.isSafeInteger(index) || index < 0 || index >= count) return undefined;
    const at = shared + REMOTES.HEADER + index * REMOTE.SIZE + REMOTE.ID;
    return ram.has(at, 8) ? word(ram.read64(at)) : undefined;
  }
}
