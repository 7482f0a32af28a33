// A machine that `npm test` sets up has everything that `kcovbox doctor` looks for: a test that
// skips there would be one that nobody runs.
import { expect, test } from 'vitest';
import { BUILD, ORACLES } from '../../setup/packages.mjs';
import { DEBIAN } from '../../toolchain/index.ts';

test('the set-up installs each package that doctor names', () => {
  const known = [...BUILD, ...ORACLES].flatMap(({ names }) => names);
  const absent = Object.values(DEBIAN)
    .flatMap(names => names.split(' '))
    .filter(name => !known.includes(name));
  expect(absent).toEqual([]);
});
