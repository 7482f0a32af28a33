// Profiles that say anything about any page: right, wrong and absent by chance.

import type { JitProfile, PageProfile } from '../../emulator/engine/jit/policy/profile.ts';
import { Random } from './random.ts';

const BYTES = 256;
const FILLS = ['none', 'all', 'half', 'few', 'most'] as const;

function bits(random: Random): Uint8Array {
  const fill = random.pick(FILLS);
  const isSet = (): boolean =>
    fill === 'all' ||
    (fill === 'half' && random.oneIn(2)) ||
    (fill === 'few' && random.oneIn(30)) ||
    (fill === 'most' && !random.oneIn(30));
  return Uint8Array.from({ length: BYTES }, () => {
    let byte = 0;
    for (let i = 0; i < 8; i++) if (isSet()) byte |= 1 << i;
    return byte;
  });
}

const FULL: PageProfile = { hot: new Uint8Array(BYTES).fill(255), reached: new Uint8Array(BYTES).fill(255) };

/** The same answer for the same page and contents; or another one each time, as no file gives. */
export function drawProfile(seed: number): JitProfile {
  const random = new Random(seed);
  const kind = random.pick(['full', 'by page', 'by page', 'by page', 'by question'] as const);
  const isMissing = random.pick([0, 2, 5]);
  const known = new Map<string, PageProfile | undefined>();
  const draw = (): PageProfile | undefined =>
    isMissing > 0 && random.oneIn(isMissing) ? undefined : { hot: bits(random), reached: bits(random) };
  return {
    mayBeHot: () => kind !== 'by question' || !random.oneIn(9),
    pageAt(va, contents) {
      if (kind === 'full') return FULL;
      if (kind === 'by question') return draw();
      let hash = 0;
      for (const word of contents) hash = Math.imul(hash ^ word, 0x0100_0193);
      const key = `${va} ${hash}`;
      if (!known.has(key)) known.set(key, draw());
      return known.get(key);
    },
    compiled: () => {},
  };
}
