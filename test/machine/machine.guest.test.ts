// The machine as a whole: HTIF, input, time, harts, snapshots; with small assembly guests.

import { describe, expect, it } from 'vitest';
import {
  type EngineKind,
  Machine,
  type MachineOptions,
  parseSchedule,
  stateHash,
} from '../../emulator/index.ts';
import { ASSEMBLER, assemble, FINISH } from '../support/asm.ts';
import { missing } from '../support/tools.ts';

interface Guest {
  machine: Machine;
  text: () => string;
}

function guestOn(
  engine: EngineKind,
  kernel: MachineOptions['kernel'],
  options: Partial<MachineOptions>,
): Guest {
  let text = '';
  const machine = Machine.create({
    ...(kernel ? { kernel } : {}),
    bios: 'none',
    engine,
    eager: true,
    ramBytes: 4 << 20,
    onConsole: byte => {
      text += String.fromCharCode(byte);
    },
    ...options,
  });
  return { machine, text: () => text };
}

/**
 * Waits for a timer interrupt at tick 1000 while it counts, three times; exits with the count
 * modulo 64.
 */
const TIMER = `
  la t0, handler
  csrw mtvec, t0
  li s0, 0x02004000
  li s1, 1000
  li s2, 3
  sd s1, 0(s0)
  li t0, 0x80
  csrw mie, t0
  csrsi mstatus, 8
1: addi s3, s3, 1
  bnez s2, 1b
  andi a0, s3, 63
  ${FINISH}
  .align 2
handler:
  rdtime s4
  addi s2, s2, -1
  addi s1, s1, 1000
  sd s1, 0(s0)
  mret
`;

/** Echoes what the UART receives, by interrupts, until it gets 'q'. */
const ECHO = `
  la t0, handler
  csrw mtvec, t0
  li s0, 0x10000000
  li s1, 0x0c000000
  li t0, 1
  sb t0, 1(s0)            # IER: receive
  sw t0, 40(s1)           # priority of source 10
  li t1, 0x0c002000
  li t0, 1 << 10
  sw t0, 0(t1)
  li t0, 0x800
  csrw mie, t0
  csrsi mstatus, 8
1: wfi
  addi s5, s5, 1
  j 1b
  .align 2
handler:
  li s2, 0x0c200004
  lw s3, 0(s2)            # claim
2: lbu t0, 5(s0)
  andi t0, t0, 1
  beqz t0, 3f
  lbu t0, 0(s0)
  sb t0, 0(s0)
  li t1, 'q'
  bne t0, t1, 2b
  li a0, 0
  ${FINISH}
3: sw s3, 0(s2)           # complete
  mret`;

/**
 * Three harts race on a counter with amo and lr/sc under timer interrupts until it reaches 30000.
 */
const RACE = `
  csrr s0, mhartid
  la t0, handler
  csrw mtvec, t0
  la s1, counter
  li s2, 30000
  li s3, 0x02004000
  slli t0, s0, 3
  add s3, s3, t0
  csrr t0, time
  addi t0, t0, 3
  sd t0, 0(s3)
  li t0, 0x80
  csrw mie, t0
  csrsi mstatus, 8
1: li t0, 1
  amoadd.d t1, t0, (s1)
2: lr.d t2, (s1)
  addi t2, t2, 1
  sc.d t3, t2, (s1)
  bnez t3, 2b
  blt t1, s2, 1b
  bnez s0, 4f
  ld a0, 8(s1)
  ${FINISH}
4: wfi
  j 4b
  .align 2
handler:
  la t4, ticks
  li t5, 1
  amoadd.d t5, t5, (t4)
  csrr t5, time
  addi t5, t5, 7
  sd t5, 0(s3)
  mret
  .align 3
counter: .dword 0
ticks: .dword 0`;

const ENGINES: readonly EngineKind[] = ['interp', 'jit'];

