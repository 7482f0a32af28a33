// The code cache under guests that keep writing code: it stays bounded, evicts, and continues to
// compile.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { HEAT_DEFAULT, HEAT_EAGER } from '../../emulator/engine/jit/policy/heat.ts';
import { codeWriter, watchInstances } from './code-cache.ts';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void;

async function collect(): Promise<void> {
  for (let i = 0; i < 4; i++) {
    gc();
    await new Promise(resolve => setTimeout(resolve, 5));
  }
}

/**
 * The default policy with all times a tenth, so that a tenth of the instructions shows the same.
 */
const TENTH = {
  ...HEAT_DEFAULT,
  arrivalsPerTick: HEAT_DEFAULT.arrivalsPerTick / 10,
  forgiveUnits: HEAT_DEFAULT.forgiveUnits / 10,
};

describe('the code cache', () => {
  test('frees the instances of modules whose code was overwritten', async () => {
    const instances = watchInstances();
    const machine = codeWriter({
      places: 16,
      iterations: 200,
      rewrites: true,
      tuning: { heat: { ...HEAT_EAGER, forgiveUnits: 1 } },
    });
    machine.run(400_000);
    instances.stop();
    const { modules } = machine.jit!.stats;
    await collect();
    expect(modules).toBeGreaterThan(200);
    expect(machine.jit!.usage.modules).toBeLessThan(20);
    expect(instances.live()).toBeLessThan(40);
  });

  test('evicts the coldest modules, not everything', () => {
    const machine = codeWriter({
      places: 1024,
      iterations: 200,
      rewrites: false,
      tuning: { heat: { ...HEAT_EAGER, batchEntries: 1 }, cache: { slots: 64 } },
    });
    let least = Infinity;
    for (let i = 0; i < 60; i++) {
      machine.run(50_000);
      if (i > 25) least = Math.min(least, machine.jit!.usage.slots);
    }
    const { dropped, evicted, revived, regions } = machine.jit!.stats;
    expect(evicted).toBeGreaterThan(500);
    expect(least).toBeGreaterThan(30);
    // The loop around all of it is never cold.
    expect(revived).toBeGreaterThan(10);
    expect(regions - dropped).toBeLessThan(65);
  });

  test('compiles again in each phase of a guest that patches its code in phases', () => {
    const machine = codeWriter({
      places: 1,
      iterations: 300_000,
      rewrites: true,
      tuning: { heat: TENTH, countUnits: true },
    });
    const round = 1_200_000;
    machine.run(20 * round);
    const before = machine.jit!.units;
    machine.run(6 * round);
    expect((machine.jit!.units - before) / (6 * round)).toBeGreaterThan(0.9);
  });

  test('does not compile code that is patched all the time', () => {
    const machine = codeWriter({ places: 1, iterations: 600, rewrites: true, tuning: { heat: TENTH } });
    machine.run(6_000_000);
    expect(machine.jit!.stats.modules).toBeLessThan(60);
  });
});
