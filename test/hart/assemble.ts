// Builds the programs in test/hart/asm/ with clang and lld.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findLlvm, findProgram, missing, runProgram, withScratch } from '../support/tools.ts';

const ASM = join(import.meta.dirname, 'asm');
const INCLUDES = ['macros.S', 'random.S', 'window.S'];
const clang = findLlvm('clang');
const lld = findLlvm('ld.lld') ?? findProgram('ld.lld');

/** True, with the reason printed, when programs cannot be built. */
export const noAssembler = missing('clang', clang) || missing('ld.lld', lld);

export const programs = (): string[] =>
  readdirSync(ASM)
    .filter(name => name.endsWith('.S') && !INCLUDES.includes(name))
    .map(name => name.slice(0, -2));

/** The ELF file of a program, linked to the start of RAM. */
export function assemble(name: string): Uint8Array {
  return withScratch(directory => {
    const output = join(directory, name);
    runProgram(clang!, [
      ...[
        '--target=riscv64-unknown-elf',
        '-march=rv64gc_svinval_zicbom_zicboz_zicbop',
        '-mabi=lp64d',
        '-nostdlib',
        '-static',
      ],
      ...[`--ld-path=${lld}`, '-Wl,-Ttext=0x80000000', '-Wl,-N', '-Wl,--entry=_start', `-I${ASM}`],
      ...[join(ASM, `${name}.S`), '-o', output],
    ]);
    return readFileSync(output);
  });
}