describe.skipIf(missing('clang and lld', ASSEMBLER)).each(ENGINES)('machine, %s', engine => {
  const guest = (kernel: MachineOptions['kernel'], options: Partial<MachineOptions> = {}): Guest =>
    guestOn(engine, kernel, options);

  it('ends through the finisher with the status of the guest', () => {
    const { machine } = guest(assemble(`li a0, 42\n${FINISH}`));
    expect(machine.run()).toEqual({ kind: 'exit', status: 42 });
    expect(machine.run()).toEqual({ kind: 'exit', status: 42 });
    expect(machine.instret).toBe(7);
  });

  it('starts all harts in M-mode with their number and the device tree', () => {
    const source = `
      lw t1, 0(a1)
      la t0, seen
      li t2, 1
      sll t2, t2, a0
      amoor.w t3, t2, (t0)
      bnez a0, 2f
    1: lw a0, 0(t0)
      li t1, 15
      bne a0, t1, 1b
      ${FINISH}
    2: wfi
      j 2b
      .align 2
    seen: .word 0`;
    const { machine } = guest(assemble(source), { harts: 4 });
    expect(machine.run(1_000_000)).toEqual({ kind: 'exit', status: 15 });
  });

  it('refuses a snapshot of harts with other extensions', () => {
    const kernel = assemble(TIMER);
    const snapshot = guestOn('interp', kernel, {}).machine.snapshot();
    const { machine } = guestOn('interp', kernel, { cpu: 'rva22s64' });
    expect(() => machine.restore(snapshot)).toThrow(/^snapshot of rv64\S+ harts does not fit a machine of/);
    guestOn('interp', kernel, { cpu: 'rv64,svade=off' }).machine.restore(snapshot);
  });

  it('gives the same run whether it is executed at once or in pieces, and however it is snapshotted', () => {
    for (const [schedSeed, schedule] of [
      [undefined],
      [7n],
      [7n, 'rw'],
      [8n, 'rp'],
      [9n, 'pct:9:90000'],
    ] as const) {
      const options = { harts: 3, runHash: 99_991, ...(schedSeed === undefined ? {} : { schedSeed }) };
      const image = assemble(RACE);
      const newMachine = () => {
        const { machine } = guest(image, options);
        if (schedule !== undefined) machine.reschedule(parseSchedule(schedule), schedSeed);
        return machine;
      };
      const straight = newMachine();
      const end = straight.run(10_000_000);
      expect(end.kind).toBe('exit');
      const hash = stateHash(straight);

      const pieces = newMachine();
      for (let n = 1; pieces.run(n).kind === 'budget'; n = (n * 7) % 1009);
      expect(stateHash(pieces)).toBe(hash);
      expect(pieces.hasher!.result()).toEqual(straight.hasher!.result());
      expect(pieces.instret).toBe(straight.instret);

      const half = newMachine();
      half.run(54_321);
      const snapshot = half.snapshot();
      const middle = stateHash(half);
      half.run(3_333);
      half.restore(snapshot);
      expect(stateHash(half)).toBe(middle);
      half.run(10_000_000);
      expect(stateHash(half)).toBe(hash);

      const other = newMachine();
      other.restore(snapshot);
      other.run(10_000_000);
      expect(stateHash(other)).toBe(hash);
      expect(other.hasher!.result()).toEqual(straight.hasher!.result());
    }
  });

  it('depends on the schedule seed and on nothing else', () => {
    const image = assemble(RACE);
    const hashOf = (schedSeed: bigint): string => {
      const { machine } = guest(image, { harts: 3, schedSeed });
      machine.run(10_000_000);
      return stateHash(machine);
    };
    expect(hashOf(1n)).toBe(hashOf(1n));
    expect(hashOf(1n)).not.toBe(hashOf(2n));
  });

  it('wakes a waiting guest by input, and replays the journal to the same end', () => {
    const image = assemble(ECHO);
    const live = guest(image);
    expect(live.machine.run()).toEqual({ kind: 'halt' });
    live.machine.input(new TextEncoder().encode('hello '));
    expect(live.machine.run()).toEqual({ kind: 'halt' });
    live.machine.input(new TextEncoder().encode('worldq'));
    expect(live.machine.run()).toEqual({ kind: 'exit', status: 0 });
    expect(live.text()).toBe('hello worldq');

    const again = guest(image, { replay: live.machine.journal.entries });
    expect(again.machine.run()).toEqual({ kind: 'exit', status: 0 });
    expect(again.text()).toBe('hello worldq');
    expect(stateHash(again.machine)).toBe(stateHash(live.machine));
  });

  it('stops at exactly the number of instructions that it was given', () => {
    const { machine } = guest(assemble('1: addi a0, a0, 1\nj 1b'));
    expect(machine.run(1001)).toEqual({ kind: 'budget' });
    expect(machine.spent).toBe(1001);
    expect(machine.harts[0]!.state.getX(10)).toBe(501n);
    machine.run(2);
    expect(machine.harts[0]!.state.getX(10)).toBe(502n);
  });

  it('pauses an idle guest after a given virtual time', () => {
    const { machine } = guest(assemble(ECHO));
    machine.board.rtc.write(0x10, 4, 1);
    machine.clock.alarm('test', () => {}).set(1_000_000);
    expect(machine.run(Infinity, 400_000)).toEqual({ kind: 'budget' });
    expect(machine.time).toBe(400_000);
    expect(machine.run()).toEqual({ kind: 'halt' });
    expect(machine.time).toBe(1_000_000);
  });
});

