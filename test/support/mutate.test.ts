// Mutants of JSON are JSON, and their making never fails.
import { expect, test } from 'vitest';
import { mutateJson } from './mutate.ts';
import { Random } from './random.ts';

test('a mutant can be written and read again', () => {
  let value: unknown = { a: [1, [2, { b: 'text' }]], c: { d: [], e: null } };
  const random = new Random(78);
  for (let i = 0; i < 3000; i++) {
    const mutant = mutateJson(value, random);
    expect(JSON.parse(JSON.stringify(mutant))).toEqual(mutant);
    value = JSON.stringify(mutant).length < 2000 ? mutant : { a: [1, [2, { b: 'text' }]] };
  }
});
