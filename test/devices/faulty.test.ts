// Faults of a device that knows nothing of them: each kind does what its row says, at the event
// that was named and at no other, and a snapshot holds what happened.
import { describe, expect, test } from 'vitest';
import { FaultLayer, FaultyDevice } from '../../devices/faulty.ts';
import type { Device, IrqLine } from '../../emulator/bus/device.ts';
import {
  FAULT_KINDS,
  type FaultKind,
  faultText,
  parseFaultChoice,
  parseFaults,
  USUAL_KINDS,
} from '../../emulator/bus/fault-kinds.ts';
import { hostileText, parseHostile } from '../../emulator/bus/hostile.ts';
import { Ram } from '../../emulator/bus/ram.ts';
import { Clock } from '../../emulator/machine/clock.ts';

const BASE = 0x8000_0000;

/** A device with one register, an alarm, an interrupt and memory, behind its faults. */
function world(text: string) {
  let now = 0;
  const clock = new Clock();
  clock.source = () => now;
  const ram = new Ram(new WebAssembly.Memory({ initial: 1, maximum: 1 }), 0, BASE, 65536);
  const levels: boolean[] = [];
  const line: IrqLine = {
    raise: () => levels.at(-1) !== true && levels.push(true),
    lower: () => levels.at(-1) === true && levels.push(false),
  };
  const layer = new FaultLayer('dev', parseFaults(`dev:${text}`), clock, 5n);
  const wires = { irq: layer.line(line), ram: layer.ram(ram), clock: layer.clock() };
  const stored: number[] = [];
  const alarm = wires.clock.alarm('dev', () => wires.irq.raise());
  const inner: Device = {
    name: 'dev',
    read: () => 0x1234_5678,
    write: (_, __, value) => stored.push(value),
    reset: () => stored.push(-1),
    save: () => [...stored],
    load: state => stored.splice(0, stored.length, ...(state as number[])),
  };
  const device = new FaultyDevice(inner, layer);
  const advance = (to: number) => {
    for (; clock.next() <= to; clock.fireDue(now)) now = clock.next();
    now = to;
  };
  const access = (write?: number): number | 'fault' => {
    if (device.refuses()) return 'fault';
    if (write === undefined) return device.read(0, 4);
    device.write(0, 4, write);
    return 0;
  };
  return { nsPerUnit: clock.nsPerUnit, device, layer, ram, wires, stored, levels, alarm, advance, access };
}

const ones = 0xffff_ffff;
const right = 0x1234_5678;
test.each<[FaultKind, (number | 'fault')[]]>([
  ['read-ones', [right, ones, right]],
  ['read-zero', [right, 0, right]],
  ['read-stuck', [right, right, right]],
  ['bus-error', [right, 'fault', right]],
  ['remove', [right, ones, ones]],
])('%s@2', (kind, answers) => {
  const w = world(`${kind}@2`);
  expect(answers.map(() => w.access())).toEqual(answers);
  expect(w.layer.fired.map(faultText)).toEqual([`dev:${kind}@2`]);
});

test('read-flip changes one bit, the same in every run', () => {
  const flips = [world('read-flip@1'), world('read-flip@1')].map(w => (w.access() as number) ^ right);
  expect(Math.log2(flips[0]! >>> 0) % 1).toBe(0);
  expect(flips[1]).toBe(flips[0]);
});

test('writes: dropped, doubled, and a reset before an access', () => {
  const w = world('write-drop@1,write-twice@2,reset@4');
  for (const value of [1, 2, 3, 4]) w.access(value);
  expect(w.stored).toEqual([2, 2, 3, -1, 4]);
});

test.each([
  ['irq-drop@1', [true, false]],
  ['irq-drop@9', [true, false, true, false]],
  ['irq-double@1', [true, false, true, false, true, false]],
  ['irq-stuck@2', [true, false, true]],
])('%s: levels of the line', (fault, levels) => {
  const w = world(fault);
  for (let i = 0; i < 2; i++) {
    w.wires.irq.raise();
    w.wires.irq.lower();
    w.advance(1e6 * (i + 1));
  }
  expect(w.levels).toEqual(levels);
});

test('irq-late and late: later by the time that was given', () => {
  const w = world('irq-late@1=100ns,late@2=500ns');
  w.alarm.set(10);
  w.advance(109);
  expect(w.levels).toEqual([]);
  w.advance(110);
  expect(w.levels).toEqual([true]);
  w.wires.irq.lower();
  w.alarm.set(120);
  w.advance(600);
  expect(w.levels).toEqual([true, false]);
  w.advance(610);
  expect(w.levels).toEqual([true, false, true]);
});

