// The clock of retired instructions: alarms fire at their instruction, in a fixed order.
import { describe, expect, it } from 'vitest';
import { Clock } from '../../emulator/machine/clock.ts';

describe('clock', () => {
  it('fires alarms by time, and those of one instruction in the order in which they were set', () => {
    const clock = new Clock();
    const seen: string[] = [];
    const [a, b, c] = ['a', 'b', 'c'].map(n => clock.alarm(n, () => seen.push(n)));
    c!.set(10);
    b!.set(10);
    a!.set(10);
    b!.set(10);
    clock.fireDue(9);
    expect(seen).toEqual([]);
    clock.fireDue(10);
    expect(seen).toEqual(['c', 'a', 'b']);
  });

  it('answers Infinity when nothing is armed', () => {
    const clock = new Clock();
    const a = clock.alarm('a', () => {});
    expect(clock.next()).toBe(Infinity);
    a.set(5);
    a.clear();
    expect(clock.next()).toBe(Infinity);
    expect(a.at).toBe(Infinity);
  });

  it('lets an alarm arm itself again while it fires', () => {
    const clock = new Clock();
    let count = 0;
    const a = clock.alarm('a', () => {
      if (++count < 3) a.set(10 + count);
    });
    a.set(1);
    for (const [now, fired] of [
      [10, 1],
      [11, 2],
      [20, 3],
      [30, 3],
    ] as const) {
      clock.fireDue(now);
      expect(count).toBe(fired);
    }
    expect(clock.next()).toBe(Infinity);
  });

  it('fires an alarm that is armed at or before now at the next unit, once', () => {
    const clock = new Clock();
    let now = 100;
    clock.source = () => now;
    const fired: number[] = [];
    // Each wants a time in the past again whenever it fires; without the rule fireDue never
    // returns.
    const past = [now, 7, -1e300, Number.NaN].map((at, i) => {
      const alarm = clock.alarm(`a${i}`, () => {
        fired.push(now);
        alarm.set(at);
      });
      alarm.set(at);
      return alarm;
    });
    expect(past.map(a => a.at)).toEqual([101, 101, 101, 101]);
    clock.fireDue(now);
    expect(fired).toEqual([]);
    for (now = 101; now < 104; now++) clock.fireDue(now);
    expect(fired).toEqual([101, 102, 103].flatMap(t => [t, t, t, t]));
  });

  it('says when an earlier event appears', () => {
    const clock = new Clock();
    const earlier: number[] = [];
    clock.onEarlier = at => earlier.push(at);
    const [a, b] = [clock.alarm('a', () => {}), clock.alarm('b', () => {})];
    a.set(100);
    b.set(200);
    b.set(50);
    expect(earlier).toEqual([100, 50]);
  });

  it('keeps times and tie order across save and load', () => {
    const make = (seen: string[]) => {
      const clock = new Clock();
      return { clock, alarms: ['a', 'b', 'c'].map(n => clock.alarm(n, () => seen.push(n))) };
    };
    const one = make([]);
    one.alarms[2]!.set(7);
    one.alarms[0]!.set(7);
    const seen: string[] = [];
    const two = make(seen);
    two.clock.load(JSON.parse(JSON.stringify(one.clock.save())));
    two.clock.fireDue(7);
    expect(seen).toEqual(['c', 'a']);
  });
});
