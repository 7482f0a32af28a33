// The hash of a state: words one by one and in arrays are the same, and every bit counts.
import { describe, expect, it } from 'vitest';
import { StateHash } from '../../emulator/base/state-hash.ts';
import { Random } from '../support/random.ts';

const random = new Random(7);
const WORDS = Int32Array.from({ length: 3000 }, () => random.u32() | 0);

const hashOf = (feed: (hash: StateHash) => void): string => {
  const hash = new StateHash();
  feed(hash);
  return hash.digest();
};

describe('state hash', () => {
  it('is the same word by word and in pieces', () => {
    const whole = hashOf(h => h.words(WORDS));
    expect(hashOf(h => WORDS.forEach(word => void h.word(word)))).toBe(whole);
    expect(
      hashOf(h => {
        h.words(WORDS, 0, 1000);
        h.words(WORDS, 1000);
      }),
    ).toBe(whole);
  });

  it('differs when any bit of any word does', () => {
    const whole = hashOf(h => h.words(WORDS));
    for (let i = 0; i < 300; i++) {
      const changed = WORDS.slice();
      const at = random.below(changed.length);
      changed[at] = changed[at]! ^ (1 << random.below(32));
      expect(hashOf(h => h.words(changed))).not.toBe(whole);
    }
  });
});
