// The programs of the region-shape search on libunicorn, which shares nothing with our engines: all
// of memory, with the registers that a program stores at its end. KCOVBOX_PROGRAMS sets how many.

import { describe, expect, test } from 'vitest';
import type { Image } from '../support/oracle/image.ts';
import { UNICORN, unicornRunner } from '../support/oracle/unicorn.ts';
import { Random, seedFromEnvironment, seedText } from '../support/random.ts';
import { assembleProgram, drawProgram, finalState, initialMemory } from '../support/shapes/program.ts';
import { missing } from '../support/tools.ts';

const SEED = seedFromEnvironment(0x0c0de);
const PROGRAMS = Number(process.env['KCOVBOX_PROGRAMS'] ?? 30);

describe.skipIf(missing('libunicorn', UNICORN))(`libunicorn agrees, seed ${seedText(SEED)}`, () => {
  test.each(['identity', 'bare'] as const)('with compiled programs (%s)', mapping => {
    const random = new Random(SEED);
    for (let done = 0; done < PROGRAMS; done++) {
      const program = drawProgram(random);
      const code = assembleProgram(program);
      const bytes = initialMemory(code, program, mapping);
      const wanted = unicornRunner.run({ bytes, end: BigInt(code.end) } as Image);
      const { ram, pc } = finalState(program, mapping);
      expect(pc, JSON.stringify(program)).toBe(BigInt(code.end));
      expect(Buffer.compare(ram, wanted), JSON.stringify(program)).toBe(0);
    }
  });
});
