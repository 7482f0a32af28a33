// The order of the harts depends on nothing but virtual time, the units spent and the seed.
import { expect, it, test } from 'vitest';
import { Xoshiro } from '../../emulator/base/xoshiro.ts';
import { parseSchedule, scheduleText } from '../../emulator/index.ts';
import type { Access } from '../../emulator/machine/next-access.ts';
import { Scheduler } from '../../emulator/machine/scheduler.ts';
import { SCHEDULE_TEXT } from '../../run/schedule-text.ts';

/** A scheduler whose schedule has begun; `seed` draws. */
function begun(schedule: string, seed: number, harts: number): Scheduler {
  const scheduler = new Scheduler(harts, BigInt(seed), parseSchedule(schedule));
  scheduler.begin(0);
  return scheduler;
}

const always = () => true;

it.each([
  ['', undefined],
  ['', 9n],
  ['rw', 9n],
  ['rp', 9n],
  ['pos', 9n],
  ['pct:3:1000000', 9n],
])('%s draws nothing while all harts wait, with seed %s', (schedule, seed) => {
  const [often, once] = [0, 1].map(
    () => new Scheduler(3, seed, schedule === '' ? undefined : parseSchedule(schedule)),
  ) as [Scheduler, Scheduler];
  for (const scheduler of [often, once]) scheduler.begin(0);
  for (let now = 0; now < 1_000_000; now += 50_000) {
    for (let k = 0; k < 1 + ((now / 50_000) % 7); k++) expect(often.pick(now, now, () => false)).toBe(false);
    expect(once.pick(now, now, () => false)).toBe(false);
    expect(often.pick(now + 1, now, always)).toBe(once.pick(now + 1, now, always));
    expect(often.save()).toEqual(once.save());
  }
});

test('a schedule waits for its beginning, and its state brings back the rest of it', () => {
  for (const text of ['rw', 'rp', 'pos', 'pct:5:3000']) {
    const scheduler = new Scheduler(3, 4n, parseSchedule(text));
    expect(scheduler.awaitsBegin).toBe(true);
    const before = scheduler.save();
    const turnsOf = (): [number, number][] =>
      Array.from({ length: 200 }, () => {
        const now = scheduler.end;
        scheduler.pick(now, now, always);
        return [scheduler.turn, scheduler.end - now];
      });
    scheduler.begin(scheduler.end);
    expect(scheduler.awaitsBegin).toBe(false);
    turnsOf();
    const state = structuredClone(scheduler.save());
    const turns = turnsOf();
    scheduler.load(state);
    expect(turnsOf()).toEqual(turns);
    scheduler.load(before);
    expect(scheduler.awaitsBegin).toBe(true);
  }
});

test('a diverted run does not begin its schedule again', () => {
  const scheduler = begun('rw', 1, 2);
  const state = scheduler.save();
  scheduler.divert(new Xoshiro(1n), 50, 1000);
  expect(scheduler.awaitsBegin).toBe(false);
  scheduler.load(state);
  expect(scheduler.save()).toEqual(state);
});

test('with one hart there is nothing to order', () => {
  const scheduler = begun('rw', 1, 1);
  expect(scheduler.awaitsBegin).toBe(false);
  expect(scheduler.pick(5, 5, always)).toBe(true);
  expect(scheduler.end).toBe(Infinity);
});

test.each(['rw', 'rp', 'pos', 'pct:3:1000'])('%s: a hart that alone can run draws nothing', text => {
  const [one, other] = [0, 1].map(() => begun(text, 7, 3)) as [Scheduler, Scheduler];
  const only = (n: number) => (hart: number) => hart === n;
  for (let now = 0; now < 900_000; now += 1000) {
    const hart = Math.floor(now / 300_000); // one wakes another, and waits
    one.pick(now, now, only(hart));
    expect(one).toMatchObject({ turn: hart, end: Infinity, isAlone: true });
    expect(one.isChoice(now, only(hart))).toBe(false);
  }
  other.pick(900_000, 900_000, only(2));
  expect(other.save()).toEqual(one.save());
  expect(one.contended(900_000)).toBe(0);
  expect(one.isChoice(900_000, always)).toBe(true);
  for (const scheduler of [one, other]) scheduler.pick(900_000, 900_000, always);
  expect(one.isAlone).toBe(false);
  expect(one.save()).toEqual(other.save());
  expect(one.contended(900_010)).toBe(10);
});

test('a random walk gives each hart its share, with a distance of points that the seed chooses', () => {
  const means = [];
  for (let seed = 1; seed <= 40; seed++) {
    const scheduler = begun('rw', seed, 3);
    const turns = [0, 0, 0];
    const count = 3000;
    let now = 0;
    for (let i = 0; i < count; i++, now = scheduler.end) {
      scheduler.pick(now, now, always);
      turns[scheduler.turn]!++;
    }
    means.push(now / count);
    for (const n of turns) expect(n).toBeGreaterThan(count / 4);
  }
  expect(Math.min(...means)).toBeLessThan(20);
  expect(Math.max(...means)).toBeGreaterThan(7000);
});

