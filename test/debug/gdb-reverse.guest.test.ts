// Time travel over the raw protocol, without a GDB: both directions against an oracle that steps
// through the run once, breakpoints that the guest cannot see, and pages that are mapped later.
// KCOVBOX_SEED.
import { describe, expect, test } from 'vitest';
import { frame, fromHex, toHex } from '../../emulator/debug/gdb-packets.ts';
import { GdbStub, Machine, type MachineOptions, stateHash, Timeline } from '../../emulator/index.ts';
import { ASSEMBLER, assemble, FINISH } from '../support/asm.ts';
import { Random, seedFromEnvironment, seedText } from '../support/random.ts';
import { missing } from '../support/tools.ts';

const ENGINES = ['jit', 'interp'] as const;

/** A debugger that has attached to a machine before its first instruction. */
class Client {
  readonly machine: Machine;
  readonly timeline: Timeline;
  readonly #stub: GdbStub;

  constructor(options: MachineOptions, isRecorded = true) {
    this.machine = Machine.create({ bios: 'none', ramBytes: 16 << 20, eager: true, ...options });
    const end = isRecorded ? { end: { units: 1_000_000, time: Infinity } } : {};
    this.timeline = new Timeline(this.machine, { spacing: 1000, ...end });
    this.#stub = new GdbStub(this.machine, this.timeline);
    this.say('QStartNoAckMode');
  }

