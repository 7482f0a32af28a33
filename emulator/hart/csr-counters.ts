// Counters (Priv §3.1.10 to §3.1.12, Unpriv Zicntr, Zihpm). One cycle is one unit of the machine's instruction count;
// instret leaves out instructions that ended in an exception. Counters are kept as differences to those counts, so nothing is done per
// instruction; while mcountinhibit stops a counter its slot holds the value itself. Rare: BigInt.

import type { CsrFile } from './csr-file.ts';
import { type CsrRow, constant, counterEnabled, type Rows } from './csr-row.ts';
import * as L from './layout.ts';

const CYCLE = 0;
const TIME = 1;
const INSTRET = 2;
const INHIBITABLE = (1 << CYCLE) | (1 << INSTRET);

interface Counter {
  readonly bit: number;
  readonly slot: number;
  /** The running count, without the software's offset. */
  readonly count: () => bigint;
}

export function counterRows(file: CsrFile, rows: Rows): void {
  const s = file.state;
  const spent = (): bigint => s.get64(L.INSTRET) + BigInt(s.get(L.QUANTUM) - s.get(L.IC));
  const cycle: Counter = { bit: 1 << CYCLE, slot: L.MCYCLE, count: spent };
  const instret: Counter = {
    bit: 1 << INSTRET,
    slot: L.MINSTRET,
    count: () => spent() - s.get64(L.EXCEPTIONS),
  };
  machineCounter(file, rows, CYCLE, cycle);
  machineCounter(file, rows, INSTRET, instret);
  rows[0xc00 + TIME] = userCounter(file, TIME, () => {
    const time = file.ports.time();
    file.value((time % 2 ** 32) | 0, Math.floor(time / 2 ** 32));
  });
  for (let i = 3; i < 32; i++) {
    rows[0xb00 + i] = constant(file, 0, 0);
    rows[0x320 + i] = constant(file, 0, 0);
    rows[0xc00 + i] = userCounter(file, i, () => file.value(0, 0));
  }
  rows[0x320] = {
    read: () => file.value(s.get(L.MCOUNTINHIBIT), 0),
    write: lo => inhibit(file, [cycle, instret], lo & INHIBITABLE),
  };
}

const inhibited = (file: CsrFile, c: Counter): boolean => (file.state.get(L.MCOUNTINHIBIT) & c.bit) !== 0;

function current(file: CsrFile, c: Counter): bigint {
  const slot = file.state.get64(c.slot);
  return BigInt.asUintN(64, inhibited(file, c) ? slot : slot + c.count());
}

function machineCounter(file: CsrFile, rows: Rows, index: number, c: Counter): void {
  const show = (): void => {
    const value = current(file, c);
    file.value(Number(value & 0xffff_ffffn) | 0, Number(value >> 32n) | 0);
  };
  rows[0xb00 + index] = {
    read: show,
    // The writing instruction does not count itself: the next one reads what was written.
    write: (lo, hi) => {
      const value = (BigInt(hi >>> 0) << 32n) | BigInt(lo >>> 0);
      const offset = inhibited(file, c) ? 0n : c.count() + 1n;
      file.state.set64(c.slot, BigInt.asUintN(64, value - offset));
    },
  };
  rows[0xc00 + index] = userCounter(file, index, show);
}

function userCounter(file: CsrFile, index: number, read: () => void): CsrRow {
  return { read, allowed: priv => counterEnabled(file, index, priv) };
}

function inhibit(file: CsrFile, counters: readonly Counter[], value: number): void {
  const values = counters.map(c => current(file, c));
  file.state.set(L.MCOUNTINHIBIT, value);
  counters.forEach((c, i) => {
    // The instruction that lets a counter run again is not counted itself.
    const offset = inhibited(file, c) ? 0n : c.count() + 1n;
    file.state.set64(c.slot, BigInt.asUintN(64, values[i]! - offset));
  });
}
