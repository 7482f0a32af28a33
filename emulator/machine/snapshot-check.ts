// The state that a machine accepts from a snapshot. It may come from a file that anybody made, so
// nothing in it is trusted: registers must be values that instructions can leave, and the state of
// each device must have the form of this machine's own and be taken over unchanged. Beyond that a
// forged state can do no more than a guest: the machine checks every use of it, as it does for one.

import { HostError } from '../base/errors.ts';
import type { Device } from '../bus/device.ts';
import { layout as L } from '../hart/index.ts';
import { emptyOrder, type OrderState } from './order.ts';
import { DEPTH_MAX } from './schedule.ts';
import { HART_WORDS, type Rest, type Snapshot, type SnapshotSource, wordOf } from './snapshot.ts';

const MPP_RESERVED = 2;
const MODES = [0, 8, 9];
/** Longest list and text in the state of a device. */
const LIST_MAX = 2 ** 24;
const TEXT_MAX = 64;

function damaged(why: string): never {
  throw new HostError(`the snapshot is damaged: ${why}`);
}

/** Errors: HostError that names the first value that no machine could have. */
export function checkState(m: SnapshotSource, s: Snapshot, own: Snapshot['rest']): void {
  for (const [id, words] of s.harts.entries()) checkHart(id, words);
  const { time, spent, stopped, ...parts } = s.rest;
  if (!(Number.isSafeInteger(time) && Number.isSafeInteger(spent) && spent >= 0 && time >= spent))
    damaged(`${spent} units in a time of ${time}`);
  checkClock(m, parts.clock, time);
  checkScheduler(m, parts.scheduler, time);
  sameForm('sbi', own.sbi, parts.sbi);
  for (const { device } of m.board.placed) checkDevice(device, own.devices, parts.devices);
}

function checkDevice(device: Device, own: Rest['devices'], saved: Rest['devices']): void {
  const { name } = device;
  const [mine, state] = [own[name], saved[name]];
  if (!device.checkState) sameForm(name, mine, state);
  else
    device.checkState(state, mine, {
      same: (part, its, value) => sameForm(`${name}.${part}`, its, value),
      refuse: why => damaged(`${name}: ${why}`),
    });
}

function checkHart(id: number, words: Int32Array): void {
  const name = `hart ${id}`;
  if (words.length !== HART_WORDS)
    damaged(`${name} has ${words.length} words of registers, not ${HART_WORDS}`);
  const at = (offset: number): number => words[wordOf(offset)]!;
  if (at(L.X) !== 0 || at(L.X + 4) !== 0) damaged(`${name}: x0 is not zero`);
  if (![0, 1, 3].includes(at(L.PRIV))) damaged(`${name}: privilege ${at(L.PRIV)}`);
  if (at(L.HARTID) !== id) damaged(`${name} says that it is hart ${at(L.HARTID)}`);
  if (at(L.FFLAGS) >>> 0 > 31 || at(L.FRM) >>> 0 > 7) damaged(`${name}: fcsr`);
  if (at(L.WAITING) >>> 0 > 2) damaged(`${name}: it waits for ${at(L.WAITING)}`);
  if (((at(L.MSTATUS) >>> 11) & 3) === MPP_RESERVED) damaged(`${name}: mstatus.MPP`);
  const satp = at(L.SATP + 4) >>> 28;
  if (!MODES.includes(satp)) damaged(`${name}: satp has mode ${satp}`);
}

function checkClock(m: SnapshotSource, state: unknown, time: number): void {
  const names = new Set(m.clock.names);
  if (!Array.isArray(state) || state.length > names.size) damaged('clock: its alarms are no list');
  for (const alarm of state) {
    const [name, at] = Array.isArray(alarm) && alarm.length === 2 ? (alarm as unknown[]) : [];
    if (!names.delete(name as string)) damaged('clock: an alarm that this machine lacks, or has once');
    if (!(Number.isFinite(at) && (at as number) >= time)) damaged(`clock: ${name} was due before now`);
  }
}

/** The form of an order; its lists may have any length. */
const ORDER: OrderState = emptyOrder();

