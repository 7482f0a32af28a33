// The bus as guests and devices see it: ranges and widths, RAM, register maps. No access makes a
// device of the board throw.
import { describe, expect, it } from 'vitest';
import { CLINT_MAP, Clint } from '../../devices/clint.ts';
import { EDU_MAP, Edu } from '../../devices/edu.ts';
import { FINISHER_MAP, Finisher } from '../../devices/finisher.ts';
import { FW_CFG_MAP, FwCfg } from '../../devices/fw-cfg.ts';
import { PLIC_MAP, Plic } from '../../devices/plic.ts';
import { RTC_MAP, Rtc } from '../../devices/rtc.ts';
import { UART_MAP, Uart16550 } from '../../devices/uart16550.ts';
import { VIRTIO_MAP, VirtioMmio } from '../../devices/virtio-mmio.ts';
import { VirtioRng } from '../../devices/virtio-rng.ts';
import { Bus, type BusError } from '../../emulator/bus/bus.ts';
import type { Device } from '../../emulator/bus/device.ts';
import { regmap } from '../../emulator/bus/regmap.ts';
import { HandClock, Line, Lines, Output, RAM, ram } from '../devices/ports.ts';

function recorder(log: string[], widths?: Device['widths']): Device {
  return {
    name: 'dev',
    ...(widths ? { widths } : {}),
    read(offset, bytes) {
      log.push(`r${bytes}@${offset}`);
      return offset + 1;
    },
    write(offset, bytes, value) {
      log.push(`w${bytes}@${offset}=${value}`);
    },
    reset() {},
    save: () => null,
    load() {},
  };
}

const reason = (f: () => void): string => {
  try {
    f();
  } catch (e) {
    return (e as BusError).reason;
  }
  return 'none';
};

describe('bus', () => {
  it('refuses empty, wrapping and overlapping ranges, each with its own reason', () => {
    const bus = new Bus();
    const dev = recorder([]);
    bus.add(dev, 0x1000, 0x100);
    expect(reason(() => bus.add(dev, 0x2000, 0))).toBe('empty');
    expect(reason(() => bus.add(dev, 2 ** 56 - 0x10, 0x20))).toBe('wrap');
    expect(reason(() => bus.add(dev, 0x10ff, 1))).toBe('overlap');
    expect(reason(() => bus.add(dev, 0xf01, 0x100))).toBe('overlap');
    expect(reason(() => bus.add(dev, 0x1100, 1))).toBe('none');
    expect(reason(() => bus.add(dev, 0xf00, 0x100))).toBe('none');
  });

  it('treats ranges as half-open', () => {
    const bus = new Bus();
    bus.add(recorder([]), 0x1000, 0x100);
    expect([bus.load(0x10ff, 1), bus.load(0x1100, 1), bus.load(0xfff, 1), bus.load(0x10fc, 8)]).toEqual([
      true,
      false,
      false,
      false,
    ]);
    expect(bus.faults).toBe(3);
  });

  it('faults on widths that the device refuses and on misaligned addresses', () => {
    const bus = new Bus();
    const log: string[] = [];
    bus.add(recorder(log, [4]), 0, 0x100);
    expect([bus.load(0, 1), bus.load(2, 4), bus.store(0, 8, 0, 0), bus.load(4, 4)]).toEqual([
      false,
      false,
      false,
      true,
    ]);
    expect(log).toEqual(['r4@4']);
  });

  it('splits 8-byte accesses for devices without 8-byte ports, low half first', () => {
    const bus = new Bus();
    const log: string[] = [];
    bus.add(recorder(log), 0, 0x100);
    bus.load(8, 8);
    expect([bus.lo, bus.hi]).toEqual([9, 13]);
    bus.store(8, 8, -1, 2);
    bus.store(8, 1, 0x1ff, 0);
    expect(log).toEqual(['r4@8', 'r4@12', 'w4@8=4294967295', 'w4@12=2', 'w1@8=255']);
  });
});

