// Machine.timeline of kcovbox/emulator: what it adds to the emulator's, and what it refuses.
import { expect, test } from 'vitest';
import { KcovboxError, Machine } from '../../library/emulator.ts';

/**
 * Counts to 100 in a0 and stores each number behind the code; prints one byte at each tenth store.
 */
const PROGRAM = Uint32Array.of(
  0x0000_0297, // auipc t0, 0
  0x1000_0337, // lui   t1, 0x10000
  0x0640_0393, // li    t2, 100
  0x0015_0513, // 1: addi a0, a0, 1
  0x10a2_b023, // sd   a0, 256(t0)
  0x00a3_0023, // sb   a0, 0(t1)
  0xfe75_1ae3, // bne  a0, t2, 1b
  0x0000_006f, // j .
);
const STORE = 0x8000_0010;
const CELL = 0x8000_0100;

const machineOf = (): Machine =>
  new Machine({ kernel: new Uint8Array(PROGRAM.buffer), bios: 'none', memory: 2 ** 21 });

test('goes back and forth; output comes once', () => {
  const machine = machineOf();
  const timeline = machine.timeline({ spacing: 50 });
  timeline.end(1000);
  expect(timeline.latest).toBe(1000);
  expect(machine.takeOutput()).toHaveLength(100);
  const all = timeline.moments(STORE);
  expect(all).toHaveLength(100);
  expect(all[0]).toEqual({ unit: 4, hart: 0 });
  expect(timeline.moments(STORE, { from: 50, most: 2 })).toEqual(
    all.filter(({ unit }) => unit >= 50).slice(0, 2),
  );
  expect(timeline.seek(200)).toEqual({ kind: 'budget' });
  const before = all.findLast(({ unit }) => unit < 200)!;
  expect(timeline.lastWrite(CELL, 8)).toEqual({
    ...before,
    pc: BigInt(STORE),
    by: 'hart',
    address: CELL,
    bytes: 8,
  });
  expect(timeline.previous(STORE)).toEqual(before);
  expect(timeline.position).toBe(before.unit);
  expect(timeline.next(STORE)).toEqual({ unit: before.unit + 4, hart: 0 });
  timeline.seek(0);
  expect(timeline.previous(STORE)).toBeUndefined();
  expect(timeline.lastWrite(CELL, 8)).toBeUndefined();
  expect(timeline.event('interrupt', 1)).toBeUndefined();
  expect(machine.takeOutput()).toHaveLength(0);
});

test('refuses places and memory that do not exist', () => {
  const machine = machineOf();
  machine.run(10);
  const timeline = machine.timeline();
  for (const wrong of [
    () => timeline.seek(9),
    () => timeline.lastWrite(0x1234, 8),
    () => timeline.lastWrite(CELL, 8, 3),
  ])
    expect(wrong).toThrow(KcovboxError);
});
