// The failures that `why` looks for, and the parts of a fork's schedule.
import { describe, expect, test } from 'vitest';
import { Xoshiro } from '../../emulator/base/xoshiro.ts';
import { Clock } from '../../emulator/machine/clock.ts';
import { Scheduler } from '../../emulator/machine/scheduler.ts';
import { failsAt, failureOf, failureText, lineFailure } from '../../run/why/failure.ts';

const exit = (status: number) => ({ kind: 'exit', status }) as const;

describe('a failure', () => {
  test.each([
    [{ end: 'exit', status: 3 }, 'all well\n', 'exit status 3'],
    [{ end: 'exit', status: 139 }, '', 'exit status 139'],
    [{ end: 'budget', status: 124 }, '', 'the run does not end'],
    [{ end: 'halt', status: 125 }, '', 'the run does not end'],
    [{ end: 'interrupted', status: 130 }, '', 'the run does not end'],
    [{ end: 'panic', status: 126 }, 'hello\npanic: no more\nat 0x12\n', 'the line "panic: no more"'],
    [
      { end: 'exit', status: 0 },
      'BUG: KASAN: use-after-free at 0x80\nok\n',
      'the line "BUG: KASAN: use-after-free at 0x80"',
    ],
    [{ end: 'panic', status: 126 }, 'panic: oops\nBUG: first\n', 'the line "BUG: first"'],
  ] as const)('of %j is %s', (outcome, console, text) => {
    expect(failureText(failureOf(outcome, console)!)).toBe(text);
  });

  test('of a run that ended well is none', () => {
    expect(failureOf({ end: 'exit', status: 0 }, 'panic is no panic\n')).toBeUndefined();
  });

  test('is found again: a line with other numbers, a status, a hang', () => {
    const report = failureOf({ end: 'panic', status: 126 }, 'panic: page fault at 0x1234, cpu 3\n')!;
    if (report.kind !== 'line') throw new Error(report.kind);
    expect(report.matches('panic: page fault at 0xffff, cpu 0')).toBe(true);
    expect(report.matches('panic: bus error at 0x1234, cpu 3')).toBe(false);
    expect(failsAt(report, exit(0xff7e))).toBe(false);

    expect(failsAt({ kind: 'status', status: 3 }, exit(3))).toBe(true);
    expect(failsAt({ kind: 'status', status: 3 }, exit(4))).toBe(false);
    expect(failsAt({ kind: 'status', status: 124 }, { kind: 'budget' })).toBe(false);
    expect(failsAt({ kind: 'hang' }, { kind: 'budget' })).toBe(true);
    expect(failsAt({ kind: 'hang' }, { kind: 'halt' })).toBe(true);
    expect(failsAt({ kind: 'hang' }, exit(1))).toBe(false);
    expect(failsAt({ kind: 'hang' }, { kind: 'reset' })).toBe(false);
    const line = lineFailure(/lost \d+/);
    expect(line.kind === 'line' && line.matches('we lost 7 of them')).toBe(true);
  });
});

test('late alarms are late by what is drawn, until a state is loaded', () => {
  const clock = new Clock();
  const fired: [string, number][] = [];
  let now = 0;
  clock.source = () => now;
  const alarm = (name: string) => clock.alarm(name, () => fired.push([name, now]));
  const [early, late] = [alarm('early'), alarm('late')];
  early.set(10);
  const state = clock.save();
  const draws = [5, 7];
  clock.delay(() => draws.shift()!);
  late.set(20);
  const all = (): void => {
    for (; clock.next() < Infinity; ) {
      now = clock.next();
      clock.fireDue(now);
    }
  };
  all();
  expect(fired).toEqual([
    ['early', 15],
    ['late', 27],
  ]);
  fired.length = now = 0;
  clock.load(state);
  late.set(12);
  all();
  expect(fired).toEqual([
    ['early', 10],
    ['late', 12],
  ]);
});

test('a diverted order has turns of 1 to the longest, and ends with a loaded state', () => {
  const scheduler = new Scheduler(3, undefined);
  const state = scheduler.save();
  const turnsOf = (steps: number): { hart: number; length: number }[] => {
    const turns: { hart: number; length: number }[] = [];
    for (let now = scheduler.end; turns.length < steps; now = scheduler.end) {
      expect(scheduler.pick(now, now, () => true)).toBe(true);
      turns.push({ hart: scheduler.turn, length: scheduler.end - now });
    }
    return turns;
  };
  scheduler.divert(new Xoshiro(1n), 50, 1000);
  expect(scheduler.turn).toBe(0);
  expect(scheduler.end).toBeGreaterThan(1000);
  expect(scheduler.end).toBeLessThanOrEqual(1050);
  const turns = turnsOf(2000);
  expect(Math.min(...turns.map(({ length }) => length))).toBe(1);
  expect(Math.max(...turns.map(({ length }) => length))).toBe(50);
  expect(new Set(turns.map(({ hart }) => hart)).size).toBe(3);
  scheduler.load(state);
  expect(turnsOf(4)).toEqual([1, 2, 0, 1].map(hart => ({ hart, length: 20_000 })));
  expect(scheduler.save()).not.toHaveProperty('rng', expect.anything());
});
