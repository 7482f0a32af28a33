// Every driver survives hostile devices: a short dose. hostile.slow.test.ts has the long one.
import { expect, test } from 'vitest';
import { Guest } from '../../run/many/guest.ts';
import { prepareSetup, runSetup, SETUPS } from './hostile/campaigns.ts';

test.each(Object.keys(SETUPS))('%s: 100 hostile devices', async name => {
  const { counts, finds } = await runSetup(name, 1, 100);
  expect(finds).toEqual([]);
  // A layer that did nothing would pass, too.
  expect(counts.error + counts.other).toBeGreaterThan(0);
});

// Else each run of a campaign repeats a part of the boot.
test.each(['edu', 'blk', 'summer'])('%s: the driver is probed when the program is loaded', async name => {
  const { machine, device } = await prepareSetup(name);
  const guest = new Guest({ ...machine, faultable: [device] });
  let first: number | undefined;
  guest.machine.board.faults.get(device)!.observer = () => {
    first ??= guest.machine.now();
  };
  expect(await guest.runToUser()).toBe(true);
  expect(first! / guest.machine.time).toBeGreaterThan(0.95);
});
