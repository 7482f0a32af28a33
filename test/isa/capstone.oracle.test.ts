// Our table against Capstone 5: every half-word and random words of the rows it knows. Its text
// differs in spelling (decimal below ten, relative targets, no parentheses after jalr), which
// `canonical` removes on both sides.

import createCapstone from '@alexaltea/capstone-js';
import { beforeAll, describe, expect, test } from 'vitest';
import { compressedExtension, decode, encode, type Insn, type Operands } from '../../emulator/isa/codec.ts';
import { csrNumbered } from '../../emulator/isa/csr.ts';
import { disassemble } from '../../emulator/isa/disasm.ts';
import type { Format } from '../../emulator/isa/fields.ts';
import { ROWS } from '../../emulator/isa/table.ts';
import { Random, seedFromEnvironment, seedText } from '../support/random.ts';
import { listedWords, randomOperands } from './operands.ts';

const seed = seedFromEnvironment(0x15c);

/** Numbers in decimal and signed, `imm(reg)` as `imm reg`. */
const canonical = (text: string): string =>
  text
    .replace(/-?\b(0x[0-9a-f]+|\d+)\b/g, digits => {
      const isNegative = digits.startsWith('-');
      const value = BigInt.asIntN(64, BigInt(isNegative ? digits.slice(1) : digits));
      return String(isNegative ? -value : value);
    })
    .replace(/^jalr (\w+), (\w+), (-?\d+)$/, 'jalr $1, $3($2)')
    .trim();

// What Capstone 5.0 refuses or names otherwise. Each rule must be needed at least once.
const EXCEPTIONS: readonly {
  why: string;
  holds: (insn: Insn | undefined, ours: string, theirs: string) => boolean;
}[] = [
  {
    why: 'the all-zero half-word is illegal; capstone prints c.unimp',
    holds: (insn, _ours, theirs) => insn === undefined && theirs === 'c.unimp',
  },
  {
    why: 'c.lui with immediate 0 is reserved; capstone decodes it',
    holds: (insn, _ours, theirs) => insn === undefined && /^c\.lui \w+, 0$/.test(theirs),
  },
  {
    why: 'hints with rd = x0 execute as nothing; capstone refuses them',
    holds: (insn, _ours, theirs) => theirs === '' && insn?.bytes === 2 && insn.rd === 0,
  },
  {
    why: 'the operand of a c.nop hint is not shown',
    holds: (_insn, ours, theirs) => /^c\.nop -?\d+$/.test(ours) && theirs === 'c.nop',
  },
  {
    why: 'Zcb is not known',
    holds: (insn, _ours, theirs) =>
      theirs === '' && insn?.bytes === 2 && compressedExtension(insn.word) === 'zcb',
  },
  {
    why: 'a fence with a reserved fm acts as with fm = 0; capstone refuses it',
    holds: (insn, _ours, theirs) => insn?.name === 'fence' && theirs === '' && insn.imm >>> 8 !== 0,
  },
  {
    why: 'the exact conversions accept any rounding mode; capstone wants 0',
    holds: (insn, _ours, theirs) =>
      /^fcvt\.d\.(s|w|wu)$/.test(insn?.name ?? '') && theirs === '' && insn!.rm !== 0,
  },
  {
    why: 'an empty set of a fence is called unknown',
    holds: (insn, ours, theirs) => insn?.name === 'fence' && ours === theirs.replaceAll('unknown', '0'),
  },
  {
    why: 'csrs without a name in capstone are decimal numbers',
    holds: (insn, ours, theirs) =>
      insn?.name.startsWith('csr') === true && ours.replace(/, \w+, /, `, ${insn.imm}, `) === theirs,
  },
  {
    why: 'pmpaddr13 and pmpaddr14 have swapped their names',
    holds: (insn, ours, theirs) =>
      (insn?.imm === 0x3bd || insn?.imm === 0x3be) &&
      ours.replace(/pmpaddr1[34]/, name => (name.endsWith('3') ? 'pmpaddr14' : 'pmpaddr13')) === theirs,
  },
  {
    why: 'pause is not known',
    holds: (_insn, ours, theirs) => ours === 'pause' && theirs === 'fence w, unknown',
  },
  {
    why: 'capstone names csrs that exist on RV32 only',
    holds: (insn, ours, theirs) =>
      insn?.name.startsWith('csr') === true &&
      csrNumbered(insn.imm) === undefined &&
      ours === theirs.replace(/, \w+, /, `, ${insn.imm}, `),
  },
];
const used = new Set<string>();

