/**
 * The coverage model against the truth on all test programs, dialects, 1 and 4 harts, PC and UNIQ
 * modes. See truth.guest.test.ts.
 */
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { DIALECTS } from '../../toolchain/index.ts';
import { missing } from './support.ts';
import { type Comparison, type RunOptions, truthOf } from './truth.ts';

const reason = missing('truth of coverage', 'clang-19', 'ld.lld-19', 'llvm-symbolizer-19');
const DIR = resolve(import.meta.dirname, '../../guest-programs/tests');
/** Programs that want arguments, a disk or another machine. */
const OTHERS = new Set(['disk', 'fail-nth', 'fuzz', 'leaks', 'provoke', 'stress', 'edu']);
const PROGRAMS = readdirSync(DIR)
  .filter(name => name.endsWith('.c'))
  .map(name => name.slice(0, -2))
  .filter(name => !OTHERS.has(name));

function* runs(): Generator<[string, RunOptions]> {
  for (const name of PROGRAMS) {
    for (const dialect of DIALECTS) {
      for (const harts of [1, 4]) {
        yield [name, { dialect, harts }];
        if (dialect === 'linux') yield [name, { dialect, harts, unique: true }];
      }
    }
  }
}

const sum = { ran: 0, idle: 0, shown: 0, unknownRan: 0, unknownIdle: 0, counts: 0, wrongCounts: 0, torn: 0 };
function add(found: Comparison): void {
  sum.ran += found.ran;
  sum.idle += found.idle;
  sum.shown += found.shown;
  sum.unknownRan += found.unknownRan.length;
  sum.unknownIdle += found.unknownIdle.length;
  sum.counts += found.exactCounts;
  sum.wrongCounts += found.wrongCounts.length;
  sum.torn += found.inconsistent.length;
}

describe.skipIf(reason)('what the model says of every line is true', () => {
  it.each([...runs()])('%s %j', async (name, options) => {
    const found = await truthOf(join(DIR, `${name}.c`), options);
    add(found);
    expect(found.ran).toBeGreaterThan(100);
    expect(found.wrong).toEqual([]);
    expect(found.inconsistent, 'functions whose hooks contradict their graph').toEqual([]);
    expect(found.unrecorded, 'hooks that ran without a record').toEqual([]);
  });
  afterAll(() => console.info(`truth: ${JSON.stringify(sum)}`));
});
