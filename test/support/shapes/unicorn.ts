// The programs of the region-shape search on libunicorn. Apart from the search itself, which also
// runs in a browser.

import type { Tier } from '../../../emulator/engine/jit/region/region.ts';
import type { Image } from '../oracle/image.ts';
import { unicornRunner } from '../oracle/unicorn.ts';
import { Random } from '../random.ts';
import { NO_TRACING } from './hooks.ts';
import {
  assembleProgram,
  differentByte,
  drawProgram,
  finalState,
  initialMemory,
  type ShapeProgram,
  shrinkProgram,
} from './program.ts';
import type { SearchResult } from './search.ts';

/**
 * The same end as on libunicorn, which has no kcov device: no hook records. How it differs, or
 * undefined.
 */
function compareWithUnicorn(
  drawn: ShapeProgram,
  mapping: 'identity' | 'bare',
  tier: Tier,
): string | undefined {
  const program = { ...drawn, tracing: NO_TRACING };
  const code = assembleProgram(program);
  const bytes = initialMemory(code, program, mapping);
  const wanted = unicornRunner.run({ bytes, end: BigInt(code.end) } as Image);
  const { ram, pc } = finalState(program, mapping, tier);
  if (pc !== BigInt(code.end)) return `pc ${pc.toString(16)} and ${code.end.toString(16)}`;
  return differentByte(ram, wanted);
}

/** Programs without records, each compared with libunicorn in one mapping. */
export function searchWithUnicorn(seed: number, programs: number): Pick<SearchResult, 'found'> {
  const random = new Random(seed);
  for (let done = 0; done < programs; done++) {
    const drawn = drawProgram(random);
    const mapping = done % 2 === 0 ? 'identity' : 'bare';
    const tier = done % 4 < 2 ? 'hot' : 'warm';
    const howOf = (program: ShapeProgram) => compareWithUnicorn(program, mapping, tier);
    if (howOf(drawn) === undefined) continue;
    const program = shrinkProgram(drawn, small => howOf(small) !== undefined);
    return { found: { program, mapping, tier, how: howOf(program)! } };
  }
  return { found: undefined };
}
