// A short dose of random device programs; test/devices/search.slow.test.ts has the long one. And
// faults that only the limits of host time and memory can find.

import { expect, it, vi } from 'vitest';
import { Edu } from '../../devices/edu.ts';
import { describeOnce } from '../support/again.ts';
import { seedFromEnvironment } from '../support/random.ts';
import { HOST_LIMITS } from './search/limits.ts';
import { Search } from './search/search.ts';

it('no program of a guest throws in a device or costs more than its budget', () => {
  const { report } = new Search().run(seedFromEnvironment(0xde71), 1000);
  expect(report).toBeUndefined();
}, 120_000);

// They measure the host's time and memory, so they get a second attempt, as the oracles do.
describeOnce('the limits of the host find', { timeout: 120_000, retry: 1 }, () => {
  const { write } = Edu.prototype;

  /** The report of a search while each store to the edu device does this first. */
  const reportWith = (fault: () => void, limits = HOST_LIMITS): string | undefined => {
    const spy = vi.spyOn(Edu.prototype, 'write').mockImplementation(function (this: Edu, ...args) {
      fault();
      write.apply(this, args);
    });
    try {
      return new Search(limits).run(0xde72, 1000).report;
    } finally {
      spy.mockRestore();
    }
  };

  it('a store that never returns, and shrink its program to that store', () => {
    let turns = 0;
    const report = reportWith(
      () => {
        for (;;) turns++;
      },
      { ...HOST_LIMITS, cpuSeconds: 0.5 },
    );
    expect(turns).toBeGreaterThan(0);
    expect(report).toMatch(/^seed \w+, program \d+: HostOverrun: the program does not return/);
    expect(report!.split('\n').slice(2)).toEqual([expect.stringMatching(/^store at 0x/)]);
  });

  it('stores that together take too much time', () => {
    const report = reportWith(
      () => {
        const { user } = process.cpuUsage();
        while (process.cpuUsage().user - user < 60_000);
      },
      { ...HOST_LIMITS, cpuSeconds: 0.5 },
    );
    expect(report).toMatch(/HostOverrun: the program (takes|does not return within) \d/);
  });

  it('a store that takes a buffer as large as its word allows', () => {
    const report = reportWith(() => void new Uint8Array(HOST_LIMITS.bytesAtOnce + 1));
    expect(report).toMatch(/HostOverrun: the program takes \d+ bytes of memory/);
  });

  it.each([
    ['in the heap', () => Array.from({ length: 4096 }, (_, i) => [i])],
    ['outside of it', () => new Uint8Array(0x4_0000)],
  ])('memory that is left behind %s', (_, take) => {
    const left: unknown[] = [];
    const report = reportWith(() => void left.push(take()));
    expect(left.length).toBeGreaterThan(0);
    expect(report).toMatch(/HostOverrun: this program and \d+ before it leave \d+ bytes behind/);
  });
});