  /** The answer to a packet; of one that lets the guest run, when it stands again. */
  say(text: string): string {
    this.#stub.receive(new TextEncoder().encode(frame(text)));
    for (let i = 0; this.#stub.isRunning && i < 100_000; i++) this.#stub.run(100_000);
    return /\$(.*)#..$/s.exec(this.#stub.take())?.[1] ?? '';
  }

  detach(): void {
    this.say('D');
  }

  register(n: number): bigint {
    const bytes = fromHex(this.say(`p${n.toString(16)}`))!;
    return new DataView(bytes.buffer).getBigUint64(0, true);
  }

  monitor(line: string): string {
    const text = new TextDecoder().decode(
      fromHex(this.say(`qRcmd,${toHex(new TextEncoder().encode(line))}`)),
    );
    return text;
  }

  find(name: string): string {
    return this.machine.booted.image!.find(name)!.toString(16);
  }
}

const PC = 32;

const COUNT = `
  li s0, 0
  la s1, cell
.globl again
again:
  addi s0, s0, 1
  andi t1, s0, 7
  bnez t1, 2f
.globl store
store:
  sd s0, 0(s1)
2:
  li t1, 100
  bne s0, t1, again
.globl done
done:
  li a0, 7
  ${FINISH}
  .align 3
.globl cell
cell: .dword 0`;

/** Sums its own code, over and over: a breakpoint in memory would show in the status. */
const SELF = `
  li s0, 50
  li a0, 0
.globl again
again:
  la t0, _start
  la t1, end
1: lw t2, 0(t0)
.globl inner
inner:
  add a0, a0, t2
  addi t0, t0, 4
  bltu t0, t1, 1b
  addi s0, s0, -1
  bnez s0, again
  slli a0, a0, 56
  srli a0, a0, 56
  ${FINISH}
end:`;

/** Maps its code at another address, by a page of 1 GiB, and jumps there. */
const MAPPED = `
  la t0, table
  li t1, ${(0x8000_0000 >>> 12) * 1024 + 0xcf}
  sd t1, 8(t0)
  sd t1, 16(t0)
  srli t0, t0, 12
  li t1, 8
  slli t1, t1, 60
  or t0, t0, t1
  csrw satp, t0
  li t0, -1
  csrw pmpaddr0, t0
  li t0, 31
  csrw pmpcfg0, t0
  li t0, 0x1800
  csrc mstatus, t0
  li t0, 0x0800
  csrs mstatus, t0
  la t0, there
  li t1, 0x40000000
  sub t0, t0, t1
  csrw mepc, t0
  la t0, trap
  csrw mtvec, t0
  mret
.globl there
there:
  li a0, 5
  ecall
  .align 2
trap:
  ${FINISH}
  .align 12
table: .zero 4096`;

describe.skipIf(missing('clang and lld', ASSEMBLER))('gdb backwards', () => {
  test.each(ENGINES)(
    'finds breakpoints and stores in both directions, as an oracle has them (%s)',
    engine => {
      const seed = seedFromEnvironment(0x6db);
      const random = new Random(seed);
      const client = new Client({ kernel: assemble(COUNT), engine });
      const straight = Machine.create({
        kernel: assemble(COUNT),
        bios: 'none',
        ramBytes: 16 << 20,
        engine: 'interp',
      });
      const pcs: bigint[] = [];
      while (straight.run(1).kind === 'budget') pcs.push(straight.harts[0]!.state.pc);
      pcs.unshift(0x8000_0000n);
      const end = straight.spent;
      const addresses = ['again', 'store', 'done'].map(name => client.find(name));
      const storeAt = pcs.flatMap((pc, unit) => (pc === BigInt(`0x${addresses[1]}`) ? [unit] : []));
      expect(client.say('c')).toBe('T05thread:1;replaylog:end;');
      expect(client.timeline.position).toBe(end);
      for (let i = 0; i < 40; i++) {
        const why = `seed ${seedText(seed)}, search ${i}`;
        const here = random.below(end + 1);
        const isBack = random.oneIn(2);
        client.timeline.seek(here);
        if (random.oneIn(3)) {
          client.say(`Z2,${client.find('cell')},8`);
          const answer = client.say(isBack ? 'bc' : 'c');
          client.say(`z2,${client.find('cell')},8`);
          const unit = isBack ? storeAt.findLast(at => at < here) : storeAt.find(at => at >= here);
          const [kind, place] =
            unit === undefined
              ? [isBack ? 'replaylog:begin' : 'replaylog:end', isBack ? 0 : end]
              : [`watch:${client.find('cell')}`, isBack ? unit + 1 : unit];
          expect(answer, why).toBe(`T05thread:1;${kind};`);
          expect(client.timeline.position, why).toBe(place);
          continue;
        }
        const address = random.pick(addresses);
        client.say(`Z0,${address},4`);
        const answer = client.say(isBack ? 'bc' : 'c');
        client.say(`z0,${address},4`);
        const isThere = (pc: bigint): boolean => pc === BigInt(`0x${address}`);
        const unit = isBack
          ? pcs.findLastIndex((pc, at) => at < here && isThere(pc))
          : pcs.findIndex((pc, at) => at > here && at < end && isThere(pc));
        expect(answer, why).toBe(
          `T05thread:1;${unit >= 0 ? 'swbreak:' : isBack ? 'replaylog:begin' : 'replaylog:end'};`,
        );
        expect(client.timeline.position, why).toBe(unit >= 0 ? unit : isBack ? 0 : end);
      }
      client.timeline.seek(100);
      for (let unit = 99; unit >= 90; unit--) {
        expect(client.say('bs')).toBe('T05thread:1;');
        expect(client.register(PC)).toBe(pcs[unit]);
      }
      client.detach();
      client.timeline.end();
      expect(stateHash(client.machine)).toBe(stateHash(straight));
    },
  );

  test.each(ENGINES)('the guest sees no breakpoint in its own code (%s)', engine => {
    const straight = Machine.create({ kernel: assemble(SELF), bios: 'none', ramBytes: 16 << 20, engine });
    const result = straight.run();
    const client = new Client({ kernel: assemble(SELF), engine }, false);
    for (const name of ['again', 'inner']) client.say(`Z0,${client.find(name)},4`);
    for (let i = 0; i < 100; i++) expect(client.say('c')).toBe('T05thread:1;swbreak:;');
    client.say(`z0,${client.find('inner')},4`);
    for (let i = 0; i < 3; i++) expect(client.say('bc')).toBe('T05thread:1;swbreak:;');
    client.detach();
    expect(client.machine.run()).toEqual(result);
    expect(stateHash(client.machine)).toBe(stateHash(straight));
  });

  test.each(ENGINES)('no breakpoint is missed on a page that is mapped later (%s)', engine => {
    const client = new Client({ kernel: assemble(MAPPED), engine });
    const there = BigInt(`0x${client.find('there')}`) - 0x4000_0000n;
    client.say(`Z0,${there.toString(16)},4`);
    expect(client.say('c')).toBe('T05thread:1;swbreak:;');
    expect(client.register(PC)).toBe(there);
    expect(client.say('c')).toBe('T05thread:1;replaylog:end;');
    expect(client.machine.stopped).toEqual({ kind: 'exit', status: 5 });
    expect(client.say('bc')).toBe('T05thread:1;swbreak:;');
    expect(client.register(PC)).toBe(there);
  });

  test('harts are threads: a step back is one of the hart that is asked for', () => {
    const source = `csrr t0, mhartid\nli t1, 40000\nmul t0, t0, t1\n1: addi t0, t0, 1\nj 1b`;
    const client = new Client({ kernel: assemble(source), harts: 3, engine: 'jit' });
    for (const thread of [3, 1, 2, 2, 1]) {
      client.timeline.seek(70_001);
      client.say(`Hg${thread}`);
      const before = client.machine.harts.map(({ state }) => state.getX(5));
      const pc = client.register(PC);
      expect(client.say('bs')).toBe(`T05thread:${thread};`);
      expect(client.register(PC)).not.toBe(pc);
      expect(client.say('s')).toBe(`T05thread:${thread};`);
      expect(client.register(PC)).toBe(pc);
      expect(client.machine.harts[thread - 1]!.state.getX(5)).toBe(before[thread - 1]);
    }
  });

  test('monitor leaves the thread selected: GDB does not select it again', () => {
    const client = new Client({ kernel: assemble(COUNT), harts: 2 });
    expect(client.say('Hg2')).toBe('OK');
    const before = client.register(PC);
    client.monitor('seek 100');
    expect(client.machine.scheduler.turn).toBe(0);
    expect(client.register(PC)).toBe(client.machine.harts[1]!.state.pc);
    expect(client.register(PC)).not.toBe(client.machine.harts[0]!.state.pc);
    client.monitor('position');
    client.monitor('seek start');
    expect(client.register(PC)).toBe(before);
  });

  test('monitor: places, and the last store', () => {
    const client = new Client({ kernel: assemble(COUNT) });
    expect(client.monitor('seek end')).toMatch(/^unit \d+ of 0 to \d+: hart 0, pc 0x8/);
    expect(client.monitor('seek 100')).toMatch(/^unit 100 /);
    expect(client.monitor('seek -1')).toMatch(/^unit 99 /);
    expect(client.monitor('seek +3')).toMatch(/^unit 102 /);
    expect(client.monitor('position')).toMatch(/^unit 102 of 0 to/);
    expect(client.monitor(`last-write 0x${client.find('cell')} 8`)).toMatch(
      new RegExp(`^unit \\d+: hart 0, pc 0x${client.find('store')}, 8 bytes\n$`),
    );
    expect(client.monitor('seek start')).toMatch(/^unit 0 /);
    expect(client.monitor(`last-write 0x${client.find('cell')} 8`)).toBe(
      'nothing stored there since unit 0\n',
    );
    for (const wrong of ['', 'seek', 'seek x', 'last-write 5', 'last-write 0x10 99999999', 'seek 1e9'])
      expect(client.monitor(wrong)).toContain('monitor seek N|');
    expect(client.monitor('seek -5')).toContain('there is no place -5');
    expect(client.monitor('last-write 0 8')).toContain('bytes of ram');
  });

  test('a recorded run is not changed; a live one forgets the past of what was changed', () => {
    const recorded = new Client({ kernel: assemble(COUNT) });
    for (const write of [`M${recorded.find('cell')},1:ff`, 'P5=0100000000000000'])
      expect(recorded.say(write)).toBe('E01');
    const live = new Client({ kernel: assemble(COUNT) }, false);
    live.say('s');
    live.say('s');
    expect(live.say('P8=3000000000000000')).toBe('OK');
    expect(live.say('bc')).toBe('T05thread:1;replaylog:begin;');
    expect(live.timeline.position).toBe(2);
    expect(live.register(8)).toBe(0x30n);
  });
});
