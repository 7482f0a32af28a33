/**
 * The verdict on a line of optimized code against the execution of its source: the same program
 * without optimization, where every line has its code. A line is red when none of its instructions
 * ran, and the compiler may compute a line instead of leaving code for it. A line is green when one
 * ran, and the compiler may execute a line before it is reached. Not every such line can be told
 * from the image: their shares are bounded. `KCOVBOX_SEED` and `KCOVBOX_RUNS` select a long run.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seedFromEnvironment } from '../support/random.ts';
import { bareTruth } from './bare.ts';
import { RANDOM_DRIVER, randomFile } from './random-c.ts';
import { FIXTURES, missing } from './support.ts';

const reason = missing('lines of optimized code', 'clang-19', 'ld.lld-19', 'llvm-symbolizer-19');
const LEVELS = ['-O1', '-O2', '-Os'];
/** So that overflow means the same at all levels. */
const DEFINED = ['-fwrapv'];

const FOLDED_DRIVER = `
extern int known(int), asked(int, int), left(int, int), right(int, int);
volatile int one = 1;
void main(void)
{
    known(one);
    asked(one, one);
    left(one, one);
    right(one, one);
    done();
}
`;

const MOVED_DRIVER = `
extern int moved(int, int), threaded(int);
volatile int three = 3;
void main(void)
{
    moved(three, three);
    threaded(three);
    done();
}
`;

const numberOf = (line: string): number => Number(line.slice(line.lastIndexOf(':') + 1));

describe.skipIf(reason)('red lines of optimized code', () => {
  it.each(LEVELS)('a line that is computed in a copy that ran is unknown, at %s', level => {
    const text = readFileSync(join(FIXTURES, 'folded.c'), 'utf8');
    const code = `volatile int sink;\n${text}`;
    const { states } = bareTruth(`folded${level}`, code, FOLDED_DRIVER, level);
    const byNumber = new Map([...states].map(([line, state]) => [numberOf(line), state]));
    const stateOf = (part: string): string | undefined =>
      byNumber.get(1 + code.split('\n').findIndex(line => line.includes(part)));
    expect(stateOf('if (by > 4)')).toBe('unknown');
    expect(stateOf('return scale(x, 9)')).toBe('covered');
    expect(stateOf('return scale(x, by)')).toBe('uncovered');
    // Both copies have code for it, and none of it ran.
    expect(stateOf('sink = at')).toBe('uncovered');
    expect(stateOf('place(x, at + 1)')).toBe('uncovered');
  });

  it.each(LEVELS)('a line whose code was moved, or left on another path, is unknown, at %s', level => {
    const text = readFileSync(join(FIXTURES, 'moved.c'), 'utf8');
    const code = `volatile int sink;\n${text}`;
    const { states } = bareTruth(`moved${level}`, code, MOVED_DRIVER, level);
    const byNumber = new Map([...states].map(([line, state]) => [numberOf(line), state]));
    const stateOf = (part: string): string | undefined =>
      byNumber.get(1 + code.split('\n').findIndex(line => line.includes(part)));
    expect(stateOf('difference = a')).toBe('unknown');
    expect(stateOf('if (n > 4)')).not.toBe('uncovered');
    expect(stateOf('sink = a')).toBe('uncovered');
    expect(stateOf('sink = 2')).toBe('uncovered');
  });

  it('few red lines of random functions ran, and few green ones did not', () => {
    const sum = { red: 0, ran: 0, green: 0, early: 0, unknown: 0, lines: 0 };
    let number = 0;
    const seed = seedFromEnvironment(20261124);
    const numRuns = Number(process.env['KCOVBOX_RUNS'] ?? 20);
    fc.assert(
      fc.property(randomFile, fc.constantFrom(...LEVELS), (code, level) => {
        const name = `source${number++}`;
        const source = bareTruth(`${name}-O0`, code, RANDOM_DRIVER, '-O0', DEFINED);
        const times = new Map([...source.own].map(([line, n]) => [numberOf(line), n]));
        const { states } = bareTruth(name, code, RANDOM_DRIVER, level, DEFINED);
        const text = code.split('\n');
        for (const [line, state] of states) {
          const n = numberOf(line);
          sum.lines++;
          if (state === 'unknown') sum.unknown++;
          // Without optimization every return goes through the last brace.
          if (state === 'unknown' || text[n - 1] === '}') continue;
          const hasRun = (times.get(n) ?? 0) > 0;
          if (state === 'uncovered') {
            sum.red++;
            if (hasRun) sum.ran++;
          } else {
            sum.green++;
            // The compiler executes cheap code of a branch before it is taken.
            if (!hasRun) sum.early++;
          }
        }
      }),
      { seed, numRuns, endOnFailure: false, interruptAfterTimeLimit: 500_000 },
    );
    console.info(
      `random functions: ${sum.lines} lines, ${sum.unknown} unknown; ${sum.red} red, ${sum.ran} of them ran; ` +
        `${sum.green} green, ${sum.early} of them did not`,
    );
    expect(sum.red).toBeGreaterThan(50);
    expect(sum.ran / sum.red).toBeLessThan(0.01);
    expect(sum.green).toBeGreaterThan(100);
    expect(sum.early / sum.green).toBeLessThan(0.02);
    expect(sum.unknown / sum.lines).toBeLessThan(0.02);
  });
});
