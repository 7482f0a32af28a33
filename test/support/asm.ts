// Small assembly guests for tests of the whole machine: assembled and linked by clang and lld,
// cached per source.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findLlvm, findProgram, runProgram, withScratch } from './tools.ts';

const CLANG = findLlvm('clang');
const LLD = findProgram('ld.lld-19', 'ld.lld');
/** Undefined when one of the tools is absent. */
export const ASSEMBLER = CLANG && LLD ? CLANG : undefined;

export const M_BASE = 0x8000_0000;
export const S_BASE = 0x8020_0000;

/** An ELF file whose first instruction is the first one of `source`. */
export function assemble(source: string, base = M_BASE): { name: string; bytes: Uint8Array } {
  return withScratch(dir => {
    const [s, o, ld, elf] = ['a.S', 'a.o', 'a.ld', 'a.elf'].map(name => join(dir, name));
    writeFileSync(s!, `.globl _start\n.text\n_start:\n${source}\n`);
    writeFileSync(
      ld!,
      `ENTRY(_start) SECTIONS { . = ${base}; .all : { *(.text*) *(.rodata*) *(.data*) *(.bss*) } }`,
    );
    const target = ['--target=riscv64-unknown-elf', '-march=rv64gc_zba_zbb_zbs', '-mabi=lp64d', '-mno-relax'];
    runProgram(CLANG!, [...target, '-c', s!, '-o', o!]);
    runProgram(LLD!, ['-T', ld!, o!, '-o', elf!]);
    return { name: 'guest.elf', bytes: new Uint8Array(readFileSync(elf!)) };
  });
}

/** Ends the run with the status in a0; for M-mode, or S-mode without paging. Clobbers t0 and a0. */
export const FINISH = `
  li t0, 0x100000
  slli a0, a0, 16
  li t1, 0x3333
  or a0, a0, t1
  sw a0, 0(t0)
9: j 9b
`;

/** Echoes three bytes of the serial port, and leaves its address in s0. Clobbers s1 and t0. */
export const ECHO = `
  li s0, 0x10000000
  li s1, 3
1: lbu t0, 5(s0)
  andi t0, t0, 1
  beqz t0, 1b
  lbu t0, 0(s0)
  sb t0, 0(s0)
  addi s1, s1, -1
  bnez s1, 1b
`;
