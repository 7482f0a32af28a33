// The description language: its errors, the calls that nobody has described, and the numbers that
// the agent and the host share.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { CALL_FORKS, CONTROL, LAYOUT, MARK, OP, XV6 } from '../../fuzz/executor/layout.ts';
import { parseDescriptions } from '../../fuzz/language/parse.ts';
import { parseSyscalls } from '../../fuzz/language/syscalls.ts';
import { FuzzError } from '../../fuzz/language/types.ts';
import { descriptionTexts, loadDescriptions } from '../../host/fuzz/descriptions.ts';
import { ROOT } from '../support/command.ts';

const rows = parseSyscalls(['SYSCALL(57, close, 1)\nSYSCALL(63, read, 3)\nSYSCALL(93, exit, 1)\n']);
const parse = (text: string) => parseDescriptions(rows, [{ name: 'd.kd', text }]);

it('describes calls on the kernel’s table, and leaves none out', () => {
  const { calls, byName } = parse(
    'resource fd: int32 = -1, 0 # a comment\n' +
      'struct pair { a: fd,\n b: len16 a }\n' +
      'call read(fd: fd, buf: out? bytes[0:8], n: len64 buf)\n' +
      'call read$pair(fd: fd, buf: inout array[1:2] pair)',
  );
  expect(calls.map(({ name, number }) => `${name} ${number}`)).toEqual([
    'close 57',
    'read 63',
    'read$pair 63',
  ]);
  expect(byName.get('close')!.args).toEqual([
    { name: 'a0', type: { kind: 'int', width: 8, low: 0n, high: (1n << 64n) - 1n } },
  ]);
});

it('the package describes most of the calls', () => {
  const { calls } = loadDescriptions(descriptionTexts());
  const plain = calls.filter(({ args }) => args.length > 0 && args.every(({ name }, i) => name === `a${i}`));
  expect(calls.length).toBeGreaterThan(230);
  expect(plain.map(({ name }) => name)).toEqual([]);
});

function refusal(body: () => unknown): FuzzError {
  try {
    body();
  } catch (error) {
    expect(error).toBeInstanceOf(FuzzError);
    return error as FuzzError;
  }
  throw new Error('nothing was refused');
}

/** A first line and a hundred that follow from it. */
const nest = (first: string, next: (n: number) => string): string =>
  [first, ...Array.from({ length: 100 }, (_, i) => next(i + 1))].join('\n');

it('a wrong description is refused with file, line and reason', () => {
  const wrong: readonly [string, RegExp][] = [
    ['thing x', /d.kd:1: "thing" begins no declaration/],
    ['call write(a: int32)', /the kernel has no system call "write"/],
    ['call exit(a: int32)', /exit would end the agent/],
    ['call close(a: int32, b: int32)', /close has 1 arguments, not 2/],
    ['\n\ncall close(a: what)', /d.kd:3: no type "what"/],
    ['call close(a: bytes[1:2])', /argument a of close is bytes, which needs a pointer/],
    ['call close(a: int8[3:2])', /\[3:2\] is not a range of 1 bytes/],
    ['call close(a: int32[-2:3])', /\[-2:3\] is not a range of 4 bytes/],
    ['call close(a: len64 b)', /len b: there is no field "b" beside it/],
    ['call close(a: ptr bytes[5000])', /\[5000:5000\]: 0 to 4096 are possible/],
    ['resource r: int24', /"int24" is neither int8/],
    ['call close() -> fd', /no resource "fd"/],
    ['flags f = A 1\nflags f = B 2', /d.kd:2: "f" is declared twice/],
    [' x', /d.kd:1: the line continues nothing/],
    ['strings s = "\u20ac"', /d.kd:1: "\u20ac" is not ASCII: write its bytes as \\xNN/],
    ['resource r: int8 \u001b[2J', /d.kd:1: "\\u001b\[2J" is too much/],
    // Whatever is too long, too deep or too large: one short line, at once.
    ['x'.repeat(1e6), /d.kd:1: "x{20}" goes on: a name has at most 64 characters/],
    [`resource r: int8 = ${'9'.repeat(1e6)}`, /d.kd:1: 9{20} has more than 64 bits/],
    [`call close(a: ${'ptr '.repeat(2e5)}int8)`, /more than 32 pointers, arrays and structs in one another/],
    [nest('struct s0 { a: int8 }', n => `struct s${n} { a: s${n - 1} }`), /d.kd:34: more than 32 pointers/],
    [
      nest('struct s0 { a: int8 }', n => `struct s${n} { a: s${n - 1}, b: s${n - 1} }`),
      /d.kd:17: up to 196607/,
    ],
    ['call close(a: ptr array[200] array[200] array[20] int8)', /up to 840203 numbers and bytes: 131072 are/],
    [
      `struct s { ${Array.from({ length: 6e4 }, (_, i) => `f${i}: int8`).join()}, f0: int8 }`,
      /two fields "f0"/,
    ],
    [nest('resource r0: int8', n => `resource r${n}: r${n - 1}`), /d.kd:34: "r33" has more than 32 kinds/],
    [
      'resource r: int8\n'.repeat(1025).replaceAll(/r:/g, (_, at) => `r${at}:`),
      /d.kd:1025: more than 1024 re/,
    ],
    [
      'call close$x()\n'.repeat(4097).replaceAll(/x/g, (_, at) => `x${at}`),
      /d.kd:4097: more than 4096 calls/,
    ],
    [`# ${' '.repeat(2 ** 20)}`, /^d.kd: more than 1048576 characters$/],
  ];
  for (const [text, reason] of wrong) {
    const begun = performance.now();
    const error = refusal(() => parse(text));
    expect(error.message).toMatch(reason);
    expect(error.message.length).toBeLessThan(200);
    expect(performance.now() - begun, reason.source).toBeLessThan(5000);
  }
});

