// Raw instruction words through llvm-objdump: what an independent disassembler calls them.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findLlvm, runProgram, withScratch } from './tools.ts';

export const OBJDUMP = findLlvm('llvm-objdump');
const OBJCOPY = findLlvm('llvm-objcopy');

const ATTRIBUTES =
  '+m,+a,+f,+d,+c,+zba,+zbb,+zbc,+zbs,+zicond,+zcb,+zfa,+zfhmin,+zicbom,+zicbop,+zicboz,+zihintpause,+svinval';

export interface Word {
  readonly value: number;
  readonly bytes: 2 | 4;
}

/**
 * Texts of words laid out one after another from address 0; undefined where the disassembler knows
 * no instruction.
 */
export function llvmDisassemble(words: readonly Word[], aliases = true): (string | undefined)[] {
  const size = words.reduce((sum, word) => sum + word.bytes, 0);
  const image = new DataView(new ArrayBuffer(size));
  const addresses = new Map<number, number>();
  let address = 0;
  words.forEach((word, index) => {
    addresses.set(address, index);
    if (word.bytes === 2) image.setUint16(address, word.value, true);
    else image.setUint32(address, word.value, true);
    address += word.bytes;
  });
  const listing = withScratch(directory => {
    const raw = join(directory, 'words.bin');
    const object = join(directory, 'words.o');
    writeFileSync(raw, new Uint8Array(image.buffer));
    const section = ['-I', 'binary', '-O', 'elf64-littleriscv', '--rename-section', '.data=.text,code'];
    runProgram(OBJCOPY!, [...section, raw, object]);
    const spelling = aliases ? [] : ['-M', 'no-aliases'];
    return runProgram(OBJDUMP!, ['-d', '-z', ...spelling, `--mattr=${ATTRIBUTES}`, object]);
  });
  const texts: (string | undefined)[] = new Array(words.length).fill(undefined);
  for (const line of listing.split('\n')) {
    const match = /^\s*([0-9a-f]+): [0-9a-f ]+\t(.*)$/.exec(line);
    if (match === null) continue;
    const index = addresses.get(Number.parseInt(match[1]!, 16));
    if (index !== undefined && !match[2]!.includes('<unknown>')) texts[index] = canonical(match[2]!);
  }
  return texts;
}

/** One space after the mnemonic, no symbol after a target. */
const canonical = (text: string): string =>
  text
    .replace(/\s*<[^>]*>$/, '')
    .replace(/\s+/g, ' ')
    .trim();