describe.skipIf(missing('clang and lld', ASSEMBLER)).each(ENGINES)('htif, %s', engine => {
  const guest = (kernel: MachineOptions['kernel'], options: Partial<MachineOptions> = {}): Guest =>
    guestOn(engine, kernel, options);

  const DATA = '.globl tohost, fromhost\n.align 6\ntohost: .dword 0\n.align 6\nfromhost: .dword 0';

  it.each([
    [1, 0],
    [3, 1],
    [(1337 << 1) | 1, 1337],
  ])('ends when %i is stored to tohost with status %i', (value, status) => {
    const source = `la t0, tohost\nli t1, ${value}\nsw t1, 0(t0)\nsw x0, 4(t0)\n1: j 1b\n${DATA}`;
    const { machine } = guest(assemble(source));
    expect(machine.run(1000)).toEqual({ kind: 'exit', status });
  });

  it('needs no -bios none: a bare-metal program is known by its tohost', () => {
    const source = `csrr t1, mhartid\nla t0, tohost\nli t1, 7\nsd t1, 0(t0)\n1: j 1b\n${DATA}`;
    const { machine } = guest(assemble(source), { bios: 'default' });
    expect(machine.run(1000)).toEqual({ kind: 'exit', status: 3 });
  });

  it('stops right behind the store, in the middle of a page of other data', () => {
    const source = `la t0, tohost\nli t1, 1\nsd t1, 8(t0)\nsd t1, -8(t0)\nsd t1, 0(t0)\nli s0, 5\n1: j 1b\n${DATA}`;
    const { machine } = guest(assemble(source));
    machine.run(1000);
    expect(machine.harts[0]!.state.getX(8)).toBe(0n);
  });

  it('prints characters and write system calls, and answers', () => {
    const source = `
      la t0, tohost
      li t1, (1 << 56) | (1 << 48) | 'h'
      sd t1, 0(t0)
    1: ld t2, 0(t0)
      bnez t2, 1b
      la t3, block
      sd t3, 0(t0)
    2: ld t2, 64(t0)      # fromhost
      beqz t2, 2b
      ld a0, 0(t3)
      slli a0, a0, 1
      ori a0, a0, 1
      sd a0, 0(t0)
    3: j 3b
      .align 6
    block: .dword 64, 1, text, 4
      .dword 0, 0, 0, 0
    text: .ascii "tif\\n"
      ${DATA}`;
    const { machine, text } = guest(assemble(source));
    expect(machine.run(10_000)).toEqual({ kind: 'exit', status: 4 });
    expect(text()).toBe('htif\n');
  });

  it('works from S-mode through a virtual address', () => {
    // A gigapage maps 0xffffffc080000000 and 0x80000000 to RAM.
    const source = `
      la t0, table
      li t1, (0x80000000 >> 2) | 0xcf
      sd t1, 16(t0)
      li t2, 2048
      add t2, t2, t0
      sd t1, 16(t2)
      srli t0, t0, 12
      li t1, 8 << 60
      or t0, t0, t1
      csrw satp, t0
      sfence.vma
      li t0, 0x3fffffffffffff
      csrw pmpaddr0, t0
      li t0, 0x1f
      csrw pmpcfg0, t0
      la t0, supervisor
      csrw mepc, t0
      li t0, 0x1000
      csrc mstatus, t0
      li t0, 0x0800
      csrs mstatus, t0
      mret
    supervisor:
      la t0, tohost
      li t1, 0xffffffc000000000
      add t0, t0, t1
      li t1, 0x11
      sd t1, 0(t0)
    1: j 1b
      ${DATA}
      .align 12
    table: .zero 4096`;
    const { machine } = guest(assemble(source));
    expect(machine.run(10_000)).toEqual({ kind: 'exit', status: 8 });
  });
});

