// Guests that ask a device for unbounded work: each must get its answer in bounded time, on both
// engines, and through bin/ as a user would meet it.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CMP_WORDS, CTX, CTXF, ERR, HOOK, RECORD, REG, SEEN } from '../../devices/kcov-layout.ts';
import { type EngineKind, Machine, type MachineOptions, stateHash } from '../../emulator/index.ts';
import { ASSEMBLER, assemble, FINISH, S_BASE } from '../support/asm.ts';
import { missing, withScratchAsync } from '../support/tools.ts';

const BIN = resolve(import.meta.dirname, '../../bin/kcovbox.cjs');
const ENGINES: EngineKind[] = ['interp', 'jit'];

function run(source: string, options: Partial<MachineOptions> = {}, units = 1_000_000) {
  let text = '';
  const machine = Machine.create({
    kernel: options.kernel ?? assemble(source),
    bios: 'none',
    ramBytes: 4 << 20,
    onConsole: byte => {
      text += String.fromCharCode(byte);
    },
    ...options,
  });
  const result = machine.run(units);
  return { result, text, machine };
}

/** Writes the constants to the addresses, 8 bytes each. */
const store = (...pairs: [at: number, value: bigint | number][]): string =>
  pairs.map(([at, value]) => `li t0, ${at}\nli t1, ${value}\nsd t1, 0(t0)\n`).join('');

const KCOV = 0x400_0000;
const [HARTS, CONTEXT, AREA, SET, TABLE] = [0x8001_0000, 0x8001_1000, 0x8010_0000, 0x8002_0000, 0x8060_0000];
/** A seen-set of 16 buckets, all of which start at node 1, and 80,000 nodes in one chain. */
const NODES = 80_000;
const CHAIN = `
  ${store(
    [SET, 4 + CMP_WORDS * 2 ** 32],
    [SET + SEEN.NODES, NODES],
    [SET + SEEN.USED, NODES],
    [SET + SEEN.BUCKETS, SET + 0x1000],
    [SET + SEEN.POOL, 0x80a0_0000],
  )}
  li t0, ${SET + 0x1000}
  li t1, ${SET + 0x1040}
  li t2, 1
1: sw t2, 0(t0)
  addi t0, t0, 4
  blt t0, t1, 1b
  li t0, 0x80a00000
  li t1, ${NODES}
1: addi t2, t2, 1
  sw t2, 0(t0)
  addi t0, t0, 40
  blt t2, t1, 1b
`;

const MTIMECMP = 0x200_4000;
const MTIME = 0x200_bff8;
/** Spins for some hundred ticks of mtime. */
const WAIT = 'li t2, 20000\n1: addi t2, t2, -1\nbnez t2, 1b\n';

/** The only virtio device of a board is in the last slot. */
const VIRTIO = 0x1000_8000;
/** Sets up a queue of a modern device; t-registers are clobbered. */
const queue = (number: number, size: number, desc: string, avail: string, used: string): string => `
  li s11, ${VIRTIO}
  li t0, 3
  sw t0, 0x70(s11)
  li t0, ${number}
  sw t0, 0x30(s11)
  li t0, ${size}
  sw t0, 0x38(s11)
  la s0, ${desc}
  sw s0, 0x80(s11)
  sw zero, 0x84(s11)
  la s1, ${avail}
  sw s1, 0x90(s11)
  sw zero, 0x94(s11)
  la s2, ${used}
  sw s2, 0xa0(s11)
  sw zero, 0xa4(s11)
  li t0, 1
  sw t0, 0x44(s11)
  li t0, 7
  sw t0, 0x70(s11)
`;
/** Makes `count` requests available and notifies the queue. */
const notify = (number: number, count = 1): string => `
  li t0, ${count}
  sh t0, 2(s1)
  fence
  li t0, ${number}
  sw t0, 0x50(s11)
`;
/** Prints a character on the UART. */
const print = (c: string): string => `li t0, 0x10000000\nli t1, '${c}'\nsb t1, 0(t0)\n`;

