// Debug information that lies, loops and swells, one attack each: every question to the debugger
// has an answer or one line, in bounded time. hostile-images.oracle.test.ts damages real images.
import { describe, expect, test } from 'vitest';
import { Image } from '../../debug/image.ts';
import { DebugSession } from '../../debug/session.ts';
import { Machine, Timeline } from '../../emulator/index.ts';
import { askEverything } from './hostile.ts';
import { abbrevs, Bytes, elfWith, UnitWriter } from './hostile-elf.ts';

const BASE = 0x8000_0000n;
const SIZE = 0x100;
/** `j .` */
const SPIN = Uint8Array.of(0x6f, 0, 0, 0);
const CODE = new Uint8Array(SIZE);
/** DW_OP_addr of the code. */
const HERE = [0x03, ...new Bytes().word(BASE, 8).bytes];

type Sections = Readonly<Record<string, Uint8Array>>;

/** A unit with one function at pc, whose body `fill` writes. */
function unitWith(fill: (unit: UnitWriter, base: number) => void): Uint8Array {
  const unit = new UnitWriter();
  unit.entry('unit', 'a.c', BASE, SIZE);
  const base = unit.entry('base', 'int', 4, 5);
  unit.entry('function', 'main', BASE, SIZE, [0x9c]);
  fill(unit, base);
  return unit.end().end().bytes;
}

function ask(sections: Sections): { lines: string[]; answers: string[] } {
  const machine = Machine.create({
    kernel: { name: 'spin.bin', bytes: SPIN },
    bios: 'none',
    ramBytes: 4 << 20,
  });
  const image = elfWith(CODE, BASE, sections);
  const before = process.cpuUsage().user;
  let found: { lines: string[]; answers: string[] };
  try {
    found = askEverything(new DebugSession(new Timeline(machine), [new Image(image, 'program')]));
  } catch (error) {
    if (!(error instanceof Error) || error.constructor.name !== 'CoverageError') throw error;
    found = { lines: [error.message], answers: [] };
  }
  expect((process.cpuUsage().user - before) / 1e6).toBeLessThan(10);
  for (const line of found.lines) expect(line).toMatch(/^[^\n]{5,300}$/);
  return found;
}

const withInfo = (info: Uint8Array, more: Sections = {}): Sections => ({
  '.debug_info': info,
  '.debug_abbrev': abbrevs(),
  ...more,
});

const many = (count: number, ...bytes: readonly number[]): number[] =>
  Array.from({ length: count }, () => bytes).flat();

test('an honest image has answers', () => {
  const { lines, answers } = ask(
    withInfo(
      unitWith((unit, base) => {
        unit.entry('variable', 'v', base, HERE);
        unit.entry('variable', 'w', base, [0x08, 7, 0x9f]);
      }),
    ),
  );
  expect(answers).toContain('main');
  expect(answers).toContain('v = 111');
  expect(answers).toContain('w = 7');
  expect(lines).toContain('int is not a pointer');
  expect(lines).toContain('there is no variable nothing here');
});

