// A short dose of random device programs; test/devices/search.slow.test.ts has the long one.

import { expect, it } from 'vitest';
import { seedFromEnvironment } from '../support/random.ts';
import { Search } from './search/search.ts';

it('no program of a guest throws in a device or costs more than its budget', () => {
  const { report } = new Search().run(seedFromEnvironment(0xde71), 1000);
  expect(report).toBeUndefined();
}, 120_000);