/** A console transmission of `chunks` times 2 MiB in one chain, then `after`. */
const transmission = (chunks: number, after: string): string => `
  ${queue(1, 64, 'desc', 'avail', 'used')}
  mv t2, s0
  li t3, 0
1: li t0, 0x80000000
  sd t0, 0(t2)
  li t0, 0x200000
  sd t0, 8(t2)
  li t0, 1
  sh t0, 12(t2)
  addi t3, t3, 1
  sh t3, 14(t2)
  addi t2, t2, 16
  li t0, ${chunks}
  blt t3, t0, 1b
  sh zero, -4(t2)
  ${notify(1)}
  ${after}
  .balign 16
desc: .space 1024
avail: .space 256
  .balign 16
used: .space 1024
`;

describe.skipIf(missing('clang and lld', ASSEMBLER))('bounded work', () => {
  it.each(ENGINES)('a virtqueue whose available ring is its used ring (%s)', engine => {
    const source = `
      ${queue(0, 1, 'desc', 'ring', 'ring')}
      la t0, buffer
      sd t0, 0(s0)
      li t0, 8
      sw t0, 8(s0)
      li t0, 2
      sh t0, 12(s0)
      ${print('A')} ${notify(0)} ${print('B')}
      lw a0, 0x70(s11)
      lw t0, 0x60(s11)
      slli t0, t0, 8
      or a0, a0, t0
      ${FINISH}
      .balign 16
    desc: .space 16
    ring: .space 64
    buffer: .space 64`;
    const { result, text } = run(source, { engine, virtio: [{ kind: 'rng' }] });
    // DEVICE_NEEDS_RESET and the configuration interrupt.
    expect([text, result]).toEqual(['AB', { kind: 'exit', status: 0x247 }]);
  });

  it('a transmission of 32 MiB goes on beside the guest and ends in its time', () => {
    let bytes = 0;
    const source = transmission(
      16,
      `${print('.')}
    1: lhu t0, 2(s2)
      beqz t0, 1b
      li a0, 3
      ${FINISH}`,
    );
    const onConsole = () => void bytes++;
    const { result, machine } = run(source, { onConsole, virtio: [{ kind: 'console' }] }, 2 ** 30);
    expect(result).toEqual({ kind: 'exit', status: 3 });
    expect(bytes).toBe((16 << 21) + 1);
    // One unit of time each byte, and as much for reading the chain again after each burst.
    expect(machine.time / (16 << 21)).toBeGreaterThan(0.99);
    expect(machine.time / (16 << 21)).toBeLessThan(1.02);
  });

  it('run returns while an idle guest lets a device work', () => {
    let bytes = 0;
    const onConsole = () => void bytes++;
    const options: MachineOptions = {
      kernel: assemble(transmission(16, '1: wfi\nj 1b')),
      ...{ bios: 'none', ramBytes: 4 << 20, onConsole, virtio: [{ kind: 'console' }] },
    };
    const machine = Machine.create(options);
    // By itself: 64 units of work for each instruction and 2^24 in all.
    expect(Machine.create(options).run(10_000)).toEqual({ kind: 'budget' });
    expect(bytes).toBeGreaterThan(2 ** 24 - 0x10_0000);
    expect(bytes).toBeLessThan(2 ** 24 + 64 * 10_000 + 0x1_4000);
    bytes = 0;
    for (const work of [1, 1000, 1_000_000]) {
      const before = bytes;
      expect(machine.run(1_000_000, Infinity, work)).toEqual({ kind: 'budget' });
      expect(bytes - before).toBeLessThan(work + 0x1_4000);
    }
    // In pieces or at once, the run is the same.
    const whole = Machine.create(options);
    while (machine.run(100, Infinity, 12_345).kind === 'budget');
    expect(whole.run()).toEqual({ kind: 'halt' });
    expect(stateHash(whole)).toBe(stateHash(machine));
    expect(bytes).toBe(2 * (16 << 21));
  });

  it('SIGTERM ends a guest that waits for 128 MiB of console output', async () => {
    await withScratchAsync(async dir => {
      const elf = join(dir, 'guest.elf');
      writeFileSync(elf, assemble(transmission(64, '1: wfi\nj 1b')).bytes);
      const args = ['boot', '-bios', 'none', '-kernel', elf, '-m', '16M'];
      const child = spawn(process.execPath, [BIN, ...args, '-device', 'virtio-serial-device'], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let start = 0;
      child.stdout.once('data', () => {
        start = Date.now();
        child.kill('SIGTERM');
      });
      child.stdout.resume();
      const [status, signal] = await once(child, 'close');
      // In the first five seconds a signal has its default effect.
      expect(status ?? signal).toSatisfy(end => end === 143 || end === 'SIGTERM');
      expect(Date.now() - start).toBeLessThan(10_000);
    });
  });

  it.each([
    ['a switch with 400,000 cases', RECORD.CMP, ''],
    ['a seen-set whose buckets all start a chain over 80,000 nodes', RECORD.UNIQ_CMP, CHAIN],
  ])('%s: each store to the kcov device stops at its limit', (_, mode, prepare) => {
    const triggers = 20;
    const source = `
      ${store(
        [TABLE, 400_000],
        [TABLE + 8, 64],
        [CONTEXT + CTX.MODE, mode],
        [CONTEXT + CTX.AREA, AREA],
        [CONTEXT + CTX.WORDS, 0x1_0000],
        [CONTEXT + CTX.SEEN, SET],
        [CONTEXT + CTX.ARG1, TABLE],
      )}
      ${prepare}
      ${store([KCOV + REG.HARTS, HARTS], [KCOV + REG.CURRENT, CONTEXT])}
      ${store([KCOV + REG.TRIGGER + 8 * HOOK.SWITCH, 0x1234]).repeat(triggers)}
      li t0, ${KCOV + REG.ERROR}
      ld a0, 0(t0)
      li t0, ${CONTEXT + CTX.FLAGS}
      lw t0, 0(t0)
      slli t0, t0, 4
      or a0, a0, t0
      ${FINISH}`;
    const { result, machine } = run(source, { kcov: 'device', ramBytes: 16 << 20 });
    expect(result).toEqual({ kind: 'exit', status: (CTXF.LIMITED << 4) | ERR.LIMIT });
    // Cut by work in any way, the run is the same.
    const cut = Machine.create(machine.options);
    while (cut.run(1_000_000, Infinity, 5000).kind === 'budget');
    expect(stateHash(cut)).toBe(stateHash(machine));
  });

  it('DBCN prints 64 KiB of what it is asked for, and says so', () => {
    let bytes = 0;
    const call = 'li a7, 0x4442434e\necall\n';
    const source = `
      li a6, 0
      li a0, 0x180000
      li a1, 0x80200000
      li a2, 0
      ${call}
      srli s0, a1, 8
      li a6, 1
      li a0, 0x180000
      li a1, 0x80220000
      ${call}
      add a0, s0, a1
      ${FINISH}`;
    const kernel = assemble(source, S_BASE);
    const onConsole = () => void bytes++;
    const { result } = run('', { kernel, bios: 'default', onConsole });
    expect([result, bytes]).toEqual([{ kind: 'exit', status: 256 }, 0x1_0000]);
  });

  it('HTIF prints 64 KiB of what it is asked for, and says so', () => {
    let bytes = 0;
    const source = `
      la t0, block
      la t1, tohost
      sd t0, 0(t1)
      ld a0, 0(t0)
      srli a0, a0, 8
      ${FINISH}
      .balign 64
    block: .dword 64, 1, 0x80000000, 0x200000, 0, 0, 0, 0
      .globl tohost
    tohost: .dword 0`;
    const { result } = run(source, { onConsole: () => void bytes++ });
    expect([result, bytes]).toEqual([{ kind: 'exit', status: 256 }, 0x1_0000]);
  });

  it.each(ENGINES)('a timer that is armed after mtime has wrapped (%s)', engine => {
    const source = `
      ${store([MTIME, -1])}
      ${WAIT}
      ${store([MTIMECMP, 0x1000_0000])}
      li a0, 7
      ${FINISH}`;
    expect(run(source, { engine }).result).toEqual({ kind: 'exit', status: 7 });
  });

  it.each([
    [-1, 0],
    [-2, 1],
    [-1, 0x7fff_ffff_ffff_ffffn],
    [0x7fff_ffff_ffff_ffffn, -1],
    [0x20_0000_0000_0001n, 0x20_0000_0000_0001n],
  ])('mtime %d and mtimecmp %d, before and after each other', (mtime, mtimecmp) => {
    const source = `
      ${store([MTIMECMP, mtimecmp], [MTIME, mtime])}
      ${WAIT}
      ${store([MTIMECMP, mtimecmp], [MTIME, mtime], [MTIMECMP, mtimecmp])}
      ${WAIT}
      li a0, 7
      ${FINISH}`;
    expect(run(source).result).toEqual({ kind: 'exit', status: 7 });
  });
});