describe('ram', () => {
  it('refuses everything outside its range', () => {
    const memory = ram();
    expect(memory.has(RAM + 0xffff, 1)).toBe(true);
    expect(memory.has(RAM + 0xffff, 2)).toBe(false);
    expect(memory.has(RAM - 1, 1)).toBe(false);
    expect(memory.has(2 ** 64, 8)).toBe(false);
    expect(() => memory.write32(RAM + 0xfffe, 1)).toThrow(RangeError);
    expect(() => memory.read(RAM, 0x1_0001)).toThrow(RangeError);
  });

  it('announces stores by host code', () => {
    const memory = ram();
    const seen: [number, number][] = [];
    memory.onWrite = (pa, bytes) => seen.push([pa, bytes]);
    memory.write64(RAM, 5n);
    memory.write(RAM + 100, new Uint8Array(10));
    expect(seen).toEqual([
      [RAM, 8],
      [RAM + 100, 10],
    ]);
  });
});

describe('regmap', () => {
  const MAP = regmap({ title: 't', spec: '-', size: 0x20 }, [
    { id: 'a', at: 0, bytes: 4, access: 'rw', doc: '' },
    { id: 'b', at: 4, bytes: 2, access: 'r', doc: '' },
    { id: 'wide', at: 8, bytes: 8, access: 'rw', count: 2, doc: '' },
  ]);

  it('gives parts of registers to narrow reads and merges narrow writes', () => {
    const get = (): number => 0x1122_3344;
    const seen: unknown[] = [];
    expect(MAP.read(1, 1, get)).toBe(0x33);
    MAP.write(2, 1, 0xff, (...a) => seen.push(a), get);
    expect(seen).toEqual([['a', 0x11ff_3344, 0, 0]]);
  });

  it('numbers elements of arrays and words of wide registers', () => {
    const seen: unknown[] = [];
    MAP.read(20, 4, (...a) => seen.push(a) && 0);
    expect(seen).toEqual([['wide', 1, 1]]);
  });

  it('ignores writes to read-only registers and reads holes as zero', () => {
    const never = (): never => {
      throw new Error('reached');
    };
    MAP.write(4, 2, 1, never, never);
    expect(MAP.read(6, 2, never)).toBe(0);
  });

  it('refuses rows that share an offset or leave the map', () => {
    const row = { bytes: 4, access: 'r', doc: '' } as const;
    const options = { title: 't', spec: '-', size: 8 };
    expect(() =>
      regmap(options, [
        { ...row, id: 'x', at: 0 },
        { ...row, id: 'y', at: 0 },
      ]),
    ).toThrow(/share/);
    expect(() => regmap(options, [{ ...row, id: 'x', at: 4, count: 2 }])).toThrow(/ends at 12/);
  });
});

describe('every device', () => {
  const clock = () => new HandClock();
  const slot = () => ({ irq: new Line(), ram: ram(), clock: clock() });
  const all: [string, number, () => Device][] = [
    ['uart', UART_MAP.size, () => new Uart16550(new Line(), new Output())],
    ['plic', PLIC_MAP.size, () => new Plic(2, new Lines())],
    ['clint', CLINT_MAP.size, () => new Clint(2, clock(), new Lines())],
    ['rtc', RTC_MAP.size, () => new Rtc(clock(), new Line())],
    ['edu', EDU_MAP.size, () => new Edu(clock(), new Line(), ram())],
    [
      'fw_cfg',
      FW_CFG_MAP.size,
      () => new FwCfg([], { ram: ram(), clock: clock(), work: { spend() {} }, accessed() {} }),
    ],
    ['finisher', FINISHER_MAP.size, () => new Finisher({ exit() {}, reset() {}, mark() {} })],
    ['virtio', VIRTIO_MAP.size, () => new VirtioMmio(0, slot(), false, new VirtioRng(1n))],
    ['legacy virtio', VIRTIO_MAP.size, () => new VirtioMmio(0, slot(), true)],
  ];

  it.each(all)('%s survives every access of every width with hostile values', (_, size, make) => {
    const bus = new Bus();
    const device = make();
    bus.add(device, 0, size);
    // PLIC and CLINT have megabytes of identical registers; steps with an odd part cover the kinds.
    const step = size > 0x1_0000 ? 0x7fc : 1;
    for (const value of [0xffff_ffff, 1, 0]) {
      for (let at = 0; at < size; at += step) {
        for (const bytes of [1, 2, 4, 8]) {
          bus.load(at, bytes);
          bus.peek(at, bytes);
          bus.store(at, bytes, value, value);
        }
      }
    }
    device.load(JSON.parse(JSON.stringify(device.save())));
    device.reset();
    expect(JSON.stringify(device.save())).toBe(JSON.stringify(make().save()));
  });
});
