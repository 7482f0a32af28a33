// Programs are always well-typed: whatever the generator, the mutations and the steps make has a
// text that reads back as the same program, and words for the agent that stay in its memory.

import { expect, it } from 'vitest';
import { faultText, parseFaultChoice, parseFaults } from '../../emulator/index.ts';
import { encode } from '../../fuzz/executor/encode.ts';
import { LAYOUT } from '../../fuzz/executor/layout.ts';
import type { Comparison } from '../../fuzz/guide/hints.ts';
import { steps } from '../../fuzz/guide/steps.ts';
import { changeFaults, earlier } from '../../fuzz/program/faults.ts';
import { Choice, Generator, matches } from '../../fuzz/program/generate.ts';
import { mutate } from '../../fuzz/program/mutate.ts';
import { type Arg, CALLS_MAX, type Program, visit } from '../../fuzz/program/program.ts';
import { arrange } from '../../fuzz/program/race.ts';
import { Random } from '../../fuzz/program/random.ts';
import { reduce } from '../../fuzz/program/reduce.ts';
import { parseProgram, programText } from '../../fuzz/program/text.ts';
import { descriptionTexts, loadDescriptions } from '../../host/fuzz/descriptions.ts';
import { seedFromEnvironment, seedText } from '../support/random.ts';

const descriptions = loadDescriptions(descriptionTexts());
const choice = new Choice(descriptions);

it('names of calls take linear time, and patterns with a star are bounded', () => {
  const names = descriptions.calls.map(({ name }) => name);
  const many = Array.from({ length: 300_000 }, (_, i) => names[i % names.length]!);
  const start = performance.now();
  expect(new Choice(descriptions, many).calls).toEqual(descriptions.calls);
  expect(() => new Choice(descriptions, [...many, 'nosuch'])).toThrow('no call matches "nosuch"');
  expect(performance.now() - start).toBeLessThan(2000);
  const stars = (n: number): string[] => Array.from({ length: n }, (_, i) => `${'*'.repeat(i + 1)}read`);
  expect(new Choice(descriptions, stars(1000)).calls.map(({ name }) => name)).toContain('read');
  expect(() => new Choice(descriptions, stars(1001))).toThrow(
    '1001 patterns of calls have a *, and at most 1000 may; name the calls, or use wider patterns',
  );
});

/** Does the shape of the argument follow from its type, and do references go back? */
function check(program: Program): void {
  const fail = (why: string): never => {
    throw new Error(`${why} in ${programText(program)}`);
  };
  if (program.calls.length > CALLS_MAX) fail('too many calls');
  for (const [index, call] of program.calls.entries()) {
    if (call.args.length !== call.type.args.length) fail('too few arguments');
    visit(call, ({ type, arg, direction }) => {
      const kinds: Record<typeof type.kind, Arg['kind'][]> = {
        int: ['int'],
        const: ['int'],
        flags: ['int'],
        len: ['int'],
        resource: direction === 'in' ? ['int', 'ref'] : ['int'],
        pointer: ['pointer', 'int'],
        string: ['bytes'],
        bytes: ['bytes'],
        array: ['group'],
        struct: ['group'],
        vma: ['vma'],
      };
      if (!kinds[type.kind].includes(arg.kind)) fail(`${arg.kind} for ${type.kind}`);
      if (arg.kind === 'ref' && arg.call >= index) fail('a reference to a later call');
      if (arg.kind === 'int' && 'width' in type && arg.value >> BigInt(8 * type.width) !== 0n)
        fail('a wide number');
    });
  }
}

function roundTrip(program: Program): void {
  const text = programText(program);
  const again = parseProgram(text, descriptions);
  if (programText(again) !== text) expect(programText(again)).toBe(text);
  // The arrays of `encode` are valid until its next call.
  const encoded = (one: Program): string => {
    const { slots, words, arena } = encode(one);
    if (arena.length > LAYOUT.ARENA_BYTES) throw new Error(`${arena.length} bytes for ${text}`);
    return `${slots} ${words} ${arena}`;
  };
  if (encoded(program) !== encoded(again)) throw new Error(`other words for ${text}`);
}

