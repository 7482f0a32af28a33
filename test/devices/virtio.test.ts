// virtio-mmio in both versions, driven by a small driver in this file: queues, block, entropy and console,
// and rings that a hostile driver built.
import { describe, expect, it } from 'vitest';
import { VirtioBlk } from '../../devices/virtio-blk.ts';
import { VirtioConsole } from '../../devices/virtio-console.ts';
import { type VirtioBackend, VirtioMmio } from '../../devices/virtio-mmio.ts';
import { VirtioRng } from '../../devices/virtio-rng.ts';
import { Line, Output, RAM, ram } from './ports.ts';

const SIZE = 8;
const DESC = RAM + 0x1000;
const AVAIL = DESC + 16 * SIZE;
const USED = RAM + 0x2000;
const BUFFER = RAM + 0x3000;
const [NEXT, WRITE, INDIRECT] = [1, 2, 4] as const;
const STATUS_NEEDS_RESET = 0x40;

/** The smallest driver: one queue, requests of a few descriptors. */
class Driver {
  readonly memory = ram();
  readonly irq = new Line();
  readonly device: VirtioMmio;

  constructor(backend: VirtioBackend, legacy = false, queues = 1) {
    this.device = new VirtioMmio(0, this.irq, this.memory, legacy, backend);
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
      this.set(0x38, SIZE);
      const shift = q * 0x4000;
      if (legacy) {
        this.set(0x3c, 4096);
        this.set(0x40, (DESC + shift) / 4096);
      } else {
        for (const [at, value] of [
          [0x80, DESC],
          [0x90, AVAIL],
          [0xa0, USED],
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

  /** Offers the chain that starts at `head` and rings; returns the used length, or undefined when not served. */
  offer(head = 0, queue = 0): number | undefined {
    const shift = queue * 0x4000;
    const index = this.memory.read16(AVAIL + shift + 2);
    this.memory.write16(AVAIL + shift + 4 + 2 * (index % SIZE), head);
    this.memory.write16(AVAIL + shift + 2, (index + 1) & 0xffff);
    const before = this.memory.read16(USED + shift + 2);
    this.set(0x50, queue);
    if (this.memory.read16(USED + shift + 2) === before) return undefined;
    return this.memory.read32(USED + shift + 4 + 8 * (before % SIZE) + 4);
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
    const device = new VirtioMmio(0, new Line(), ram(), false, new VirtioBlk(image()));
    device.write(0x70, 4, 11);
    expect(device.read(0x70, 4)).toBe(11);
    device.write(0x70, 4, 0);
    device.write(0x20, 4, 0x8000_0000);
    device.write(0x70, 4, 11);
    expect(device.read(0x70, 4)).toBe(3);
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
