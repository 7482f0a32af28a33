// Devices made of a definition: registers, state, alarms, DMA, parameters, snapshots, and what is
// refused.
import { expect, test } from 'vitest';
import { checkDefinition, defineDevice } from '../../devices/defined.ts';
import { rdlOf } from '../../emulator/bus/define-rdl.ts';
import { headerOf, pageOf, panelOf } from '../../emulator/bus/define-text.ts';
import { RAM_BASE } from '../../emulator/index.ts';
import { DeviceBench } from '../../emulator/machine/device-bench.ts';

const timer = defineDevice({
  name: 'tick',
  compatible: 'test,tick',
  doc: 'Counts down.',
  params: { scale: 10, loud: false, tag: 'a' },
  registers: {
    id: { at: 0, access: 'r', reset: 0x1234, doc: 'constant' },
    load: { at: 4, access: 'rw', doc: 'starts' },
    status: {
      at: 8,
      access: 'rw',
      w1c: 3,
      doc: 'pending',
      fields: { done: { bits: 0, doc: 'over' }, mode: { bits: [4, 5], doc: 'how', values: { fast: 2 } } },
    },
    address: { at: 16, bytes: 8, access: 'rw', doc: 'where the count goes' },
    slots: { at: 32, access: 'rw', count: 4, doc: 'storage' },
    dice: { at: 64, access: 'r', doc: 'random' },
  },
  state: { fired: 0, queue: [] as number[] },
  onRead: { dice: dev => dev.random() },
  onWrite: {
    load: (dev, value) => dev.clock.after('done', value * dev.param.scale),
    status: dev => dev.irq.set((dev.reg.status & 1) !== 0),
  },
  onAlarm: {
    done(dev) {
      dev.state.fired++;
      dev.state.queue.push(dev.clock.now);
      dev.reg.status |= 1;
      dev.dma.write(dev.reg.address, [dev.state.fired, 0, 0, 0]);
      dev.irq.raise();
      dev.log(`fired ${dev.state.fired}`);
    },
  },
});

test('accesses of 8 bytes are those of the bus: two of 4, the low half first', () => {
  const order: string[] = [];
  const wide = defineDevice({
    name: 'wide',
    compatible: 'test,wide',
    doc: 'Records the order.',
    registers: {
      low: { at: 0, access: 'rw', doc: 'one half' },
      high: { at: 4, access: 'rw', doc: 'the other' },
      both: { at: 8, bytes: 8, access: 'rw', doc: 'a register of 8 bytes' },
    },
    onRead: { low: () => order.push('read low'), high: () => order.push('read high') },
    onWrite: {
      low: (_, value) => void order.push(`low ${value}`),
      high: (_, value) => void order.push(`high ${value}`),
    },
  });
  const bench = new DeviceBench(wide);
  bench.write(0, 0x1_0000_0002, 8);
  expect(order).toEqual(['low 2', 'high 1']);
  expect(bench.peek(0, 8)).toBe(0x1_0000_0002n);
  order.length = 0;
  expect(bench.read(0, 8)).toBe(0x2_0000_0001n);
  expect(order).toEqual(['read low', 'read high']);
  bench.write(8, 0xffff_ffff_0000_0001n, 8);
  expect([bench.read(8, 8), bench.read(8), bench.read(12)]).toEqual([0xffff_ffff_0000_0001n, 1, 0xffff_ffff]);
  bench.write(8, -1, 8);
  expect(bench.read(8, 8)).toBe(2n ** 64n - 1n);
});

test('registers, alarms, the interrupt, memory and the log', () => {
  const bench = new DeviceBench(timer, { params: { scale: '100' } });
  expect(bench.read(0)).toBe(0x1234);
  bench.write(0, 7);
  expect(bench.read(0)).toBe(0x1234);
  bench.write(36, 5);
  expect([bench.read(32), bench.read(36)]).toEqual([0, 5]);
  bench.write(16, RAM_BASE + 8);
  bench.write(4, 3);
  bench.advance(299);
  expect(bench.irq).toBe(false);
  bench.advance(1);
  expect([bench.irq, bench.read(8), bench.ram.read32(RAM_BASE + 8)]).toEqual([true, 1, 1]);
  bench.write(8, 1);
  expect([bench.irq, bench.read(8)]).toEqual([false, 0]);
  expect(bench.logged).toEqual(['tick: fired 1']);
});

