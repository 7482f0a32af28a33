// Globs for source files (coverage/trace/glob.ts), against regular expressions that say the same.
import { expect, test } from 'vitest';
import { globTest } from '../../coverage/trace/glob.ts';
import { Random, seedFromEnvironment, seedText } from '../support/random.ts';

/** Behind a slash they would begin a comment, for the tests of comments. */
const [STAR, DEEP] = ['*', '**'];

test('they match whole paths, base names and directories', () => {
  const hits = (glob: string) =>
    ['kernel/fs/file.c', 'fs/file.c', 'fs/deep/a.c', 'a.c'].filter(globTest(glob));
  expect(hits('file.c')).toEqual(['kernel/fs/file.c', 'fs/file.c']);
  expect(hits(`fs/${STAR}.c`)).toEqual(['kernel/fs/file.c', 'fs/file.c']);
  expect(hits(`fs/${DEEP}`)).toEqual(['kernel/fs/file.c', 'fs/file.c', 'fs/deep/a.c']);
  expect(hits('?.c')).toEqual(['fs/deep/a.c', 'a.c']);
  expect(hits(`kernel/${DEEP}/file.c`)).toEqual(['kernel/fs/file.c']);
});

/** Takes exponential time for some. */
function asRegExp(glob: string): RegExp {
  const parts = glob.replace(/[*][*][/]|[*][*]|[*]|[?]|[.+^${}()|[\]\\]/g, part =>
    part === '**/'
      ? '(?:.*/)?'
      : part === '**'
        ? '.*'
        : part === '*'
          ? '[^/]*'
          : part === '?'
            ? '[^/]'
            : `\\${part}`,
  );
  return new RegExp(`^(?:.*/)?${parts}$`, 'su');
}

const CASES = 20_000;

test('random globs and paths', () => {
  const seed = seedFromEnvironment(0x910b);
  const random = new Random(seed);
  const text = (letters: readonly string[], most: number): string =>
    Array.from({ length: random.below(most) }, () => random.pick(letters)).join('');
  let hits = 0;
  for (let i = 0; i < CASES; i++) {
    const glob = text(['a', 'b', '/', '/', '.', '*', '*', '**', '**/', '?', '\u{1f600}'], 8);
    const path = text(['a', 'b', '/', '/', '.', 'ab', '\u{1f600}'], 9);
    const wanted = asRegExp(glob).test(path);
    expect(globTest(glob)(path), `${glob} on ${path}, seed ${seedText(seed)}`).toBe(wanted);
    if (wanted) hits++;
  }
  expect(hits).toBeGreaterThan(CASES / 50);
});

test('many stars take linear time', () => {
  const path = 'a'.repeat(4000);
  expect(globTest(`${'*a'.repeat(200)}b`)(path)).toBe(false);
  expect(globTest(`${'**/'.repeat(200)}b`)('a/'.repeat(2000))).toBe(false);
});
