// JIT and interpreter side by side on guests: the self-checking privileged programs, and the kernel
// from its first instruction to the end of a kcov client. A difference is printed with the
// instructions before it.

import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { createMachine } from '../../emulator/index.ts';
import { assemble, noAssembler, programs } from '../hart/assemble.ts';

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

describe.skipIf(noAssembler)('privileged programs in lockstep', () => {
  for (const name of programs()) {
    test(name, () => {
      const kernel = { name, bytes: assemble(name) };
      const machine = createMachine({ kernel, bios: 'none', engine: 'lockstep', ramBytes: 16 << 20 });
      expect(machine.run(20_000_000)).toEqual({ kind: 'exit', status: 0 });
    });
  }
});

describe('the kernel in lockstep', () => {
  for (const [dialect, smp] of [
    ['openbsd', '1'],
    ['linux', '3'],
  ] as const) {
    test(`${dialect}, ${smp} harts, a client that records`, () => {
      const { status, stderr } = spawnSync(
        process.execPath,
        [
          ...[join(ROOT, 'bin', 'kcovbox.cjs'), 'run', '--engine', 'lockstep', '--smp', smp],
          ...['--dialect', dialect, join(ROOT, 'guest-programs', `${dialect}-kcov.c`)],
        ],
        { encoding: 'utf8', timeout: 170_000 },
      );
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    });
  }
});