test('what follows a snapshot follows it again', () => {
  const bench = new DeviceBench(timer);
  bench.write(4, 50);
  bench.advance(100);
  bench.read(64);
  const saved = JSON.parse(JSON.stringify(bench.save()));
  const rest = () => {
    bench.advance(1_000);
    return [bench.irq, bench.read(8), bench.read(64), bench.read(64), JSON.stringify(bench.save())];
  };
  const first = rest();
  bench.load(saved);
  expect(rest()).toEqual(first);
});

test('DMA outside of memory is refused, and a sealed state takes no new names', () => {
  const bench = new DeviceBench(timer);
  bench.write(4, 1); // the address is 0
  expect(() => bench.advance(10)).not.toThrow();
  const hostile = defineDevice({
    ...timer,
    name: 'hostile',
    state: { known: 1 },
    onRead: {},
    onAlarm: {},
    onWrite: { load: dev => Object.assign(dev.state, { other: 1 }) },
  });
  expect(() => new DeviceBench(hostile).write(4, 1)).toThrow(
    'device hostile: onWrite.load: there is no state other: known',
  );
});

test('a register, parameter or state that is not declared is an error, not undefined', () => {
  const misspelt = (onWrite: Record<string, (dev: never) => void>) => () =>
    new DeviceBench(checkDefinition({ ...timer, onWrite })).write(4, 1);
  type Names = Record<string, number>;
  type Loose = { reg: Names; state: Names; param: Record<string, unknown>; log: (text: string) => void };
  expect(misspelt({ load: (dev: Loose) => dev.log(`${dev.reg.lod}`) })).toThrow(
    'device tick: onWrite.load: there is no register lod: id, load, status, address, slots, dice',
  );
  expect(misspelt({ load: (dev: Loose) => void (dev.reg.lod! |= 1) })).toThrow(/there is no register lod/);
  expect(misspelt({ load: (dev: Loose) => dev.log(`${dev.param.scal}`) })).toThrow(
    'device tick: onWrite.load: there is no parameter scal: scale, loud, tag',
  );
  expect(misspelt({ load: (dev: Loose) => dev.log(`${dev.state.fird}`) })).toThrow(
    'device tick: onWrite.load: there is no state fird: fired, queue',
  );
  expect(misspelt({ load: (dev: Loose) => void dev.state.fird!++ })).toThrow(/there is no state fird/);
  const names: string[] = [];
  const looks = (dev: Loose) => {
    for (const name in dev.state) names.push(name);
    dev.log(JSON.stringify([dev.reg, dev.param, dev.state, `${dev.reg}`, `${dev.state}`]));
  };
  expect(misspelt({ load: looks })).not.toThrow();
  expect(names).toEqual(['fired', 'queue']);
  const loaded = new DeviceBench(
    checkDefinition({ ...timer, onWrite: { load: (dev: Loose) => dev.log(`${dev.state.x}`) } }),
  );
  loaded.load(JSON.parse(JSON.stringify(loaded.save())));
  expect(() => loaded.write(4, 1)).toThrow(/there is no state x: fired, queue/);
});

test.each([Number.NaN, -1, Infinity, 'abc', undefined])('an alarm after %s is an error', ns => {
  const onWrite = {
    load: (dev: { clock: { after(name: string, ns: unknown): void } }) => dev.clock.after('done', ns),
  };
  expect(() => new DeviceBench(checkDefinition({ ...timer, onWrite })).write(4, 1)).toThrow(
    `device tick: clock.after('done', ${ns}): give nanoseconds from 0 on`,
  );
});

test('whatever a handler throws, and whatever is in the state, the device is named', () => {
  const fails = (): never => {
    throw new Error('p');
  };
  const onWrite = {
    load: () => {
      throw { toString: fails };
    },
  };
  expect(() => new DeviceBench(checkDefinition({ ...timer, onWrite })).write(4, 1)).toThrow(
    'device tick: onWrite.load: it threw a value that has no text',
  );
  const proxy = new Proxy({}, { getPrototypeOf: fails });
  const keeps = { load: (dev: { state: Record<string, unknown> }) => void (dev.state.queue = proxy) };
  const bench = new DeviceBench(checkDefinition({ ...timer, onWrite: keeps }));
  bench.write(4, 1);
  expect(() => bench.save()).toThrow('device tick: save: p');
});