describe('expressions', () => {
  test.each<[string, readonly number[]]>([
    ['that jump back for ever', [0x30, 0x2f, 0xfd, 0xff]],
    ['that push and jump back', [...many(5000, 0x30), 0x2f, 0x70, 0xec]],
    ['that push without end', many(200_000, 0x30)],
    ['that jump out', [0x2f, 0xff, 0x7f]],
    ['with a number of 200,000 bytes', [0x10, ...many(200_000, 0xff), 1, 0x9f]],
    ['with 200,000 pieces', many(200_000, 0x50, 0x93, 1)],
    ['with a piece of 2^63 bytes', [0x50, 0x93, ...many(9, 0xff), 1, 0x51, 0x93, 1]],
    ['of a type that is none', [0x30, 0xa8, 0x05, 0x9f]],
    ['that multiply for ever', [0x0e, ...many(8, 0xff), ...many(9000, 0x12, 0x1e), 0x9f]],
    ['that pick below the stack', [0x15, 9]],
  ])('%s', (_, expression) => {
    const { answers } = ask(
      withInfo(unitWith((unit, base) => unit.entry('variable', 'v', base, expression))),
    );
    expect(answers).toContain('main');
  });

  test('of a frame base that is itself', () => {
    const unit = new UnitWriter();
    unit.entry('unit', 'a.c', BASE, SIZE);
    const base = unit.entry('base', 'int', 4, 5);
    unit.entry('function', 'main', BASE, SIZE, [0x91, 0]);
    unit.entry('variable', 'v', base, [0x91, 0]);
    expect(ask(withInfo(unit.end().end().bytes)).answers).toContain('v = <optimised out>');
  });

  test('100,000 variables with one list of 200,000 entries', () => {
    const list = new Bytes();
    for (let i = 0; i < 200_000; i++) list.word(1, 8).word(1, 8).word(0, 2);
    const info = unitWith((unit, base) => {
      for (let i = 0; i < 100_000; i++) unit.entry('listed', `v${i}`, base, 0);
    });
    expect(ask(withInfo(info, { '.debug_loc': list.bytes })).answers).toContain('main');
  }, 60_000);
});

describe('types', () => {
  test('a struct whose 200 members without a name are itself', () => {
    const { lines, answers } = ask(
      withInfo(
        unitWith(unit => {
          const at = unit.out.length;
          unit.entry('struct', 'loop', 8);
          for (let i = 0; i < 200; i++) unit.entry('member', '', at, 0);
          unit.end().entry('variable', 'v', at, HERE);
        }),
      ),
    );
    expect(answers.find(line => line.startsWith('v = {'))!.length).toBeLessThan(100_000);
    expect(lines).toContain('struct loop has no member x');
  });

  test('200,000 members, and 2^32 elements of 2^32 elements', () => {
    ask(
      withInfo(
        unitWith((unit, base) => {
          const at = unit.entry('struct', 'wide', 8);
          for (let i = 0; i < 200_000; i++) unit.entry('member', 'm', base, 0xffff_ffff);
          unit.end().entry('variable', 'v', at, HERE);
          const array = unit.entry('array', base);
          for (let i = 0; i < 100_000; i++) unit.entry('subrange', 0xffff_ffff_ffff_ffffn);
          unit.end().entry('variable', 'w', array, HERE);
        }),
      ),
    );
  }, 60_000);

  test('typedefs, arrays and pointers of themselves', () => {
    const { answers } = ask(
      withInfo(
        unitWith(unit => {
          const typedef = unit.out.length;
          unit.entry('typedef', 'self', typedef);
          const array = unit.out.length;
          unit.entry('array', array);
          unit.entry('subrange', 9);
          unit.end();
          const pointer = unit.out.length;
          unit.entry('pointer', pointer);
          for (const [name, type] of [
            ['v', typedef],
            ['w', array],
            ['x', pointer],
            ['y', 3],
          ] as const)
            unit.entry('variable', name, type, HERE);
        }),
      ),
    );
    expect(answers).toContain('main');
  });

  test('bit fields of 2^60 bits at 2^60', () => {
    ask(
      withInfo(
        unitWith((unit, base) => {
          const at = unit.entry('struct', 'bits', 8);
          unit.entry('field', 'x', base, 1n << 60n, 1n << 60n);
          unit.entry('field', 'y', base, -1n, -1n);
          unit.end().entry('variable', 'v', at, HERE);
          unit.entry('constant', 'w', at, [1, 2]);
        }),
      ),
    );
  });
});

