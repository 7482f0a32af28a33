// Oracle: Node's MD5, for every length around the ends of blocks, and random ones.
import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { md5 } from '../../web/engine/md5.ts';
import { Random, seedFromEnvironment, seedText } from '../support/random.ts';

it('is that of Node', () => {
  const seed = seedFromEnvironment(0x3d5);
  const random = new Random(seed);
  const lengths = [...Array(200).keys(), ...Array.from({ length: 20 }, () => random.below(5000))];
  for (const length of lengths) {
    const bytes = Uint8Array.from({ length }, () => random.below(256));
    const wanted = createHash('md5').update(bytes).digest('hex');
    expect(md5(bytes), `${length} bytes, ${seedText(seed)}`).toBe(wanted);
  }
});