const wrong = (change: object): unknown => ({ ...timer, ...change });
test.each([
  [wrong({ name: 'Not C' }), /name is not/],
  [wrong({ compatible: 'two words' }), /compatible is not a word/],
  [wrong({ size: 5000 }), /size 5000 is not a power of two/],
  [wrong({ registers: { a: { at: 2, access: 'r', doc: '' } } }), /is at 2, which is not aligned/],
  [wrong({ registers: { a: { at: 4096, access: 'r', doc: '' } }, onRead: {}, onWrite: {} }), /ends at 4100/],
  [
    wrong({
      registers: {
        a: { at: 0, access: 'r', doc: '', fields: { b: { bits: [1, 2], doc: '', values: { c: 4 } } } },
      },
    }),
    /a\.b has 2 bits, so it is never 4 \(c\)/,
  ],
  [wrong({ state: { f: () => 1 } }), /state\.f is a function/],
  [wrong({ state: { f: new Map() } }), /state\.f is not a plain object/],
  [wrong({ state: { f: Number.NaN } }), /state\.f is NaN/],
  [wrong({ onRead: { nothing: () => 0 } }), /onRead\.nothing is of no register/],
  [null, /not an object/],
])('refused: %#', (definition, why) => {
  expect(() => checkDefinition(definition)).toThrow(why);
});

test.each([
  [{ depth: '1' }, /no parameter depth: scale, loud, tag/],
  [{ scale: 'x' }, /scale=x is not a number/],
  [{ loud: 'yes' }, /neither true nor false/],
])('parameters: %j', (params, why) => {
  expect(() => new DeviceBench(timer, { params: params as Record<string, string> })).toThrow(why);
});

test('header, page and panel show the same rows', () => {
  const header = headerOf(timer);
  expect(header).toContain('#define TICK_ID 0x0 /* [r] constant */');
  expect(header).toContain('#define TICK_STATUS 0x8 /* [rw, w1c 0x3] pending */');
  expect(header).toContain('#define TICK_STATUS_DONE 0x1u /* [w1c] over */');
  expect(header).toContain('#define TICK_STATUS_MODE 0x30u /* [rw] how */');
  expect(header).toContain('#define TICK_STATUS_MODE_SHIFT 4');
  expect(header).toContain('#define TICK_STATUS_MODE_FAST 2');
  expect(header).toContain('#define TICK_SLOTS_COUNT 4');
  const page = pageOf(timer);
  expect(page).toContain('| 0x20 + 0x4 n, n < 4 | 4 | `slots` | read, write |');
  expect(page).toContain('| 0x8 | 4 | `status` | read, write; bits 0x3: write 1 to clear |');
  expect(page).toContain('| 0 | `done` | read, write 1 to clear | over |');
  expect(page).toContain('| 5:4 | `mode` | read, write | how; 2 fast |');
  const partly = { bits: [0, 2] as const, doc: 'three bits' };
  const other = { at: 0, access: 'rw', w1c: 3, doc: 'mixed', fields: { partly } } as const;
  const mixed = pageOf({ ...timer, registers: { other } });
  expect(mixed).toContain('| 2:0 | `partly` | read, write; bits 0x3: write 1 to clear | three bits |');
  const panel = panelOf(timer, offset => (offset === 8 ? 0x21 : 0));
  expect(panel).toMatch(/0x8 {5}status {18}0x21/);
  expect(panel).toMatch(/\.mode {17}2 \(fast\)/);
});

test('names and texts of any characters neither break a file nor control a terminal', () => {
  const odd = { bits: 0, doc: 'a\u001b[31m\nb */', values: { '9 lives': 1 } } as const;
  const registers = {
    one: { at: 0, access: 'rw', doc: '\u0007bell', fields: { 'not ready': odd } },
  } as const;
  const device = checkDefinition({ ...timer, registers, onRead: {}, onWrite: {} });
  const texts = [headerOf(device), pageOf(device), panelOf(device, () => 1), rdlOf(device)];
  for (const text of texts) expect(text).not.toMatch(/[^\P{Cc}\n]/u);
  expect(texts[0]).toContain('#define TICK_ONE_NOT_READY_9_LIVES 1');
  expect(texts[3]).toMatch(/enum one_not_ready_values \{\n +_9_lives = 1'd1;/);
});