test('never, and an interrupt without a cause', () => {
  const w = world('never@1,irq-spurious@1=50ns');
  w.alarm.set(10);
  w.access();
  expect(w.levels).toEqual([true]);
  w.advance(1000);
  expect(w.levels).toEqual([true, false]);
});

test('transfers: dropped, short, misdirected, ones, flipped', () => {
  const w = world('dma-drop@1,dma-short@2,dma-misdirect@3,dma-ones@4,dma-read-zero@2,dma-read-flip@3');
  const put = (at: number) => w.wires.ram.write(BASE + at, Uint8Array.of(1, 2, 3, 4));
  for (const at of [0, 16, 32, 48, 64]) put(at);
  const four = (at: number) => [...w.ram.read(BASE + at, 4)];
  expect([0, 16, 32, 48, 64].map(four)).toEqual([
    [0, 0, 0, 0],
    [1, 2, 0, 0],
    [0, 0, 0, 0],
    [255, 255, 255, 255],
    [1, 2, 3, 4],
  ]);
  expect(four(32 + 4096)).toEqual([1, 2, 3, 4]);
  const reads = [0, 1, 2].map(() => w.wires.ram.read32(BASE + 64));
  expect(reads.slice(0, 2)).toEqual([0x0403_0201, 0]);
  expect(Math.log2((reads[2]! ^ 0x0403_0201) >>> 0) % 1).toBe(0);
});

test('a snapshot holds the counts and what happened', () => {
  const w = world('remove@3');
  w.access(1);
  const saved = JSON.parse(JSON.stringify(w.device.save()));
  w.access(2);
  expect(w.access()).toBe(ones);
  w.device.load(saved);
  expect([w.access(), w.access()]).toEqual([right, ones]);
});

