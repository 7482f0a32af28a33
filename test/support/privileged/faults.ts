// Faults of the JIT that the searches must find: each replaces a method of a class while the subject runs.

import { InterpEngine } from '../../../emulator/engine/engine.ts';
import { DecodedPages } from '../../../emulator/engine/interp/decoded-pages.ts';
import { JumpCacheMemory } from '../../../emulator/engine/jit/cache/jump-cache.ts';
import { SlotTable } from '../../../emulator/engine/jit/cache/slots.ts';
import { Random } from '../random.ts';
import { EAGEREST, INTERPRETER, POLICIES } from './policies.ts';
import { type PrivilegedProfile, privilegedProgram } from './program.ts';
import { type Configuration, runPrivileged } from './search.ts';

/** Replaces a method of a class while `run` runs. */
function withFault<T>(type: { prototype: object }, method: string, fault: unknown, run: () => T): T {
  const prototype = type.prototype as Record<string, unknown>;
  const right = prototype[method];
  prototype[method] = fault;
  try {
    return run();
  } finally {
    prototype[method] = right;
  }
}

const nothing = (): void => {};
const small = POLICIES.find(({ name }) => name === 'eight slots')!;
const { protect } = DecodedPages.prototype;
/** A fault of the JIT, the class and the method that it replaces, and the policy that should meet it. */
export type Fault = readonly [string, { prototype: object }, string, unknown, Configuration];
export const FAULTS: readonly Fault[] = [
  ['stores to translated pages are not announced', DecodedPages, 'protect', nothing, EAGEREST],
  [
    'every other translated page is not protected',
    DecodedPages,
    'protect',
    function (this: DecodedPages, page: number) {
      if (page & 1) protect.call(this, page);
    },
    EAGEREST,
  ],
  ['slots of dropped modules stay filled', SlotTable, 'clear', nothing, EAGEREST],
  ['the jump cache keeps slots that were given back', JumpCacheMemory, 'clear', nothing, small],
  ['a region goes on after the walker changed its code', InterpEngine, 'invalidated', nothing, EAGEREST],
];

/** The number of the first program that shows the fault, or -1. */
export function findFault(
  [, type, method, fault, policy]: Fault,
  profile: PrivilegedProfile,
  first: number,
  programs: number,
): number {
  for (let i = 0; i < programs; i++) {
    const seed = first + i;
    const program = privilegedProgram(new Random(seed), profile);
    const right = runPrivileged(program, INTERPRETER, seed, true);
    const wrong = withFault(type, method, fault, () => runPrivileged(program, policy, seed, true));
    if (right.hash !== wrong.hash) return i;
  }
  return -1;
}
