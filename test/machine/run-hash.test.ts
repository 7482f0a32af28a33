// The run hash: the same chain on every engine and in any pieces, and a difference from the link on
// that follows the first difference.

import { describe, expect, test } from 'vitest';
import { RAM_BASE } from '../../emulator/index.ts';
import { dose } from '../support/again.ts';
import { EAGEREST, INTERPRETER } from '../support/privileged/policies.ts';
import { privilegedProgram } from '../support/privileged/program.ts';
import { type Configuration, runPrivileged } from '../support/privileged/search.ts';
import { Random, seedFromEnvironment } from '../support/random.ts';

const SEED = seedFromEnvironment(0x7a5);
const INTERVAL = 9_973;
const UNITS = 300_000;
const NUMBERS = [0, 1].slice(0, dose(2));
const PROFILE = { steps: 120, rounds: 6, isPortable: false };

const run = (seed: number, configuration: Configuration) =>
  runPrivileged(privilegedProgram(new Random(seed), PROFILE), { units: UNITS, ...configuration }, seed, true);

describe('the run hash', () => {
  test.each(NUMBERS)('is the same on both engines and in any pieces (program %i)', number => {
    const seed = SEED + number;
    const chains = [INTERPRETER, EAGEREST, { ...EAGEREST, piece: 777 }].map(configuration => {
      const { machine } = run(seed, { ...configuration, runHash: INTERVAL });
      const { links } = machine.hasher!.result();
      expect(links).toHaveLength(2 + Math.floor(machine.spent / INTERVAL));
      return links;
    });
    expect(chains[1]).toEqual(chains[0]);
    expect(chains[2]).toEqual(chains[0]);
    expect(new Set(chains[0]).size).toBe(chains[0]!.length);
  });

  test('ends a run that is compared with another one at the first link that differs', () => {
    const { machine } = run(SEED, { ...INTERPRETER, runHash: INTERVAL });
    const { interval, links } = machine.hasher!.result();
    const verified = (chain: readonly string[]) => () =>
      run(SEED, {
        ...EAGEREST,
        runHash: INTERVAL,
        between: ({ hasher, spent }) => {
          if (spent === 0) hasher!.compareWith({ interval, links: chain });
        },
      });
    expect(verified(links)().machine.hasher!.result().links).toEqual(links);
    const other = links.map((link, k) => (k === 3 ? links[0]! : link));
    expect(verified(other)).toThrow('the runs are the same up to unit 19946, and differ at unit 29919');
  });

  test('cannot be seen by the guest', () => {
    const plain = run(SEED, EAGEREST);
    const hashed = run(SEED, { ...EAGEREST, runHash: INTERVAL });
    expect(hashed.hash).toBe(plain.hash);
    expect(hashed.instret).toBe(plain.instret);
  });

  test('differs from the first link behind a flipped bit on', () => {
    const at = 5 * INTERVAL + 17;
    let hasFlipped = false;
    const flipped = run(SEED, {
      ...INTERPRETER,
      piece: 1,
      runHash: INTERVAL,
      between: ({ spent, ram }) => {
        if (spent < at || hasFlipped) return;
        hasFlipped = true;
        // The last bytes of RAM, which no program of these uses.
        ram.write8(RAM_BASE + ram.bytes - 1, 1);
      },
    });
    const { links } = run(SEED, { ...INTERPRETER, runHash: INTERVAL }).machine.hasher!.result();
    const others = flipped.machine.hasher!.result().links;
    const first = links.findIndex((link, i) => link !== others[i]);
    expect(first).toBe(6);
    for (let i = first; i < links.length; i++) expect(others[i]).not.toBe(links[i]);
  });
});
