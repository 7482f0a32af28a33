// The hash of RAM against XXH64 in BigInt, written from its specification, which is held against
// published values.

import { expect, test } from 'vitest';
import { Machine, MIB, RAM_BASE } from '../../emulator/index.ts';
import { Random } from '../support/random.ts';

const [P1, P2, P3, P4, P5] = [
  11400714785074694791n,
  14029467366897019727n,
  1609587929392839161n,
  9650029242287828579n,
  2870177450012600261n,
];
const u64 = (value: bigint): bigint => BigInt.asUintN(64, value);
const rotl = (value: bigint, by: bigint): bigint => u64((value << by) | (value >> (64n - by)));
const round = (acc: bigint, word: bigint): bigint => u64(rotl(u64(acc + word * P2), 31n) * P1);

function xxh64(bytes: Uint8Array, seed: bigint): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let at = 0;
  let hash = u64(seed + P5);
  if (bytes.length >= 32) {
    const lanes = [seed + P1 + P2, seed + P2, seed, seed - P1].map(u64);
    for (; at + 32 <= bytes.length; at += 32)
      for (const i of [0, 1, 2, 3]) lanes[i] = round(lanes[i]!, view.getBigUint64(at + 8 * i, true));
    hash = u64([1n, 7n, 12n, 18n].reduce((sum, turn, i) => sum + rotl(lanes[i]!, turn), 0n));
    for (const lane of lanes) hash = u64((hash ^ round(0n, lane)) * P1 + P4);
  }
  hash = u64(hash + BigInt(bytes.length));
  for (; at + 8 <= bytes.length; at += 8)
    hash = u64(rotl(hash ^ round(0n, view.getBigUint64(at, true)), 27n) * P1 + P4);
  if (at + 4 <= bytes.length) {
    hash = u64(rotl(hash ^ u64(BigInt(view.getUint32(at, true)) * P1), 23n) * P2 + P3);
    at += 4;
  }
  for (; at < bytes.length; at++) hash = u64(rotl(hash ^ u64(BigInt(bytes[at]!) * P5), 11n) * P1);
  hash = u64((hash ^ (hash >> 33n)) * P2);
  hash = u64((hash ^ (hash >> 29n)) * P3);
  return hash ^ (hash >> 32n);
}

test('the reference has the published values', () => {
  expect(xxh64(new Uint8Array(0), 0n)).toBe(0xef46db3751d8e999n);
  expect(xxh64(new TextEncoder().encode('abc'), 0n)).toBe(0x44bc2cf5ad770999n);
});

test('the hash of RAM is the sum of XXH64 over its pages that are not zero', () => {
  const random = new Random(3);
  const kernel = { name: 'loop.bin', bytes: Uint8Array.of(0x6f, 0, 0, 0) };
  const machine = Machine.create({ kernel, bios: 'none', kcov: 'off', ramBytes: 2 * MIB });
  const { ram, memoryHash } = machine;
  for (const page of [3, 200, 511]) {
    const bytes = Uint8Array.from({ length: 4096 }, () => random.below(256));
    ram.write(RAM_BASE + page * 4096, bytes);
    expect(memoryHash.pageHash(page)).toBe(xxh64(bytes, BigInt(page)));
  }
  expect(memoryHash.pageHash(100)).toBe(0n);
  const sum = (): bigint => {
    const [low, high] = memoryHash.sum;
    return (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);
  };
  const expected = (): bigint => {
    let all = 0n;
    for (let page = 0; page < ram.bytes / 4096; page++) {
      const bytes = ram.read(RAM_BASE + page * 4096, 4096);
      if (bytes.some(byte => byte !== 0)) all += xxh64(bytes, BigInt(page));
    }
    return u64(all);
  };
  expect(sum()).toBe(expected());
  memoryHash.track();
  ram.write8(RAM_BASE + 100 * 4096 + 7, 1);
  ram.fill(RAM_BASE + 200 * 4096, 4096, 0);
  expect(sum()).toBe(expected());
  machine.reset();
  expect(sum()).toBe(expected());
});

test('the hash of a page that is zero but for one byte, anywhere, is that of its bytes', () => {
  const kernel = { name: 'loop.bin', bytes: Uint8Array.of(0x6f, 0, 0, 0) };
  const machine = Machine.create({ kernel, bios: 'none', kcov: 'off', ramBytes: 2 * MIB });
  const { ram, memoryHash } = machine;
  const page = 300;
  for (let at = 0; at < 4096; at++) {
    ram.write8(RAM_BASE + page * 4096 + at, 0x80);
    expect(memoryHash.pageHash(page)).toBe(xxh64(ram.read(RAM_BASE + page * 4096, 4096), BigInt(page)));
    ram.write8(RAM_BASE + page * 4096 + at, 0);
  }
});
