// Which pages were stored to, while a kernel runs: page tables, traps, DMA of a device, coverage
// from tasks and interrupts. Stopped at random points, as in dirty-pages.test.ts. KCOVBOX_SEED.

import { describe, expect, it } from 'vitest';
import { type EngineKind, MIB } from '../../emulator/index.ts';
import { type Dialect, findTool, hasGlibc } from '../../toolchain/index.ts';
import { boot, initrd, kernel, program } from '../kernel/boot.ts';
import { DirtyWatch } from '../support/dirty-watch.ts';
import { Random, seedFromEnvironment, seedText } from '../support/random.ts';

const ready = hasGlibc() && findTool('clang') !== undefined;
if (!ready) console.warn('skipped: guest tests need clang-19 and libc6-dev-riscv64-cross');

const SEED = seedFromEnvironment(0xd2);
const RAM = 64 * MIB;
const PIECE = 250_000;

const CASES: [Dialect, EngineKind, number, string][] = [
  ['openbsd', 'jit', 1, 'remote_collects_a_device'],
  ['linux', 'jit', 4, 'a_common_handle_collects_a_device'],
  ['freebsd', 'interp', 2, 'switches_lack_the_constant_bit'],
];

describe.skipIf(!ready)('a kernel', () => {
  it.each(CASES)('%s, %s, %i harts: no changed page is missed', async (dialect, engine, harts, name) => {
    const bytes = await program(`kcov-conformance/${dialect}-behaviour.c`, dialect);
    const archive = initrd({ 'bin/t': bytes });
    const options = { engine, harts, ramBytes: RAM };
    const { machine, text } = boot(await kernel(dialect), archive, `init=/bin/t -- ${name}`, options);
    const watch = new DirtyWatch(SEED, 1);
    const pieces = new Random(SEED);
    do watch.look(machine);
    while (machine.run(1 + pieces.below(PIECE)).kind === 'budget');
    expect(text()).toContain(`ok ${name}`);
    expect(watch.missed.slice(0, 5), `seed ${seedText(SEED)}`).toEqual([]);
    expect(watch.checkpoints).toBeGreaterThan(5);
    expect(watch.listed).toBeGreaterThan(100);
  });
});
