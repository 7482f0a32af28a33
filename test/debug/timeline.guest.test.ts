// A run that goes both ways: places are the same each time, and the last store to an address is
// that of an oracle, which steps through the run once and writes down every store. KCOVBOX_SEED.
import { describe, expect, test } from 'vitest';
import { findEvent } from '../../emulator/debug/timeline/events.ts';
import { Timeline } from '../../emulator/debug/timeline/timeline.ts';
import { createMachine, Machine, type MachineOptions, stateHash } from '../../emulator/index.ts';
import { ASSEMBLER, assemble, FINISH } from '../support/asm.ts';
import { Random, seedFromEnvironment, seedText } from '../support/random.ts';
import { missing } from '../support/tools.ts';

const BUFFER = 0x8040_0000;
const ROUNDS = 3000;
const T1 = 6;
const EDU = 0x401_0000;
/** The device's own memory, as it addresses it. */
const EDU_BUFFER = 0x4_0000;

/** Each hart stores to words of two pages at random: stores, swaps, and some of them in vain. */
const PROGRAM = `
  .globl plain
  .globl swap
  li s0, ${BUFFER}
  li s1, ${ROUNDS}
  csrr s2, mhartid
  addi s2, s2, 77
  li s3, 6364136223846793005
  li s4, 1442695040888963407
1: mul s2, s2, s3
  add s2, s2, s4
  srli t0, s2, 40
  slli t0, t0, 3
  li t2, 0x1ff8
  and t0, t0, t2
  add t1, s0, t0
  srli t2, s2, 60
  beqz t2, 2f
plain:
  sd t2, 0(t1)
  j 3f
2:
swap: amoswap.d t3, s1, (t1)
3: addi s1, s1, -1
  bnez s1, 1b
  csrr t0, mhartid
  bnez t0, 4f
  li a0, 3
  ${FINISH}
4: wfi
  j 4b`;

interface Logged {
  readonly unit: number;
  readonly hart: number;
  readonly pc: bigint;
  readonly pa: number;
}

/** Every store of the run, by stepping through it. */
function storesOf(options: MachineOptions): { log: Logged[]; end: number } {
  const machine = Machine.create({ ...options, engine: 'interp' });
  const image = machine.booted.image!;
  const places = new Set([image.find('plain'), image.find('swap')].map(pa => BigInt(pa!)));
  const log: Logged[] = [];
  for (;;) {
    const before = machine.harts.map(({ state }) => ({ pc: state.pc, pa: Number(state.getX(T1)) }));
    const unit = machine.spent;
    const { kind } = machine.run(1);
    const hart = machine.scheduler.turn;
    const { pc, pa } = before[hart]!;
    if (places.has(pc) && machine.spent > unit) log.push({ unit, hart, pc, pa });
    if (kind !== 'budget') return { log, end: machine.spent };
  }
}

