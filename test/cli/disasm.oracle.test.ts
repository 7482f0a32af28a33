// `kcovbox disasm` of a whole kernel against llvm-objdump: the same instructions at the same
// addresses, and the same targets by address and symbol. Kernel addresses do not fit a double, and
// half of the instructions are compressed.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { kcovbox } from '../support/command.ts';
import { findLlvm, missing, runProgram } from '../support/tools.ts';

const objdump = findLlvm('llvm-objdump');
const cwd = mkdtempSync(join(tmpdir(), 'kcovbox-disasm-'));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

interface Row {
  readonly word: string;
  /** Of a branch or jump: "0xADDRESS <symbol+0x10>". */
  readonly target: string | undefined;
}

/** Two symbols may stand at one address, and either is right: address and offset decide. */
const withoutAlias = (target: string | undefined): string | undefined =>
  target?.replace(/<(__kernel_start|_start)(?=[+>])/, '<start');

const BRANCH = /^(c\.)?(b(eq|ne|lt|ge|gt|le)(u|z)?|bltu|bgeu|bgtu|bleu|j|jal)$/;

function rows(listing: string): Map<string, Row> {
  const found = new Map<string, Row>();
  for (const line of listing.split('\n')) {
    const [, address, word, mnemonic, operands = ''] =
      /^\s*([0-9a-f]+):\s+([0-9a-f]{4}(?:[0-9a-f]{4})?)\s+(\S+)\s*(.*)$/.exec(line) ?? [];
    if (address === undefined) continue;
    const target = BRANCH.test(mnemonic!) ? /0x[0-9a-f]+ <.*>$/.exec(operands)?.[0] : undefined;
    found.set(address, { word: word!, target });
  }
  return found;
}

describe.skipIf(missing('llvm-objdump', objdump))('a kernel', () => {
  test('is listed as llvm-objdump lists it, targets included', () => {
    const kernel = kcovbox(['build', 'kernel'], { cwd }).stdout.trim();
    const ours = rows(kcovbox(['disasm', kernel], { cwd }).stdout);
    const theirs = rows(runProgram(objdump!, ['-d', '--mattr=+m,+a,+f,+d,+c,+zba,+zbb,+zbs', kernel]));
    expect(ours.size).toBeGreaterThan(50_000);
    let branches = 0;
    const wrong: string[] = [];
    for (const [address, { word, target }] of theirs) {
      const mine = ours.get(address);
      if (target !== undefined) branches++;
      if (mine?.word !== word || withoutAlias(mine.target) !== withoutAlias(target))
        wrong.push(`${address}: ${mine?.target}, not ${target}`);
    }
    expect(wrong.slice(0, 5)).toEqual([]);
    expect(branches).toBeGreaterThan(5000);
  });
});

describe('words and mistakes', () => {
  const disasm = (...args: string[]) => kcovbox(['disasm', ...args], { cwd });

  test('one spelling, whatever the instruction and the address', () => {
    const { stdout } = disasm('00150513', '8082', '6aa51513', '20a52533', 'fe0512e3', '0000');
    expect(stdout.split('\n').map(line => line.split('\t').slice(2).join(' '))).toEqual([
      'addi a0, a0, 1',
      'c.jr ra',
      'binvi a0, a0, 0x2a',
      'sh1add a0, a0, a0',
      'bnez a0, 0xfffffffffffffff2',
      'c.unimp',
      '',
    ]);
  });

  test.each([
    [['0015051z'], /"0015051z" is neither a file nor an instruction word/],
    [['8082', '0015051z'], /"0015051z" is neither a file nor an instruction word/],
    [['no.elf'], /ELF file no\.elf: no such file/],
    [['text.elf'], /text\.elf/],
    [['text.elf', '8082'], /takes one ELF file/],
    [['--start', 'zz', 'text.elf'], /--start.*expected an address/],
    [['-f', 'main', '8082'], /"8082" is not a file/],
  ])('%j is told as what it is', (args, message) => {
    writeFileSync(join(cwd, 'text.elf'), 'hello\n');
    const { status, stdout, stderr } = disasm(...args);
    expect({ status, stdout }).toEqual({ status: 125, stdout: '' });
    expect(stderr).toMatch(message);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });

  test('a function that is not there, and an empty range', () => {
    const kernel = kcovbox(['build', 'kernel'], { cwd }).stdout.trim();
    expect(disasm('-f', 'SYS_READ', kernel).stderr).toMatch(
      /has no function "SYS_READ"; there are .*sys_read/,
    );
    expect(disasm('--start', '5', '--stop', '7', kernel).stderr).toMatch(
      /no code of .* is between 0x5 and 0x7/,
    );
  });
});
