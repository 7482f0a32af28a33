// A guest that writes code for 10^10 instructions: the host's memory stays constant.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { HEAT_EAGER } from '../../emulator/engine/jit/policy/heat.ts';
import { codeWriter, watchInstances } from './code-cache.ts';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void;

/** Instructions; a round of the guest, with one module made and dropped, is 2 million. */
const TOTAL = Number(process.env['KCOVBOX_CODE_UNITS'] || 1e10);
const SAMPLES = 10;

/** Of a warm region until it is compiled again; 0 = regions are hot at once. */
const UNITS_TO_PROMOTE = [0, 5];
const FLAT = 'memory is flat while a guest makes and discards code for 10^10 instructions, promoted after %i';

test.each(UNITS_TO_PROMOTE)(FLAT, async unitsToPromote => {
  const instances = watchInstances();
  const machine = codeWriter({
    places: 2048,
    iterations: 500_000,
    rewrites: true,
    tuning: { heat: { ...HEAT_EAGER, forgiveUnits: 1, unitsToPromote } },
  });
  const lines: string[] = [];
  const resident: number[] = [];
  for (let i = 1; i <= SAMPLES; i++) {
    machine.run(TOTAL / SAMPLES);
    for (let k = 0; k < 4; k++) {
      gc();
      await new Promise(resolve => setTimeout(resolve, 5));
    }
    const { rss, heapUsed } = process.memoryUsage();
    resident.push(rss);
    const { modules, slots, entries } = machine.jit!.usage;
    lines.push(
      `${machine.spent / 1e9} G: rss ${rss >> 20} MiB, heap ${heapUsed >> 20} MiB, ` +
        `${instances.live()} instances, ${modules} modules, ${slots} slots, ${entries} entry points`,
    );
  }
  instances.stop();
  console.log(`${lines.join('\n')}\n${machine.jit!.stats.modules} modules made`);
  expect(machine.jit!.stats.modules).toBeGreaterThan(TOTAL / 4e6);
  // Live modules: those of the last round through all places, in 128 pages.
  expect(instances.live()).toBeLessThan(3000);
  expect(resident.at(-1)! - resident[SAMPLES / 2]!).toBeLessThan(48 << 20);
});

test('a guest that patches its code in phases is compiled in each, with the default policy', () => {
  const machine = codeWriter({
    places: 1,
    iterations: 3_000_000,
    rewrites: true,
    tuning: { countUnits: true },
  });
  const round = 12_000_000;
  machine.run(20 * round);
  const before = machine.jit!.units;
  machine.run(6 * round);
  expect((machine.jit!.units - before) / (6 * round)).toBeGreaterThan(0.9);
});

test('code that is patched all the time is not compiled, with the default policy', () => {
  const machine = codeWriter({ places: 1, iterations: 6000, rewrites: true, tuning: {} });
  machine.run(60_000_000);
  expect(machine.jit!.stats.modules).toBeLessThan(60);
});
