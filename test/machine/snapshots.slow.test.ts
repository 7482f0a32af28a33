// A million returns to one snapshot: the state is the one that was saved, and the host's memory
// does not grow. KCOVBOX_RUNS.

import { expect, test } from 'vitest';
import { Machine, MIB, RAM_BASE, stateHash } from '../../emulator/index.ts';
import { buildPrivileged } from '../support/privileged/image.ts';
import { privilegedProgram } from '../support/privileged/program.ts';
import { Random } from '../support/random.ts';

const RETURNS = Number(process.env['KCOVBOX_RUNS'] || 1_000_000);
const PAGES = 64;
/** Garbage that waits for its collection. */
const SLACK = 32 * MIB;

test(`${RETURNS} returns to a snapshot`, { timeout: 7_200_000 }, () => {
  const program = privilegedProgram(new Random(5), { steps: 80, rounds: 6, isPortable: false });
  const kernel = { name: 'privileged.bin', bytes: buildPrivileged(program) };
  const machine = Machine.create({ kernel, bios: 'none', ramBytes: 4 * MIB });
  machine.run(5000);
  const base = machine.snapshot();
  let early = 0;
  for (let i = 0; i < RETURNS; i++) {
    machine.run(1 + (i % 200));
    for (let page = 0; page < PAGES; page++)
      machine.ram.write8(RAM_BASE + 2 * MIB + page * 4096 + (i % 4096), page + 1);
    machine.restore(base);
    if (i === Math.floor(RETURNS / 10)) early = process.memoryUsage.rss();
  }
  machine.snapshots.check();
  expect(stateHash(machine)).toBe(base.hash);
  expect(machine.snapshots.restoredPages).toBeGreaterThanOrEqual(PAGES * RETURNS);
  expect(process.memoryUsage.rss()).toBeLessThan(early + SLACK);
});
