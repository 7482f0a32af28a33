// The debugger computes what C does: random expressions beside clang's code.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { exhaust } from '../../emulator/index.ts';
import { ASSEMBLER } from '../support/asm.ts';
import { Random, seedFromEnvironment, seedText } from '../support/random.ts';
import { missing } from '../support/tools.ts';
import { recordProgram } from './search/compare.ts';
import { searchExpressions } from './search/expressions.ts';

const dir = mkdtempSync(join(tmpdir(), 'kcovbox-expressions-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const seed = seedFromEnvironment(0xe8b);

test.skipIf(missing('clang and lld', ASSEMBLER))(`400 expressions, seed ${seedText(seed)}`, async () => {
  expect(await searchExpressions(dir, new Random(seed), 400)).toEqual([]);
});

const ODD = `struct far { char pad[70000]; int x; struct { int y; } in; } far;
struct bits { unsigned a : 3; int b : 5; } bits = { 5, -3 };
struct late { int x; char pad[70000]; } *late;
struct unknown; struct unknown *unknown = (struct unknown *)0x1000;
int i = 7, *p = &i, u32 = 8; double big = 1e30; long double wide = 1; _Complex double complex = 1;
int main(void) {
    for (int at = 0; at < sizeof far.pad; at++) far.pad[at] = 1;
    far.x = 1234;
    far.in.y = 5;
    bits.a = 2;
    bits.b = -4;
    return 0;
}
`;

test.skipIf(missing('clang and lld', ASSEMBLER))('what has no value is refused, not guessed', async () => {
  const { session } = await recordProgram(mkdtempSync(join(dir, 'odd-')), ODD, '-O0 -g -w', 1);
  session.break('random.c:10');
  exhaust(session.continue('forward'));
  const shown = (text: string): string => {
    try {
      return session.show(session.evaluate(text));
    } catch (error) {
      return String(error);
    }
  };
  for (const text of ['far.x', '(&far)->x', '*&far.x']) expect([text, shown(text)]).toEqual([text, '1234']);
  expect(shown('far.in.y')).toBe('5');
  // An object of which only the first page is mapped: its other members are not read.
  expect(shown('((struct late *)&far.x)->x')).toBe('1234');
  expect(shown('((struct far *)&far.x)->x')).toContain('nothing is mapped');
  // Each with a part of the reason.
  for (const [text, why] of [
    ['++i', '++'],
    ['i - --i', '--'],
    ['i---i', '--'],
    ['089', 'octal'],
    ['1.5lf', 'not supported'],
    ['10f', 'not supported'],
    ['1lll', 'not supported'],
    ["'\\q'", 'one byte'],
    ["'\u00e9'", 'one byte'],
    ['&bits.b', 'bit field'],
    ['(int)big', 'does not fit'],
    ['(unsigned)-1.5', 'does not fit'],
    ['(int *)1.5', 'cannot cast'],
    ['p + p', 'not possible'],
    ['1 - p', 'not possible'],
    ['unknown + 1', 'not known'],
    ['wide > 1', 'not supported'],
    ['complex + 1', 'not supported'],
  ] as const)
    expect([text, shown(text)]).toEqual([text, expect.stringContaining(why)]);
  // Of a bit field its own bits, and not the stores to its neighbours.
  session.watch('bits.b');
  expect(exhaust(session.continue('forward'))).toMatchObject({ kind: 'watch', before: '-3', after: '-4' });
});
