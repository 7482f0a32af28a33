// fw_cfg: selecting, reading by register and by DMA, and what a hostile driver may ask for.
import { describe, expect, it } from 'vitest';
import { BURST, FwCfg } from '../../devices/fw-cfg.ts';
import { HandClock, RAM, ram } from './ports.ts';

const DATA = 0x00;
const SELECTOR = 0x08;
const DMA = 0x10;
const DIRECTORY = 0x19;
const FILE = 0x20;
const [ERROR, READ, SKIP, SELECT, WRITE] = [1, 2, 4, 8, 16];
const REQUEST = RAM + 0x100;
const TARGET = RAM + 0x1000;
const IDLE = { key: 0, offset: 0, dmaHigh: 0, request: 0, target: 0, left: 0 };

function fixture(text = 'abcdefgh', ramBytes = 0x1_0000) {
  const memory = ram(ramBytes);
  const clock = new HandClock();
  const calls = { work: 0, accesses: 0 };
  const files = [
    { name: 'opt/a', bytes: new TextEncoder().encode(text) },
    { name: 'opt/empty', bytes: new Uint8Array(0) },
  ];
  const device = new FwCfg(files, {
    ram: memory,
    clock,
    work: { spend: units => void (calls.work += units) },
    accessed: () => void calls.accesses++,
  });
  const select = (key: number): void => device.write(SELECTOR, 2, ((key & 255) << 8) | (key >> 8));
  /** A request by DMA; answers with the control word that the device leaves. */
  const request = (control: number, bytes: number, target = TARGET, at = REQUEST): number => {
    const view = new DataView(memory.data.buffer, memory.data.byteOffset);
    const fits = memory.has(at, 16);
    if (fits) {
      view.setUint32(at - RAM, control);
      view.setUint32(at - RAM + 4, bytes);
      view.setBigUint64(at - RAM + 8, BigInt(target));
    }
    const word = new DataView(new ArrayBuffer(8));
    word.setBigUint64(0, BigInt(at));
    device.write(DMA, 4, word.getUint32(0, true));
    device.write(DMA + 4, 4, word.getUint32(4, true));
    return fits ? view.getUint32(at - RAM) : Number.NaN;
  };
  const text_ = (bytes: number, at = TARGET): string => new TextDecoder().decode(memory.read(at, bytes));
  return { device, memory, clock, calls, select, request, text: text_ };
}

