// Counters (Priv §3.1.10 to §3.1.12, Unpriv Zicntr, Zihpm). Counter 0 counts cycles, one per unit
// of the machine's instruction count; counter 2 counts instret, which excludes instructions that
// ended in an exception; counters 3 to 31 count what their mhpmevent selects.
//
// A driven counter is stored as the difference to its source, so it costs nothing per instruction;
// a counter without a source (inhibited, or without an event) stores its value. `rebase` changes
// between the two. Rare: BigInt.

import { type CsrRow, csrNamed } from '../isa/csr.ts';
import type { CsrState, Rule } from './csr-rule.ts';
import * as L from './layout.ts';

const CYCLE = 0;
const INSTRET = 2;
/** Events of mhpmevent; the numbers are QEMU's. Others never occur. */
const EVENT_CYCLES = 1n;
const EVENT_INSTRET = 2n;
const COUNTERS = 32;

const mhpmcounter3 = L.csrAt(csrNamed('mhpmcounter3'));
const mhpmevent3 = L.csrAt(csrNamed('mhpmevent3'));
const MHPMEVENT0 = csrNamed('mhpmevent3').number - 3;

/** Offset of the storage of counter `index`, which is not 1. */
function slotOf(index: number): number {
  if (index === CYCLE) return L.MCYCLE;
  return index === INSTRET ? L.MINSTRET : mhpmcounter3 + 8 * (index - 3);
}

/** The count that drives a counter at present, undefined = none. */
function source(csrs: CsrState, index: number): bigint | undefined {
  const s = csrs.state;
  if ((s.get(L.MCOUNTINHIBIT) >>> index) & 1) return undefined;
  const event =
    index === CYCLE
      ? EVENT_CYCLES
      : index === INSTRET
        ? EVENT_INSTRET
        : s.get64(mhpmevent3 + 8 * (index - 3));
  if (event !== EVENT_CYCLES && event !== EVENT_INSTRET) return undefined;
  const spent = s.get64(L.INSTRET) + BigInt(s.get(L.QUANTUM) - s.get(L.IC));
  return event === EVENT_CYCLES ? spent : spent - s.get64(L.EXCEPTIONS);
}

const current = (csrs: CsrState, index: number): bigint =>
  BigInt.asUintN(64, csrs.state.get64(slotOf(index)) + (source(csrs, index) ?? 0n));

/** Makes the next instruction read `value`: the writing instruction does not count itself. */
function put(csrs: CsrState, index: number, value: bigint): void {
  const count = source(csrs, index);
  const offset = count === undefined ? 0n : count + 1n;
  csrs.state.set64(slotOf(index), BigInt.asUintN(64, value - offset));
}

/** Changes the sources of counters `first` to `last`, which keep their values. */
function rebase(csrs: CsrState, first: number, last: number, change: () => void): void {
  const indices: number[] = [];
  for (let index = first; index <= last; index++) if (index !== 1) indices.push(index);
  const before = indices.map(index => ({ index, value: current(csrs, index), had: source(csrs, index) }));
  change();
  for (const { index, value, had } of before) {
    const has = source(csrs, index);
    if ((had === undefined) !== (has === undefined)) put(csrs, index, value);
    else if (has !== undefined) {
      // Driven before and after: the running instruction still counts.
      csrs.state.set64(slotOf(index), BigInt.asUintN(64, value - has));
    }
  }
}

const indexOf = (row: CsrRow): number => row.number & 31;
const join = (lo: number, hi: number): bigint => (BigInt(hi >>> 0) << 32n) | BigInt(lo >>> 0);

export const COUNTER_RULES = {
  counter: {
    read: (csrs, row) => {
      const value = current(csrs, indexOf(row));
      csrs.value(Number(value & 0xffff_ffffn) | 0, Number(value >> 32n) | 0);
    },
    write: (csrs, row, lo, hi) => put(csrs, indexOf(row), join(lo, hi)),
  },
  time: {
    read: csrs => {
      const time = csrs.ports.time();
      csrs.value((time % 2 ** 32) | 0, Math.floor(time / 2 ** 32));
    },
  },
  mcountinhibit: {
    write: (csrs, row, lo) =>
      rebase(csrs, 0, COUNTERS - 1, () => csrs.state.set(L.MCOUNTINHIBIT, lo & Number(row.writable))),
  },
  mhpmevent: {
    write: (csrs, row, lo, hi) => {
      const index = row.number - MHPMEVENT0;
      rebase(csrs, index, index, () => csrs.state.put(L.csrAt(row), lo, hi));
    },
  },
} satisfies Readonly<Record<string, Rule>>;
