// Which pages were stored to, against a comparison of all of RAM: random programs about privilege,
// page tables and code that changes, stopped at random points. No page may differ from what it was
// at the last checkpoint without being listed; and the hash of RAM, kept up to date by the list, is
// the one of a machine that looks at every page. KCOVBOX_SEED, KCOVBOX_PROGRAMS.

import { expect, test } from 'vitest';
import { dose } from '../support/again.ts';
import { DirtyWatch } from '../support/dirty-watch.ts';
import { EAGEREST, INTERPRETER, POLICIES } from '../support/privileged/policies.ts';
import { privilegedProgram } from '../support/privileged/program.ts';
import { type Configuration, runPrivileged } from '../support/privileged/search.ts';
import { Random, seedFromEnvironment, seedText } from '../support/random.ts';

const SEED = seedFromEnvironment(0xd1);
const PROGRAMS = Number(process.env['KCOVBOX_PROGRAMS'] || dose(2));
const PROFILE = { steps: 120, rounds: 6, isPortable: false };
const UNITS = 150_000;
const CONFIGURATIONS = [INTERPRETER, EAGEREST, POLICIES[2]!, POLICIES[4]!];

test.each(CONFIGURATIONS)('no changed page is missed ($name)', (configuration: Configuration) => {
  for (let i = 0; i < PROGRAMS; i++) {
    const seed = SEED + i;
    const program = privilegedProgram(new Random(seed), PROFILE);
    const watch = new DirtyWatch(seed, 4);
    const piece = Math.min(configuration.piece, 1500);
    const tracked = runPrivileged(
      program,
      { ...configuration, units: UNITS, piece, between: m => watch.look(m) },
      seed,
      true,
    );
    expect(watch.missed.slice(0, 5), `seed ${seedText(seed)}`).toEqual([]);
    expect(watch.checkpoints).toBeGreaterThan(10);
    expect(watch.listed).toBeGreaterThan(5);
    // And the guest has seen nothing of it.
    expect(tracked.hash).toBe(runPrivileged(program, { ...INTERPRETER, units: UNITS }, seed, true).hash);
  }
});
