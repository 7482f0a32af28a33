// `why` on guests whose decision is known: an oracle steps through the failing run once and finds
// the unit at which the race, or the interrupt, made the failure certain.
import { describe, expect, test } from 'vitest';
import { Machine, type MachineOptions, stateHash } from '../../emulator/index.ts';
import { lineFailure } from '../../run/why/failure.ts';
import { wilson } from '../../run/why/interval.ts';
import { type Answer, type WhyOptions, why } from '../../run/why/why.ts';
import { ASSEMBLER, assemble, FINISH } from '../support/asm.ts';
import { missing } from '../support/tools.ts';

const ROUNDS = 400;
const WORK = 50;

/**
 * Each hart adds to a counter without a lock, with work between two additions. Hart 0 ends the run:
 * status 1 when an addition was lost.
 */
const RACE = `
  .globl race_load
  .globl race_store
  la s0, counter
  la s1, ready
  li s2, ${ROUNDS}
1: li t0, ${WORK}
2: addi t0, t0, -1
  bnez t0, 2b
race_load:
  lw t1, 0(s0)
  addi t1, t1, 1
race_store:
  sw t1, 0(s0)
  addi s2, s2, -1
  bnez s2, 1b
  li t1, 1
  amoadd.w.aqrl zero, t1, (s1)
  csrr t0, mhartid
  bnez t0, 4f
  li t1, 2
3: lw t0, 0(s1)
  bne t0, t1, 3b
  lw t0, 0(s0)
  li t1, ${2 * ROUNDS}
  sub a0, t0, t1
  snez a0, a0
  ${FINISH}
4: wfi
  j 4b
  .align 3
counter: .word 0
  .align 3
ready: .word 0`;

/** A loop with a window in which the timer's interrupt does harm. */
const WINDOW = `
  .globl window
  .globl window_end
  la t0, handler
  csrw mtvec, t0
  li s0, 0x02004000
  li t0, DUE
  sd t0, 0(s0)
  li t0, 0x80
  csrw mie, t0
  csrsi mstatus, 8
  li s1, 20000
1: li t0, 40
2: addi t0, t0, -1
  bnez t0, 2b
window:
  addi s2, s2, 1
  addi s2, s2, 2
  addi s2, s2, 3
window_end:
  addi s1, s1, -1
  bnez s1, 1b
  mv a0, s4
  ${FINISH}
  .align 2
handler:
  csrr s5, mepc
  la s6, window
  la s7, window_end
  bleu s5, s6, 1f
  bgtu s5, s7, 1f
  li s4, 1
1: li t1, -1
  sd t1, 0(s0)
  mret`;

interface Case {
  readonly options: MachineOptions;
  readonly symbol: (name: string) => bigint;
}

const caseOf = (source: string, more: Partial<MachineOptions>): Case => {
  const options: MachineOptions = { kernel: assemble(source), bios: 'none', ramBytes: 4 << 20, ...more };
  const image = Machine.create({ ...options, harts: 1 }).booted.image!;
  return { options, symbol: name => BigInt(image.find(name)!) };
};

/** The first seed with which the run fails. */
function failing(of: (seed: number) => MachineOptions): MachineOptions {
  for (let seed = 1; seed < 500; seed++) {
    const options = of(seed);
    const end = Machine.create(options).run(20_000_000);
    if (end.kind === 'exit' && end.status === 1) return options;
  }
  throw new Error('no seed fails');
}

const ask = (
  machine: MachineOptions,
  more: Partial<WhyOptions<bigint>> = {},
): Promise<Answer<bigint> | undefined> =>
  why({
    machine,
    end: { units: 20_000_000, time: Number.POSITIVE_INFINITY },
    failure: { kind: 'status', status: 1 },
    seed: 1n,
    spread: 20_000,
    most: 40,
    budget: 1e10,
    look: (m, hart) => m.harts[hart]!.state.pc,
    ...more,
  });

