// The order of the harts depends on nothing but virtual time and the seed.
import { expect, it } from 'vitest';
import { Scheduler } from '../../emulator/machine/scheduler.ts';

it.each([undefined, 9n])('draws nothing while all harts wait, with seed %s', seed => {
  const [often, once] = [new Scheduler(3, seed), new Scheduler(3, seed)];
  for (let now = 0; now < 1_000_000; now += 50_000) {
    for (let k = 0; k < 1 + ((now / 50_000) % 7); k++) expect(often.pick(now, () => false)).toBe(false);
    expect(once.pick(now, () => false)).toBe(false);
    expect(often.pick(now + 1, () => true)).toBe(once.pick(now + 1, () => true));
    expect(often.save()).toEqual(once.save());
  }
});
