// Snapshots and hashes of a machine. A snapshot is all guest-visible state: the pages of RAM that
// are not zero, the registers of every hart, and one record per device, clock and scheduler. What
// is derived (TLBs, decoded code, copies of kcov pointers) is not in it. Precondition of everything
// here: the machine is between two runs.

import { HostError } from '../base/errors.ts';
import { type Hart, layout as L } from '../hart/index.ts';
import { isaString } from '../isa/index.ts';
import type { Machine, RunResult } from './machine.ts';
import { isZero, StateHash } from './state-hash.ts';

const PAGE = 4096;
const PAGE_WORDS = PAGE / 4;
const VERSION = 3;

/**
 * Parts of the window that are architectural state, [from, to). The rest is scratch, derived, or
 * host business.
 */
const WINDOW_STATE = [
  [L.X, L.SINK],
  [L.PC, L.PC + 8],
  [L.INSTRET, L.INSTRET + 8],
  [L.PRIV, L.PRIV + 4],
  [L.RESERVATION, L.RESERVATION + 8],
  [L.FFLAGS, L.FFLAGS + 8],
  [L.HARTID, L.HARTID + 4],
  [L.WAITING, L.WAITING + 4],
  [L.EXCEPTIONS, L.EXCEPTIONS + 8],
  [L.F, L.F + 256],
  [L.CSR, L.CSR_END],
] as const;

export interface Snapshot {
  version: number;
  /**
   * The harts' extensions, as `riscv,isa` names them: state of one hart means nothing to another
   * kind of hart.
   */
  isa: string;
  ramBytes: number;
  /** Number and contents of each page that is not zero. */
  pages: Uint32Array;
  data: Uint8Array;
  /** One array of words per hart, in the order of WINDOW_STATE. */
  harts: Int32Array[];
  /** Everything else, as plain data. */
  rest: Rest;
}

interface Rest {
  time: number;
  spent: number;
  stopped: RunResult | null;
  clock: unknown;
  scheduler: unknown;
  sbi: unknown;
  devices: Record<string, unknown>;
}

export function save(m: Machine): Snapshot {
  const { data } = m.ram;
  const words = new Int32Array(data.buffer, data.byteOffset, data.byteLength / 4);
  const pages: number[] = [];
  for (let page = 0; page < data.length / PAGE; page++) {
    if (!isZero(words, page * PAGE_WORDS, (page + 1) * PAGE_WORDS)) pages.push(page);
  }
  const out = new Uint8Array(pages.length * PAGE);
  pages.forEach((page, i) => {
    out.set(data.subarray(page * PAGE, (page + 1) * PAGE), i * PAGE);
  });
  return {
    version: VERSION,
    isa: isaString(m.options.extensions),
    ramBytes: data.length,
    pages: Uint32Array.from(pages),
    data: out,
    harts: m.harts.map(registers),
    rest: rest(m),
  };
}

export function load(m: Machine, s: Snapshot): void {
  if (s.version !== VERSION) throw new HostError(`snapshot version ${s.version}, ${VERSION} wanted`);
  if (s.ramBytes !== m.ram.bytes || s.harts.length !== m.harts.length) {
    throw new HostError(
      `snapshot of ${s.harts.length} harts and ${s.ramBytes} bytes of ram does not fit a machine of ` +
        `${m.harts.length} harts and ${m.ram.bytes} bytes`,
    );
  }
  const isa = isaString(m.options.extensions);
  if (s.isa !== isa) throw new HostError(`snapshot of ${s.isa} harts does not fit a machine of ${isa} harts`);
  m.memoryHash.clearRam();
  s.pages.forEach((page, i) => {
    m.ram.write(m.ram.base + page * PAGE, s.data.subarray(i * PAGE, (i + 1) * PAGE));
  });
  m.time = s.rest.time;
  m.spent = s.rest.spent;
  m.stopped = s.rest.stopped ?? undefined;
  m.clock.load(s.rest.clock);
  m.scheduler.load(s.rest.scheduler);
  m.sbi?.load(s.rest.sbi);
  for (const { device } of m.board.placed) device.load(s.rest.devices[device.name]);
  // After the devices, because loading them drives lines, which touches mip and WAITING.
  m.harts.forEach((hart, i) => {
    setRegisters(hart, s.harts[i]!);
  });
  m.engine.reset();
}

/** Equal hashes mean equal guest-visible state. */
export function stateHash(m: Machine): string {
  const hash = new StateHash();
  for (const half of m.memoryHash.sum) hash.word(half);
  for (const hart of m.harts) hash.words(registers(hart));
  hash.text(JSON.stringify(rest(m)));
  return hash.digest();
}

function rest(m: Machine): Rest {
  const devices: Record<string, unknown> = {};
  for (const { device } of m.board.placed) devices[device.name] = device.save();
  return {
    time: m.time,
    spent: m.spent,
    stopped: m.stopped ?? null,
    clock: m.clock.save(),
    scheduler: m.scheduler.save(),
    sbi: m.sbi?.save() ?? null,
    devices,
  };
}

function registers(hart: Hart): Int32Array {
  const out: number[] = [];
  for (const [from, to] of WINDOW_STATE) for (let at = from; at < to; at += 4) out.push(hart.state.get(at));
  return Int32Array.from(out);
}

function setRegisters(hart: Hart, words: Int32Array): void {
  let i = 0;
  for (const [from, to] of WINDOW_STATE)
    for (let at = from; at < to; at += 4) hart.state.set(at, words[i++]!);
  hart.restored();
}
