// The programs of the region-shape search on libunicorn. Apart from the search itself, which also
// runs in a browser.

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
function compareWithUnicorn(drawn: ShapeProgram, mapping: 'identity' | 'bare'): string | undefined {
  const program = { ...drawn, tracing: NO_TRACING };
  const code = assembleProgram(program);
  const bytes = initialMemory(code, program, mapping);
  const wanted = unicornRunner.run({ bytes, end: BigInt(code.end) } as Image);
  const { ram, pc } = finalState(program, mapping);
  if (pc !== BigInt(code.end)) return `pc ${pc.toString(16)} and ${code.end.toString(16)}`;
  return differentByte(ram, wanted);
}

/** Programs without records, each compared with libunicorn in one mapping. */
export function searchWithUnicorn(seed: number, programs: number): Pick<SearchResult, 'found'> {
  const random = new Random(seed);
  for (let done = 0; done < programs; done++) {
    const drawn = drawProgram(random);
    const mapping = done % 2 === 0 ? 'identity' : 'bare';
    if (compareWithUnicorn(drawn, mapping) === undefined) continue;
    const program = shrinkProgram(drawn, small => compareWithUnicorn(small, mapping) !== undefined);
    return { found: { program, mapping, how: compareWithUnicorn(program, mapping)! } };
  }
  return { found: undefined };
}