/** Checks a state as a snapshot's file may have it; '' or why it is refused. */
function refusal(w: ReturnType<typeof world>, change: object): string {
  const own = w.device.save() as { faults: object };
  const refuse = (why: string): never => {
    throw new Error(why);
  };
  const saved = JSON.parse(JSON.stringify({ ...own, faults: { ...own.faults, ...change } })) as unknown;
  try {
    w.device.checkState(saved, own, { same: () => {}, refuse });
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

test.each([
  [{}, ''],
  [{ counts: { irq: 2, read: 9 }, fired: [0, 0], stuck: [[0, 7]] }, ''],
  [{ counts: null }, 'events'],
  [{ counts: 'abc' }, 'events'],
  [{ counts: [1] }, 'events'],
  [{ counts: { other: 1 } }, 'events'],
  [{ counts: { irq: -1 } }, 'events'],
  [{ fired: [1] }, 'happened'],
  [{ fired: null }, 'happened'],
  [{ stuck: [5] }, 'stuck'],
  [{ stuck: [[0, 'x']] }, 'stuck'],
  [{ temper: {} }, 'temper'],
  [{ temper: { pulses: 'x' } }, 'temper'],
  [{ temper: undefined }, 'temper'],
])('a state from a file with %j', (change, why) => {
  expect(refusal(world('remove@3'), change)).toMatch(why === '' ? /^$/ : new RegExp(why));
});

test('a twin keeps its temper in a state from a file', () => {
  const w = world('remove@9999');
  w.layer.provoke({ device: 'dev', seed: 3, misdirects: false });
  const { temper } = (w.device.save() as { faults: { temper: object } }).faults;
  expect(refusal(w, { temper: { ...temper, pulses: 3 } })).toBe('');
  for (const other of [null, { ...temper, pulses: -1 }, { ...temper, rate: 0 }, { pulses: 0 }])
    expect(refusal(w, { temper: other })).toMatch(/temper/);
});

describe('a hostile twin', () => {
  const answers = (w: ReturnType<typeof world>, n: number) =>
    Array.from({ length: n }, (_, i) => {
      w.wires.ram.write32(BASE + 16, i);
      w.advance(1000 * i);
      return [w.access(), w.ram.read32(BASE + 16), w.levels.length];
    });
  const hostile = (seed: number, misdirects = false) => {
    const w = world('remove@9999');
    w.layer.provoke({ device: 'dev', seed, misdirects });
    return w;
  };

  test('a seed decides all that it does, also after a snapshot; other seeds differ', () => {
    const runs = new Set<string>();
    for (let seed = 1; seed <= 40; seed++) {
      const [a, b] = [hostile(seed), hostile(seed)];
      const first = answers(a, 30);
      expect(answers(b, 30)).toEqual(first);
      runs.add(JSON.stringify(first));
      const saved = JSON.parse(JSON.stringify(a.device.save()));
      const next = Array.from({ length: 20 }, () => a.access());
      a.device.load(saved);
      expect(Array.from({ length: 20 }, () => a.access())).toEqual(next);
    }
    // Some seeds draw hardly any faults.
    expect(runs.size).toBeGreaterThan(25);
  });

  test('it moves data where it should not only when asked', () => {
    const strays = (misdirects: boolean) =>
      Array.from({ length: 60 }, (_, i) => hostile(i + 1, misdirects)).filter(w => {
        for (let i = 0; i < 60; i++) w.wires.ram.write32(BASE + 16, 7);
        return w.ram.read32(BASE + 16 + 4096) !== 0;
      }).length;
    expect(strays(false)).toBe(0);
    expect(strays(true)).toBeGreaterThan(0);
  });

  test('the bytes next to a transfer stay as they are', () => {
    for (let seed = 1; seed <= 60; seed++) {
      const w = hostile(seed);
      for (let i = 0; i < 60; i++) w.wires.ram.write(BASE + 16, new Uint8Array(1 + (i % 9)));
      expect([w.ram.read64(BASE + 8), w.ram.read64(BASE + 25)]).toEqual([0n, 0n]);
    }
  });

  test('as text', () => {
    for (const text of ['edu:7', 'virtio7:4294967295:misdirect'])
      expect(hostileText(parseHostile(text))).toBe(text);
    expect(parseHostile('edu')).toEqual({ device: 'edu', seed: 1, misdirects: false });
    for (const text of ['', ':1', 'edu:x', 'edu:4294967296'])
      expect(() => parseHostile(text)).toThrow(`hostile "${text}": write it as DEVICE:SEED`);
  });
});

test('every kind is written and read back', () => {
  for (const [kind, row] of Object.entries(FAULT_KINDS)) {
    const text = `virtio7:${kind}@12${'time' in row ? '=7ns' : ''}`;
    expect(parseFaults(text).map(faultText)).toEqual([text]);
    if (!('draws' in row)) continue;
    const drawn = `edu:${kind}@3=0xfe`;
    expect(parseFaults(drawn).map(faultText)).toEqual([drawn]);
  }
  // As a capsule has it: nanoseconds.
  const long = parseFaults('edu:late@1=999s');
  expect(long.map(faultText).flatMap(parseFaults)).toEqual(long);
});

test('two faults of one kind have times of their own', () => {
  const w = world('late@1=1ms,late@2=5ms');
  const at = [1, 2].map(() => {
    w.alarm.set(10);
    return w.alarm.at;
  });
  expect(at).toEqual([1e6 / w.nsPerUnit, 5e6 / w.nsPerUnit]);
});

test('a seed decides what is drawn, whatever was drawn before', () => {
  const values = (text: string): (number | 'fault')[] => {
    const w = world(text);
    return [w.access(), w.access(), w.access()];
  };
  const [, second] = values('read-flip@2=0x5');
  expect(values('read-flip@1,read-flip@2=0x5')[1]).toBe(second);
  const all = new Set(Array.from({ length: 64 }, (_, n) => values(`read-flip@2=0x${n.toString(16)}`)[1]));
  expect(all.size).toBeGreaterThan(20);
});

test('events count from where the layer restarts', () => {
  const w = world('read-ones@2');
  w.access();
  w.layer.restart();
  expect([w.access(), w.access(), w.access()]).toEqual([right, ones, right]);
  expect(w.layer.fired.map(faultText)).toEqual(['dev:read-ones@2']);
});

test('a choice of faults', () => {
  expect(parseFaultChoice('edu')).toEqual({ device: 'edu', kinds: USUAL_KINDS });
  expect(parseFaultChoice('edu:irq-drop,late,late').kinds).toEqual(['irq-drop', 'late']);
  for (const [text, why] of [
    ['', /write it as DEVICE or DEVICE:KIND,.../],
    ['edu:', /the kinds are irq-drop, /],
    ['edu:irq-drop@2', /write it without @N/],
    ['edu:what', /the kinds are irq-drop, /],
  ] as const)
    expect(() => parseFaultChoice(text), text).toThrow(why);
});

test.each([
  ['edu', /write it as DEVICE:KIND@N/],
  ['edu:what@1', /the kinds are irq-drop, /],
  ['edu:irq-drop@0', /the first event is @1/],
  ['edu:irq-drop@1=5ms', /irq-drop has no time/],
  ['edu:irq-drop@1=0x5', /irq-drop draws nothing/],
  ['edu:read-flip@1=0x123456789', /behind read-flip comes @N/],
  ['edu:late@1=9999999999s', /a time is at most 1000000 s/],
])('refused: %s', (text, why) => {
  expect(() => parseFaults(text)).toThrow(why);
});
