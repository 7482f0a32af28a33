/**
 * The model on random C functions and on the lock with four pins: no line may be wrong.
 * `KCOVBOX_SEED` and `KCOVBOX_RUNS` select a long run.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seedFromEnvironment } from '../support/random.ts';
import { bareTruth, wrongCalls } from './bare.ts';
import { RANDOM_DRIVER, randomFile } from './random-c.ts';
import { FIXTURES, missing } from './support.ts';
import { shareUnknown } from './truth.ts';

const reason = missing('coverage of random functions', 'clang-19', 'ld.lld-19', 'llvm-symbolizer-19');
const LEVELS = ['-O0', '-O1', '-O2', '-Os'];

const PUZZLE_DRIVER = `
static unsigned char key[24] = { 0xef, 0xbe, 0xad, 0xde, 0x42, 0x42, 0, 0, 0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01, 0, 0x73, 6, 0x57, 'B', 'U', 'G', 3 };
static unsigned char space[32];
int copyin(void *to, unsigned long from, unsigned long len) { memcpy(to, (void *)from, len); return 0; }
unsigned char *take(unsigned long size) { return space; }
void give(unsigned char *p) { }
extern long puzzle(unsigned long, unsigned long);
void main(void)
{
    if (puzzle((unsigned long)key, 24) != 99)
        for (;;)
            ;
    done();
}
`;

describe.skipIf(reason)('what the model says of compiled functions is true', () => {
  it.each(LEVELS)('the lock with four pins at %s: every line above the last condition ran', level => {
    const code = readFileSync(join(FIXTURES, 'puzzle.c'), 'utf8');
    const found = bareTruth(`puzzle${level}`, code, PUZZLE_DRIVER, level);
    expect(found.wrong).toEqual([]);
    expect(found.wrongCounts).toEqual([]);
    expect(found.unknownRan).toEqual([]);
    expect(found.shown).toBe(found.ran);
    expect(found.ran).toBeGreaterThan(15);
  });

  it('random functions, at every level', () => {
    const sum = { ran: 0, idle: 0, unknownRan: [] as string[], unknownIdle: [] as string[] };
    const calls = { exact: 0, least: 0, shown: 0, ran: 0 };
    let number = 0;
    const seed = seedFromEnvironment(20261122);
    const numRuns = Number(process.env['KCOVBOX_RUNS'] ?? 8);
    fc.assert(
      fc.property(randomFile, fc.constantFrom(...LEVELS), (code, level) => {
        const found = bareTruth(`random${number++}`, code, RANDOM_DRIVER, level);
        expect([...found.wrong, ...found.wrongCounts, ...found.inconsistent]).toEqual([]);
        expect(wrongCalls(found.calls)).toEqual([]);
        // Counted instructions say as much as the records of the same hooks.
        for (const { by, name, hits } of found.calls)
          if (by === 'records') {
            const exact = found.calls.find(row => row.by === 'exact' && row.name === name);
            expect(exact?.hits, name).toBeGreaterThanOrEqual(hits);
          }
        for (const { hits, isLeast, truth } of found.calls) {
          calls.exact += Number(!isLeast);
          calls.least += Number(isLeast);
          calls.shown += isLeast ? hits : 0;
          calls.ran += isLeast ? truth : 0;
        }
        sum.ran += found.ran;
        sum.idle += found.idle;
        sum.unknownRan.push(...found.unknownRan);
        sum.unknownIdle.push(...found.unknownIdle);
      }),
      { seed, numRuns, endOnFailure: false, interruptAfterTimeLimit: 500_000 },
    );
    const share = shareUnknown(sum as never);
    console.info(
      `random functions: ${sum.ran} lines ran, ${sum.idle} not; unknown ${(100 * share).toFixed(2)} %`,
    );
    console.info(
      `functions: ${calls.exact} exact; ${calls.least} bounds, ${calls.shown} of ${calls.ran} calls shown`,
    );
    expect(calls.exact).toBeGreaterThan(0);
    expect(calls.least).toBeGreaterThan(0);
    expect(share).toBeLessThanOrEqual(0.02);
  });
});
