/**
 * The coverage model against the truth: its verdict on every source line of the kernel is compared
 * with the instructions that the engine retired while coverage was recorded. No line may be wrong;
 * the number of unknown lines is measured. The long run is truth.slow.test.ts.
 */
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FIXTURES, missing } from './support.ts';
import { type RunOptions, shareUnknown, truthOf } from './truth.ts';

const reason = missing('truth of coverage', 'clang-19', 'ld.lld-19', 'llvm-symbolizer-19');
const source = (name: string) => resolve(import.meta.dirname, '../../guest-programs', `${name}.c`);

const RUNS: [string, RunOptions][] = [
  ['tests/processes', { dialect: 'openbsd' }],
  ['tests/pipes', { dialect: 'netbsd' }],
  ['tests/signals', { dialect: 'freebsd', harts: 2 }],
  ['tests/events', { dialect: 'linux', harts: 4, unique: true }],
  // A thread ends inside signal_deliver; preemption, migration and IPIs come inside hooks.
  ['tests/threads', { dialect: 'netbsd', harts: 4 }],
  ['openbsd-remote-kcov', { dialect: 'openbsd', self: false }],
];

describe.skipIf(reason)('what the model says of every line is true', () => {
  it.each(RUNS)('%s %j', async (name, options) => {
    const found = await truthOf(source(name), options);
    expect(found.wrong).toEqual([]);
    expect(found.wrongCounts).toEqual([]);
    expect(found.unrecorded, 'hooks that ran without a record').toEqual([]);
    expect(found.inconsistent, 'functions whose hooks contradict their graph').toEqual([]);
    expect(found.ran).toBeGreaterThan(20);
    expect(shareUnknown(found)).toBeLessThanOrEqual(0.02);
  });

  it.each(['2 8', '6 4', '0 1'])('also of code that ran in a mode without PCs: modes %s', async args => {
    const found = await truthOf(join(FIXTURES, 'modes.c'), { dialect: 'linux', self: false, args });
    expect(found.wrong).toEqual([]);
    expect(found.ran).toBeGreaterThan(20);
  });
});