/** The extensions whose 32-bit instructions Capstone 5 decodes. */
const KNOWN: ReadonlySet<string> = new Set(['i', 'm', 'a', 'f', 'd', 'zicsr', 'zifencei', 'priv']);

/** Random operands that select no alias: no x0, ra, sp, no equal sources, no small immediates. */
function plainOperands(format: Format, random: Random): Operands {
  for (;;) {
    const operands = randomOperands(format, random);
    const { rd = 5, rs1 = 5, rs2 = 6, imm = 100 } = operands;
    if (rd > 2 && rs1 > 2 && rs2 > 2 && rs1 !== rs2 && (imm < -1 || imm > 3)) return operands;
  }
}

describe(`capstone agrees, seed ${seedText(seed)}`, () => {
  let read: (value: number, bytes: 2 | 4) => string;

  beforeAll(async () => {
    const module = await createCapstone();
    const capstone = new module.Capstone(module.ARCH_RISCV, module.MODE_RISCV64 | module.MODE_RISCVC);
    read = (value, bytes) => {
      try {
        const code = [value & 255, (value >>> 8) & 255, (value >>> 16) & 255, value >>> 24].slice(0, bytes);
        const [found] = capstone.disasm(code, 0);
        return found === undefined ? '' : canonical(`${found.mnemonic} ${found.op_str}`);
      } catch {
        return ''; // "unable to disassemble"
      }
    };
  });

  function difference(value: number, bytes: 2 | 4): string | undefined {
    const insn = decode(value);
    const ours = insn === undefined ? '' : canonical(disassemble(insn, 0n, { aliases: bytes === 4 }));
    const theirs = read(value, bytes);
    if (ours === theirs) return undefined;
    const exception = EXCEPTIONS.find(rule => rule.holds(insn, ours, theirs));
    if (exception === undefined) return `${value.toString(16)}: ${ours} | ${theirs}`;
    used.add(exception.why);
    return undefined;
  }

  test('on every half-word', () => {
    const found: string[] = [];
    for (let half = 0; half < 0x10000; half++) {
      const text = (half & 3) === 3 ? undefined : difference(half, 2);
      if (text !== undefined) found.push(text);
    }
    expect(found).toEqual([]);
  });

  const isKnown = (row: (typeof ROWS)[number]): boolean => KNOWN.has(row.ext);
  const known = ROWS.filter(isKnown);
  const unknown = ROWS.filter(row => !isKnown(row));
  test(`on 60 random words of ${known.length} rows (${unknown.length} rows are of extensions unknown to it)`, () => {
    const random = new Random(seed);
    const found: string[] = [];
    for (const row of known) {
      for (let n = 0; n < 60; n++) {
        const text = difference(encode(row.name, plainOperands(row.format, random)), 4);
        if (text !== undefined) found.push(text);
      }
    }
    expect(found).toEqual([]);
  });

  test('on every csr number and every fence', () => {
    expect(
      listedWords()
        .map(word => difference(word, 4))
        .filter(text => text !== undefined),
    ).toEqual([]);
  });

  test('it still does not know the others', () => {
    expect(unknown.filter(row => read(row.match | 0x00c5_8500, 4) === row.name)).toEqual([]);
  });

  test('no exception is stale', () => {
    expect(EXCEPTIONS.map(rule => rule.why).filter(why => !used.has(why))).toEqual([]);
  });
});
