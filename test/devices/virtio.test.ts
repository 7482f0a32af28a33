// virtio-mmio in both versions, driven by a small driver in this file: queues, block, entropy and
// console, and rings that a hostile driver built.
import { describe, expect, it } from 'vitest';
import { VirtioBlk } from '../../devices/virtio-blk.ts';
import { VirtioConsole } from '../../devices/virtio-console.ts';
import { BURST, type VirtioBackend, VirtioMmio } from '../../devices/virtio-mmio.ts';
import { DESC_WORK, PIECE, QUEUE_MAX, REQUEST_WORK } from '../../devices/virtio-queue.ts';
import { VirtioRng } from '../../devices/virtio-rng.ts';
import type { Ram } from '../../emulator/bus/ram.ts';
import { HandClock, Line, Output, RAM, ram } from './ports.ts';

const SIZE = 8;
const DESC = RAM + 0x1000;
const AVAIL = DESC + 16 * SIZE;
const USED = RAM + 0x2000;
const BUFFER = RAM + 0x3000;
const [NEXT, WRITE, INDIRECT] = [1, 2, 4] as const;
const STATUS_NEEDS_RESET = 0x40;

/** The smallest driver: one queue, requests of a few descriptors. */
class Driver {
  readonly memory: Ram;
  readonly irq = new Line();
  readonly clock = new HandClock();
  readonly size: number;
  spent = 0;
  readonly work = { spend: (units: number) => void (this.spent += units) };
  readonly device: VirtioMmio;

  /** Of queue 0; queue 1 has its own 0x4000 bytes further. */
  readonly avail: number;
  readonly used: number;

  constructor(backend: VirtioBackend, legacy = false, queues = 1, bytes = 0x1_0000, size = SIZE) {
    this.memory = ram(bytes);
    this.size = size;
    // The usual places, unless the queue is too large for them.
    this.avail = size > 64 ? RAM + 0x4_0000 : AVAIL + 16 * (size - SIZE);
    this.used = size > 64 ? RAM + 0x5_0000 : USED;
    const { irq, memory, clock, work } = this;
    this.device = new VirtioMmio(0, { irq, ram: memory, clock, work }, legacy, backend);
    this.setUp(legacy, queues);
  }

  setUp(legacy: boolean, queues: number): void {
    this.set(0x70, 3);
    if (legacy) {
      this.set(0x28, 4096);
    } else {
      this.set(0x24, 1);
      this.set(0x20, 1); // VIRTIO_F_VERSION_1
      this.set(0x70, 11);
      expect(this.get(0x70)).toBe(11);
    }
    for (let q = 0; q < queues; q++) {
      this.set(0x30, q);
      expect(this.get(0x34)).toBeGreaterThanOrEqual(SIZE);
      this.set(0x38, this.size);
      const shift = q * 0x4000;
      if (legacy) {
        this.set(0x3c, 4096);
        this.set(0x40, (DESC + shift) / 4096);
      } else {
        for (const [at, value] of [
          [0x80, DESC],
          [0x90, this.avail],
          [0xa0, this.used],
        ] as const) {
          this.set(at, value + shift);
          this.set(at + 4, 0);
        }
        this.set(0x44, 1);
      }
    }
    this.set(0x70, 15);
  }

  get(at: number): number {
    return this.device.read(at, 4);
  }

  set(at: number, value: number): void {
    this.device.write(at, 4, value);
  }

  desc(i: number, addr: number | bigint, bytes: number, flags: number, next = 0, table = DESC): void {
    this.memory.write64(table + 16 * i, BigInt(addr));
    this.memory.write32(table + 16 * i + 8, bytes);
    this.memory.write16(table + 16 * i + 12, flags);
    this.memory.write16(table + 16 * i + 14, next);
  }

  /**
   * Offers the chain that starts at `head` and rings; returns the used length, or undefined when
   * not served.
   */
  offer(head = 0, queue = 0): number | undefined {
    const shift = queue * 0x4000;
    const [avail, used] = [this.avail + shift, this.used + shift];
    const index = this.memory.read16(avail + 2);
    this.memory.write16(avail + 4 + 2 * (index % this.size), head);
    this.memory.write16(avail + 2, (index + 1) & 0xffff);
    const before = this.memory.read16(used + 2);
    this.set(0x50, queue);
    if (this.memory.read16(used + 2) === before) return undefined;
    return this.memory.read32(used + 4 + 8 * (before % this.size) + 4);
  }

