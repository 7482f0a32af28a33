// Faults of the JIT that the searches must find: each replaces methods of classes while the subject
// runs.

import { InterpEngine } from '../../../emulator/engine/engine.ts';
import { DecodedPages } from '../../../emulator/engine/interp/decoded-pages.ts';
import { JumpCacheMemory } from '../../../emulator/engine/jit/cache/jump-cache.ts';
import { NO_SLOT, SlotTable } from '../../../emulator/engine/jit/cache/slots.ts';
import { REGION_PARAMS, REGION_RESULTS } from '../../../emulator/engine/jit/emit/entry.ts';
import { I32, ModuleBuilder } from '../../../emulator/wasm/module.ts';
import { Random } from '../random.ts';
import { EAGEREST, INTERPRETER, POLICIES } from './policies.ts';
import { type PrivilegedProfile, privilegedProgram } from './program.ts';
import { type Configuration, runPrivileged } from './search.ts';

/** A class, its method and what stands in for it. */
type Replacement = readonly [{ prototype: object }, string, unknown];

/** Replaces methods while `run` runs. */
function withFault<T>(replacements: readonly Replacement[], run: () => T): T {
  const rights = replacements.map(([{ prototype }, method, fault]) => {
    const methods = prototype as Record<string, unknown>;
    const right = methods[method];
    methods[method] = fault;
    return () => (methods[method] = right);
  });
  try {
    return run();
  } finally {
    for (const restore of rights) restore();
  }
}

const nothing = (): void => {};
const small = POLICIES.find(({ name }) => name === 'eight slots')!;
const { protect } = DecodedPages.prototype;

/** Arrivals at an empty slot without an instruction in between. */
const MOST_ARRIVALS = 1000;

/**
 * Empties a slot. The problem: a jump cache that leads to an empty slot makes the dispatcher turn
 * for ever, and no instruction passes that a test could count. The trick: the stub of an emptied
 * slot throws when it was called many times with the same count of instructions left.
 */
function emptyWithAlarm(this: SlotTable, slot: number): void {
  let last = -1;
  let arrivals = 0;
  const arrived = (count: number): void => {
    arrivals = count === last ? arrivals + 1 : 0;
    last = count;
    if (arrivals > MOST_ARRIVALS) throw new Error('the dispatcher turns');
  };
  const m = new ModuleBuilder();
  const alarm = m.importFunction('env', 'arrived', [I32], []);
  const stub = m.importFunction('env', 'stub', REGION_PARAMS, REGION_RESULTS);
  const { code, index, params } = m.func(REGION_PARAMS, REGION_RESULTS, 'stub');
  code.local_get(params[1]).call(alarm).local_get(params[0]).local_get(params[1]).call(stub);
  m.export('stub', 'func', index);
  const env = { arrived, stub: this.get(NO_SLOT) as never };
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(m.finish()), { env });
  this.set(slot, exports['stub']!);
}

/** A fault of the JIT, its replacements, and the policy that should meet it. */
export type Fault = readonly [string, readonly Replacement[], Configuration];
export const FAULTS: readonly Fault[] = [
  ['stores to translated pages are not announced', [[DecodedPages, 'protect', nothing]], EAGEREST],
  [
    'every other translated page is not protected',
    [
      [
        DecodedPages,
        'protect',
        function (this: DecodedPages, page: number) {
          if (page & 1) protect.call(this, page);
        },
      ],
    ],
    EAGEREST,
  ],
  ['slots of dropped modules stay filled', [[SlotTable, 'clear', nothing]], EAGEREST],
  [
    'the jump cache keeps slots that were given back',
    [
      [JumpCacheMemory, 'clear', nothing],
      [SlotTable, 'clear', emptyWithAlarm],
    ],
    small,
  ],
  ['a region goes on after the walker changed its code', [[InterpEngine, 'invalidated', nothing]], EAGEREST],
];

/** The number of the first program that shows the fault, by its end or by an exception, or -1. */
export function findFault(
  [, replacements, policy]: Fault,
  profile: PrivilegedProfile,
  first: number,
  programs: number,
): number {
  for (let i = 0; i < programs; i++) {
    const seed = first + i;
    const program = privilegedProgram(new Random(seed), profile);
    const right = runPrivileged(program, INTERPRETER, seed, true);
    try {
      const wrong = withFault(replacements, () => runPrivileged(program, policy, seed, true));
      if (right.hash !== wrong.hash) return i;
    } catch {
      return i;
    }
  }
  return -1;
}