describe('scopes', () => {
  test('100,000 inlined calls in each other, and as many blocks', () => {
    for (const kind of ['inlined', 'block'] as const)
      ask(
        withInfo(
          unitWith((unit, base) => {
            for (let i = 0; i < 100_000; i++) {
              if (kind === 'inlined') unit.entry(kind, base, BASE, SIZE);
              else unit.entry(kind, BASE, SIZE);
            }
            for (let i = 0; i < 100_000; i++) unit.end();
          }),
        ),
      );
  }, 60_000);

  test('100,000 functions of one name, with one list of 100,000 empty ranges', () => {
    const ranges = new Bytes();
    for (let i = 0; i < 100_000; i++) ranges.word(1, 8).word(1, 8);
    const info = unitWith(unit => {
      for (let i = 0; i < 100_000; i++) unit.end().entry('ranged', 'main', 0);
    });
    const { lines } = ask(withInfo(info, { '.debug_ranges': ranges.word(0, 16).bytes }));
    expect(lines.join()).toContain('bytes of ranges');
  }, 60_000);

  test('an entry of 100,000 attributes without bytes', () => {
    const table = new Bytes().uleb(1).u8(0x11, 1);
    for (let i = 0; i < 100_000; i++) table.u8(0x3f, 0x19);
    const info = new Bytes().word(100_007, 4).word(4, 2).word(0, 4).u8(8).raw(many(100_000, 1));
    const { lines } = ask({ '.debug_info': info.bytes, '.debug_abbrev': table.u8(0, 0, 0).bytes });
    expect(lines).toEqual(['.debug_abbrev: code 1 has more than 256 attributes']);
  });

  test('20,000 units with overlapping tables of abbreviations', () => {
    const table = new Bytes();
    for (let i = 0; i < 20_000; i++) table.u8(1, 0x11, 0, 0, 0);
    const info = new Bytes();
    for (let i = 0; i < 20_000; i++)
      info
        .word(8, 4)
        .word(4, 2)
        .word(5 * i, 4)
        .u8(8, 1);
    const { lines } = ask({ '.debug_info': info.bytes, '.debug_abbrev': table.u8(0).bytes });
    expect(lines).toEqual(['.debug_abbrev: tables of units overlap']);
  });
});

describe('call frames', () => {
  const cie = (more: readonly number[]): Bytes => {
    const body = [0xff, 0xff, 0xff, 0xff, 4, 0, 8, 0, 1, 1, 1, ...more];
    return new Bytes().word(body.length, 4).raw(body);
  };
  const fde = (section: Bytes, instructions: readonly number[]): Uint8Array =>
    section
      .word(20 + instructions.length, 4)
      .word(0, 4)
      .word(BASE, 8)
      .word(SIZE, 8)
      .raw(instructions).bytes;

  test.each<[string, () => Uint8Array]>([
    ['a million instructions', () => fde(cie([0x0c, 2, 0]), many(1_000_000, 0))],
    [
      'states that are remembered 200,000 times, with 100,000 registers',
      () => {
        const rules = Array.from({ length: 100_000 }, (_, i) => [0x07, ...new Bytes().uleb(i).bytes]).flat();
        return fde(cie([0x0c, 2, 0]), [...rules, ...many(200_000, 0x0a, 0x0b)]);
      },
    ],
    ['remembered and never restored', () => fde(cie([0x0c, 2, 0]), many(100_000, 0x0a))],
    ['offsets of 200,000 bytes', () => fde(cie([0x0c, 2, ...many(200_000, 0xff), 1]), [0])],
    ['a caller that is itself', () => fde(cie([0x0c, 2, 8, 0x09, 1, 1]), [0])],
    [
      '200,000 headers without the end of their text',
      () => {
        const out = new Bytes();
        for (let i = 0; i < 200_000; i++) out.word(8, 4).word(0xffff_ffff, 4).u8(4, 1, 1, 1);
        return out.bytes;
      },
    ],
  ])(
    '%s',
    (_, section) => {
      ask(
        withInfo(
          unitWith((unit, base) => unit.entry('variable', 'v', base, [0x9c])),
          { '.debug_frame': section() },
        ),
      );
    },
    60_000,
  );
});