  /** A block request; returns its status byte. */
  block(type: number, sector: number | bigint, data: Uint8Array | number): number {
    this.memory.write32(BUFFER, type);
    this.memory.write64(BUFFER + 8, BigInt(sector));
    const write = typeof data !== 'number';
    const bytes = write ? data.length : data;
    if (write) this.memory.write(BUFFER + 0x100, data);
    this.desc(0, BUFFER, 16, NEXT, 1);
    this.desc(1, BUFFER + 0x100, bytes, NEXT | (write ? 0 : WRITE), 2);
    this.desc(2, BUFFER + 0x80, 1, WRITE);
    this.memory.write8(BUFFER + 0x80, 0xee);
    expect(this.offer()).toBe(write ? 1 : this.memory.read8(BUFFER + 0x80) === 0 ? bytes + 1 : 1);
    return this.memory.read8(BUFFER + 0x80);
  }

  data(bytes: number): number[] {
    return [...this.memory.read(BUFFER + 0x100, bytes)];
  }
}

const image = (): Uint8Array => Uint8Array.from({ length: 2048 }, (_, i) => (i >> 9) + 1);

describe.each([
  ['modern', false],
  ['legacy', true],
])('virtio-blk, %s', (_, legacy) => {
  const driver = (readOnly = false): Driver => new Driver(new VirtioBlk(image(), readOnly), legacy);

  it('introduces itself', () => {
    const d = driver();
    expect([d.get(0), d.get(4), d.get(8)]).toEqual([0x7472_6976, legacy ? 1 : 2, 2]);
    expect(d.device.read(0x100, 4)).toBe(4);
    expect(d.device.read(0x100 + 20, 4)).toBe(512);
  });

  it('reads, writes and reads back, and interrupts until acknowledged', () => {
    const d = driver();
    expect(d.block(0, 2, 512)).toBe(0);
    expect(new Set(d.data(512))).toEqual(new Set([3]));
    expect(d.irq.level).toBe(true);
    d.set(0x64, d.get(0x60));
    expect(d.irq.level).toBe(false);
    expect(d.block(1, 1, new Uint8Array(512).fill(99))).toBe(0);
    expect(d.block(0, 1, 512)).toBe(0);
    expect(new Set(d.data(512))).toEqual(new Set([99]));
    expect(d.block(4, 0, 0)).toBe(0);
  });

  it('refuses what lies outside the image, writes to a read-only disk and unknown requests', () => {
    const d = driver();
    expect(d.block(0, 4, 512)).toBe(1);
    expect(d.block(0, 3, 1024)).toBe(1);
    expect(d.block(0, 2n ** 64n - 1n, 512)).toBe(1);
    expect(d.block(1, 2n ** 55n, new Uint8Array(512))).toBe(1);
    expect(d.block(77, 0, 512)).toBe(2);
    expect(driver(true).block(1, 0, new Uint8Array(512))).toBe(1);
  });

  it('keeps the contents of the disk in its record', () => {
    const d = driver();
    d.block(1, 3, new Uint8Array(512).fill(7));
    const other = driver();
    other.device.load(JSON.parse(JSON.stringify(d.device.save())));
    other.memory.data.set(d.memory.data);
    expect(other.block(0, 3, 512)).toBe(0);
    expect(new Set(other.data(512))).toEqual(new Set([7]));
  });

  it('follows indirect descriptors', () => {
    const d = driver();
    const table = RAM + 0x5000;
    d.memory.write32(BUFFER, 0);
    d.memory.write64(BUFFER + 8, 0n);
    d.desc(0, table, 48, INDIRECT);
    d.desc(0, BUFFER, 16, NEXT, 1, table);
    d.desc(1, BUFFER + 0x100, 512, NEXT | WRITE, 2, table);
    d.desc(2, BUFFER + 0x80, 1, WRITE, 0, table);
    expect(d.offer()).toBe(513);
    expect(new Set(d.data(512))).toEqual(new Set([1]));
  });

  it('stays silent when the driver asks for no interrupts', () => {
    const d = driver();
    d.memory.write16(AVAIL, 1);
    d.block(4, 0, 0);
    expect(d.irq.rises).toBe(0);
  });
});

