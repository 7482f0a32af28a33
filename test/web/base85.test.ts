// Base 85 of the page as one file: both directions against one another, and letters of the text.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromBase85, toBase85 } from '../../web/file/base85.ts';

describe('base 85 of the page as one file', () => {
  it('is the same behind both directions, and four bytes are five letters', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), bytes => {
        const text = toBase85(bytes);
        const padded = Math.ceil(bytes.length / 4) * 4;
        expect(text.length).toBe((padded / 4) * 5);
        expect(Buffer.from(fromBase85(text))).toEqual(Buffer.concat([bytes, Buffer.alloc(padded)], padded));
      }),
    );
  });

  it('has no letter that HTML reads in a script', () => {
    const all = Uint8Array.from({ length: 4 * 85 ** 2 }, (_, i) => (i * 2654435761) >>> 13);
    expect(new Set(toBase85(all)).size).toBe(85);
    expect(toBase85(all)).toMatch(/^[!-;=-~]*$/);
  });

  it('a text that was cut or changed is other bytes, not an error', () => {
    const text = toBase85(Uint8Array.of(1, 2, 3, 255, 254, 253));
    expect(fromBase85(text.slice(0, 7))).toEqual(Uint8Array.of(1, 2, 3, 255));
    for (const wrong of [' ', '<', '~', '\xfc']) expect(fromBase85(wrong + text.slice(1))).toHaveLength(8);
  });
});