/** Comparisons with the program's own values, so that steps find something. */
function comparisons(program: Program, random: Random): Comparison[][] {
  return program.calls.map(call => {
    const found: Comparison[] = [];
    visit(call, ({ arg }) => {
      const width = random.of([1, 2, 4, 8] as const);
      const mine = arg.kind === 'int' ? arg.value : arg.kind === 'bytes' ? BigInt(arg.data[0] ?? 0) : 0n;
      const second = BigInt.asUintN(8 * width, mine);
      found.push({
        width,
        isConst: random.oneIn(2),
        first: BigInt.asUintN(8 * width, random.word()),
        second,
      });
    });
    return found;
  });
}

it('generated, changed and stepped programs are well-typed, and their text reads back', () => {
  const seed = seedFromEnvironment(0x6b63_6f76);
  const random = new Random(BigInt(seed));
  const generator = new Generator(random, choice, [0x1234n, 0xffff_0000n]);
  const others: Program[] = [];
  let [references, stepped, faults] = [0, 0, 0];
  for (let n = 0; n < 60; n++) {
    let program = generator.program();
    for (let step = 0; step < 8; step++) {
      if (random.oneIn(2))
        changeFaults(program, [parseFaultChoice('edu'), parseFaultChoice('dev:late')], random);
      if (random.oneIn(2)) arrange(program, random.of(['rw', 'turns', 'pct:3:500']), random);
      check(program);
      roundTrip(program);
      faults += program.faults?.length ?? 0;
      for (const call of program.calls)
        visit(call, ({ arg }) => {
          if (arg.kind === 'ref') references++;
        });
      const called = program.calls.map(() => ({ begin: 0, end: 0, value: random.word() }));
      const all = steps(program, comparisons(program, random), called);
      for (let n = Math.min(all.length, 5); n > 0; n--) {
        const { program: copy } = random.of(all);
        const next = copy();
        stepped++;
        check(next);
        roundTrip(next);
      }
      const how = { random, generator, dictionary: [77n], others, failsAllocations: true };
      program = mutate(program, how);
    }
    others.push(program);
  }
  expect(references, `seed ${seedText(seed)}`).toBeGreaterThan(1000);
  expect(stepped, `seed ${seedText(seed)}`).toBeGreaterThan(1000);
  expect(faults, `seed ${seedText(seed)}`).toBeGreaterThan(100);
});

it('a text names calls, resources and memory, and has one form', () => {
  const text =
    'pipe2(&{>r0, >r1}, 0x800)\n' +
    'write(r1, &"a\\x00\\x22", 0x3)\n' +
    'r2 = fcntl$dupfd(r0, 0x0, 0x14) !fail=2\n' +
    'read(r2, &out[16], 0x10)\n' +
    'mmap(vma(3), 0x1000, 0x3, 0x22, 0xffffffff, 0x0)\n';
  const program = parseProgram(text, descriptions);
  expect(programText(program)).toBe(text);
  expect(program.calls[2]!.failNth).toBe(2);
});

it('a text has faults in front of its calls, in the words of kcovbox run --fault', () => {
  const text =
    '!schedule rw 0x5\n!fault edu:irq-late@2=7ns\n!fault edu:read-flip@1=0x9\ngetpid() !thread=1\ngetpid() !thread=2\n';
  expect(programText(parseProgram(text, descriptions))).toBe(text);
  const several = parseProgram('!fault edu:late@3,never@4\ngetpid()\n', descriptions);
  expect(programText(several)).toBe('!fault edu:late@3\n!fault edu:never@4\ngetpid()\n');
});

it('faults that are not needed are dropped, and calls as well', () => {
  const lines = '!fault edu:late@1\n!fault edu:never@2\n!fault dev:irq-drop@3\n';
  const program = parseProgram(`${lines}getpid()\nsync()\n`, descriptions);
  const needs =
    (...wanted: string[]) =>
    (candidate: Program): boolean =>
      wanted.every(part => programText(candidate).includes(part));
  const reduced = (...wanted: string[]): string => programText(reduce(program, needs(...wanted)));
  expect(reduced('sync', 'never')).toBe('!fault edu:never@2\nsync()\n');
  expect(reduced('late', 'irq-drop')).toBe('!fault edu:late@1\n!fault dev:irq-drop@3\ngetpid()\n');
  expect(reduced('getpid')).toBe('getpid()\n');
  expect(reduce(program, needs('getpid')).faults).toBeUndefined();
});

