// The self-checking programs of test/hart/asm on the whole machine, with every engine.

import { describe, expect, test } from 'vitest';
import { Machine } from '../../emulator/index.ts';
import { assemble, noAssembler, programs } from './assemble.ts';

describe.skipIf(noAssembler)('privileged programs end without a failing case', () => {
  for (const name of programs()) {
    for (const engine of ['interp', 'jit'] as const) {
      test(`${name} (${engine})`, () => {
        const kernel = { name, bytes: assemble(name) };
        const machine = Machine.create({ kernel, bios: 'none', engine, eager: true, ramBytes: 16 << 20 });
        expect(machine.run(100_000_000)).toEqual({ kind: 'exit', status: 0 });
      });
    }
  }
});
