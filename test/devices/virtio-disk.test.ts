// A disk over an image behaves like an array of its bytes, and reads from the image only unwritten
// parts.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Disk, type DiskImage } from '../../devices/virtio-disk.ts';

const BYTES = 200_001; // three pages and a part, not whole sectors
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
      const model = new Uint8Array(DISK);
      model.set(original);
      expect(disk.bytes).toBe(DISK);
      accesses.forEach(({ at, bytes, isWrite, value }, i) => {
        if (i === cut) {
          const saved = JSON.stringify(disk.save());
          disk = new Disk(image);
          disk.load(JSON.parse(saved));
        }
        if (isWrite) {
          model.fill(value, at, at + bytes);
          disk.write(at, new Uint8Array(bytes).fill(value));
        } else {
          const read = new Uint8Array(bytes);
          disk.read(at, read);
          expect(Buffer.compare(read, model.subarray(at, at + bytes))).toBe(0);
        }
      });
    }),
    { numRuns: 100 },
  );
});