function checkScheduler(m: SnapshotSource, state: unknown, time: number): void {
  const { turn, end, rng, order, ...more } = Object(state) as Record<string, unknown>;
  if (Object.keys(more).length > 0) damaged('scheduler: unknown fields');
  const isHart = Number.isInteger(turn) && (turn as number) >= 0 && (turn as number) < m.harts.length;
  const isEnd = end === -1 || (Number.isSafeInteger(end) && (end as number) <= time + 2 ** 20);
  if (!isHart || !isEnd) damaged('scheduler: turn or end');
  const own = m.scheduler.save() as { rng?: unknown; order?: unknown };
  if ((own.rng === undefined) !== (rng === undefined) || (own.order === undefined) !== (order === undefined))
    throw new HostError(
      'the snapshot has another kind of schedule: --sched-seed and --schedule must be given as they were',
    );
  if (own.rng !== undefined) sameForm('scheduler', own.rng, rng);
  if (order !== undefined && order !== null) checkOrder(m, order);
}

/** Of a schedule that has begun. */
function checkOrder(m: SnapshotSource, order: unknown): void {
  sameForm('scheduler.order', ORDER, order);
  const { mean, priorities, changes, access, ...counts } = order as OrderState;
  const isFilled = priorities.length === 0 || priorities.length === m.harts.length;
  const isSorted = changes.every((at, i) => i === 0 || at <= changes[i - 1]!);
  const areNumbers = [...priorities, ...changes, ...access].every(Number.isSafeInteger);
  const areCounts = counts.streak >= 0 && counts.looked >= 0 && counts.contended >= 0 && counts.from >= -1;
  const areShort = changes.length < DEPTH_MAX && [0, 2].includes(access.length);
  if (!isFilled || !isSorted || !areNumbers || !areCounts || !areShort || mean < 1)
    damaged('scheduler: its order');
}

/** `value` has the keys and types of `own`; lists that are empty there may have any length. */
function sameForm(name: string, own: unknown, value: unknown): void {
  if (Array.isArray(own)) {
    if (!Array.isArray(value) || value.length > LIST_MAX) damaged(`${name} is no list`);
    // Queues are empty on a machine that has just been switched on.
    const isFixed = own.length > 0;
    if (isFixed && own.length !== value.length) damaged(`${name} has ${value.length} items`);
    for (const [i, item] of value.entries()) {
      if (isFixed) sameForm(`${name}.${i}`, own[i], item);
      else plainItem(`${name}.${i}`, item);
    }
  } else if (own !== null && typeof own === 'object') {
    if (value === null || typeof value !== 'object' || Array.isArray(value)) damaged(`${name} is no record`);
    const keys = Object.keys(own);
    if (keys.length !== Object.keys(value).length) damaged(`${name} has other fields`);
    for (const key of keys) {
      if (!Object.hasOwn(value, key)) damaged(`${name}.${key} is missing`);
      sameForm(`${name}.${key}`, own[key as never], value[key as never]);
    }
  } else plain(name, own, value);
}

/** A number, a flag, or a text: a word where it is one on this machine, else a whole number. */
function plain(name: string, own: unknown, value: unknown): void {
  const isNumber = typeof value === 'number' && Number.isSafeInteger(value);
  if (typeof own === 'number' && isNumber) return;
  const isText = typeof value === 'string' && value.length <= TEXT_MAX && /^(-?\d+|[a-z]+)$/.test(value);
  if (isText && /\d/.test(`${own ?? 0}`) !== /\d/.test(value)) damaged(`${name} is ${value}`);
  if ((typeof own === 'string' || own === null) && (isText || value === null)) return;
  if (typeof own === 'boolean' && typeof value === 'boolean') return;
  damaged(`${name} is ${JSON.stringify(value)?.slice(0, 40)}`);
}

/** Of a list that is empty at power-on: a number, or a block of a disk with its bytes. */
function plainItem(name: string, item: unknown): void {
  if (Array.isArray(item) && item.length === 2 && typeof item[1] === 'object') {
    plain(name, 0, item[0]);
    // From a file it is a list of numbers, of which each is checked.
    if (item[1] instanceof Uint8Array) return;
    if (!Array.isArray(item[1])) damaged(`${name} has no bytes`);
    for (const byte of item[1]) plain(name, 0, byte);
  } else plain(name, 0, item);
}
