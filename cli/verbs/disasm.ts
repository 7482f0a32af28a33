// `kcovbox disasm`: an ELF file, or instruction words, as text (disasm/instructions.ts).
import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { Elf, pcOf } from '../../coverage/index.ts';
import { visible } from '../../emulator/base/words.ts';
import { readInput } from '../../host/input.ts';
import { Disassembler, split } from '../disasm/instructions.ts';
import { namingOf } from '../disasm/naming.ts';
import { UserError } from '../io/fail.ts';
import { writeOut } from '../io/output.ts';
import { parseAddress } from '../io/values.ts';

interface DisasmOptions {
  function?: string;
  start?: bigint;
  stop?: bigint;
}

const WORD = /^(0x)?([0-9a-f]{4}|[0-9a-f]{8})$/i;
/** Bytes of text per write. */
const CHUNK = 1 << 16;

/** Writes lines in large pieces. */
class Out {
  #pending = '';
  line(text: string): void {
    this.#pending += `${text}\n`;
    if (this.#pending.length > CHUNK) this.flush();
  }
  flush(): void {
    writeOut(new TextEncoder().encode(this.#pending));
    this.#pending = '';
  }
}

function row(address: bigint, bytes: Uint8Array, text: string): string {
  const word = [...bytes].reverse().map(b => b.toString(16).padStart(2, '0'));
  return `${address.toString(16).padStart(16)}:\t${word.join('').padEnd(8)}\t${text}`;
}

/** Hexadecimal instruction words as objdump prints them, in order. */
function parseWords(words: readonly string[]): Uint8Array {
  const bytes = words.flatMap(word => {
    const digits = word.replace(/^0x/i, '');
    if (!WORD.test(word))
      throw new UserError(
        `"${word}" is neither a file nor an instruction word: give an ELF file, or 4 or 8 hexadecimal digits`,
      );
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

/**
 * Named pieces of code in order of address: each symbol in executable sections up to the next one.
 */
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
        name: visible(name),
        start: pcOf(section.addr + offset),
        code: data.subarray(offset, inside[i + 1]?.offset),
      });
  }
  return pieces;
}

/** Up to three names that contain `text`, ignoring case: suggestions after a typing error. */
function similar(names: readonly string[], text: string): string {
  const found = [...new Set(names)]
    .filter(name => name.toLowerCase().includes(text.toLowerCase()))
    .slice(0, 3);
  return found.length === 0 ? '' : `; there are ${found.join(', ')}`;
}

async function disassembleElf(path: string, options: DisasmOptions): Promise<void> {
  const elf = new Elf(readInput(path, 'ELF file'), path);
  const all = functionsOf(elf);
  const functions = all.filter(f => options.function === undefined || f.name === options.function);
  if (functions.length === 0)
    throw new UserError(
      options.function === undefined
        ? `${path} has no code`
        : `${path} has no function "${options.function}"${similar(
            all.map(f => f.name),
            options.function,
          )}`,
    );
  const { start: from = 0n, stop: to = 1n << 64n } = options;
  const disassembler = await Disassembler.open(namingOf(elf));
  const out = new Out();
  let lines = 0;
  for (const { name, start, code } of functions) {
    if (start >= to || start + BigInt(code.length) <= from) continue;
    out.line(`\n${start.toString(16).padStart(16, '0')} <${name}>:`);
    for (const { at, bytes } of split(code)) {
      const address = start + BigInt(at);
      const text = disassembler.text(bytes, address);
      if (address < from || address >= to) continue;
      out.line(row(address, bytes, text));
      lines++;
    }
  }
  if (lines === 0)
    throw new UserError(
      `no code of ${path} is between 0x${from.toString(16)} and 0x${to.toString(16)}; it has 0x${all[0]!.start.toString(16)} to 0x${all.at(-1)!.start.toString(16)}`,
    );
  out.flush();
}

async function disassembleWords(words: readonly string[]): Promise<void> {
  const code = parseWords(words);
  const disassembler = await Disassembler.open();
  const out = new Out();
  for (const { at, bytes } of split(code))
    out.line(row(BigInt(at), bytes, disassembler.text(bytes, BigInt(at))));
  out.flush();
}

export function register(program: Command): void {
  program
    .command('disasm')
    .description('disassemble an ELF file, or instruction words given in hexadecimal')
    .argument('<input...>', 'an ELF file, or words such as 00150513 8082')
    .option('-f, --function <name>', 'only this function')
    .option('--start <hex>', 'first address', parseAddress)
    .option('--stop <hex>', 'address after the last', parseAddress)
    .addHelpText(
      'after',
      '\nBranch targets are absolute, with symbol and offset.\n' +
        'Examples:\n  kcovbox disasm -f sys_read kernel.elf\n' +
        '  kcovbox disasm --start ffffffff80200000 --stop ffffffff80200040 kernel.elf\n' +
        '  kcovbox disasm 00150513 8082',
    )
    .action(async (input: string[], options: DisasmOptions) => {
      const [first = ''] = input;
      const isFile = input.length === 1 && (existsSync(first) || /[/.]/.test(first));
      if (isFile) await disassembleElf(first, options);
      else if (input.some(word => existsSync(word)))
        throw new UserError('disasm takes one ELF file; choose parts of it with -f, --start and --stop');
      else if (Object.keys(options).length > 0)
        throw new UserError(
          `-f, --start and --stop choose parts of an ELF file, and "${first}" is not a file`,
        );
      else await disassembleWords(input);
    });
}
