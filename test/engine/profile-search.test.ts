// Random programs with profiles that do not fit: what is compiled early, and which paths, is
// arbitrary then. They leave what interpreted ones leave.

import { expect, test } from 'vitest';
import { HEAT_EAGER } from '../../emulator/engine/jit/policy/heat.ts';
import { dose } from '../support/again.ts';
import { searchGraphs } from '../support/call-graphs/search.ts';
import { INTERPRETER } from '../support/privileged/policies.ts';
import { compareConfigurations, searchPrivileged } from '../support/privileged/search.ts';
import { drawProfile } from '../support/profiles.ts';
import { Random, seedFromEnvironment, seedText } from '../support/random.ts';
import { compareEngines, drawProgram } from '../support/shapes/program.ts';

const SEED = seedFromEnvironment(0x9f0);
const PROGRAMS = Number(process.env['KCOVBOX_PROGRAMS'] ?? dose(3));

/** Hints are asked for before an entry point is measured, so that is late. */
const hinted = (random: Random) => ({
  ...HEAT_EAGER,
  arrivalsPerTick: random.pick([1, 2, 5]),
  ticksToMeasure: 20,
  ticksToFillBatch: 3,
  ticksToFillHinted: random.pick([0, 1, 3]),
  batchEntries: random.pick([1, 2, 6]),
  unitsToPromote: random.pick([0, 2, 500, Infinity]),
  narrowInsns: random.pick([0, 60]),
  forgiveUnits: 2000,
  onlyReached: !random.oneIn(4),
});

test(`shapes, seed ${seedText(SEED)}`, { timeout: 1_000_000 }, () => {
  const random = new Random(SEED);
  let regions = 0;
  for (let i = 0; i < PROGRAMS; i++) {
    const program = drawProgram(random);
    const mapping = random.pick(['sv39', 'identity', 'bare'] as const);
    const cuts = Array.from(
      { length: random.below(30) },
      () => 1 + random.below(random.oneIn(2) ? 50 : 20_000),
    );
    const profile = random.u32();
    const heat = hinted(random);
    const result = compareEngines(program, mapping, 'hot', cuts, { heat, profile: drawProfile(profile) });
    regions += result.regions;
    expect(result.how, JSON.stringify({ program, mapping, cuts, profile, heat })).toBeUndefined();
  }
  console.info(`${PROGRAMS} shapes, ${regions} regions`);
});

test(`call graphs, seed ${seedText(SEED)}`, { timeout: 1_000_000 }, () => {
  const { found, regions, programs, instructions } = searchGraphs(SEED, PROGRAMS, true, true);
  expect(found, JSON.stringify(found)).toBeUndefined();
  console.info(`${programs} graphs, ${regions} regions, ${instructions} instructions`);
});

test.each([1, 2])(`privileged, %d harts, seed ${seedText(SEED)}`, { timeout: 1_000_000 }, harts => {
  const random = new Random(SEED + harts);
  let regions = 0;
  const result = searchPrivileged({
    profile: { steps: 40, rounds: 3, isPortable: false, harts, hasCsrs: true },
    seed: SEED + 1000 * harts,
    programs: Math.ceil(PROGRAMS / 3),
    compare: (program, seed) => {
      const configurations = [1, 2].map(i => ({
        name: `profile ${i}`,
        engine: 'jit' as const,
        piece: random.pick([50, 500, 5000]),
        tuning: {
          heat: hinted(random),
          profile: drawProfile(random.u32()),
          ...(random.oneIn(4) && { decodedPages: 4 }),
        },
      }));
      const compared = compareConfigurations(program, seed, [INTERPRETER, ...configurations]);
      for (const { machine } of compared.outcomes) regions += machine.jit?.stats.regions ?? 0;
      return compared;
    },
  });
  expect(result.report?.()).toBeUndefined();
  console.info(`${harts} harts: ${result.instructions} instructions, ${regions} regions`);
});
