// The built-in SBI, spoken to by small assembly payloads in S-mode.

import { describe, expect, it } from 'vitest';
import { Machine, type MachineOptions } from '../../emulator/index.ts';
import { ASSEMBLER, assemble, FINISH, S_BASE } from '../support/asm.ts';
import { missing } from '../support/tools.ts';

/** Calls extension, function; arguments are in registers already. */
const call = (extension: number, fn: number): string => `li a7, ${extension}\nli a6, ${fn}\necall\n`;
const [BASE, TIME, IPI, RFENCE, HSM, SRST, DBCN] = [
  0x10, 0x54494d45, 0x735049, 0x52464e43, 0x48534d, 0x53525354, 0x4442434e,
] as const;

function run(source: string, options: Partial<MachineOptions> = {}, units = 1_000_000) {
  let text = '';
  const machine = Machine.create({
    kernel: assemble(source, S_BASE),
    engine: 'interp',
    ramBytes: 4 << 20,
    onConsole: byte => {
      text += String.fromCharCode(byte);
    },
    ...options,
  });
  const result = machine.run(units);
  return { result, text, machine };
}

const status = (source: string, options?: Partial<MachineOptions>): unknown => run(source, options).result;

describe.skipIf(missing('clang and lld', ASSEMBLER))('built-in sbi', () => {
  it('starts the payload in S-mode with the hart id and the device tree', () => {
    const source = `
      lw t0, 0(a1)        # magic d00dfeed, big-endian
      li t1, 0xffffffffedfe0dd0
      bne t0, t1, 1f
      csrr t0, sstatus    # an S-mode register is readable
      ${FINISH}
    1: li a0, 99
      ${FINISH}`;
    expect(status(source)).toEqual({ kind: 'exit', status: 0 });
  });

  it('lets U-mode read time, cycle and instret, as OpenSBI does', () => {
    const source = `
      la t0, 1f
      csrw sepc, t0
      sret                # sstatus.SPP is U after reset
    1: rdtime a0
      rdcycle a0
      rdinstret a0
      li a0, 0
      ${FINISH}`;
    expect(status(source)).toEqual({ kind: 'exit', status: 0 });
  });

  it('is SBI 2.0 and knows its extensions', () => {
    const probe = (id: number): string => `li a0, ${id}\n${call(BASE, 3)}slli s1, s1, 1\nor s1, s1, a1\n`;
    const source = `
      ${call(BASE, 0)} srli s0, a1, 24
      li s1, 0
      ${[TIME, IPI, RFENCE, HSM, SRST, DBCN, 1, 0x48525354].map(probe).join('\n')}
      slli s0, s0, 8
      or a0, s0, s1
      ${FINISH}`;
    expect(status(source)).toEqual({ kind: 'exit', status: 0x2fe });
  });

  it('answers NOT_SUPPORTED to what it does not know', () => {
    expect(status(`${call(0x1234, 0)} neg a0, a0\n${FINISH}`)).toEqual({ kind: 'exit', status: 2 });
    expect(status(`${call(BASE, 77)} neg a0, a0\n${FINISH}`)).toEqual({ kind: 'exit', status: 2 });
  });

  it('prints through the legacy console and DBCN, and refuses memory outside ram', () => {
    const source = `
      li a0, 'A'
      ${call(1, 0)}
      li a0, 'B'
      ${call(DBCN, 2)}
      li a0, 3
      la a1, msg
      li a2, 0
      ${call(DBCN, 0)}
      mv s1, a1
      li a0, 8
      li a1, 0x1000
      li a2, 0
      ${call(DBCN, 0)}
      sub a0, s1, a0      # 3 bytes written, then -3
      ${FINISH}
    msg: .ascii "xyz"`;
    const { result, text } = run(source);
    expect(text).toBe('ABxyz');
    expect(result).toEqual({ kind: 'exit', status: 6 });
  });

  it('interrupts at the tick that was asked for, and wfi sleeps until then', () => {
    const source = `
      la t0, handler
      csrw stvec, t0
      li t0, 0x20
      csrw sie, t0
      li s0, 5000
      mv a0, s0
      ${call(TIME, 0)}
      csrsi sstatus, 2
    1: wfi
      j 1b
      .align 2
    handler:
      csrr a0, time
      sub a0, a0, s0
      csrr t0, scause
      slli t0, t0, 1
      srli t0, t0, 1
      slli t0, t0, 4
      or a0, a0, t0       # 5 << 4 | lateness
      ${FINISH}`;
    const { result, machine } = run(source);
    expect(result).toEqual({ kind: 'exit', status: 0x50 });
    expect(machine.instret).toBeLessThan(100);
    expect(machine.time).toBeGreaterThanOrEqual(500_000);
  });

  it('starts, interrupts and stops other harts', () => {
    const source = `
      la t0, handler
      csrw stvec, t0
      csrwi sie, 2
      li a0, 1
      la a1, second
      li a2, 42
      ${call(HSM, 0)}
      li a0, 1
      la a1, second
      ${call(HSM, 0)}
      mv s1, a0           # already available: -6
      li a0, 9
      ${call(HSM, 2)}
      add s1, s1, a0      # invalid: -3
      csrsi sstatus, 2
    1: wfi
      j 1b
    second:
      mv s2, a1           # 42
      la t0, shared
      sw s2, 0(t0)
      li a0, 1
      li a1, 0
      ${call(IPI, 0)}
      ${call(HSM, 1)}
      li a0, 77           # not reached
      ${FINISH}
      .align 2
    handler:
      csrci sip, 2
    2: li a0, 1
      ${call(HSM, 2)}
      beqz a1, 2b         # until it has stopped
      la t0, shared
      lw a0, 0(t0)
      sub a0, a0, s1      # 42 + 9
      ${FINISH}
      .align 3
    shared: .dword 0`;
    expect(status(source, { harts: 2 })).toEqual({ kind: 'exit', status: 51 });
  });

  it('shows a suspended hart as suspended, and returns it where it was told to', () => {
    const source = `
      la t0, table
      srli t0, t0, 12
      la t0, flag
      li a0, 1
      la a1, second
      li a2, 0
      ${call(HSM, 0)}
    1: li a0, 1
      ${call(HSM, 2)}
      li t0, 4            # until it is suspended
      bne a1, t0, 1b
      li a0, 1
      la a1, second
      ${call(HSM, 0)}
      mv s1, a0           # not stopped: invalid parameter, -3
      li a0, 2
      li a1, 0
      ${call(IPI, 0)}
    2: la t0, flag
      lw a0, 0(t0)
      beqz a0, 2b
      sub a0, a0, s1      # 42 + 3
      ${FINISH}
    second:
      csrwi sie, 2
      csrsi sstatus, 2
      li t0, 8 << 60      # translation is off after the return
      csrr s3, satp
      li s2, 99
      li a0, 0x80000000
      la a1, resumed
      li a2, 42
      ${call(HSM, 3)}
      li a0, 77           # not reached
      ${FINISH}
    resumed:
      li t0, 1
      bne a0, t0, 3f      # a0 = hart id
      csrr t1, sstatus
      andi t1, t1, 2      # SIE is clear
      bnez t1, 3f
      csrr t1, satp
      bnez t1, 3f
      csrr t1, sip        # what woke it is still pending
      andi t1, t1, 2
      beqz t1, 3f
      la t0, flag
      sw a1, 0(t0)        # the opaque value
    3: wfi
      j 3b
      .align 3
    flag: .dword 0
    table: .dword 0`;
    expect(status(source, { harts: 2 })).toEqual({ kind: 'exit', status: 45 });
  });

  it('suspends without loss like wfi; the type has 32 bits', () => {
    const source = `
      li t0, 0x20
      csrw sie, t0
      csrr a0, time
      li t0, 3000
      add a0, a0, t0
      mv s0, a0
      ${call(TIME, 0)}
      li a0, 1 << 32      # type 0
      li s1, 5
      ${call(HSM, 3)}
      bnez a0, 1f
      csrr a0, time
      sub a0, a0, s0      # not before the timer
      add a0, a0, s1
    1: ${FINISH}`;
    const { result, machine } = run(source);
    expect(result).toEqual({ kind: 'exit', status: 5 });
    expect(machine.time).toBeGreaterThanOrEqual(300_000);
  });

  it('refuses reserved suspend types, and addresses without memory', () => {
    const suspend = (type: string, address: number): string =>
      `li a0, ${type}\nli a1, ${address}\n${call(HSM, 3)}slli s1, s1, 4\nneg a0, a0\nor s1, s1, a0\n`;
    const source = `
      li s1, 0
      ${suspend('1', 0)} ${suspend('0x80000001', S_BASE)} ${suspend('0x80000000', 0x1000)}
      mv a0, s1
      ${FINISH}`;
    expect(status(source)).toEqual({ kind: 'exit', status: 0x335 });
  });

  it('refuses reserved reset types and reasons', () => {
    const reset = (type: number, reason: number): string =>
      `li a0, ${type}\nli a1, ${reason}\n${call(SRST, 0)}slli s1, s1, 4\nneg a0, a0\nor s1, s1, a0\n`;
    const source = `li s1, 0\n${reset(3, 0)} ${reset(0, 2)} ${reset(1, 0xe000_0000)}\nmv a0, s1\n${FINISH}`;
    expect(status(source)).toEqual({ kind: 'exit', status: 0x333 });
  });

  it('tells shutdown, failure and reboot apart', () => {
    const reset = (type: number, reason: number): string =>
      `li a0, ${type}\nli a1, ${reason}\n${call(SRST, 0)}1: j 1b`;
    expect(status(reset(0, 0))).toEqual({ kind: 'exit', status: 0 });
    expect(status(reset(0, 1))).toEqual({ kind: 'panic', status: 1 });
    expect(status(reset(1, 0))).toEqual({ kind: 'reset' });
    expect(status(call(8, 0))).toEqual({ kind: 'exit', status: 0 });
  });

  it('starts anew after a reset and runs the same again', () => {
    const { machine } = run(`li a0, 1\nli a1, 0\n${call(SRST, 0)}1: j 1b`);
    const first = machine.instret;
    machine.reset();
    expect(machine.run()).toEqual({ kind: 'reset' });
    expect(machine.instret).toBe(first);
  });

  it('leaves ecalls of U-mode to the payload', () => {
    const source = `
      la t0, handler
      csrw stvec, t0
      la t0, user
      csrw sepc, t0
      li t0, 0x100
      csrc sstatus, t0
      sret
    user: ecall
      .align 2
    handler: csrr a0, scause
      ${FINISH}`;
    expect(status(source)).toEqual({ kind: 'exit', status: 8 });
  });

  it('says that all harts wait for ever when nothing can wake them', () => {
    expect(status('1: wfi\nj 1b')).toEqual({ kind: 'halt' });
  });
});
