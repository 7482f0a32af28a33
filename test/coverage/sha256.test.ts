/** Our SHA-256 against Node's. */
import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { Sha256 } from '../../emulator/base/sha256.ts';

it('is SHA-256 at every length around the block size, in pieces too', () => {
  for (let length = 0; length < 200; length++) {
    const bytes = Uint8Array.from({ length }, (_, i) => i * 7 + length);
    const expected = createHash('sha256').update(bytes).digest('hex');
    expect(
      new Sha256()
        .update(bytes.subarray(0, length / 3))
        .update(bytes.subarray(length / 3))
        .hex(),
    ).toBe(expected);
  }
});
