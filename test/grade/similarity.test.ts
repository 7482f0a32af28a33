// Winnowing finds what it promises: a run of 19 items that two texts share, wherever it lies.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { alike, codePrint, fingerprint } from '../../grade/similarity.ts';

/** K + W - 1 of grade/similarity.ts. */
const GUARANTEED = 19;

test('texts that share a run of so many items share a fingerprint', () => {
  const items = fc.array(fc.constantFrom('a', 'b', 'c', '(', ')'), { maxLength: 60 });
  const run = fc.array(fc.constantFrom('a', 'b', 'c', '(', ')'), { minLength: GUARANTEED, maxLength: 40 });
  fc.assert(
    fc.property(items, items, items, items, run, (a, b, c, d, shared) => {
      const first = fingerprint([...a, ...shared, ...b]);
      const second = fingerprint([...c, ...shared, ...d]);
      expect([...first].some(hash => second.has(hash))).toBe(true);
    }),
    { numRuns: 300, seed: 18 },
  );
});

const LONG = `
int count(const char *text, char wanted)
{
    int n = 0;
    for (const char *at = text; *at; at++)
        if (*at == wanted)
            n++;
    return n;
}
int last(const int *list, int size)
{
    int best = list[0];
    for (int i = 1; i < size; i++) {
        if (list[i] > best)
            best = list[i];
    }
    return best;
}`;
const OTHER = `
static unsigned hash(const unsigned char *bytes, unsigned long size)
{
    unsigned h = 2166136261u;
    while (size--) {
        h ^= *bytes++;
        h *= 16777619u;
    }
    switch (h & 3) {
    case 0: return h >> 1;
    case 1: return h << 1;
    default: return ~h;
    }
}`;

test('new names, comments and blanks hide no copy; other code is not alike; the starter is', () => {
  const renamed = LONG.replaceAll('count', 'zaehle')
    .replaceAll('text', 's')
    .replaceAll('best', 'maximum')
    .replace(/\n/g, ' /* mine */\n\n');
  const prints = new Map([
    ['ada', codePrint([LONG])],
    ['bob', codePrint([renamed])],
    ['eve', codePrint([OTHER])],
  ]);
  expect(alike(prints, new Set(), 80)).toEqual([
    expect.objectContaining({ a: 'ada', b: 'bob', percent: 100 }),
  ]);
  expect(alike(prints, codePrint([LONG]), 1)).toEqual([]);
});
