// `kcovbox disasm`: instructions as text. The words are Capstone's; what it does not know (Zba, Zbb, Zbs, Zicond, cache
// blocks) comes from our own instruction table, so that nothing is left as raw bytes that the machine would run.
import type { Command } from 'commander';
import { Elf, pcOf } from '../../coverage/index.ts';
import { decode, disassemble } from '../../emulator/index.ts';
import { UserError } from '../io/fail.ts';
import { readInput } from '../io/input.ts';

/** One line of output. */
interface Line {
  readonly address: bigint;
  readonly bytes: Uint8Array;
  readonly text: string;
}

interface Capstone {
  disasm(
    bytes: Uint8Array | number[],
    address: number | bigint,
  ): { size: number; mnemonic: string; op_str: string }[];
}

async function openCapstone(): Promise<Capstone> {
  const { default: create } = await import('@alexaltea/capstone-js');
  const cs = await create();
  return new cs.Capstone(cs.ARCH_RISCV, cs.MODE_RISCV64 | cs.MODE_RISCVC);
}

/** Decodes `code` from the front; undecodable halves become `.half`. */
function* lines(capstone: Capstone, code: Uint8Array, start: bigint): Generator<Line> {
  let at = 0;
  while (at + 2 <= code.length) {
    const address = start + BigInt(at);
    const size = (code[at]! & 3) === 3 && at + 4 <= code.length ? 4 : 2;
    const bytes = code.subarray(at, at + size);
    yield { address, bytes, text: textOf(capstone, bytes, address) };
    at += size;
  }
}

function textOf(capstone: Capstone, bytes: Uint8Array, address: bigint): string {
  try {
    const [insn] = capstone.disasm(bytes, Number(BigInt.asUintN(48, address)));
    // Capstone computes branch targets from the address it was given; beyond 2^53 our own table is exact.
    if (insn && insn.size === bytes.length && address < 2n ** 48n)
      return `${insn.mnemonic}\t${insn.op_str}`.trimEnd();
  } catch {} // it throws on what it does not know
  const word =
    bytes.length === 4
      ? new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true)
      : bytes[0]! | (bytes[1]! << 8);
  const insn = decode(word);
  if (insn) return disassemble(insn, address).replace(' ', '\t');
  return bytes.length === 4 ? `.word\t0x${word.toString(16)}` : `.half\t0x${word.toString(16)}`;
}

const print = ({ address, bytes, text }: Line): void => {
  const word = [...bytes]
    .reverse()
    .map(b => b.toString(16).padStart(2, '0'))
    .join('');
  console.log(`${address.toString(16).padStart(16)}:\t${word.padEnd(8)}\t${text}`);
};

/** Hexadecimal instruction words as objdump prints them, in order. */
function parseHexWords(words: readonly string[]): Uint8Array {
  const bytes = words.flatMap(word => {
    const digits = word.replace(/^0x/i, '');
    if (!/^([0-9a-f]{4}|[0-9a-f]{8})$/i.test(digits))
      throw new UserError(`"${word}" is no instruction word: give 4 or 8 hexadecimal digits`);
    const value = Number.parseInt(digits, 16);
    return digits.length === 4
      ? [value & 255, value >> 8]
      : [value & 255, (value >> 8) & 255, (value >> 16) & 255, value >>> 24];
  });
  return Uint8Array.from(bytes);
}

interface Code {
  readonly name: string;
  readonly start: bigint;
  readonly code: Uint8Array;
}

/** Named pieces of code in order of address: each symbol in executable sections up to the next one. */
function functionsOf(elf: Elf): Code[] {
  const { symbols } = elf;
  const pieces: Code[] = [];
  for (const section of elf.executableSections()) {
    const data = elf.data(section);
    const inside: { name: string; offset: number }[] = [];
    for (let i = 0; i < symbols.count; i++) {
      const offset = symbols.addr[i]! - section.addr;
      const name = symbols.name(i);
      if (offset >= 0 && offset < data.length && !name.startsWith('$') && !name.startsWith('.L'))
        if (inside.at(-1)?.offset !== offset) inside.push({ name, offset });
    }
    if (inside[0]?.offset !== 0) inside.unshift({ name: section.name, offset: 0 });
    for (const [i, { name, offset }] of inside.entries())
      pieces.push({
        name,
        start: pcOf(section.addr + offset),
        code: data.subarray(offset, inside[i + 1]?.offset),
      });
  }
  return pieces;
}

function disassembleElf(
  capstone: Capstone,
  path: string,
  options: { function?: string; start?: string; stop?: string },
): void {
  const elf = new Elf(readInput(path, 'ELF file'), path);
  const functions = functionsOf(elf).filter(f => !options.function || f.name === options.function);
  if (functions.length === 0)
    throw new UserError(`${path}: no function ${options.function ? `"${options.function}"` : 'symbols'}`);
  const address = (text: string | undefined, otherwise: bigint): bigint => {
    if (text === undefined) return otherwise;
    if (!/^(0x)?[0-9a-f]+$/i.test(text)) throw new UserError(`"${text}" is no hexadecimal address`);
    return BigInt(text.startsWith('0x') ? text : `0x${text}`);
  };
  const from = address(options.start, 0n);
  const to = address(options.stop, 1n << 64n);
  for (const { name, start, code } of functions) {
    if (start >= to || start + BigInt(code.length) <= from) continue;
    console.log(`\n${start.toString(16).padStart(16, '0')} <${name}>:`);
    for (const line of lines(capstone, code, start))
      if (line.address >= from && line.address < to) print(line);
  }
}

export function register(program: Command): void {
  program
    .command('disasm')
    .description('disassemble an ELF file, or instruction words given in hexadecimal')
    .argument('<input...>', 'an ELF file, or words such as 00150513 8082')
    .option('-f, --function <name>', 'only this function')
    .option('--start <hex>', 'first address')
    .option('--stop <hex>', 'address after the last')
    .addHelpText(
      'after',
      '\nExamples:\n  kcovbox disasm kernel.elf -f sys_read\n  kcovbox disasm 00150513 8082',
    )
    .action(async (input: string[], options: { function?: string; start?: string; stop?: string }) => {
      const capstone = await openCapstone();
      const isWords = input.every(word => /^(0x)?([0-9a-f]{4}|[0-9a-f]{8})$/i.test(word));
      if (isWords) for (const line of lines(capstone, parseHexWords(input), 0n)) print(line);
      else if (input.length === 1) disassembleElf(capstone, input[0]!, options);
      else parseHexWords(input);
    });
}