describe.skipIf(missing('clang and lld', ASSEMBLER)).each(ENGINES)('sstc, %s', engine => {
  const guest = (kernel: MachineOptions['kernel'], options: Partial<MachineOptions> = {}): Guest =>
    guestOn(engine, kernel, options);

  // The M-mode code of a teaching kernel before it enters S: it gives S the timer and requests the
  // first tick.
  const SETUP = `
      li t0, 1 << 63
      csrs menvcfg, t0
      csrsi mcounteren, 2
      li t0, 0x3fffffffffffff
      csrw pmpaddr0, t0
      li t0, 0x1f
      csrw pmpcfg0, t0
      li t0, 0x222
      csrw mideleg, t0
      la t0, supervisor
      csrw mepc, t0
      li t0, 0x1800
      csrc mstatus, t0
      li t0, 0x0800
      csrs mstatus, t0
      mret
    supervisor:
      la t0, handler
      csrw stvec, t0
      li t0, 0x20
      csrw sie, t0`;

  it('interrupts S-mode when time reaches stimecmp, without M-mode', () => {
    const source = `${SETUP}
      csrr s0, time
      addi s0, s0, 50
      csrw stimecmp, s0
      csrsi sstatus, 2
    1: wfi
      j 1b
      .align 2
    handler:
      csrr a0, time
      sub a0, a0, s0      # lateness: 0
      csrr t1, sip
      or a0, a0, t1       # STIP is high
      addi s1, s0, 1000
      csrw stimecmp, s1
      csrr t1, sip        # and low again
      slli t1, t1, 1
      or a0, a0, t1
      ${FINISH}`;
    const { machine } = guest(assemble(source));
    expect(machine.run(10_000)).toEqual({ kind: 'exit', status: 0x20 });
    expect(machine.time).toBeLessThan(6_000);
  });

  it('gives S-mode an illegal instruction without menvcfg.STCE', () => {
    const source = `
      la t0, trap
      csrw mtvec, t0
      ${SETUP.replace('csrs menvcfg, t0', 'nop')}
      csrw stimecmp, x0
      .align 2
    handler:
    trap:
      csrr a0, mcause
      ${FINISH}`;
    const { machine } = guest(assemble(source));
    expect(machine.run(10_000)).toEqual({ kind: 'exit', status: 2 });
  });
});

describe.skipIf(missing('clang and lld', ASSEMBLER))('-icount shift', () => {
  it('sets the rate of time, exactly and equally in both engines', () => {
    const kernel = assemble(TIMER);
    const spent = [0, 3, 6, 10].map(icountShift => {
      const run = (engine: EngineKind, piece: number) => {
        const { machine } = guestOn(engine, kernel, { icountShift });
        let result = machine.run(piece);
        while (result.kind === 'budget') result = machine.run(piece);
        return { result, spent: machine.spent, hash: stateHash(machine) };
      };
      const jit = run('jit', Infinity);
      expect(run('interp', Infinity)).toEqual(jit);
      expect(run('jit', 333)).toEqual(jit);
      expect(jit.result.kind).toBe('exit');
      return jit.spent;
    });
    // Three thousand ticks of 100 ns.
    for (const [i, shift] of [0, 3, 6, 10].entries()) {
      expect(spent[i]! - 300_000 / 2 ** shift).toBeGreaterThan(0);
      expect(spent[i]! - 300_000 / 2 ** shift).toBeLessThan(30);
    }
    expect(() => guestOn('interp', kernel, { icountShift: 11 })).toThrow(
      'icount shift 11: 0 to 10 are possible',
    );
    expect(() => guestOn('interp', kernel, { icountShift: 0.5 })).toThrow('icount shift 0.5');
  });
});
