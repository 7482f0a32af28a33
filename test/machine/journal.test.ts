// Times of replayed input are whole, ordered units; anything else is refused before the first
// instruction.
import { describe, expect, it } from 'vitest';
import { Journal, type JournalEntry } from '../../emulator/machine/journal.ts';
import { Machine } from '../../emulator/machine/machine.ts';

const entry = (at: number): JournalEntry => ({ at, port: 'uart', bytes: [1] });

describe('journal', () => {
  it('hands out what is due, in order, and says what is left', () => {
    const journal = new Journal([entry(0), entry(5), entry(5), entry(9)]);
    expect(journal.take(0)?.at).toBe(0);
    expect(journal.take(4)).toBeUndefined();
    expect(journal.next()).toBe(5);
    expect([journal.take(7)?.at, journal.take(7)?.at, journal.take(7)]).toEqual([5, 5, undefined]);
    expect(journal.waiting).toBe(1);
  });

  it('takes a million entries in one pass', () => {
    const journal = new Journal(Array.from({ length: 1_000_000 }, (_, at) => entry(at)));
    let taken = 0;
    while (journal.take(2_000_000)) taken++;
    expect(taken).toBe(1_000_000);
    expect(journal.next()).toBe(Infinity);
  });

  it.each([
    [[0.5], '0.5'],
    [[-1], '-1'],
    [[Number.NaN], 'NaN'],
    [[2 ** 53], '9007199254740992'],
    [[3, 2], '2'],
    [['1' as unknown as number], '1'],
  ])('refuses the times %j', (times, wrong) => {
    expect(() => new Journal(times.map(entry))).toThrow(`time ${wrong} is not a whole number`);
  });
});

describe('run', () => {
  const machine = (): Machine =>
    Machine.create({
      kernel: { name: 'loop.bin', bytes: Uint8Array.from([0x6f, 0, 0, 0]) }, // j .
      bios: 'none',
      ramBytes: 4 << 20,
      engine: 'interp',
    });

  it.each([0.5, Number.NaN, '7' as unknown as number])('refuses to run %s units', units => {
    expect(() => machine().run(units)).toThrow('not a whole number');
    expect(() => machine().run(1, units)).toThrow('not a whole number');
  });

  it('spends exactly the units that it is given', () => {
    const m = machine();
    expect(m.run(1234)).toEqual({ kind: 'budget' });
    expect(m.spent).toBe(1234);
    expect(m.run(-1)).toEqual({ kind: 'budget' });
  });
});
