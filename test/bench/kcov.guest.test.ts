// Coverage hooks in compiled code, JIT and interpreter side by side on the bench's traced workload: recording, disabled, an area
// that runs full. What the interpreter does is the kcov device; a difference in any register, byte or count stops the machine.

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { buildGuest } from '../../bench/build.ts';
import { WORKLOADS, type Workload } from '../../bench/workloads.ts';
import { createMachine, type MachineOptions } from '../../emulator/index.ts';
import { which } from '../../toolchain/index.ts';

const named = (name: string): Workload => WORKLOADS.find(w => w.name === name)!;

async function run(w: Workload, options: MachineOptions): Promise<string> {
  const kernel = { name: w.name, bytes: readFileSync(await buildGuest({ ...w, warmUp: 2, repeat: 6 })) };
  let text = '';
  const onConsole = (byte: number): void => {
    text += String.fromCharCode(byte);
  };
  const machine = createMachine({ kernel, bios: 'none', ramBytes: 128 << 20, onConsole, ...options });
  expect(machine.run(100_000_000)).toEqual({ kind: 'exit', status: 0 });
  return /end ([0-9a-f]{16})/.exec(text)![1]!;
}

describe.skipIf(!which('clang-19'))('traced workloads', () => {
  const small = (w: Workload): Workload => ({ ...w, defines: { ...w.defines, AREA_WORDS: 1000 } });
  for (const [what, w] of [
    ['that record pcs', named('kcov-pc')],
    ['that record comparisons and switches', named('kcov-cmp')],
    ['that nobody traces', named('kcov-off')],
    ['whose area is too small for pcs', small(named('kcov-pc'))],
    ['whose area is too small for comparisons', small(named('kcov-cmp'))],
  ] as const)
    test(`${what} leave the same with both engines and with hooks in C`, async () => {
      const lockstep = await run(w, { engine: 'lockstep' });
      expect(await run(w, { engine: 'interp', kcov: 'off' })).toBe(lockstep);
    });

  test('whose calls are elided compute the same', async () => {
    expect(await run(named('kcov-elided'), {})).toBe(await run(named('kcov-none'), {}));
  });
});
