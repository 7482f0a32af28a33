// The remote stub as the real GDB sees it, over a socket, on one and two harts.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { GdbStub, Machine, type MachineOptions } from '../../emulator/index.ts';
import { ASSEMBLER, assemble, FINISH } from '../support/asm.ts';
import { findProgram, missing } from '../support/tools.ts';

const GDB = findProgram('gdb-multiarch', 'riscv64-unknown-elf-gdb', 'riscv64-linux-gnu-gdb');

/** Runs GDB with these commands against a machine with this guest; returns what GDB printed. */
async function session(source: string, commands: readonly string[], options: Partial<MachineOptions> = {}) {
  const kernel = assemble(source);
  const machine = Machine.create({ kernel, bios: 'none', ramBytes: 4 << 20, ...options });
  const stub = new GdbStub(machine);
  let open = true;
  const server = createServer(socket => {
    socket.on('data', data => {
      for (let rest = data; rest.length > 0; ) rest = rest.subarray(stub.receive(rest));
      socket.write(stub.take());
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      open = false;
    });
    const pump = async (): Promise<void> => {
      while (open) {
        if (stub.isRunning) stub.run(100_000);
        const out = stub.take();
        if (out !== '') socket.write(out);
        await turn();
      }
    };
    void pump();
  });
  await new Promise<void>(ready => server.listen(0, '127.0.0.1', ready));
  const { port } = server.address() as { port: number };
  const text = await withScratchAsync(async dir => {
    const elf = join(dir, 'guest.elf');
    writeFileSync(elf, kernel.bytes);
    const all = [
      'set confirm off',
      'set pagination off',
      `file ${elf}`,
      `target remote 127.0.0.1:${port}`,
      ...commands,
    ];
    const gdb = spawn(GDB!, ['-nx', '-batch', ...all.flatMap(c => ['-ex', c])]);
    let out = '';
    gdb.stdout.on('data', data => (out += data));
    gdb.stderr.on('data', data => (out += data));
    const timer = setTimeout(() => gdb.kill(), 30_000);
    await new Promise(done => gdb.on('close', done));
    clearTimeout(timer);
    return out;
  });
  open = false;
  server.close();
  return { text, machine };
}

async function withScratchAsync<T>(body: (dir: string) => Promise<T>): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), 'kcovbox-gdb-'));
  try {
    return await body(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

const LOOP = `
  li s0, 0
.globl again
again:
  addi s0, s0, 1
  la t0, value
  sd s0, 0(t0)
  li t1, 5
  bne s0, t1, again
.globl done
done:
  li a0, 7
  ${FINISH}
  .align 3
.globl value
value: .dword 0x1122334455667788`;

describe.skipIf(missing('gdb', GDB) || missing('clang and lld', ASSEMBLER))('gdb', () => {
  it('stops at the first instruction, at breakpoints, steps, reads and writes, and sees the end', async () => {
    const { text } = await session(LOOP, [
      'printf "start %lx\\n", $pc',
      'x/1gx &value',
      'break *again',
      'continue',
      'continue',
      'printf "count %d\\n", $s0',
      'delete',
      'stepi',
      'stepi',
      'printf "stepped %d\\n", $s0',
      'set var *(long *)&value = 0x77',
      'x/1gx &value',
      'break *done',
      'continue',
      'print $priv',
      'printf "mhartid %ld misa %lx\\n", $mhartid, $misa',
      'continue',
    ]);
    expect(text).toContain('start 80000000');
    expect(text).toContain('0x1122334455667788');
    expect(text).toMatch(/Breakpoint 1, .*again/);
    expect(text).toContain('count 1');
    expect(text).toContain('stepped 2');
    expect(text).toContain('0x0000000000000077');
    expect(text).toMatch(/Breakpoint 2, .*done/);
    expect(text).toContain('= 3');
    expect(text).toContain('mhartid 0 misa 8');
    expect(text).toContain('exited with code 07');
  });

  it.each(['jit', 'interp'] as const)('stops at what is written, read or either (%s)', async engine => {
    const source = `
      la s1, cell
      li s0, 3
    .globl again
    again:
      sd s0, 8(s1)
      addi s0, s0, -1
      lw t0, 16(s1)
      sb s0, 3(s1)
      amoadd.w t1, s0, (s1)
      bnez s0, again
      li a0, 7
      ${FINISH}
      .align 3
    .globl cell
    cell: .dword 0
    .globl other
    other: .dword 0
    .globl third
    third: .dword 0x55`;
    const where = 'printf "at +%d s0 %d\\n", $pc - (long)&again, $s0';
    const { text } = await session(
      source,
      ['watch *(long *)&other', 'continue', where, 'continue', where, 'delete']
        .concat(['rwatch *(int *)&third', 'continue', where, 'delete'])
        .concat([
          'awatch *(char *)((long)&cell + 3)',
          'continue',
          where,
          'continue',
          where,
          'delete',
          'continue',
        ]),
      { engine },
    );
    const stops = [...text.matchAll(/^at \+(\d+) s0 (\d+)$/gm)].map(m => [Number(m[1]), Number(m[2])]);
    expect(text).toMatch(/Hardware watchpoint 1: .*\n\nOld value = 0\nNew value = 3/);
    expect(text).toMatch(/Hardware watchpoint 1: .*\n\nOld value = 3\nNew value = 2/);
    expect(text).toMatch(/Hardware read watchpoint 2: .*\n\nValue = 85/);
    expect(text).toContain('Hardware access (read/write) watchpoint 3');
    expect(stops.map(([, s0]) => s0)).toEqual([3, 2, 1, 1, 1]);
    // GDB shows the instruction behind the access: sd, sd, lw, sb, amoadd.
    expect(stops.map(([at]) => at! - stops[0]![0]!)).toEqual([0, 0, 6, 10, 14]);
    expect(text).toContain('exited with code 07');
  });

  it('shows harts as threads', async () => {
    const source = `csrr t0, mhartid\nbnez t0, second\n1: j 1b\n.globl second\nsecond: nop\nnop\n2: j 2b`;
    const { text } = await session(source, ['break *second', 'continue', 'info threads', 'print $t0'], {
      harts: 2,
    });
    expect(text).toMatch(/\* 2 +Thread 2 .*second/);
    expect(text).toContain('$1 = 1');
  });

  it.each(['jit', 'interp'] as const)('leaves no trace in the run (%s)', async engine => {
    const { machine } = await session(LOOP, ['break *again', 'continue', 'continue', 'delete', 'continue'], {
      engine,
    });
    const straight = Machine.create({ kernel: assemble(LOOP), bios: 'none', ramBytes: 4 << 20, engine });
    straight.run(10_000);
    expect(machine.instret).toBe(straight.instret);
    expect(machine.ram.read(0x8000_0000, 4096)).toEqual(straight.ram.read(0x8000_0000, 4096));
  });
});
