/**
 * `--exact` counts the same with either engine, on guest programs. The long dose is
 * exact.slow.test.ts.
 */
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ExactRun, exactOf } from './exact.ts';
import { missing } from './support.ts';

const reason = missing('exact counts of both engines', 'clang-19', 'ld.lld-19');
const source = (name: string) => resolve(import.meta.dirname, '../../guest-programs', `${name}.c`);

const RUNS: [string, ExactRun][] = [
  ['tests/signals', { dialect: 'openbsd', harts: 1 }],
  ['tests/pipes', { dialect: 'freebsd', harts: 4 }],
  ['linux-remote-kcov', { dialect: 'linux', harts: 2 }],
  ['netbsd-kcov', { dialect: 'netbsd', harts: 1 }],
];

describe.skipIf(reason)('both engines count the same', () => {
  it.each(RUNS)('%s %j', async (name, options) => {
    const { ran, differences, console } = await exactOf(source(name), options);
    expect(differences, console).toEqual([]);
    expect(ran).toBeGreaterThan(5000);
  });
});