describe('hostile rings', () => {
  const attacks: [string, (d: Driver) => void][] = [
    ['a chain that loops', d => d.desc(0, BUFFER, 16, NEXT, 0)],
    ['a next index outside the table', d => d.desc(0, BUFFER, 16, NEXT, 4000)],
    ['a buffer outside ram', d => d.desc(0, 0x1000, 16, WRITE)],
    ['a buffer that wraps', d => d.desc(0, 2n ** 64n - 8n, 16, WRITE)],
    ['a buffer of 4 GiB', d => d.desc(0, BUFFER, 0xffff_ffff, WRITE)],
    ['an indirect table of odd size', d => d.desc(0, BUFFER, 17, INDIRECT)],
    ['an empty indirect table', d => d.desc(0, BUFFER, 0, INDIRECT)],
    ['an indirect table that is the descriptor table', d => d.desc(0, DESC, 16 * SIZE, INDIRECT)],
    [
      'an indirect table in an indirect table',
      d => {
        d.desc(0, BUFFER, 16, INDIRECT);
        d.desc(0, BUFFER, 16, INDIRECT, 0, BUFFER);
      },
    ],
  ];

  it.each(attacks)('%s breaks the queue, not the host', (_, attack) => {
    const d = new Driver(new VirtioBlk(image()));
    attack(d);
    expect(d.offer()).toBeUndefined();
    expect(d.get(0x70) & STATUS_NEEDS_RESET).toBe(STATUS_NEEDS_RESET);
    d.set(0x70, 0);
    expect(d.get(0x70)).toBe(0);
  });

  it('a head outside the table or too many waiting requests break the queue', () => {
    const d = new Driver(new VirtioBlk(image()));
    expect(d.offer(SIZE)).toBeUndefined();
    const e = new Driver(new VirtioBlk(image()));
    e.memory.write16(AVAIL + 2, SIZE + 5);
    e.set(0x50, 0);
    expect(e.get(0x70) & STATUS_NEEDS_RESET).toBe(STATUS_NEEDS_RESET);
  });

  it('rings outside ram are never touched', () => {
    const d = new Driver(new VirtioBlk(image()));
    d.set(0xa0, 0xffff_fff0);
    d.set(0xa4, 0xffff_ffff);
    d.desc(0, BUFFER, 16, 0);
    expect(d.offer()).toBeUndefined();
    for (const bad of [0, 5, 8, 0xffff_ffff]) d.set(0x50, bad);
  });

  it('a driver that accepts what was not offered does not get FEATURES_OK; one that accepts nothing does', () => {
    const device = new VirtioMmio(
      0,
      { irq: new Line(), ram: ram(), clock: new HandClock() },
      false,
      new VirtioBlk(image()),
    );
    device.write(0x70, 4, 11);
    expect(device.read(0x70, 4)).toBe(11);
    device.write(0x70, 4, 0);
    device.write(0x20, 4, 0x8000_0000);
    device.write(0x70, 4, 11);
    expect(device.read(0x70, 4)).toBe(3);
  });
});