it('events of smaller numbers stay distinct', () => {
  const faults = parseFaults('edu:late@3,late@5,never@5');
  expect(earlier(faults, 1).map(faultText)).toEqual(['edu:late@2', 'edu:late@4', 'edu:never@4']);
  expect(earlier(faults, 9).map(faultText)).toEqual(['edu:late@1', 'edu:never@1']);
});

it('a campaign without faults draws the same numbers as one that does not know them', () => {
  const how = (random: Random) => ({
    random,
    generator: new Generator(random, choice, []),
    dictionary: [],
    others: [],
    failsAllocations: false,
  });
  const [a, b] = [new Random(7n), new Random(7n)];
  const program = how(a).generator.program();
  const same = how(b).generator.program();
  const faulty = { ...same, faults: parseFaults('edu:late@1') };
  for (let n = 0; n < 100; n++) {
    const changed = mutate(faulty, how(b));
    expect(changed.faults).toEqual(faulty.faults);
    expect(programText({ ...changed, faults: undefined })).toBe(programText(mutate(program, how(a))));
  }
});

it('a wrong text is refused with its line and the reason', () => {
  const wrong: readonly [string, RegExp][] = [
    ['nothing(0x1)', /program:1: no call "nothing" is described/],
    ['close(r0)', /no earlier call makes r0/],
    ['r0 = close(0x1)', /close returns no resource/],
    ['r0 = getpid()\nclose(r0)', /program:2: r0 is a pid, where fd is wanted/],
    ['close(0x1, 0x2)', /"\)" was expected at ", 0x2\)"/],
    ['close(0x1) x', /"x" is too much/],
    ['read(0x0, &out[99999], 0x0)', /out\[99999\]: 0 to 65536 are possible/],
    ['munmap(vma(64), 0x0)', /vma\(64\): there are 64 pages/],
    ['close(0x10000000000000000)', /more than 64 bits/],
    ['getpid()\n!fault edu:late@1', /program:2: faults are lines in front of all calls/],
    ['!fault edu:what@1', /program:1: fault edu:what@1: the kinds are irq-drop, /],
    ['!fault edu:late@1\n!fault edu:late@1=5ms', /program:2: edu:late@1 is there twice/],
    ['!fault edu:late@1,late@2,late@3,late@4,late@5,late@6,late@7,late@8,late@9', /at most 8 faults/],
    ['!faults edu', /expected !schedule or !fault, not "!faults edu"/],
    [`${'sync()\n'.repeat(25)}`, /program:25: a program has at most 24 calls/],
    ['openat(0x0, &"\u20ac\\x00", 0x0)', /program:1: "\u20ac" is not ASCII: write its bytes as \\xNN/],
    ['sync()\r', /program:1: "\\r" is too much/],
    ['x'.repeat(1e6), /program:1: "x{20}" goes on: a name has at most 64 characters/],
    [`close(0x${'f'.repeat(1e6)})`, /program:1: 0xf{18} has more than 64 bits/],
    [`!fault edu:${'x'.repeat(1e6)}`, /program:1: more than 1000 characters/],
  ];
  for (const [text, reason] of wrong) {
    expect(() => parseProgram(text, descriptions)).toThrow(reason);
    expect(() => parseProgram(text, descriptions)).toThrow(/^\P{Cc}{1,400}$/u);
  }
});

it('a pattern of calls matches what the same regular expression does, at any length', () => {
  const random = new Random(0x9a77n);
  const word = (letters: string): string =>
    Array.from({ length: random.below(7) }, () => letters[random.below(letters.length)]).join('');
  for (let n = 0; n < 20_000; n++) {
    const [pattern, name] = [word('ab*'), word('ab')];
    const expected = new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(name);
    if (matches(pattern, name) !== expected) expect(`${pattern} ${name}`).toBe(expected);
  }
  // A regular expression would not come to an end.
  expect(matches('*a'.repeat(31), `${'a'.repeat(63)}b`)).toBe(false);
});
