// Every driver survives hostile devices: a short dose. hostile.slow.test.ts has the long one.
import { expect, test } from 'vitest';
import { runSetup, SETUPS } from './hostile/campaigns.ts';

test.each(Object.keys(SETUPS))('%s: 100 hostile devices', async name => {
  const { counts, finds } = await runSetup(name, 1, 100);
  expect(finds).toEqual([]);
  // A layer that did nothing would pass, too.
  expect(counts.error + counts.other).toBeGreaterThan(0);
});