describe('rings that overlap', () => {
  const INT_CONFIG = 2;
  const place = (d: Driver, desc: number, avail: number, used: number, size = SIZE): void => {
    d.set(0x44, 0);
    d.set(0x38, size);
    for (const [i, at] of [desc, avail, used].entries()) d.set(0x80 + 0x10 * i, at);
    d.set(0x44, 1);
  };
  const isBroken = (d: Driver): boolean => (d.get(0x70) & STATUS_NEEDS_RESET) !== 0;

  it.each([
    ['the available ring is the used ring', DESC, AVAIL, AVAIL],
    ['the used ring begins in the available ring', DESC, AVAIL, AVAIL + 4],
    ['the descriptors are the available ring', DESC, DESC, USED],
    ['the used ring is the end of the descriptors', DESC, AVAIL, DESC + 16 * SIZE - 4],
    ['all three are one', DESC, DESC, DESC],
  ])('%s: the device needs a reset and says so once', (_, desc, avail, used) => {
    const d = new Driver(new VirtioRng(1n));
    place(d, desc, avail, used);
    d.memory.write16(avail + 2, 1);
    const before = d.memory.data.slice();
    d.set(0x50, 0);
    expect(isBroken(d)).toBe(true);
    expect(d.get(0x60)).toBe(INT_CONFIG);
    expect(d.irq.level).toBe(true);
    d.set(0x64, INT_CONFIG);
    for (let i = 0; i < 3; i++) d.set(0x50, 0);
    d.clock.advance(1_000_000);
    expect([d.get(0x60), d.irq.level, d.spent]).toEqual([0, false, 0]);
    expect(Buffer.compare(d.memory.data, before)).toBe(0);
    d.set(0x70, 0);
    expect(isBroken(d)).toBe(false);
  });

  it('rings that touch are sound: event fields exist only with the event index', () => {
    const d = new Driver(new VirtioRng(1n));
    place(d, DESC, DESC + 16 * SIZE, DESC + 16 * SIZE + 4 + 2 * SIZE);
    d.desc(0, BUFFER, 8, WRITE);
    d.memory.write16(DESC + 16 * SIZE + 2, 1);
    d.set(0x50, 0);
    expect(isBroken(d)).toBe(false);
    expect(d.memory.read16(DESC + 16 * SIZE + 4 + 2 * SIZE + 2)).toBe(1);
  });

  it.each([
    ['the available ring', AVAIL + 2, 2],
    ['the used ring', USED - 8, 9],
    ['the descriptors', DESC + 16 * SIZE - 1, 1],
    ['everything', RAM, 0x1_0000],
  ])('a buffer that the device would write over %s breaks the queue', (_, at, bytes) => {
    const d = new Driver(new VirtioRng(1n));
    d.desc(0, at, bytes, WRITE);
    expect(d.offer()).toBeUndefined();
    expect(isBroken(d)).toBe(true);
  });

  it('reading from the rings is allowed', () => {
    const out = new Output();
    const d = new Driver(new VirtioConsole(out), false, 2);
    d.desc(0, RAM, 0x8000, 0, 0, DESC + 0x4000);
    expect(d.offer(0, 1)).toBe(0);
    expect(out.text.length).toBe(0x8000);
  });
});

