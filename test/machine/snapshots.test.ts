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
import { type Configuration, runPrivileged } from '../support/privileged/search.ts';
import { Random, seedFromEnvironment } from '../support/random.ts';

const SEED = seedFromEnvironment(0x5a9);
const PROGRAMS = Number(process.env['KCOVBOX_PROGRAMS'] || dose(2));
const PROFILE = { steps: 120, rounds: 6, isPortable: false };
const UNITS = 60_000;
const AHEAD = 3000;

/**
 * Runs one program per seed, and again with `between` between its pieces, which leaves the machine
 * as it was: the end is the same.
 */
function disturb(configuration: Configuration, between: (machine: Machine, random: Random) => void): void {
  for (let seed = SEED; seed < SEED + PROGRAMS; seed++) {
    const random = new Random(seed);
    const program = privilegedProgram(new Random(seed), PROFILE);
    const options = { ...configuration, units: UNITS };
    const straight = runPrivileged(program, options, seed, true);
    const disturbed = runPrivileged(
      program,
      { ...options, between: machine => between(machine, random) },
      seed,
      true,
    );
    expect(disturbed.hash).toBe(straight.hash);
  }
}

/** More than MEASURED of machine/usual-pages.ts. */
const RETURNS = 80;
/** Another snapshot comes between. */
const SNAPSHOT_AT = 40;

describe.each([INTERPRETER, EAGEREST])('a machine ($name)', configuration => {
  test('goes back to any of its snapshots', () => {
    let [returns, forks] = [0, 0];
    const kept = new Map<Random, Snapshot[]>();
    disturb(configuration, (machine, random) => {
      if (!random.oneIn(2) || machine.stopped) return;
      const now = machine.snapshot();
      expect(now.hash).toBe(stateHash(machine));
      const own = kept.get(random) ?? [];
      kept.set(random, own);
      own.push(now);
      for (let n = random.below(3); n > 0; n--) {
        machine.run(1 + random.below(AHEAD));
        if (random.oneIn(3)) machine.restore(random.pick(own));
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
    });
    expect(returns).toBeGreaterThan(5 * PROGRAMS);
    expect(forks).toBeGreaterThan(0);
  });

  test('gives back pages to which it mostly stores, listed or not', () => {
    const kept = new Map<Random, number[]>();
    disturb(configuration, (machine, random) => {
      const listed = kept.get(random) ?? [];
      kept.set(random, listed);
      if (listed.length === 2 || !random.oneIn(8) || machine.stopped) return;
      const { ram, memoryHash } = machine;
      const usual = random.below(ram.bytes / 4096);
      const now = machine.snapshot();
      for (let n = 0; n < RETURNS; n++) {
        machine.run(1 + random.below(AHEAD / 2));
        ram.write32(RAM_BASE + 4096 * usual + 4 * random.below(1024), random.u32());
        if (n === SNAPSHOT_AT) machine.snapshots.take();
        machine.restore(now);
        if (random.oneIn(4)) machine.snapshots.check();
      }
      listed.push(memoryHash.dirtyPages.length);
      machine.snapshots.check();
    });
    expect(kept.size).toBe(PROGRAMS);
    for (const listed of kept.values()) expect(Math.max(...listed)).toBeGreaterThan(0);
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

  test('lists the pages to which the guest mostly stores at once, and no others', () => {
    const machine = fresh();
    const snapshot = machine.snapshot();
    const [usual, rare] = [5, 9];
    const listed = (from: number, to: number): number[] => {
      const all = new Set<number>();
      for (let i = from; i < to; i++) {
        for (const page of machine.memoryHash.dirtyPages) all.add(page);
        machine.ram.write8(RAM_BASE + 4096 * usual, i);
        if (i % 8 === 0) machine.ram.write8(RAM_BASE + 4096 * rare, i);
        machine.restore(snapshot);
        expect(machine.ram.read8(RAM_BASE + 4096 * usual)).toBe(0);
        expect(machine.ram.read8(RAM_BASE + 4096 * rare)).toBe(0);
      }
      return [...all];
    };
    expect(listed(0, 32)).toEqual([]);
    expect(listed(32, RESET_CHECK - 1)).toEqual([usual]);
    machine.restore(snapshot);
    expect(listed(RESET_CHECK, RESET_CHECK + 8)).toEqual([]);
    // Another snapshot has other pages.
    expect(listed(0, 40)).toContain(usual);
    const other = machine.snapshot();
    expect([...machine.memoryHash.dirtyPages]).toEqual([]);
    expect(listed(0, 40)).toContain(usual);
    machine.restore(other);
    machine.restore(snapshot);
    expect([...machine.memoryHash.dirtyPages]).toEqual([]);
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
