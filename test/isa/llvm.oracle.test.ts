// Our table against LLVM's: every half-word, and random words of every row, with and without
// aliases.

import { describe, expect, test } from 'vitest';
import { decode, encode } from '../../emulator/isa/codec.ts';
import { csrNumbered } from '../../emulator/isa/csr.ts';
import { disassemble } from '../../emulator/isa/disasm.ts';
import { ROWS } from '../../emulator/isa/table.ts';
import { llvmDisassemble, OBJDUMP, type Word } from '../support/llvm.ts';
import { Random, seedFromEnvironment, seedText } from '../support/random.ts';
import { missing } from '../support/tools.ts';
import { listedWords, randomOperands } from './operands.ts';

const seed = seedFromEnvironment(0x15b);
const absent = missing('llvm-objdump', OBJDUMP);

// Where llvm-objdump 19 differs from the manual or from its own assembler. Each rule must be needed
// at least once.
const EXCEPTIONS: readonly {
  why: string;
  holds: (ours: string | undefined, theirs: string | undefined) => boolean;
}[] = [
  {
    why: 'the all-zero half-word is illegal; llvm prints the mnemonic that means so',
    holds: (ours, theirs) => ours === undefined && /^(c\.)?unimp$/.test(theirs ?? ''),
  },
  {
    why: 'c.lui with immediate 0 is reserved (Unpriv "C"); llvm decodes it',
    holds: (ours, theirs) => ours === undefined && /^(c\.)?lui \w+, 0x0$/.test(theirs ?? ''),
  },
  {
    why: 'a shift by 0 keeps its pre-ratification name c.slli64, c.srli64, c.srai64',
    holds: (ours, theirs) => ours?.replace(/^(c\.\w+) (\w+), 0x0$/, '$164 $2') === theirs,
  },
  {
    why: 'the operand of c.lui is shown as signed, though its assembler wants 0xfffe0..0xfffff',
    holds: (ours, theirs) => {
      const match = /^(c\.lui \w+, )-0x([0-9a-f]+)$/.exec(theirs ?? '');
      return (
        match !== null && ours === `${match[1]}0x${(0x100000 - Number.parseInt(match[2]!, 16)).toString(16)}`
      );
    },
  },
  {
    why: 'a fence with a reserved fm acts as with fm = 0 (Unpriv, memory ordering); llvm knows only 0 and tso',
    holds: (ours, theirs) => /^fence \w+, \w+$/.test(ours ?? '') && theirs === undefined,
  },
  {
    why: 'llvm names csrs that this hart lacks',
    holds: (ours, theirs) => {
      const number = /\b0x[0-9a-f]{1,3}\b/.exec(ours ?? '')?.[0];
      if (number === undefined || !ours!.startsWith('csr')) return false;
      if (csrNumbered(Number(number)) !== undefined) return false;
      return new RegExp(`^${ours!.replace(number, '[a-z]\\w+')}$`).test(theirs ?? '');
    },
  },
];

const used = new Set<string>();

/** Lines "word: ours | theirs" of all disagreements. */
function differences(words: readonly Word[], aliases: boolean): string[] {
  const theirs = llvmDisassemble(words, aliases);
  const found: string[] = [];
  let pc = 0n;
  words.forEach((word, index) => {
    const insn = decode(word.value);
    const ours = insn === undefined ? undefined : disassemble(insn, pc, { aliases });
    const exception =
      ours === theirs[index] ? undefined : EXCEPTIONS.find(rule => rule.holds(ours, theirs[index]));
    if (exception !== undefined) used.add(exception.why);
    else if (ours !== theirs[index]) found.push(`${word.value.toString(16)}: ${ours} | ${theirs[index]}`);
    pc += BigInt(word.bytes);
  });
  return found;
}

describe.skipIf(absent)(`llvm-objdump agrees, seed ${seedText(seed)}`, () => {
  const halves: Word[] = [];
  for (let value = 0; value < 0x10000; value++) if ((value & 3) !== 3) halves.push({ value, bytes: 2 });

  test.each([true, false])('on every half-word, aliases %s', aliases => {
    expect(differences(halves, aliases)).toEqual([]);
  });

  test.each([true, false])('on 60 random words of every row, aliases %s', aliases => {
    const random = new Random(seed);
    const words: Word[] = ROWS.flatMap(row =>
      Array.from({ length: 60 }, () => ({
        value: encode(row.name, randomOperands(row.format, random)),
        bytes: 4 as const,
      })),
    );
    expect(differences(words, aliases)).toEqual([]);
  });

  test.each([true, false])('on every csr number and every fence, aliases %s', aliases => {
    expect(
      differences(
        listedWords().map(value => ({ value, bytes: 4 as const })),
        aliases,
      ),
    ).toEqual([]);
  });

  test('no exception is stale', () => {
    expect(EXCEPTIONS.map(rule => rule.why).filter(why => !used.has(why))).toEqual([]);
  });
});
