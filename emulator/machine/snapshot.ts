// The state of a machine as plain data: the contents of a snapshot and of the state hash. It is all
// state that the guest can see: RAM, the registers of every hart, one record for each device, the
// clock, the scheduler and the firmware. It excludes derived data (TLBs, decoded and compiled code,
// kcov pointers). Precondition of all functions: the machine is between two runs.

import { HostError } from '../base/errors.ts';
import { StateHash } from '../base/state-hash.ts';
import { counted } from '../base/words.ts';
import type { Device } from '../bus/device.ts';
import type { Ram } from '../bus/ram.ts';
import { type Hart, layout as L } from '../hart/index.ts';
import { isaString } from '../isa/index.ts';
import type { Clock } from './clock.ts';
import type { Board } from './devices.ts';
import type { Journal, JournalEntry } from './journal.ts';
import type { MemoryHash } from './memory-hash.ts';
import type { Complete } from './options.ts';
import type { RunHash, RunHasher } from './run-hash.ts';
import type { RunResult } from './run-result.ts';
import type { Sbi } from './sbi.ts';
import type { Scheduler } from './scheduler.ts';

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
/** Offset of each word; a list, because a fuzzer sets them all some thousand times a second. */
const WORD_OFFSETS = Int32Array.from(
  WINDOW_STATE.flatMap(([from, to]) => Array.from({ length: (to - from) / 4 }, (_, i) => from + 4 * i)),
);
/** Words of a hart's registers. */
export const HART_WORDS = WORD_OFFSETS.length;

/**
 * A moment of a machine. Immutable; snapshots of one machine share the pages that did not change
 * between them.
 */
export interface Snapshot {
  /**
   * The harts' extensions, as `riscv,isa` names them: state of one hart means nothing to another
   * kind of hart.
   */
  readonly isa: string;
  readonly ramBytes: number;
  /** Contents of each page that is not zero, by number. */
  readonly pages: ReadonlyMap<number, Uint8Array>;
  /** HART_WORDS words per hart, in the order of WINDOW_STATE. */
  readonly harts: readonly Int32Array[];
  readonly rest: Rest;
  /** Version of the state of each device. */
  readonly versions: Readonly<Record<string, number>>;
  /** Facts that observers of the run know at present; the guest cannot see them. */
  readonly observed: Observed;
  /** Of the state: `stateHash`. */
  readonly hash: string;
}

/** Everything but memory and registers, as plain data. */
export interface Rest {
  readonly time: number;
  readonly spent: number;
  readonly stopped: RunResult | null;
  readonly clock: unknown;
  readonly scheduler: unknown;
  readonly sbi: unknown;
  readonly devices: Readonly<Record<string, unknown>>;
}

export interface Observed {
  /** Coverage records since power-on. */
  readonly records: number;
  /** Input since power-on. */
  readonly journal: readonly JournalEntry[];
  /** Links of the hash chain up to now; null without one. */
  readonly runHash: RunHash | null;
}

/** The machine as its snapshots see it. */
export interface SnapshotSource {
  readonly options: Complete;
  readonly ram: Ram;
  readonly memoryHash: MemoryHash;
  readonly harts: readonly Hart[];
  readonly board: Board;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly sbi: Sbi | undefined;
  readonly hasher: RunHasher | undefined;
  readonly journal: Journal;
  readonly kcovRecords: number;
  time: number;
  spent: number;
  stopped: RunResult | undefined;
  /** The hart whose turn it is becomes the active one. */
  activateTurn(): void;
  /** Coverage records up to now. */
  countRecords(records: number): void;
}

/** Equal hashes mean equal guest-visible state. */
export function stateHash(m: SnapshotSource): string {
  const hash = new StateHash();
  for (const half of m.memoryHash.sum) hash.word(half);
  for (const hart of m.harts) hash.words(registers(hart));
  hash.text(JSON.stringify(restOf(m, device => device.digest?.() ?? device.save())));
  return hash.digest();
}

/** All but the pages and the hash. */
export function stateOf(m: SnapshotSource): Omit<Snapshot, 'pages' | 'hash'> {
  return {
    isa: isaString(m.options.extensions),
    ramBytes: m.ram.bytes,
    harts: m.harts.map(registers),
    rest: restOf(m),
    versions: versionsOf(m),
    observed: {
      records: m.kcovRecords,
      journal: m.journal.entries.slice(),
      runHash: m.hasher?.save() ?? null,
    },
  };
}

/** Errors: HostError when the snapshot is of another kind of machine. */
export function checkFits(m: SnapshotSource, s: Snapshot): void {
  if (s.ramBytes !== m.ram.bytes || s.harts.length !== m.harts.length)
    throw new HostError(
      `snapshot of ${counted(s.harts.length, 'hart')} and ${s.ramBytes} bytes of ram does not fit a machine of ` +
        `${counted(m.harts.length, 'hart')} and ${m.ram.bytes} bytes`,
    );
  const isa = isaString(m.options.extensions);
  if (s.isa !== isa) throw new HostError(`snapshot of ${s.isa} harts does not fit a machine of ${isa} harts`);
  const names = (devices: object): string => Object.keys(devices).sort().join(', ');
  const own = versionsOf(m);
  if (names(own) !== names(s.rest.devices))
    throw new HostError(`snapshot of a board with ${names(s.rest.devices)}; this one has ${names(own)}`);
  for (const [name, version] of Object.entries(own))
    if (s.versions[name] !== version)
      throw new HostError(
        `snapshot with version ${s.versions[name]} of the state of ${name}, ${version} wanted`,
      );
  if ((s.rest.sbi === null) !== (m.sbi === undefined))
    throw new HostError('snapshot with other firmware: one of the two has the built-in SBI');
  m.hasher?.checkFits(s.observed.runHash);
}

/** Takes over all but RAM, which is in place already. */
export function setState(m: SnapshotSource, { rest, harts, observed }: Snapshot): void {
  m.time = rest.time;
  m.spent = rest.spent;
  m.stopped = rest.stopped ?? undefined;
  m.clock.load(rest.clock);
  m.scheduler.load(rest.scheduler);
  m.sbi?.load(rest.sbi);
  // The hart whose turn it was is the active one: only others lose their reservations.
  m.activateTurn();
  for (const { device } of m.board.placed) device.load(rest.devices[device.name]);
  // After the devices, because loading them drives lines, which touches mip and WAITING.
  m.harts.forEach((hart, i) => {
    setRegisters(hart, harts[i]!);
  });
  m.journal.restore(observed.journal);
  m.hasher?.restore(observed.runHash);
  m.countRecords(observed.records);
}

function versionsOf(m: SnapshotSource): Record<string, number> {
  return Object.fromEntries(m.board.placed.map(({ device }) => [device.name, device.stateVersion ?? 1]));
}

/** Index among the words of a hart of the one at `offset` of the window; -1: it is no state. */
export const wordOf = (offset: number): number => WORD_OFFSETS.indexOf(offset);

/** Everything but memory and registers, as it is now; `take` gives the state of a device. */
export function restOf(m: SnapshotSource, take = (device: Device): unknown => device.save()): Rest {
  const devices: Record<string, unknown> = {};
  for (const { device } of m.board.placed) devices[device.name] = take(device);
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

function registers({ state }: Hart): Int32Array {
  return WORD_OFFSETS.map(offset => state.get(offset));
}

function setRegisters(hart: Hart, words: Int32Array): void {
  const { state } = hart;
  hart.replaceRegisters(() => {
    const { i32, base } = state;
    for (let i = 0; i < HART_WORDS; i++) i32[(base + WORD_OFFSETS[i]!) >> 2] = words[i]!;
  });
}
