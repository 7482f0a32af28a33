// Mutants of the kernel's own sources: each differs from the original in the tokens that its name
// says, inside of the function that its name says, and nowhere else.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mutantsOf } from '../../grade/mutate.ts';
import { functionsOf, tokensOf } from '../../grade/tokens.ts';
import { ROOT } from '../support/command.ts';

const kernel = join(ROOT, 'kernel');
const sources = ['fs', 'mm', 'proc', 'sync', 'dev', 'driver', 'kcov'].flatMap(folder =>
  readdirSync(join(kernel, folder))
    .filter(name => name.endsWith('.c') && !name.endsWith('_test.c'))
    .map(name => [`${folder}/${name}`, readFileSync(join(kernel, folder, name), 'utf8')] as const),
);

test('functions are those that begin at the left margin and end with a brace there', () => {
  let count = 0;
  for (const [path, source] of sources) {
    // The format of the tree is enforced: a definition has its brace in column 0.
    const expected = [
      ...source.matchAll(/^(?!#|\/|\s|typedef)[^\n;={}]*?(\w+)\((?:[^;{}]|\n)*?\)\n\{/gm),
    ].map(m => m[1]);
    const found = functionsOf(tokensOf(source)).map(({ name }) => name);
    for (const name of expected) expect(found, path).toContain(name);
    count += found.length;
  }
  expect(count).toBeGreaterThan(500);
});

test('a mutant differs in one place, in its own function', () => {
  let count = 0;
  for (const [path, source] of sources) {
    const functions = functionsOf(tokensOf(source)).map(({ name }) => name);
    const names = new Set<string>();
    for (const mutant of mutantsOf(source, functions)) {
      count++;
      expect(names.has(mutant.name), `${path} ${mutant.name}`).toBe(false);
      names.add(mutant.name);
      expect(mutant.source).not.toBe(source);
      // The rest of the file, function by function, is as it was.
      const [own] = mutant.name.split('#');
      const before = textsOf(source);
      const after = textsOf(mutant.source);
      expect(after.map(([name]) => name)).toEqual(before.map(([name]) => name));
      const changed = before.filter(([, text], i) => after[i]![1] !== text).map(([name]) => name);
      expect(changed, `${path} ${mutant.name}`).toEqual([own]);
    }
  }
  expect(count).toBeGreaterThan(2000);
});

/** Names and tokens of the functions. */
function textsOf(source: string): [string, string][] {
  const tokens = tokensOf(source);
  return functionsOf(tokens).map(({ name, first, last }) => [
    name,
    tokens
      .slice(first, last)
      .map(({ text }) => text)
      .join(' '),
  ]);
}

test.each([
  ['if (a < b) x = 1;', ['< becomes <=', '1 becomes 2']],
  ['return a && b;', ['&& becomes ||']],
  ['x = -1;', ['1 becomes 2']],
  ['x = y - 1;', ['- becomes +', '1 becomes 2']],
  ['if (!p) return -ENOMEM;', ['the check !p is dropped']],
  ['if (!p) { goto out; }', ['the check !p is dropped']],
  ['spin_lock(&l); n++; spin_unlock(&l);', ['the lock &l is not taken']],
  ['puts("a < b"); /* 1 < 2 */', []],
])('%s', (body, expected) => {
  const mutants = mutantsOf(`int f(void)\n{\n    ${body}\n}\n`, ['f']);
  expect(mutants.map(({ name }) => name.replace(/^f#\d+: /, ''))).toEqual(expected);
});

test('a lock that is dropped is neither taken nor given back', () => {
  const [mutant] = mutantsOf('void f(void)\n{\n    mutex_lock(&a);\n    g();\n    mutex_unlock(&a);\n}\n', [
    'f',
  ]);
  expect(mutant!.source).toBe('void f(void)\n{\n    (void)0;\n    g();\n    (void)0;\n}\n');
});
