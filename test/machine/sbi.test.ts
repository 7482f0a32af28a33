// The firmware of a machine, called by the host.

import { expect, test } from 'vitest';
import { EXCEPTIONS, INSTRET } from '../../emulator/hart/layout.ts';
import { Machine, MIB, RAM_BASE } from '../../emulator/index.ts';
import { KCOV_RECORDS } from '../../emulator/machine/kcov-inline/window.ts';

test('a hart that is started again goes on counting', () => {
  const kernel = { name: 'loop.bin', bytes: Uint8Array.of(0x6f, 0, 0, 0) };
  const machine = Machine.create({ kernel, ramBytes: 16 * MIB });
  const { state } = machine.harts[0]!;
  const counts = [INSTRET, EXCEPTIONS, KCOV_RECORDS];
  for (const [i, count] of counts.entries()) state.set64(count, BigInt(i + 5));
  machine.sbi!.start(0, RAM_BASE, 0n);
  expect(counts.map(count => state.get64(count))).toEqual([5n, 6n, 7n]);
  expect(machine.kcovRecords).toBe(7);
  machine.reset();
  expect(machine.kcovRecords).toBe(0);
});
