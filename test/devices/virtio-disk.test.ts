// A disk over an image behaves like an array of its bytes, and reads from the image only unwritten
// parts.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Disk, type DiskImage } from '../../devices/virtio-disk.ts';

const BYTES = 200_001; // 48 blocks and a part, not whole sectors
const DISK = 200_192;

/** Every byte says where it is. */
const original = Uint8Array.from({ length: BYTES }, (_, i) => (i * 31 + (i >> 8)) & 0xff);
const image: DiskImage = {
  bytes: BYTES,
  read: (at, into) => {
    if (at < 0 || at + into.length > BYTES) throw new RangeError('outside the image');
    into.set(original.subarray(at, at + into.length));
  },
};

const access = fc
  .record({ at: fc.nat(DISK - 1), bytes: fc.nat(140_000), isWrite: fc.boolean(), value: fc.nat(255) })
  .map(a => ({ ...a, bytes: Math.min(a.bytes, DISK - a.at) }));

test('reads and writes in any order, also after save and load', () => {
  fc.assert(
    fc.property(fc.array(access, { maxLength: 12 }), fc.nat(12), (accesses, cut) => {
      let disk = new Disk(image);
      const saves: { state: unknown; text: string; digest: unknown }[] = [];
      const model = new Uint8Array(DISK);
      model.set(original);
      expect(disk.bytes).toBe(DISK);
      accesses.forEach(({ at, bytes, isWrite, value }, i) => {
        if (i === cut) {
          const saved = JSON.stringify(disk.save());
          disk = new Disk(image);
          disk.load(JSON.parse(saved));
        }
        const state = disk.save();
        saves.push({ state, text: JSON.stringify(state), digest: disk.digest() });
        if (isWrite) {
          model.fill(value, at, at + bytes);
          disk.write(at, new Uint8Array(bytes).fill(value));
        } else {
          const read = new Uint8Array(bytes);
          disk.read(at, read);
          expect(Buffer.compare(read, model.subarray(at, at + bytes))).toBe(0);
        }
      });
      for (const { state, text, digest } of saves) {
        expect(JSON.stringify(state)).toBe(text);
        disk.load(state);
        expect(disk.digest()).toEqual(digest);
        const other = new Disk(image);
        other.load(JSON.parse(text));
        expect(other.digest()).toEqual(digest);
      }
    }),
    { numRuns: 30 },
  );
});

test('the digest is small, and sees every byte and place', () => {
  const disk = new Disk(image);
  disk.write(0, new Uint8Array(DISK));
  const zeros = disk.digest();
  expect(JSON.stringify(zeros).length).toBeLessThan(64);
  const digests = new Set([JSON.stringify(zeros)]);
  const places = [0, 1, 4095, 4096, 100_000, DISK - 1];
  for (const at of places) {
    disk.write(at, Uint8Array.of(1));
    digests.add(JSON.stringify(disk.digest()));
    disk.write(at, Uint8Array.of(0));
    expect(disk.digest()).toEqual(zeros);
  }
  expect(digests.size).toBe(places.length + 1);
});

test.each<[string, unknown]>([
  ['outside', [[49, []]]],
  ['before it', [[-1, new Uint8Array(4096)]]],
  ['short', [[0, [1, 2, 3]]]],
  ['long', [[48, new Uint8Array(4096)]]],
  ['between', [[0.5, new Uint8Array(4096)]]],
])('a state with a block of another disk is refused: %s', (_, state) => {
  expect(() => new Disk(image).load(state)).toThrow(/^block \S+ of \d+ bytes on a disk of 200192$/);
});