describe.skipIf(missing('clang and lld', ASSEMBLER))('a timeline', () => {
  test.each([
    ['interp', 1],
    ['jit', 1],
    ['jit', 3],
  ] as const)('with %s and %d harts', (engine, harts) => {
    const seed = seedFromEnvironment(0x71e);
    const random = new Random(seed);
    const options: MachineOptions = {
      kernel: assemble(PROGRAM),
      bios: 'none',
      ramBytes: 16 << 20,
      harts,
      engine,
      eager: true,
      schedSeed: 5n,
    };
    const { log, end } = storesOf(options);
    expect(log.length).toBeGreaterThanOrEqual(ROUNDS); // hart 0 ends the run
    const timeline = new Timeline(createMachine(options), { spacing: 1000, maxBytes: 1 << 20 });
    expect(timeline.end()).toEqual({ kind: 'exit', status: 3 });
    expect(timeline.position).toBe(end);
    expect(timeline.kept.snapshots).toBeGreaterThan(3);
    expect(timeline.kept.bytes).toBeLessThan(2 << 20);

    for (let i = 0; i < 40; i++) {
      const why = `seed ${seedText(seed)}, question ${i}`;
      const before = random.below(end + 1);
      const pa = random.oneIn(8) ? BUFFER + 8 * random.below(1024) : random.pick(log).pa;
      const wanted = log.findLast(store => store.pa === pa && store.unit < before);
      const found = timeline.lastWrite(pa, 8, before);
      if (!wanted) expect(found, why).toBeUndefined();
      else expect(found, why).toMatchObject({ ...wanted, by: 'hart', bytes: 8 });
    }
    expect(timeline.position).toBe(end);

    const executed = log.filter(({ pc }) => pc === log[0]!.pc);
    for (let i = 0; i < 20; i++) {
      const why = `seed ${seedText(seed)}, search ${i}`;
      const here = random.oneIn(2) ? random.below(end) : random.pick(executed).unit;
      const behind = executed.find(({ unit }) => unit > here);
      const before = executed.findLast(({ unit }) => unit < here);
      const searches = [
        [behind, () => timeline.next(log[0]!.pc)],
        [before, () => timeline.previous(log[0]!.pc)],
      ] as const;
      for (const [wanted, search] of searches) {
        timeline.seek(here);
        expect(search(), why).toEqual(wanted && { unit: wanted.unit, hart: wanted.hart });
        expect(timeline.position, why).toBe(wanted?.unit ?? here);
      }
    }
  });

  test('knows a store by a device from one by a hart, and one that changes nothing', () => {
    const edu = (register: number, value: number): string =>
      `li t0, ${EDU + register}\nli t1, ${value}\nsd t1, 0(t0)\n`;
    const transfer = (from: number, to: number, toRam: boolean): string => `
      ${edu(0x80, from)} ${edu(0x88, to)} ${edu(0x90, 8)} ${edu(0x98, toRam ? 3 : 1)}
    7: ld t1, 0(t0)
      andi t1, t1, 1
      bnez t1, 7b`;
    const machine = createMachine({
      kernel: assemble(`li s0, ${BUFFER}\nli t1, 7\nsd t1, 0(s0)
        ${transfer(BUFFER, EDU_BUFFER, false)} ${transfer(EDU_BUFFER, BUFFER + 64, true)}
        .globl vain
        vain: sd zero, 128(s0)
        li a0, 3
        ${FINISH}`),
      bios: 'none',
      ramBytes: 16 << 20,
    });
    const timeline = new Timeline(machine, { spacing: 5000 });
    expect(timeline.end()).toEqual({ kind: 'exit', status: 3 });
    expect(timeline.lastWrite(BUFFER + 68, 2)).toMatchObject({ by: 'device', pa: BUFFER + 64, bytes: 8 });
    expect(timeline.lastWrite(BUFFER, 8)).toMatchObject({ by: 'hart', unit: 3, bytes: 8 });
    const vain = BigInt(machine.booted.image!.find('vain')!);
    expect(timeline.lastWrite(BUFFER + 128, 8)).toMatchObject({ by: 'hart', pc: vain });
    expect(timeline.lastWrite(BUFFER + 256, 8)).toBeUndefined();
    expect(timeline.lastWrite(BUFFER + 100, 4096)).toMatchObject({ pc: vain });
    expect(() => timeline.lastWrite(1 << 20, 8)).toThrow('bytes of ram');
  });

  test('goes to the same place each time, and to no place before its first', () => {
    const options: MachineOptions = {
      kernel: assemble(PROGRAM),
      bios: 'none',
      ramBytes: 16 << 20,
      harts: 3,
      schedSeed: 9n,
    };
    const machine = createMachine(options);
    machine.run(500);
    const timeline = new Timeline(machine, { spacing: 777 });
    expect(() => timeline.seek(499)).toThrow('there is no place 499; it begins at 500');
    expect(() => timeline.seek(600.5)).toThrow('there is no place 600.5');
    const random = new Random(seedFromEnvironment(0x71f));
    for (let i = 0; i < 25; i++) {
      const unit = 500 + random.below(60_000);
      const straight = Machine.create({ ...options, engine: 'interp' });
      straight.run(unit);
      timeline.seek(unit);
      expect({ unit: timeline.position, hash: stateHash(machine) }).toEqual({
        unit,
        hash: stateHash(straight),
      });
    }
  });

  test('a search that is ended early leaves the machine as it was', () => {
    const machine = createMachine({ kernel: assemble(PROGRAM), bios: 'none', ramBytes: 16 << 20 });
    const timeline = new Timeline(machine, { spacing: 777 });
    timeline.end();
    const last = timeline.position;
    const pc = machine.harts[0]!.state.pc;
    const random = new Random(seedFromEnvironment(0xe4d));
    const searches = [
      () => timeline.findMoments(new Set([pc])),
      () => timeline.findLastWrite(BUFFER + 0x8000, 8),
      () => findEvent(timeline, 'exception', 1_000_000),
    ];
    for (let i = 0; i < 30; i++) {
      timeline.seek(random.below(last));
      const [unit, hash] = [timeline.position, stateHash(machine)];
      const search = random.pick(searches)();
      for (let left = 1 + random.below(20); left > 0; left--) search.next();
      search.return(undefined as never);
      expect([timeline.position, stateHash(machine)]).toEqual([unit, hash]);
      // No breakpoint of the search is left.
      timeline.seek(last);
      expect(timeline.position).toBe(last);
    }
  });
});
