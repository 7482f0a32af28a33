// Modes in which a hook without a record may have run. Kernels of other people may have modes that
// ours has not.

import { expect, test } from 'vitest';
import { RECORD } from '../../devices/kcov-layout.ts';
import { isWithoutPcs } from '../../run/crossings.ts';

const { PC, CMP, UNIQ_PC, UNIQ_EDGE, UNIQ_CMP } = RECORD;

test.each([
  ['none', 0, false],
  ['PCs', PC, false],
  ['comparisons', CMP, true],
  ['both', PC | CMP, false],
  ['each PC once', UNIQ_PC, false],
  ['each PC and each edge once', UNIQ_PC | UNIQ_EDGE, false],
  ['each edge once', UNIQ_EDGE, true],
  ['each comparison once', UNIQ_CMP, true],
  // Counts do not tell the system calls apart, and the PCs are of the first one.
  ['comparisons, and each PC once', CMP | UNIQ_PC, true],
] as const)('%s', (_, mode, expected) => {
  expect(isWithoutPcs(mode)).toBe(expected);
});
