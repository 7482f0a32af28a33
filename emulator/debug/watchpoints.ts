// GDB's hardware watchpoints. Those of stores are found by the pages that were stored to
// (timeline.ts), at full speed. For those of loads the accesses of each instruction are computed
// before it runs, and compared. This is exact in both engines, but slow: some hundred thousand
// instructions a second.

import { type Hart, layout as L } from '../hart/index.ts';
import { decode, newInsn } from '../isa/index.ts';
import type { Machine } from '../machine/machine.ts';
import { translate } from './guest-memory.ts';

/** Of GDB's remote protocol: Z2, Z3 and Z4. */
export const WATCH_KINDS = { 2: 'watch', 3: 'rwatch', 4: 'awatch' } as const;
export type WatchKind = (typeof WATCH_KINDS)[keyof typeof WATCH_KINDS];

export interface Watchpoint {
  readonly kind: WatchKind;
  readonly va: bigint;
  readonly bytes: bigint;
}

export interface WatchHit {
  readonly kind: WatchKind;
  readonly va: bigint;
  /** The address after the instruction; it was executed if control is there afterwards. */
  readonly next: bigint;
}

/** All are compared with every access. */
const WATCHPOINTS_MAX = 64;
const BYTES_MAX = 1n << 16n;

const BYTES: Readonly<Record<string, bigint>> = { b: 1n, h: 2n, w: 4n, d: 8n };
const LOAD = /^(?:f?l([bhwd])u?|lr\.([wd]))$/;
const STORE = /^(?:f?s([bhwd])|sc\.([wd]))$/;
const AMO = /^amo\w+\.([wd])$/;

export class Watchpoints {
  readonly #machine: Machine;
  readonly #insn = newInsn();
  #all: Watchpoint[] = [];

  constructor(machine: Machine) {
    this.#machine = machine;
  }

  get all(): readonly Watchpoint[] {
    return this.#all;
  }

  get hasReads(): boolean {
    return this.#all.some(({ kind }) => kind !== 'watch');
  }

  /** False: there are too many already, or it is too long. */
  add(kind: WatchKind, va: bigint, bytes: bigint): boolean {
    this.delete(kind, va, bytes);
    if (bytes < 1n || bytes > BYTES_MAX) return false;
    if (this.#all.length >= WATCHPOINTS_MAX) return false;
    this.#all.push({ kind, va, bytes });
    return true;
  }

  delete(kind: WatchKind, va: bigint, bytes: bigint): void {
    this.#all = this.#all.filter(w => w.kind !== kind || w.va !== va || w.bytes !== bytes);
  }

  clear(): void {
    this.#all = [];
  }

  /** The watchpoint that the hart's next instruction would hit. */
  ahead(hart: Hart): WatchHit | undefined {
    const { pc } = hart.state;
    const word = this.#fetch(hart, pc);
    const insn = word === undefined ? undefined : decode(word, this.#insn);
    if (!insn) return undefined;
    const amo = AMO.exec(insn.name);
    const load = amo ?? LOAD.exec(insn.name);
    const store = amo ?? STORE.exec(insn.name);
    const match = load ?? store;
    if (!match) return undefined;
    const bytes = BYTES[match[1] ?? match[2]!]!;
    const base = insn.rs1 === 0 ? 0n : hart.state.get64(L.X + 8 * insn.rs1);
    const va = BigInt.asUintN(64, base + BigInt(insn.imm));
    const hit = this.#all.find(
      w =>
        va < w.va + w.bytes &&
        w.va < va + bytes &&
        (w.kind === 'awatch' || (w.kind === 'watch' ? store !== null : load !== null)),
    );
    return hit && { kind: hit.kind, va: hit.va, next: BigInt.asUintN(64, pc + BigInt(insn.bytes)) };
  }

  #fetch(hart: Hart, pc: bigint): number | undefined {
    const low = this.#half(hart, pc);
    if (low === undefined || (low & 3) !== 3) return low;
    const high = this.#half(hart, BigInt.asUintN(64, pc + 2n));
    return high === undefined ? undefined : (low | (high << 16)) >>> 0;
  }

  #half(hart: Hart, va: bigint): number | undefined {
    const { ram } = this.#machine;
    const pa = translate(this.#machine, hart, va);
    return pa === undefined || !ram.has(pa, 2) ? undefined : ram.read16(pa);
  }
}