describe.skipIf(missing('clang and lld', ASSEMBLER))('why', () => {
  /** The unit at which the first lost addition's hart lost its turn, and the pc where it stood. */
  function firstLoss(options: MachineOptions, load: bigint, store: bigint): { unit: number; pc: bigint } {
    const machine = Machine.create({ ...options, engine: 'interp' });
    const inside: ({ unit: number; pc: bigint } | undefined)[] = [undefined, undefined];
    const hasLoaded = [false, false];
    const isLost = [false, false];
    let last = 0;
    for (;;) {
      const pcs = machine.harts.map(({ state }) => state.pc);
      const unit = machine.spent;
      if (machine.run(1).kind !== 'budget') throw new Error('no addition was lost');
      const hart = machine.scheduler.turn;
      if (hart !== last && hasLoaded[last]) inside[last] = { unit, pc: pcs[last]! };
      last = hart;
      const pc = pcs[hart]!;
      if (pc === load) [hasLoaded[hart], isLost[hart]] = [true, false];
      if (pc !== store) continue;
      if (isLost[hart]) return inside[hart]!;
      hasLoaded[hart] = false;
      isLost[1 - hart] = hasLoaded[1 - hart]!;
    }
  }

  test.each([2, 3])('names the switch of harts that lost an update (seed %i of the forks)', async seed => {
    const { options, symbol } = caseOf(RACE, { harts: 2 });
    const run = failing(n => ({ ...options, schedSeed: BigInt(n) }));
    const loss = firstLoss(run, symbol('race_load'), symbol('race_store'));
    const answer = (await ask(run, { seed: BigInt(seed) }))!;
    expect(['decided', 'gradual']).toContain(answer.kind);
    const { before, after, failing: side, fork } = answer.step!;
    expect({ before: before.unit, after: after.unit }).toEqual({ before: loss.unit, after: loss.unit + 1 });
    expect(before.fails / before.forks).toBeLessThan(0.5);
    expect(after.fails / after.forks).toBeGreaterThan(0.8);
    expect(side).toMatchObject({ unit: loss.unit, kind: 'turn', stops: loss.pc });
    // In the fork the hart goes on through the store.
    expect(fork).toMatchObject({ kind: 'turn', from: side!.from });
    expect(fork!.unit).toBeGreaterThan(loss.unit);
  });

  test('names the timer interrupt that came in the window', async () => {
    const timer = (due: number): Case => caseOf(WINDOW.replace('DUE', String(due)), {});
    let due = 5_000;
    const run = failing(() => timer(due++).options);
    const { symbol } = timer(due - 1);
    const machine = Machine.create(run);
    let unit = 0;
    for (let pc = 0n; ; unit = machine.spent) {
      pc = machine.harts[0]!.state.pc;
      machine.run(1);
      const isIn = pc > symbol('window') && pc <= symbol('window_end');
      if (isIn && machine.harts[0]!.csr.peek(0x341) === pc) break;
    }
    const answer = (await ask(run))!;
    const { before, after, failing: side } = answer.step!;
    // The alarm fires when the unit before the handler is done, and forks from there are too late.
    expect({ kind: answer.kind, before: before.unit, after: after.unit }).toEqual({
      kind: 'decided',
      before: unit - 1,
      after: unit,
    });
    expect(side).toMatchObject({ unit, kind: 'interrupt', cause: 7, from: 0, to: 0 });
  });

  test('a failure that no schedule avoids is inevitable from the start', async () => {
    const { options } = caseOf(`li a0, 1\n${FINISH}`, { harts: 2 });
    expect(await ask(options)).toMatchObject({ kind: 'always', step: undefined });
  });

  test('a run with another end has no answer', async () => {
    const { options } = caseOf(`li a0, 2\n${FINISH}`, {});
    expect(await ask(options)).toBeUndefined();
    expect(await ask(options, { failure: lineFailure(/never printed/) })).toBeUndefined();
  });

  test('the same seed gives the same answer, on both engines', async () => {
    const { options } = caseOf(RACE, { harts: 2 });
    const run = failing(n => ({ ...options, schedSeed: BigInt(n) }));
    const one = await ask(run, { most: 10 });
    expect(await ask(run, { most: 10 })).toEqual(one);
    expect(await ask({ ...run, engine: 'interp' }, { most: 10 })).toEqual(one);
    expect((await ask(run, { most: 10, seed: 9n }))!.spent).not.toBe(one!.spent);
  });

  test('a budget ends the search', async () => {
    const { options } = caseOf(RACE, { harts: 2 });
    const run = failing(n => ({ ...options, schedSeed: BigInt(n) }));
    const answer = (await ask(run, { budget: 3_000_000 }))!;
    expect(answer.kind).toBe('unfinished');
    // A fork that has begun is finished.
    expect(answer.spent).toBeLessThan(8_000_000);
  });

  test('a diverted machine is as it was after a return, and the same whatever the pieces', () => {
    const { options } = caseOf(RACE, { harts: 2, runHash: 50_000 });
    const machine = Machine.create(options);
    machine.run(100_001);
    const snapshot = machine.snapshot();
    const end = (): string => {
      while (machine.run(20_000_000).kind === 'budget');
      return stateHash(machine);
    };
    const straight = end();
    const hashes = [1n, 1n, 2n].map((seed, i) => {
      machine.restore(snapshot);
      machine.divert(seed, 20_000);
      for (let n = 1; i === 1 && n < 5000; n++) machine.run((n * 7) % 101);
      return end();
    });
    expect(hashes[1]).toBe(hashes[0]);
    expect(new Set([straight, ...hashes]).size).toBe(3);
    machine.restore(snapshot);
    expect(end()).toBe(straight);
  });
});

test("an interval's ends are where the share is 1.96 deviations away (Wilson 1927)", () => {
  for (const [hits, n] of [
    [57, 60],
    [1, 10],
    [5, 10],
    [0, 60],
    [60, 60],
  ] as const) {
    const { low, high } = wilson(hits, n);
    for (const end of [low, high])
      if (end > 0 && end < 1)
        expect(Math.abs(hits / n - end) / Math.sqrt((end * (1 - end)) / n)).toBeCloseTo(1.96, 4);
    expect(low <= hits / n && hits / n <= high && low < high).toBe(true);
  }
  expect(wilson(0, 60).low).toBe(0);
  expect(wilson(60, 60).high).toBe(1);
  expect(wilson(0, 0)).toEqual({ low: 0, high: 1 });
});
