// Stores by devices into memory that harts use other than as data: code that has been decoded and
// compiled, and the reservations of LR. The announcement is by address range, so each kind of
// device is tried.

import { describe, expect, it } from 'vitest';
import { CTX, HOOK, RECORD, REG } from '../../devices/kcov-layout.ts';
import { type EngineKind, Machine, type MachineOptions } from '../../emulator/index.ts';
import { ASSEMBLER, assemble, FINISH } from '../support/asm.ts';
import { missing } from '../support/tools.ts';

const ENGINES: EngineKind[] = ['interp', 'jit'];
const EDU = 0x401_0000;
const KCOV = 0x400_0000;
const VIRTIO = 0x1000_8000;

function run(source: string, options: Partial<MachineOptions> = {}) {
  const machine = Machine.create({
    kernel: assemble(source),
    ...{ bios: 'none', ramBytes: 4 << 20, eager: true, ...options },
  });
  return machine.run(10_000_000);
}

/** Stores 8 bytes; addresses and values may be labels. */
const store = (at: string | number, value: string | number | bigint): string => {
  const load = (r: string, v: string | number | bigint) =>
    `${typeof v === 'string' ? 'la' : 'li'} ${r}, ${v}`;
  return `${load('t0', at)}\n${load('t1', value)}\nsd t1, 0(t0)\n`;
};
/** A transfer of edu; waits for its end. */
const edu = (source: string | number, target: string | number, bytes: number, toRam: boolean): string => `
  ${store(EDU + 0x80, source)} ${store(EDU + 0x88, target)} ${store(EDU + 0x90, bytes)}
  ${store(EDU + 0x98, toRam ? 3 : 1)}
7: ld t1, 0(t0)
  andi t1, t1, 1
  bnez t1, 7b
`;
const ring = (label: string, i: number): string =>
  `la s2, ${label}\nsw s2, ${0x80 + 16 * i}(s11)\nsw zero, ${0x84 + 16 * i}(s11)\n`;

/** li a0, 9; ret */
const NEW_CODE = 0x0000_8067_0090_0513n;

/** How NEW_CODE gets to `first` and to `second`, which lie on both sides of a page boundary. */
const WRITERS: [string, string][] = [
  ['edu', `${edu('fresh', 0x4_0000, 16, false)} ${edu(0x4_0000, 'first', 16, true)}`],
  [
    'virtio-blk',
    `li s11, ${VIRTIO}
     li t0, 3
     sw t0, 0x70(s11)
     sw zero, 0x30(s11)
     li t0, 8
     sw t0, 0x38(s11)
     ${['desc', 'avail', 'used'].map(ring).join('')}
     li t0, 1
     sw t0, 0x44(s11)
     li t0, 7
     sw t0, 0x70(s11)
     sw zero, 0x50(s11)`,
  ],
  [
    'kcov',
    `${store(KCOV + REG.HARTS, 'harts')} ${store(KCOV + REG.CURRENT, 'context')}
     ${store(KCOV + REG.TRIGGER + 8 * HOOK.PC, NEW_CODE).repeat(2)}`,
  ],
];

describe.skipIf(missing('clang and lld', ASSEMBLER))('stores by devices', () => {
  const cases = WRITERS.flatMap(([name, write]) => ENGINES.map(engine => [name, engine, write] as const));

  it.each(cases)('%s into code that has run, over a page boundary (%s)', (_, engine, write) => {
    const callBoth = `
      li s0, 200
    8: call first
      mv s1, a0
      call second
      add s1, s1, a0
      addi s0, s0, -1
      bnez s0, 8b`;
    const source = `
      la sp, stack
      ${callBoth}
      mv s3, s1
      ${write}
      fence.i
      ${callBoth}
      slli a0, s3, 8
      or a0, a0, s1
      ${FINISH}
      .balign 16
    desc: .dword header, 16 | 1 << 32 | 1 << 48, first, 16 | 3 << 32 | 2 << 48, status, 1 | 2 << 32
      .space 80
    avail: .half 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
      .balign 16
    used: .space 80
    header: .dword 0, 0
    status: .dword 0
      .balign 64
    harts: .space 64
    context: .word ${RECORD.PC}, 0
      .dword first - 8, 16
      .space ${CTX.SIZE - 24}
    fresh: .dword ${NEW_CODE}, ${NEW_CODE}
      .space 256
    stack:
      .balign 4096
      .space 4096 - 16
      .dword 0
    first: .word 0x00200513, 0x00008067
    second: .word 0x00300513, 0x00008067
      .space 64`;
    const image = new Uint8Array(512);
    for (const at of [0, 8]) new DataView(image.buffer).setBigUint64(at, NEW_CODE, true);
    const end = run(source, { engine, virtio: [{ kind: 'blk', image }] });
    expect(end).toEqual({ kind: 'exit', status: (5 << 8) | 18 });
  });

  it.each(
    ENGINES.flatMap(
      engine =>
        [
          [engine, 'the reserved bytes', 'word', 1],
          [engine, 'bytes beside them', 'word + 16', 0],
        ] as const,
    ),
  )('a transfer between lr and sc (%s) to %s', (engine, _, target, failed) => {
    const source = `
      ${edu('fresh', 0x4_0000, 8, false)}
      ${store(EDU + 0x80, 0x4_0000)} ${store(EDU + 0x88, target)} ${store(EDU + 0x90, 8)}
      li t0, ${EDU + 0x98}
      li t2, 3
      la a1, word
      lr.d a0, (a1)
      sd t2, 0(t0)
    7: ld t1, 0(t0)
      andi t1, t1, 1
      bnez t1, 7b
      sc.d a0, a0, (a1)
      ${FINISH}
      .balign 64
    word: .space 64
    fresh: .dword 77`;
    expect(run(source, { engine })).toEqual({ kind: 'exit', status: failed });
  });
});
