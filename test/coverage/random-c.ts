/**
 * Random C functions for the coverage model: conditions of `&&`, `||`, `?:`, switches, loops, goto,
 * inlined and tail calls, noreturn.
 */
import fc from 'fast-check';

type Made = fc.Arbitrary<string>;

const value: Made = fc.oneof(
  fc.constantFrom('a', 'b', 'acc', 'n'),
  fc.integer({ min: -3, max: 12 }).map(String),
  fc
    .tuple(
      fc.constantFrom('a', 'b', 'acc'),
      fc.constantFrom('+', '-', '^', '&'),
      fc.integer({ min: 1, max: 9 }),
    )
    .map(([x, op, k]) => `(${x} ${op} ${k})`),
);
const test: Made = fc.tuple(value, fc.constantFrom('<', '>', '==', '!=', '>='), value).map(t => t.join(' '));

const { statement } = fc.letrec<{ condition: string; statement: string }>(tie => ({
  condition: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    test,
    fc
      .tuple(tie('condition'), fc.constantFrom('&&', '||'), tie('condition'))
      .map(([x, op, y]) => `(${x}\n    ${op} ${y})`),
    tie('condition').map(x => `!(${x})`),
  ),
  statement: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(
      'acc += b;',
      'sink = acc;',
      'acc ^= a;',
      'n++;',
      'acc = helper(acc, b);',
      'acc -= turns(a, b);',
      'acc += early(n, b);',
      'acc += outside(a);',
    ),
    fc.tuple(tie('condition'), value, value).map(([c, x, y]) => `acc += ${c}\n    ? ${x}\n    : ${y};`),
    fc.tuple(tie('condition'), tie('statement')).map(([c, s]) => `if (${c}) {\n${s}\n}`),
    fc
      .tuple(tie('condition'), tie('statement'), tie('statement'))
      .map(([c, s, t]) => `if (${c}) {\n${s}\n} else {\n${t}\n}`),
    fc
      .tuple(fc.integer({ min: 0, max: 5 }), tie('statement'))
      .map(([k, s]) => `for (int i = 0; i < ${k}; i++) {\n${s}\n}`),
    fc
      .tuple(tie('condition'), tie('statement'))
      .map(([c, s]) => `for (int k = 0; k < 4 && ${c}; k++) {\n${s}\nif (acc > 50)\nbreak;\n}`),
    fc
      .array(tie('statement'), { minLength: 2, maxLength: 7 })
      .map(
        list =>
          `switch (acc & 7) {\n${list.map((s, i) => `case ${i}:\n${s}\n${i % 3 === 2 ? '' : 'break;\n'}`).join('')}default:\nacc++;\n}`,
      ),
    fc.tuple(tie('statement'), tie('statement')).map(([s, t]) => `${s}\n${t}`),
    tie('condition').map(c => `if (${c})\ngoto out;`),
    tie('condition').map(c => `if (${c})\nreturn acc;`),
    tie('condition').map(c => `if (${c})\nreturn tail(acc, n);`),
    tie('condition').map(c => `if (n > 90 && ${c})\nstop(acc);`),
    tie('condition').map(c => `if (${c})\nreturn via(a, b);`),
  ),
}));

const HEAD = `extern void done(void) __attribute__((noreturn));
extern int outside(int);
extern int (*via)(int, int);
volatile int sink;
unsigned times_stop, times_helper, times_turns, times_early, times_tail;
static void stop(int x)
{
    times_stop++;
    sink = x;
    done();
}
static inline int helper(int x, int y)
{
    times_helper++;
    if (x > y && x < 40)
        return x - y;
    return x + 1;
}
__attribute__((always_inline)) static inline int turns(int x, int y)
{
    times_turns++;
    for (int i = 0; i < x; i++) {
        if (i == y)
            return i;
        if (y > 3)
            sink = i;
    }
    return x;
}
__attribute__((always_inline)) static inline int early(int x, int y)
{
    times_early++;
    if (x == y)
        return 1;
    if (x > 20)
        return turns(3, y);
    while (x < y) {
        x += 2;
        sink = x;
    }
    return helper(x, y);
}
__attribute__((noinline)) static int tail(int x, int y)
{
    times_tail++;
    return x > y
        ? x
        : y;
}
`;

const FUNCTIONS = 4;

/** The text of a file with four functions `f0` to `f3` of two ints. */
export const randomFile: Made = fc
  .array(fc.array(statement, { minLength: 3, maxLength: 9, size: 'max' }), {
    minLength: FUNCTIONS,
    maxLength: FUNCTIONS,
  })
  .map(
    bodies =>
      HEAD +
      bodies
        .map(
          (list, i) =>
            `unsigned times_f${i};\nint f${i}(int a, int b)\n{\ntimes_f${i}++;\nint acc = a - b, n = 0;\n${list.join('\n')}\nout:\nsink = acc;\nreturn acc + n;\n}\n`,
        )
        .join(''),
  );

/** Calls each function with a few arguments. */
export const RANDOM_DRIVER = `
extern int f0(int, int), f1(int, int), f2(int, int), f3(int, int);
static int add(int a, int b) { return a + b; }
int (*via)(int, int) = add;
int outside(int x) { return x & 3; }
void main(void)
{
    static int (*const f[])(int, int) = { f0, f1, f2, f3 };
    for (int i = 0; i < 4; i++)
        for (int a = -2; a < 9; a += 3)
            f[i](a, a ^ i);
    done();
}
`;