describe('fw_cfg', () => {
  it('says what it is', () => {
    const { device, select } = fixture();
    select(0);
    expect([0, 1, 2, 3].map(() => String.fromCharCode(device.read(DATA, 1))).join('')).toBe('QEMU');
    select(1);
    expect(device.read(DATA, 4)).toBe(3);
    expect(device.read(DMA, 4)).toBe(0x554d4551);
  });

  it('reads in the order of memory, and zeros behind the end', () => {
    const { device, select } = fixture();
    select(FILE);
    expect(device.peek(DATA, 4)).toBe(0x64636261);
    expect(device.read(DATA, 4)).toBe(0x64636261);
    expect(device.read(DATA, 2)).toBe(0x6665);
    expect(device.read(DATA, 4)).toBe(0x6867);
    expect(device.read(DATA, 4)).toBe(0);
    select(0x999);
    expect(device.read(DATA, 4)).toBe(0);
  });

  it('lists its files', () => {
    const { select, request, memory, text } = fixture();
    select(DIRECTORY);
    expect(request(READ, 4 + 2 * 64)).toBe(0);
    const view = new DataView(memory.read(TARGET, 132).buffer);
    expect(view.getUint32(0)).toBe(2);
    expect([view.getUint32(4), view.getUint16(8)]).toEqual([8, FILE]);
    expect(text(6, TARGET + 12)).toBe('opt/a\0');
    expect([view.getUint32(68), view.getUint16(72)]).toEqual([0, FILE + 1]);
  });

  it('reads, skips and selects by DMA', () => {
    const { device, request, text, calls } = fixture();
    expect(request(SELECT | READ | (FILE << 16), 2)).toBe(0);
    expect(request(SKIP, 1)).toBe(0);
    expect(request(READ, 10, TARGET + 2)).toBe(0);
    expect(text(12)).toBe('abdefgh\0\0\0\0\0');
    expect(calls.work).toBe(12);
    expect(device.save()).toEqual({ ...IDLE, key: FILE, offset: 8 });
  });

  it('refuses what it cannot do, and survives it', () => {
    const { device, request, memory } = fixture();
    const before = memory.read(TARGET, 64);
    expect(request(SELECT | READ | (FILE << 16), 0xffff_ffff)).toBe(ERROR);
    expect(request(READ, 64, 0x10)).toBe(ERROR);
    expect(request(READ, 2, RAM + memory.bytes - 1)).toBe(ERROR);
    expect(request(WRITE, 4)).toBe(ERROR);
    expect(request(READ, 0, 0x10)).toBe(0);
    expect(request(WRITE, 0, 0x10)).toBe(0);
    expect(request(READ, 4, TARGET, 0x40)).toBeNaN();
    expect(request(READ, 4, TARGET, RAM + memory.bytes - 8)).toBeNaN();
    expect(memory.read(TARGET, 64)).toEqual(before);
    for (let i = 0; i < 1000; i++) expect(request(SKIP, 0xffff_ffff)).toBe(0);
    expect(device.save()).toEqual({ ...IDLE, key: FILE, offset: 8 });
  });

  it('tells of accesses, and goes on from a saved state', () => {
    const { device, select, calls } = fixture();
    expect(calls.accesses).toBe(0);
    select(FILE);
    device.read(DATA, 2);
    expect(calls.accesses).toBe(1);
    const other = fixture().device;
    other.load(device.save());
    expect(other.read(DATA, 1)).toBe(0x63);
    other.reset();
    expect(other.save()).toEqual(IDLE);
  });

  it('copies a bounded number of bytes at once, and the rest in time', () => {
    const bytes = 3 * BURST + 100;
    const { device, memory, clock, calls, request } = fixture('x'.repeat(bytes), 0x8_0000);
    const control = SELECT | READ | (FILE << 16);
    const copied = (): number => memory.read(TARGET, bytes + 1).findLastIndex(byte => byte !== 0) + 1;
    expect(request(control, bytes)).toBe(control);
    expect([calls.work, copied()]).toEqual([BURST, BURST]);
    // Another request finds the device busy, and does not disturb it.
    expect(request(READ, 4, TARGET, REQUEST + 64)).toBe(ERROR);
    clock.advance(BURST - 1);
    expect([calls.work, copied()]).toEqual([BURST, BURST]);
    clock.advance(1);
    expect([calls.work, copied()]).toEqual([2 * BURST, 2 * BURST]);
    expect(device.digest()).toEqual(device.save());
    clock.advance(BURST);
    expect(memory.read32(REQUEST)).not.toBe(0);
    clock.advance(BURST);
    expect([calls.work, copied(), memory.read32(REQUEST)]).toEqual([bytes, bytes, 0]);
    expect(device.save()).toEqual({ ...IDLE, key: FILE, offset: bytes });
    expect(device.digest()).toEqual({ key: FILE, offset: bytes, dmaHigh: 0 });
    expect(clock.next()).toBe(Infinity);
  });

  it('goes on with a request from a saved state, also from one that nobody made', () => {
    const bytes = 2 * BURST;
    const [first, second] = [fixture('y'.repeat(bytes), 0x8_0000), fixture('y'.repeat(bytes), 0x8_0000)];
    first.request(SELECT | READ | (FILE << 16), bytes);
    second.device.load(first.device.save());
    second.clock.load(first.clock.save());
    second.clock.advance(BURST);
    expect(second.text(4, TARGET + BURST - 2)).toBe('\0\0yy');
    for (const forged of [{ target: 8 }, { left: 2 ** 40 }, { request: 1 }]) {
      second.device.load({ ...(first.device.save() as object), ...forged });
      second.clock.load([['fwcfg', second.clock.time + 1]]);
      second.clock.advance(1);
      expect(second.device.save()).toMatchObject({ request: 0, target: 0, left: 0 });
    }
  });
});
