// A page table whose entries are code, too: the walker sets A and D in a word that is an
// instruction. After `fence.i` the hart must run the new instruction, whichever engine has decoded
// or compiled the old one (Priv §10.3.2, Zifencei).

import { describe, expect, test } from 'vitest';
import { type EngineKind, Machine, MIB } from '../../emulator/index.ts';
import { ASSEMBLER, assemble, FINISH } from '../support/asm.ts';

const TABLES = `.balign 4096
entry:
  .option norvc
  .word 0x20028067, 0     # jalr x0, 512(t0), and the leaf of page 0
  .word 0x200280c7, 0     # the leaf of page 1, A and D set
touch:
  sd zero, 0(s7)
  j entry
.balign 4096
table1:
  .dword 0
.balign 4096
table2:
  .dword 0
.balign 4096
`;

/** Fills the tables, gives S all of memory, MPRV and MPP = S in s3. */
const SETUP = `
  la t0, table1
  la t1, entry
  srli t1, t1, 2
  ori t1, t1, 1
  sd t1, 0(t0)
  la t0, table2
  la t1, table1
  srli t1, t1, 2
  ori t1, t1, 1
  sd t1, 0(t0)
  srli t0, t0, 12
  li t1, 8
  slli t1, t1, 60
  or t0, t0, t1
  csrw satp, t0
  li t0, -1
  csrw pmpaddr0, t0
  li t0, 0x1f
  csrw pmpcfg0, t0
  li s3, 0x20800          # MPRV, MPP = S
`;
/**
 * `jalr x0, 512(t0)` is a leaf PTE of page 0x800a0 with V, R, W, G and A; D makes it
 * `jalr ra, 512(t0)`. `run` jumps through it 200 times and counts in s5 how often that wrote ra.
 */
const DIRTY = (touch: string): string => `${SETUP}
  jal s4, run
  mv s6, s5
  csrs mstatus, s3
  ${touch}
  csrc mstatus, s3
  fence.i
  jal s4, run
  li t0, 200
  sub s5, s5, t0
  or a0, s5, s6
  snez a0, a0
  ${FINISH}
run:
  li s0, 200
  li s5, 0
1:
  la t0, back - 512
  li ra, 7
  j entry
back:
  addi t2, ra, -7
  snez t2, t2
  add s5, s5, t2
  addi s0, s0, -1
  bnez s0, 1b
  jr s4
${TABLES}`;

/**
 * The same with a store in each round, in the page of the entry itself; the 101st sets D. Exit
 * status: rounds that wrote ra.
 */
const IN_REGION = `${SETUP}
  csrs mstatus, s3
  li s0, 200
  li s5, 0
  li s8, 4096
1:
  la t0, back - 512
  li ra, 7
  sltiu t5, s0, 100
  addi t5, t5, -1
  and s7, t5, s8
  j touch
back:
  addi t2, ra, -7
  snez t2, t2
  add s5, s5, t2
  addi s0, s0, -1
  bnez s0, 1b
  csrc mstatus, s3
  mv a0, s5
  ${FINISH}
${TABLES}`;

function run(source: string, engine: EngineKind, eager: boolean): unknown {
  const kernel = assemble(source);
  const machine = Machine.create({ kernel, bios: 'none', engine, eager, kcov: 'off', ramBytes: 16 * MIB });
  return machine.run(2_000_000);
}

describe.skipIf(!ASSEMBLER)('a page table entry that is an instruction', () => {
  const engines = [
    ['interp', false],
    ['jit', false],
    ['jit', true],
  ] as const;
  test.each(engines)('is decoded again after a store set D (%s, eager %s)', (engine, eager) => {
    const source = DIRTY('li t0, 8\n sd zero, 0(t0)');
    expect(run(source, engine, eager)).toEqual({ kind: 'exit', status: 0 });
  });

  test.each(engines)('is decoded again after an atomic set D (%s, eager %s)', (engine, eager) => {
    const source = DIRTY('li t0, 8\n amoadd.d zero, zero, (t0)');
    expect(run(source, engine, eager)).toEqual({ kind: 'exit', status: 0 });
  });

  test.each(engines)('stays as it is after a load (%s, eager %s)', (engine, eager) => {
    // The difference of 1 in the exit status is that ra was never written.
    const source = DIRTY('li t0, 8\n ld zero, 0(t0)');
    expect(run(source, engine, eager)).toEqual({ kind: 'exit', status: 1 });
  });

  test.each(engines)(
    'changes in the middle of the region that it belongs to (%s, eager %s)',
    (engine, eager) => {
      expect(run(IN_REGION, engine, eager)).toEqual({ kind: 'exit', status: 99 });
    },
  );
});
