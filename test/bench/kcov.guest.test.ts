// Coverage hooks in compiled code, JIT and interpreter side by side on the bench's traced workload:
// recording, disabled, a full buffer. The interpreter calls the kcov device; a difference in any
// register, byte or count stops the machine.

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { buildGuest } from '../../bench/build.ts';
import { WORKLOADS, type Workload } from '../../bench/workloads.ts';
import { createMachine, type MachineOptions } from '../../emulator/index.ts';
import { which } from '../../toolchain/index.ts';

const named = (name: string): Workload => WORKLOADS.find(w => w.name === name)!;

interface Ran {
  /** The workload's checksum. */
  readonly sum: string;
  readonly records: number;
  /** Of these, the ones that went through the device. */
  readonly byDevice: number;
  /** Of all records that a passive listener heard, with their places. */
  readonly digest: number;
  /** Of these, the ones that it took in runs. */
  readonly runs: number;
}

async function count(
  w: Workload,
  options: MachineOptions,
  listen?: 'active' | 'passive' | 'runs',
): Promise<Ran> {
  const kernel = { name: w.name, bytes: readFileSync(await buildGuest({ ...w, warmUp: 2, repeat: 6 })) };
  let text = '';
  const onConsole = (byte: number): void => {
    text += String.fromCharCode(byte);
  };
  const machine = createMachine({ kernel, bios: 'none', ramBytes: 128 << 20, onConsole, ...options });
  let heard = 0;
  let digest = 0;
  const take = (word: number): void => {
    digest = (Math.imul(digest, 31) + word) | 0;
  };
  if (listen === 'active') machine.board.kcov!.onRecord(() => heard++);
  let runs = 0;
  if (listen === 'passive' || listen === 'runs')
    machine.board.kcov!.observe({
      isPassive: true,
      record: (origin, _isEdge, words, area, index) => {
        heard++;
        for (const word of words) take(word);
        for (const word of [origin.contextAddress, area, index]) take(word);
      },
      ...(listen === 'runs' && {
        run: ({ contextAddress }, { words, at, halves, count: length, area, index }) => {
          runs += length;
          heard += length;
          for (let i = 0; i < length; i++) {
            for (const word of words.subarray(at + i * halves, at + (i + 1) * halves)) take(word);
            for (const word of [contextAddress, area, index + i]) take(word);
          }
        },
      }),
    });
  expect(machine.run(100_000_000)).toEqual({ kind: 'exit', status: 0 });
  const records = machine.kcovRecords;
  machine.board.kcov?.flush();
  expect(machine.kcovRecords).toBe(records);
  if (listen) expect(heard).toBe(records);
  return {
    sum: /end ([0-9a-f]{16})/.exec(text)![1]!,
    records,
    byDevice: machine.board.kcov?.records ?? 0,
    digest,
    runs,
  };
}

const run = async (w: Workload, options: MachineOptions): Promise<string> => (await count(w, options)).sum;

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

  for (const [what, w] of [
    ['pcs', named('kcov-pc')],
    ['comparisons and switches', named('kcov-cmp')],
    ['lost pcs', small(named('kcov-pc'))],
    ['lost comparisons', small(named('kcov-cmp'))],
  ] as const)
    test(`the count of ${what} is the same in compiled code, interpreted and listened to`, async () => {
      const jit = await count(w, { engine: 'jit', eager: true });
      const interp = await count(w, { engine: 'interp' });
      expect(jit.records).toBe(interp.records);
      expect((await count(w, { engine: 'jit', eager: true }, 'active')).records).toBe(interp.records);
      const passive = await count(w, { engine: 'jit', eager: true }, 'passive');
      expect(passive).toEqual(await count(w, { engine: 'interp' }, 'passive'));
      const inRuns = await count(w, { engine: 'jit', eager: true }, 'runs');
      expect({ ...inRuns, runs: 0 }).toEqual(passive);
      if (!what.startsWith('lost')) expect(inRuns.runs).toBeGreaterThan(inRuns.records / 2);
      expect(passive.byDevice).toBe(interp.records);
      expect(interp.byDevice).toBe(interp.records);
      expect(jit.records).toBeGreaterThan(1000);
      // The rest was counted where it was recorded.
      expect(jit.byDevice).toBeLessThan(jit.records / 2);
    });

  test('whose calls are elided compute the same', async () => {
    expect(await run(named('kcov-elided'), {})).toBe(await run(named('kcov-none'), {}));
  });
});