describe('work of one access', () => {
  /** One notification or alarm: a burst, the walk of one chain, and a piece. */
  const STEP = BURST + REQUEST_WORK + DESC_WORK * (QUEUE_MAX + 1) + PIECE;
  class Count {
    bytes = 0;
    sum = 0;
    write(byte: number): void {
      this.bytes++;
      this.sum = (Math.imul(this.sum, 31) + byte) | 0;
    }
  }
  /** Lets alarms fire until none is left; returns the largest step. */
  const settle = (d: Driver): number => {
    let most = d.spent;
    for (let steps = 0; d.clock.next() < Infinity && steps < 1e5; steps++) {
      const before = d.spent;
      d.clock.advance(d.clock.next() - d.clock.time);
      most = Math.max(most, d.spent - before);
    }
    expect(d.clock.next()).toBe(Infinity);
    return most;
  };
  const TX = DESC + 0x4000;
  const sum = (data: Uint8Array, times: number): number => {
    const count = new Count();
    for (let i = 0; i < times; i++) for (const byte of data) count.write(byte);
    return count.sum;
  };

  it("a long transmission is streamed at the device's pace, also across a snapshot", () => {
    const out = new Count();
    let d = new Driver(new VirtioConsole(out), false, 2);
    for (let i = 0; i < SIZE; i++) d.desc(i, RAM, 0x1_0000, i < SIZE - 1 ? NEXT : 0, i + 1, TX);
    const data = d.memory.data.slice();
    d.memory.write16(AVAIL + 0x4000 + 2, 1);
    data.set(d.memory.data);
    d.set(0x50, 1);
    expect(out.bytes).toBeGreaterThan(0);
    expect(out.bytes).toBeLessThanOrEqual(BURST);
    for (let n = 0; n < 3; n++) {
      d.clock.advance(d.clock.next() - d.clock.time);
      const state = JSON.parse(JSON.stringify([d.device.save(), d.clock.save()]));
      const next = new Driver(new VirtioConsole(out), false, 2);
      next.memory.data.set(d.memory.data);
      next.clock.time = d.clock.time;
      next.clock.load(state[1]);
      next.device.load(state[0]);
      d = next;
    }
    expect(settle(d)).toBeLessThanOrEqual(STEP);
    expect(out.bytes).toBe(SIZE * 0x1_0000);
    // Time passes as the bytes do: one unit each, but for the first burst.
    expect(d.clock.time).toBeGreaterThan(SIZE * 0x1_0000 - 2 * BURST);
    expect(out.sum).toBe(sum(data, SIZE));
    expect(d.memory.read16(USED + 0x4000 + 2)).toBe(1);
  });

  // A state that was taken over before is not copied again while nothing has touched the device.
  it('goes back to a state from whatever happened since', () => {
    const happenings: readonly ((d: Driver) => unknown)[] = [
      () => {},
      d => d.set(0x70, 0),
      d => d.set(0x28, 8192),
      d => d.set(0x64, 1),
      d => d.set(0x50, 1),
      d => d.clock.advance(d.clock.next() === Infinity ? 1 : d.clock.next() - d.clock.time),
      d => d.device.kick(1),
      d => d.device.configChanged(),
      d => d.device.reset(),
    ];
    const d = new Driver(new VirtioConsole(new Count()), false, 2);
    const states = [[d.device.save(), d.clock.save(), d.clock.time]];
    // Some bursts: the rest waits for the alarm.
    for (let i = 0; i < SIZE; i++) d.desc(i, RAM, 0x1_0000, i < SIZE - 1 ? NEXT : 0, i + 1, TX);
    d.memory.write16(AVAIL + 0x4000 + 2, 1);
    d.set(0x50, 1);
    expect(d.clock.next()).toBeLessThan(Infinity);
    states.push([d.device.save(), d.clock.save(), d.clock.time]);
    for (const [state, alarms, time] of states) {
      const text = JSON.stringify(state);
      for (const [first, happening] of happenings.entries())
        for (const happen of [happening, ...happenings]) {
          d.device.load(state);
          d.clock.load(alarms);
          d.clock.time = Number(time);
          expect(JSON.stringify(d.device.save()), `behind ${first}`).toBe(text);
          happen(d);
        }
    }
  });

  it('a disk is read and written in pieces as at once', () => {
    const disk = Uint8Array.from({ length: 300 * 512 }, (_, i) => (i * 7919) >> 3);
    const d = new Driver(new VirtioBlk(disk), false, 1, 0x10_0000);
    const [data, copy, header, status] = [RAM + 0x1_0000, RAM + 0x8_0000, BUFFER, BUFFER + 0x80];
    const request = (type: number, at: number): number => {
      d.memory.write32(header, type);
      d.memory.write64(header + 8, 0n);
      d.memory.write8(status, 0xee);
      const flags = type === 0 ? WRITE : 0;
      d.desc(0, header, 16, NEXT, 1);
      d.desc(1, at, 1000, NEXT | flags, 2);
      d.desc(2, at + 1000, disk.length - 1000, NEXT | flags, 3);
      d.desc(3, status, 1, WRITE);
      expect(d.offer()).toBeUndefined();
      expect(settle(d)).toBeLessThanOrEqual(STEP);
      d.spent = 0;
      return d.memory.read8(status);
    };
    expect(request(0, data)).toBe(0);
    expect(Buffer.compare(d.memory.read(data, disk.length), disk)).toBe(0);
    const other = disk.map(byte => byte ^ 0x55);
    d.memory.write(data, other);
    expect(request(1, data)).toBe(0);
    expect(request(0, copy)).toBe(0);
    expect(Buffer.compare(d.memory.read(copy, disk.length), other)).toBe(0);
  });

  it('a chain of more than 4 GiB breaks the queue and nothing of it is sent', () => {
    const bytes = 128 << 20;
    for (const [count, isSound] of [
      [32, true],
      [33, false],
    ] as const) {
      const out = new Count();
      const d = new Driver(new VirtioConsole(out), false, 2, bytes, 64);
      for (let i = 0; i < count; i++) d.desc(i, RAM, bytes, i < count - 1 ? NEXT : 0, i + 1, TX);
      expect(d.offer(0, 1)).toBeUndefined();
      expect((d.get(0x70) & STATUS_NEEDS_RESET) === 0).toBe(isSound);
      expect(out.bytes > 0).toBe(isSound);
      expect(d.spent).toBeLessThanOrEqual(STEP);
    }
  });

  it('a queue full of empty chains as long as allowed is bounded as well', () => {
    const d = new Driver(new VirtioRng(1n), false, 1, 0x10_0000, QUEUE_MAX);
    const table = RAM + 0x8_0000;
    for (let i = 0; i < QUEUE_MAX; i++) {
      d.desc(i, table, 16 * QUEUE_MAX, INDIRECT);
      d.desc(i, BUFFER, 0, WRITE | (i < QUEUE_MAX - 1 ? NEXT : 0), i + 1, table);
      d.memory.write16(d.avail + 4 + 2 * i, i);
    }
    d.memory.write16(d.avail + 2, QUEUE_MAX);
    d.set(0x50, 0);
    expect(settle(d)).toBeLessThanOrEqual(STEP);
    expect(d.memory.read16(d.used + 2)).toBe(QUEUE_MAX);
  });

  it('neither notifications nor resets give more credit than time does', () => {
    const out = new Count();
    const d = new Driver(new VirtioConsole(out), false, 2);
    d.desc(0, RAM, 0x1_0000, 0, 0, TX);
    for (let i = 0; i < 1000; i++) {
      d.offer(0, 1);
      if (i % 10 === 9) {
        d.set(0x70, 0);
        d.setUp(false, 2);
      }
      d.clock.advance(1);
    }
    expect(d.spent).toBeLessThanOrEqual(STEP + 1000);
  });

  it('console input of any length fills buffers in bounded steps', () => {
    const backend = new VirtioConsole(new Output());
    const d = new Driver(backend, false, 2, 0x10_0000);
    const input = Uint8Array.from({ length: 200_000 }, (_, i) => i * 31);
    backend.receive(input);
    const got: number[] = [];
    d.desc(0, RAM + 0x8_0000, 0x1_0000, WRITE);
    for (let n = 0; n < 100 && got.length < input.length; n++) {
      const used = d.memory.read16(USED + 2);
      d.offer(0);
      settle(d);
      if (d.memory.read16(USED + 2) === used) break;
      const bytes = d.memory.read32(USED + 4 + 8 * (used % SIZE) + 4);
      got.push(...d.memory.read(RAM + 0x8_0000, bytes));
    }
    expect(Buffer.compare(Uint8Array.from(got), input)).toBe(0);
  });
});

