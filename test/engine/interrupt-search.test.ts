// Random programs, hot and compiled, with an interrupt at every unit of a stretch of the run
// (test/support/interrupts/): it is taken exactly there, and the rest is as in single steps.
// interrupt-search.slow.test.ts has the long dose. KCOVBOX_SEED, KCOVBOX_PROGRAMS.

import { afterEach, expect, test, vi } from 'vitest';
import { Clock } from '../../emulator/machine/clock.ts';
import { describeOnce, dose } from '../support/again.ts';
import { searchInterrupts } from '../support/interrupts/search.ts';
import { seedFromEnvironment, seedText } from '../support/random.ts';

const SEED = seedFromEnvironment(0x1d7e);
const PROGRAMS = Number(process.env['KCOVBOX_PROGRAMS'] || dose(6));
const ARRIVALS = 60;

afterEach(() => void vi.restoreAllMocks());

test(`an interrupt at each unit is taken there, seed ${seedText(SEED)}`, { timeout: 120_000 }, () => {
  const { how, found, programs, instructions, regions } = searchInterrupts(SEED, PROGRAMS, ARRIVALS);
  console.info(`interrupts: seed ${seedText(SEED)}, ${programs} programs, ${instructions} instructions`);
  expect(how, JSON.stringify(found)).toBeUndefined();
  expect(regions).toBeGreaterThan(2 * PROGRAMS);
});

const FAULTS: Readonly<Record<string, () => void>> = {
  'an alarm comes a unit late': () => {
    const real = Clock.prototype.next;
    vi.spyOn(Clock.prototype, 'next').mockImplementation(function (this: Clock) {
      return real.call(this) + 1;
    });
  },
};

describeOnce('the search finds', { timeout: 120_000 }, () => {
  test.each(Object.entries(FAULTS))('%s', (name, inject) => {
    inject();
    const { how, programs } = searchInterrupts(SEED, PROGRAMS, ARRIVALS);
    console.info(`${name}: program ${programs}, ${how}`);
    expect(how).toBeDefined();
  });
});
