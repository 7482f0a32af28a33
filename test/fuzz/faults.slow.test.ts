// The long dose of faults.guest.test.ts: ten thousand programs with faults of devices.
import { it } from 'vitest';
import { faultsAgree, faulty } from './faulty.ts';

it('each program has the same records again, and on the other engine', async () => {
  await faultsAgree(await faulty(), 10_000, 0x5eed_0004);
});