describe('virtio-rng', () => {
  it('gives bytes that depend on the seed only', () => {
    const bytes = (seed: bigint): number[] => {
      const d = new Driver(new VirtioRng(seed));
      d.desc(0, BUFFER + 0x100, 32, WRITE);
      expect(d.offer()).toBe(32);
      return d.data(32);
    };
    expect(bytes(1n)).toEqual(bytes(1n));
    expect(bytes(1n)).not.toEqual(bytes(2n));
    expect(new Set(bytes(0n)).size).toBeGreaterThan(20);
  });
});

describe('virtio-console', () => {
  it('tells the size of its window, and interrupts when that changes', () => {
    const console = new VirtioConsole(new Output(), { rows: 24, cols: 80 });
    const driver = new Driver(console, false, 2);
    driver.set(0x14, 0);
    expect(driver.get(0x10) & 1).toBe(1);
    expect(driver.get(0x100)).toBe(80 | (24 << 16));
    const generation = driver.get(0xfc);
    console.resize(50, 132);
    expect(driver.irq.level).toBe(true);
    expect(driver.get(0x60)).toBe(2);
    expect(driver.get(0x100)).toBe(132 | (50 << 16));
    expect(driver.get(0xfc)).not.toBe(generation);
    driver.set(0x64, 2);
    expect(driver.irq.level).toBe(false);
  });

  it('sends, and delivers input when buffers come', () => {
    const out = new Output();
    const backend = new VirtioConsole(out);
    const d = new Driver(backend, false, 2);
    d.memory.write(BUFFER, new TextEncoder().encode('out'));
    d.desc(0, BUFFER, 3, 0, 0, DESC + 0x4000);
    d.offer(0, 1);
    expect(out.text).toBe('out');
    backend.receive(new TextEncoder().encode('hello'));
    d.desc(0, BUFFER + 0x100, 3, WRITE);
    d.desc(1, BUFFER + 0x103, 8, WRITE);
    expect(d.offer(0)).toBe(3);
    expect(d.offer(1)).toBe(2);
    expect(new TextDecoder().decode(Uint8Array.from(d.data(5)))).toBe('hello');
  });
});