it('a row of the table that no kernel has is refused', () => {
  const wrong: readonly [string, RegExp][] = [
    ['SYSCALL(1, a, 7)', /^system call a: 7 arguments, 6 are possible$/],
    ['SYSCALL(1, a, 10)', /^system call a: 10 arguments, 6 are possible$/],
    ['SYSCALL(1, a)', /^"SYSCALL\(1, a\)": expected SYSCALL\(number, name, arguments\)$/],
    ['SYSCALL(2147483648, a, 1)', /^system call a: its number is above 2147483647$/],
    ['SYSCALL(1, 9a, 1)', /^system call 9a: a name is one in C, of at most 64 characters$/],
    [`SYSCALL(1, ${'a'.repeat(1e6)}, 1)`, /^system call a{64}: a name is one in C/],
  ];
  for (const [text, reason] of wrong) expect(refusal(() => parseSyscalls([text])).message).toMatch(reason);
});

it('agent.c and the host have the same numbers', () => {
  const sources = ['agent.c', 'words.h', 'xv6.h'];
  const agent = sources.map(name => readFileSync(join(ROOT, 'guest-programs/fuzz', name), 'utf8')).join('');
  const number = (name: string): number => {
    const found = new RegExp(`\\b${name}\\s*=?\\s*"?(0x[0-9a-f]+|\\d+)`).exec(agent);
    if (!found) throw new Error(`${sources.join()} have no ${name}`);
    return Number(found[1]);
  };
  for (const [name, value] of Object.entries(LAYOUT)) expect(number(name), name).toBe(value);
  for (const [name, value] of Object.entries(XV6)) expect(number(`XV6_${name}`), name).toBe(value);
  for (const [name, value] of Object.entries(MARK)) expect(number(`MARK_${name}`), name).toBe(value);
  expect(/enum \{ OP_END, OP_CALL, OP_STORE, OP_LOAD, OP_GO \}/.test(agent)).toBe(true);
  expect(Object.values(OP)).toEqual([0, 1, 2, 3, 4]);
  expect(agent).toContain(`may_go  ((volatile uint32_t *)&other->slots[${CONTROL.MAY_GO / 8}])`);
  expect(agent).toContain(`ready   ((volatile uint32_t *)&other->slots[${CONTROL.READY / 8}])`);
  expect(number('CALL_FORKS')).toBe(CALL_FORKS);
});

const EXAMPLES = join(ROOT, 'examples', 'fuzz');

it.each(readdirSync(EXAMPLES).filter(name => name.endsWith('.kd')))(
  'examples/fuzz/%s describes calls',
  name => {
    const own = loadDescriptions(descriptionTexts());
    const { calls } = loadDescriptions(descriptionTexts([join(EXAMPLES, name)]));
    const more = calls.filter(call => !own.byName.has(call.name));
    expect(more.length).toBeGreaterThan(1);
    // A device that is opened, and calls that take it.
    expect(more.filter(({ returns }) => returns)).toHaveLength(1);
  },
);
