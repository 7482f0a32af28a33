// The device of examples/disk on a bench, by addresses alone: order, cache, power failure.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadDevice } from '../../host/device.ts';
import { DeviceBench } from '../../library/device.ts';
import { ROOT } from '../support/command.ts';

const [REQUESTS, CONTROL, SUBMIT, DONE, CUT] = [0x08, 0x10, 0x14, 0x18, 0x1c];
const [READ, WRITE, FLUSH] = [1, 2, 3];
const BLOCK = 512;
const disk = loadDevice(join(ROOT, 'examples/disk/disk.ts')).definition;

function start(params: Record<string, string> = {}) {
  const bench = new DeviceBench(disk, { params });
  const { ram } = bench;
  const buffer = (tag: number): number => ram.base + 0x1000 + tag * BLOCK;
  bench.write(REQUESTS, ram.base);
  bench.write(CONTROL, 1);
  return {
    bench,
    submit(tag: number, command: number, block = 0, fill?: number): void {
      const at = ram.base + 32 * tag;
      for (const [i, word] of [buffer(tag), 0, block, command, 0].entries()) ram.write32(at + 4 * i, word);
      if (fill !== undefined) ram.write(buffer(tag), new Uint8Array(BLOCK).fill(fill));
      bench.write(SUBMIT, tag);
    },
    status: (tag: number) => ram.read32(ram.base + 32 * tag + 16),
    data: (tag: number) => new Set(ram.read(buffer(tag), BLOCK)),
  };
}

/** A block's bytes, read by request 0. */
function contents(d: ReturnType<typeof start>, block: number): Set<number> {
  d.submit(0, READ, block);
  d.bench.advance(100_000);
  expect(d.status(0)).toBe(1);
  return d.data(0);
}

test('requests end in another order than they were submitted in', () => {
  const d = start();
  for (let tag = 0; tag < 8; tag++) d.submit(tag, WRITE, tag, tag);
  const order: number[] = [];
  while (order.length < 8) {
    d.bench.advance(50);
    for (let tag = 0; tag < 8; tag++) if (d.status(tag) === 1 && !order.includes(tag)) order.push(tag);
  }
  expect(order).not.toEqual([...order].sort());
  expect(d.bench.irq).toBe(true);
  expect(d.bench.read(DONE)).toBe(0xff);
  d.bench.write(DONE, 0xff);
  expect(d.bench.irq).toBe(false);
});

test('only a flush survives a power failure, and it covers complete writes only', () => {
  const d = start({ spread: '0' });
  d.submit(1, WRITE, 1, 11);
  d.bench.advance(2_000);
  expect(contents(d, 1)).toEqual(new Set([11])); // from the cache
  d.submit(2, FLUSH);
  d.bench.advance(49_000);
  d.submit(3, WRITE, 3, 33); // ends after the flush
  d.bench.advance(1_000);
  expect([d.status(2), d.status(3)]).toEqual([1, 0]);
  d.bench.write(CUT, 1);
  d.bench.advance(2_000);
  expect(d.status(3)).toBe(2);
  expect([contents(d, 1), contents(d, 3)]).toEqual([new Set([11]), new Set([0])]);
});

test('a request fails behind the last block, and with memory that does not exist', () => {
  const d = start({ blocks: '4' });
  expect(d.bench.read(0x04)).toBe(4);
  d.submit(0, WRITE, 4, 1);
  d.submit(1, 9);
  d.bench.advance(100_000);
  expect([d.status(0), d.status(1)]).toEqual([2, 2]);
  d.bench.ram.write32(d.bench.ram.base + 32 * 2, 1);
  d.bench.ram.write32(d.bench.ram.base + 32 * 2 + 12, WRITE);
  d.bench.write(SUBMIT, 2);
  d.bench.advance(100_000);
  expect(d.status(2)).toBe(2);
});

test('disabled, the device forgets its requests; a snapshot in between holds them', () => {
  const d = start();
  d.submit(5, WRITE, 5, 55);
  const saved = d.bench.save();
  d.bench.write(CONTROL, 0);
  d.bench.advance(100_000);
  expect([d.status(5), d.bench.irq]).toEqual([0, false]);
  d.bench.load(saved);
  d.bench.advance(100_000);
  expect([d.status(5), d.bench.irq]).toEqual([1, true]);
});
