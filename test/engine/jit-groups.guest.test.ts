// The programs that a user would meet: a C program and a bare-metal one whose hot loop has many
// address groups, through the command, print the same with every engine.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { ASSEMBLER, assemble } from '../support/asm.ts';

const COMMAND = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), 'bin', 'kcovbox.cjs');
const dir = mkdtempSync(join(tmpdir(), 'kcovbox-groups-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function kcovbox(args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [COMMAND, ...args], {
    encoding: 'utf8',
    cwd: dir,
    timeout: 120_000,
  });
  return { status, stdout, stderr };
}

const group = (): string => 'ld a2, 0(a4); ld a3, 8(a4); add a5, a5, a2; addi a4, a4, 16;';
const groups = (count: number): string => Array.from({ length: count }, group).join(' ');
const MULTIPLIER = 0x9e37_79b9_7f4a_7c15n;

const inC = (count: number): string => `
#include <stdio.h>
unsigned long walk(unsigned long *p, long rounds);
__asm__(".globl walk\\nwalk: li a5, 0; mv a6, a0; 1: mv a4, a6; ${groups(count)}"
        "xor a5, a5, a3; addi a1, a1, -1; beqz a1, 2f; j 1b; 2: mv a0, a5; ret\\n");
unsigned long data[8192] __attribute__((aligned(4096)));
int main(void) {
  for (unsigned long i = 0; i < 8192; i++) data[i] = i * 0x9e3779b97f4a7c15ul;
  printf("%lx\\n", walk(data, 400000));
}
`;

/**
 * A locked PMP entry in RAM: M-mode goes through the TLB, too. The low byte of the sum is the
 * status.
 */
const bare = (count: number): string => `
  li t0, 0x87fff000 >> 2
  csrw pmpaddr0, t0
  li t0, 0x91
  csrw pmpcfg0, t0
  la s0, data
  li a1, 40000
  li a5, 0
2: mv a4, s0
  ${groups(count)}
  xor a5, a5, a3
  addi a1, a1, -1
  beqz a1, 4f
  j 2b
4: andi a0, a5, 63
  li t0, 0x100000
  slli a0, a0, 16
  li t1, 0x3333
  or a0, a0, t1
  sw a0, 0(t0)
5: j 5b
.balign 4096
data: ${Array.from({ length: 1024 }, (_, i) => `.dword ${BigInt.asUintN(64, BigInt(i) * MULTIPLIER)}`).join('\n')}
`;

/** The result of both programs. */
function walk(count: number, rounds: number): bigint {
  let sum = 0n;
  let last = 0n;
  for (let i = 0n; i < BigInt(count); i++) {
    sum += 2n * i * MULTIPLIER;
    last = BigInt.asUintN(64, (2n * i + 1n) * MULTIPLIER);
  }
  let a5 = 0n;
  for (let round = 0; round < rounds; round++) a5 = BigInt.asUintN(64, a5 + sum) ^ last;
  return a5;
}

describe.each([84, 195])('a program with %i address groups in its loop', count => {
  test.each(['jit', 'interp'])('in C computes the same with --engine %s', engine => {
    writeFileSync(join(dir, `u${count}.c`), inC(count));
    const { stdout, stderr } = kcovbox(['run', '--engine', engine, `u${count}.c`]);
    expect({ stdout, stderr }).toEqual({ stdout: `${walk(count, 400_000).toString(16)}\n`, stderr: '' });
  });

  test.skipIf(!ASSEMBLER).each(['jit', 'interp'])('on the bare machine does, with --engine %s', engine => {
    const path = join(dir, `b${count}.elf`);
    writeFileSync(path, assemble(bare(count)).bytes);
    const { status, stderr } = kcovbox(['boot', '--engine', engine, '-bios', 'none', '-kernel', path]);
    expect({ status, stderr }).toEqual({ status: Number(walk(count, 40_000) & 63n), stderr: '' });
  });
});
