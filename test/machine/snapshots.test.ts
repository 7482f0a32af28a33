// Snapshots in memory: random programs about privilege are stopped at random points, run ahead and
// set back, and forked to the other engine. Each return must give the state that was saved, judged
// by a hash of all of it, and the end must be that of a run that nobody disturbed. KCOVBOX_SEED,
// KCOVBOX_PROGRAMS.

import { describe, expect, test } from 'vitest';
import { Machine, MIB, RAM_BASE, type Snapshot, stateHash } from '../../emulator/index.ts';
import { RESET_CHECK } from '../../emulator/machine/snapshots.ts';
import { dose } from '../support/again.ts';
import { EAGEREST, INTERPRETER } from '../support/privileged/policies.ts';
import { privilegedProgram } from '../support/privileged/program.ts';
import { runPrivileged } from '../support/privileged/search.ts';
import { Random, seedFromEnvironment } from '../support/random.ts';

const SEED = seedFromEnvironment(0x5a9);
const PROGRAMS = Number(process.env['KCOVBOX_PROGRAMS'] || dose(2));
const PROFILE = { steps: 120, rounds: 6, isPortable: false };
const UNITS = 60_000;
const AHEAD = 3000;

describe('a machine', () => {
  test.each([INTERPRETER, EAGEREST])('goes back to any of its snapshots ($name)', configuration => {
    for (let i = 0; i < PROGRAMS; i++) {
      const seed = SEED + i;
      const random = new Random(seed);
      const program = privilegedProgram(new Random(seed), PROFILE);
      const options = { ...configuration, units: UNITS };
      const straight = runPrivileged(program, options, seed, true);
      let returns = 0;
      let forks = 0;
      const kept: Snapshot[] = [];
      const disturbed = runPrivileged(
        program,
        {
          ...options,
          between: machine => {
            if (!random.oneIn(2) || machine.stopped) return;
            const now = machine.snapshot();
            expect(now.hash).toBe(stateHash(machine));
            kept.push(now);
            for (let n = random.below(3); n > 0; n--) {
              machine.run(1 + random.below(AHEAD));
              if (random.oneIn(3)) machine.restore(random.pick(kept));
              machine.restore(now);
              machine.snapshots.check();
              returns++;
            }
            if (!random.oneIn(12)) return;
            forks++;
            const other = machine.fork({ engine: configuration.engine === 'jit' ? 'interp' : 'jit' });
            other.run(AHEAD);
            machine.run(AHEAD);
            expect(stateHash(other)).toBe(stateHash(machine));
            machine.restore(now);
          },
        },
        seed,
        true,
      );
      expect(disturbed.hash).toBe(straight.hash);
      expect(returns).toBeGreaterThan(5);
      expect(forks + 1).toBeGreaterThan(0);
    }
  });
});

describe('a return to the same snapshot', () => {
  const kernel = { name: 'loop.bin', bytes: Uint8Array.of(0x6f, 0, 0, 0) };
  const fresh = (): Machine => Machine.create({ kernel, bios: 'none', ramBytes: 2 * MIB });

  test('notices memory that changed behind its back', () => {
    const machine = fresh();
    const snapshot = machine.snapshot();
    machine.ram.write8(RAM_BASE + 0x5000, 7);
    machine.restore(snapshot);
    machine.snapshots.check();
    machine.ram.data[0x9000] = 1; // a store that nobody announces
    machine.restore(snapshot);
    expect(() => machine.snapshots.check()).toThrow(/^the state after a reset is /);
    const returns = () => {
      for (let i = 0; i < RESET_CHECK; i++) machine.restore(snapshot);
    };
    expect(returns).toThrow(/^the state after a reset is /);
  });

  test('leaves compiled code as it is', () => {
    const program = privilegedProgram(new Random(SEED), PROFILE);
    let compiled = 0;
    let restores = 0;
    runPrivileged(
      program,
      {
        ...EAGEREST,
        units: UNITS,
        between: machine => {
          if (machine.spent < UNITS / 2 || restores > 0 || machine.stopped) return;
          machine.snapshot(); // begins to track, which drops flat regions once
          const before = machine.jit!.usage.modules;
          machine.restore(machine.snapshot());
          machine.restore(machine.snapshot());
          restores++;
          compiled = machine.jit!.usage.modules;
          expect(compiled).toBe(before);
        },
      },
      SEED,
      true,
    );
    expect(compiled).toBeGreaterThan(0);
  });
});
