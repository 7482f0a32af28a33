// Every driver survives hostile devices: a long dose.
import { expect, test } from 'vitest';
import { runSetup, SETUPS } from './hostile/campaigns.ts';

test.each(Object.keys(SETUPS))('%s: 10,000 hostile devices', async name => {
  const { finds } = await runSetup(name, 1000, 10_000);
  expect(finds).toEqual([]);
});