test('random priorities: each hart gets its share, in longer parts than in a random walk', () => {
  const partsOf = (schedule: string): number => {
    let parts = 0;
    const turns = [0, 0, 0];
    for (let seed = 1; seed <= 20; seed++) {
      const scheduler = begun(schedule, seed, 3);
      for (let i = 0, last = -1; i < 500; i++, last = scheduler.turn) {
        scheduler.pick(scheduler.end, i, always);
        if (scheduler.turn !== last) parts++;
        turns[scheduler.turn]!++;
      }
    }
    for (const n of turns) expect(n).toBeGreaterThan((20 * 500) / 4);
    return parts;
  };
  // Two of three points of a walk change the hart.
  expect(partsOf('rw')).toBeGreaterThan(20 * 500 * 0.6);
  expect(partsOf('rp')).toBeLessThan(20 * 500 * 0.5);
  expect(partsOf('rp')).toBeGreaterThan(20 * 500 * 0.2);
});

/**
 * The order in which the harts of a program make accesses by POS. `program`: their accesses; a turn
 * is one access, as it is if points are close.
 */
function sample(program: readonly Access[][], seed: number): string {
  const at = program.map(() => 0);
  const next = (hart: number) => program[hart]![at[hart]!];
  const scheduler = new Scheduler(program.length, BigInt(seed), { kind: 'pos' }, next);
  scheduler.begin(0);
  let order = '';
  for (let now = 0; ; now += 1) {
    const able = program.filter((accesses, hart) => at[hart]! < accesses.length).length;
    if (able === 0) return order;
    scheduler.pick(
      Math.max(now, scheduler.isAlone ? now : scheduler.end),
      now,
      hart => next(hart) !== undefined,
    );
    at[scheduler.turn]!++;
    order += scheduler.turn;
  }
}

// Two threads each access one word twice. Without conflicts, thread A is first twice with the
// probability that both its priorities are above B's first: 1/3. With conflicts, B's priority is
// drawn again behind A's first access: 1/4.
test.each([
  [false, 1 / 3],
  [true, 1 / 4],
])('POS: stores: %s', (stores, expected) => {
  const accesses = [{ word: 5, stores }];
  const [runs, program] = [20_000, [0, 1].map(() => [...accesses, ...accesses])];
  let found = 0;
  for (let seed = 0; seed < runs; seed++) if (sample(program, seed).startsWith('00')) found++;
  expect(found / runs).toBeGreaterThan(expected * 0.95);
  expect(found / runs).toBeLessThan(expected * 1.05);
});

test('PCT: the hart with the highest priority runs, and comes back at the next turn', () => {
  const scheduler = begun('pct:1:100', 3, 2);
  scheduler.pick(0, 0, always);
  const first = scheduler.turn;
  for (let i = 0; i < 2; i++) {
    scheduler.pick(scheduler.end, scheduler.end, always);
    expect(scheduler.turn).toBe(first);
  }
  const middle = scheduler.end - 10;
  scheduler.pick(middle, middle, hart => hart !== first); // it waits
  expect(scheduler.turn).toBe(1 - first);
  scheduler.pick(middle + 5, middle + 5, always);
  expect(scheduler.turn).toBe(first);
});

test('PCT: a hart that spins gives way', () => {
  for (let seed = 1; seed <= 50; seed++) {
    const scheduler = begun('pct:2:500', seed, 2);
    const seen = new Set<number>();
    for (let i = 0; i < 30; i++) {
      scheduler.pick(scheduler.end, scheduler.end, always);
      seen.add(scheduler.turn);
    }
    expect(seen.size).toBe(2);
  }
});

// Burckhardt et al., theorem 1: a bug of depth d among k steps of n threads is found with a
// probability of at least 1 / (n * k^(d-1)). Hart A writes at unit `at`, and again one unit later;
// the bug shows when hart B runs between the two.
test.each([1, 40, 90])('PCT finds a bug of depth 2 as often as it must, at unit %i', at => {
  const [units, runs] = [100, 20_000];
  let found = 0;
  for (let seed = 0; seed < runs; seed++) {
    const scheduler = begun(`pct:2:${units}`, seed, 2);
    const turnAt = (now: number): number => {
      scheduler.pick(now, now, always);
      return scheduler.turn;
    };
    if (turnAt(0) === 0 && scheduler.end === at && turnAt(at) === 1) found++;
  }
  expect(found).toBeGreaterThan((runs / (2 * units)) * 0.7);
  expect(found).toBeLessThan((runs / (2 * units)) * 1.3);
});

test('a schedule is read as it is written', () => {
  for (const text of ['rw', 'rp', 'pos', 'pct:3', 'pct:1:1', 'pct:16:1000000000'])
    expect(scheduleText(parseSchedule(text))).toBe(text);
  for (const wrong of [
    '',
    'RW',
    'pct',
    'pct:',
    'pct:0',
    'pct:17',
    'pct:3:0',
    'pct:3:1000000001',
    'rw:2',
    'pos:2',
  ])
    expect(() => parseSchedule(wrong), wrong).toThrow(/^schedule ".*": rw, rp, pos or pct:DEPTH/);
});

test('files take the texts of all orders, and no text that no order has', () => {
  for (const text of ['rw', 'rp', 'pos', 'pct:1', 'pct:9:1', 'pct:10', 'pct:16:1000000000']) {
    expect(text).toMatch(SCHEDULE_TEXT);
    expect(scheduleText(parseSchedule(text))).toBe(text);
  }
  for (const text of [
    '',
    'RW',
    'rw ',
    'rw:2',
    'pct',
    'pct:',
    'pct:0',
    'pct:17',
    'pct:2:0',
    'pct:2:1000000001',
  ]) {
    expect(text).not.toMatch(SCHEDULE_TEXT);
    expect(() => parseSchedule(text)).toThrow(/^schedule "/);
  }
});
