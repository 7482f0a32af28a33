// LZMA of the page as one file: both directions against one another, and each against a stream of
// another program.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pack } from '../../web/file/pack.ts';
import { unpack } from '../../web/file/unpack.ts';

// Of Python 3's lzma module, which is XZ Utils: FORMAT_RAW behind a header with the size.
const STREAM = 'XQAAAQAiAAAAAAAAAAA1mUqrouKvIk4DjXu5NhlObXTk83P//9mfwAA=';

const text = (value: string): Uint8Array => new TextEncoder().encode(value);

describe('LZMA', () => {
  it('is the same behind both directions', () => {
    const pieces = fc.array(
      fc.oneof(
        fc.uint8Array({ maxLength: 40 }),
        fc
          .record({ byte: fc.nat(255), count: fc.nat(700) })
          .map(({ byte, count }) => new Uint8Array(count).fill(byte)),
        fc.constantFrom('static int f(void);\n', 'return -EBADF;\n', 'struct file *').map(text),
      ),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(pieces, parts => {
        const bytes = Uint8Array.from(parts.flatMap(part => [...part]));
        expect(unpack(pack(bytes))).toEqual(bytes);
      }),
      { numRuns: 300 },
    );
  });

  it('finds what is far back', () => {
    const bytes = new Uint8Array(400_000);
    let x = 1;
    for (let i = 0; i < 200_000; i++) bytes[i] = (x = Math.imul(x, 1103515245) + 12345) >>> 24;
    bytes.copyWithin(200_000, 0, 200_000);
    const packed = pack(bytes);
    expect(packed.length).toBeLessThan(215_000);
    expect(Buffer.compare(unpack(packed), bytes)).toBe(0);
  });

  it('reads a stream of XZ Utils', () => {
    const packed = Uint8Array.from(Buffer.from(STREAM, 'base64'));
    expect(new TextDecoder().decode(unpack(packed))).toBe('kernel kernel kernel, and a kernel');
  });

  it('a damaged stream ends, with an error or other contents', () => {
    const whole = pack(text('read(-1, NULL, 0) is EBADF; '.repeat(40)));
    for (let at = 13; at < whole.length; at++) {
      const bytes = whole.slice();
      bytes[at]! ^= 0x10;
      try {
        unpack(bytes);
      } catch (error) {
        expect((error as Error).message).toMatch(/^the data of this page is (cut off|damaged)$/);
      }
    }
    expect(() => unpack(whole.subarray(0, 20))).toThrow('the data of this page is cut off');
  });
});
