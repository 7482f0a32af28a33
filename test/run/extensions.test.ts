// The extensions of a run description, there and back.

import { expect, test } from 'vitest';
import { ALL_EXTENSIONS, DEFAULT_EXTENSIONS } from '../../emulator/index.ts';
import { describeExtensions, extensionsOf, HAD_BY_ALL, LISTED } from '../../run/extensions.ts';

test('every choice of extensions returns from its description', () => {
  const names = [...ALL_EXTENSIONS];
  for (let n = 0; n < 2 ** names.length; n += 100_003) {
    const chosen = new Set(names.filter((_name, bit) => (n >> bit) & 1));
    const described = describeExtensions(chosen);
    expect(new Set(extensionsOf(described))).toEqual(chosen);
    expect(described.extensions).toEqual([...described.extensions].sort());
  }
});

test('a description from before an extension could be switched off has it', () => {
  expect(LISTED.filter(name => (HAD_BY_ALL as readonly string[]).includes(name))).toEqual([]);
  expect(describeExtensions(DEFAULT_EXTENSIONS).without).toBeUndefined();
  expect([...extensionsOf({ extensions: ['zba'] })].sort()).toEqual(['zba', ...HAD_BY_ALL]);
});
