// Random expressions of C: clang computes them in a guest, the debugger at a breakpoint behind
// that. Each result is compared with its type.
import { exhaust } from '../../../emulator/index.ts';
import type { Random } from '../../support/random.ts';
import { recordProgram } from './compare.ts';

const VARIABLES = `
enum colour { RED, GREEN = 70000, BLUE } e = GREEN;
typedef enum { COLD = -5, WARM = 5 } heat; heat heat_ = COLD;
struct packed { int small : 5; unsigned wide : 31; long rest; } packed = { -9, 0x7edcba98, -3 };
struct fields { long thirty_two : 32; unsigned long forty : 40, half : 32; _Bool bit : 1; }
  fields = { -6, -3, -3, 1 };
struct __attribute__((packed)) nine { unsigned long low : 7, across : 60; } nine = { 5, 0xabcdef123456789 };
__int128 wide = (__int128)-5 << 70 | 3; unsigned __int128 uwide = -1;
typedef double real; typedef float single; real r = 0.1; single w = -2.7f;
signed char c = -7; unsigned char uc = 200; short s = -30000; unsigned short us = 60000;
int i = -2000000000; unsigned u = 4000000000; long l = -0x7123456789abcdef; unsigned long ul = -5;
int zero; float f = 0.1f; double d = -3.75; float g = 16777217.0f; double huge = 1e300;
int array[5] = { 3, 1, 4, 1, 5 }; int *p = &array[2];
`;
const INTEGERS = [
  ...['c', 'uc', 's', 'us', 'i', 'u', 'l', 'ul', 'zero', 'e', 'packed.small', 'packed.wide', 'packed.rest'],
  ...[
    'heat_',
    'fields.thirty_two',
    'fields.forty',
    'fields.half',
    'fields.bit',
    'nine.across',
    'wide',
    'uwide',
  ],
  ...['array[1]', '*p', 'p[-1]', '(p - array)', '7', '0x80000000', '2147483648', '4294967295u', '010'],
  ...['9223372036854775807', '0xffffffffffffffff', '3ul', "'A'"],
  ...["'\\a'", "'\\v'", "'\\''", "'\\7'", "'\\101'", "'\\xfe'"],
];
const FLOATS = ['r', 'w', 'f', 'd', 'g', 'huge', '0.5', '1.5f', '2e3', '.25'];
const CASTS = [
  'char',
  'unsigned char',
  'short',
  'int',
  'unsigned',
  'long',
  'unsigned long',
  'float',
  'double',
];

/** Of defined behaviour, with -fwrapv. */
function integer(random: Random, depth: number): string {
  if (depth === 0) return random.pick(INTEGERS);
  const a = (): string => integer(random, depth - 1);
  switch (random.below(9)) {
    case 0:
      return `(${a()} ${random.pick(['<<', '>>'])} ${random.below(32)})`;
    case 1:
      return `(${a()} ${random.pick(['/', '%'])} (${a()} | 1))`;
    case 2:
      return `${random.pick(['-', '~', '!', '+'])}(${a()})`;
    case 3:
      return `((${random.pick(CASTS.slice(0, 7))})${a()})`;
    case 4: {
      const of = random.oneIn(3) ? floating : integer;
      const sign = random.pick(['==', '!=', '<', '>', '<=', '>=', '&&', '||']);
      return `(${of(random, depth - 1)} ${sign} ${of(random, depth - 1)})`;
    }
    case 5: // the second operand would trap, or is not there
      return random.pick([`(zero && ${a()} / zero)`, `(1 || *(int *)${random.below(9)})`]);
    default:
      return `(${a()} ${random.pick(['+', '-', '*', '&', '|', '^'])} ${a()})`;
  }
}

function floating(random: Random, depth: number): string {
  if (depth === 0) return random.pick(FLOATS);
  const a = (): string => (random.oneIn(3) ? integer : floating)(random, depth - 1);
  switch (random.below(4)) {
    case 0:
      return `((${random.pick(['float', 'double'])})${a()})`;
    case 1:
      return `-(${floating(random, depth - 1)})`;
    default:
      return `(${floating(random, depth - 1)} ${random.pick(['+', '-', '*', '/'])} ${a()})`;
  }
}

/** The differences, one line each. */
export async function searchExpressions(dir: string, random: Random, count: number): Promise<string[]> {
  const texts = Array.from({ length: count }, () =>
    (random.oneIn(3) ? floating : integer)(random, 1 + random.below(4)),
  );
  const program = [
    VARIABLES,
    ...texts.map((text, n) => `static __typeof__(+(${text})) r${n};`),
    '__attribute__((noinline)) void done(void) { __asm__ volatile("" ::: "memory"); }',
    'int main(void) {',
    '__asm__ volatile("" ::: "memory");',
    ...texts.map((text, n) => `r${n} = +(${text}); __asm__ volatile("" :: "m"(r${n}));`),
    'done(); return 0; }',
  ];
  const flags = '-O0 -g -w -fwrapv -ffp-contract=off';
  const { session } = await recordProgram(dir, program.join('\n'), flags, 1);
  session.break('done');
  exhaust(session.continue('forward'));
  const shown = (text: string): string => {
    try {
      const value = session.evaluate(text);
      return `${value.type.name} ${session.show(value)}`;
    } catch (error) {
      return String(error);
    }
  };
  return texts.flatMap((text, n) => {
    const [ours, theirs] = [shown(`+(${text})`), shown(`+r${n}`)];
    return ours === theirs ? [] : [`${text} is ${theirs}, not ${ours}`];
  });
}
