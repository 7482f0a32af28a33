// Faults of the engine that the searches must find: each replaces methods of classes while the
// subject runs.

import { Ram } from '../../../emulator/bus/ram.ts';
import { InterpEngine } from '../../../emulator/engine/engine.ts';
import { DecodedPages } from '../../../emulator/engine/interp/decoded-pages.ts';
import { DataBoundary } from '../../../emulator/engine/jit/cache/data-boundary.ts';
import { JumpCacheMemory } from '../../../emulator/engine/jit/cache/jump-cache.ts';
import { Links } from '../../../emulator/engine/jit/cache/links.ts';
import { NO_SLOT, SlotTable } from '../../../emulator/engine/jit/cache/slots.ts';
import { REGION_PARAMS, REGION_RESULTS } from '../../../emulator/engine/jit/emit/entry.ts';
import { JitOps } from '../../../emulator/engine/jit/emit/ops.ts';
import { Hart } from '../../../emulator/hart/hart.ts';
import { LEAF_TAG, MSTATUS } from '../../../emulator/hart/layout.ts';
import { FS, SIE, SUM } from '../../../emulator/hart/mstatus.ts';
import { State } from '../../../emulator/hart/state.ts';
import { Tlb } from '../../../emulator/hart/tlb.ts';
import { rowOf } from '../../../emulator/isa/index.ts';
import { I32, ModuleBuilder } from '../../../emulator/wasm/module.ts';
import { Random } from '../random.ts';
import { EAGEREST, EXACT, INTERPRETER, POLICIES } from './policies.ts';
import { privilegedProgram } from './program.ts';
import { type Configuration, runPrivileged } from './search.ts';
import type { PrivilegedProfile } from './step.ts';

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

const SSTATUS = 0x100;
const nothing = (): void => {};
const small = POLICIES.find(({ name }) => name === 'eight slots')!;
const { protect } = DecodedPages.prototype;
const { leave } = JitOps.prototype;

/** Arrivals at an empty slot without an instruction in between. */
const MOST_ARRIVALS = 1000;

/**
 * Empties a slot. The problem: a jump cache that leads to an empty slot makes the dispatcher loop
 * forever, and no instruction passes that a test could count. The trick: the stub of an emptied
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

/** The translations of a hart that waits for its turn outlive a store to their page table. */
function flushActiveOnly(): readonly Replacement[] {
  const { activate } = Hart.prototype;
  const { flushTranslated } = Tlb.prototype;
  let active: Hart | undefined;
  return [
    [
      Hart,
      'activate',
      function (this: Hart) {
        active = this;
        activate.call(this);
      },
    ],
    [
      Tlb,
      'flushTranslated',
      function (this: Tlb) {
        if (active === undefined || this === active.mmu.tlb) flushTranslated.call(this);
      },
    ],
  ];
}

/**
 * Flushes, but those of a reset, keep the table of leaves that the walk in WebAssembly found last.
 */
function keepLeafTable(): readonly Replacement[] {
  const { clear, flushTranslated } = Tlb.prototype;
  const { put } = State.prototype;
  let isReset = false;
  let isKept = false;
  return [
    [
      Tlb,
      'clear',
      function (this: Tlb) {
        isReset = true;
        clear.call(this);
        isReset = false;
      },
    ],
    [
      Tlb,
      'flushTranslated',
      function (this: Tlb) {
        isKept = !isReset;
        flushTranslated.call(this);
        isKept = false;
      },
    ],
    [
      State,
      'put',
      function (this: State, at: number, lo: number, hi: number) {
        if (!isKept || at !== LEAF_TAG) put.call(this, at, lo, hi);
      },
    ],
  ];
}

/**
 * Compiled code changes some bits of sstatus in the middle of a block, where it must leave for the
 * hart.
 */
function changeInBlock(bits: number): readonly Replacement[] {
  const { system } = JitOps.prototype;
  return [
    [
      JitOps,
      'system',
      function (this: JitOps) {
        const { c, insn } = this;
        const { name, rd, rs1, imm } = insn;
        const isSet = name.startsWith('csrrs');
        if (imm === SSTATUS && rd === 0 && (isSet || name.startsWith('csrrc'))) {
          c.i32_const(0).i32_const(0).i32_load(MSTATUS);
          if (name.endsWith('i')) c.i32_const(rs1);
          else this.rs1w();
          c.i32_const(bits).i32_and();
          if (isSet) c.i32_or();
          else c.i32_const(-1).i32_xor().i32_and();
          c.i32_store(MSTATUS);
        }
        system.call(this);
      },
    ],
  ];
}

/** Words that devices store: entries of used rings, answers of fw_cfg. */
function storeWord(bytes: 2 | 4) {
  return function (this: Ram, pa: number, value: number): void {
    const view = new DataView(this.data.buffer, this.data.byteOffset);
    if (bytes === 2) view.setUint16(pa - this.base, value, true);
    else view.setUint32(pa - this.base, value, true);
  };
}

/**
 * A fault, its replacements, the policy that should meet it, harts, the policy that is right (the
 * interpreter, where it does not have the fault, too), and the program to begin with: those before
 * did not show it when they were last tried.
 */
export type Fault = readonly [
  string,
  readonly Replacement[],
  Configuration,
  harts?: number,
  reference?: Configuration,
  from?: number,
];
/** Units of programs that are compared with EXACT, which is slow. */
const FEW = 4000;
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
  ['links to dropped modules stay', [[Links, 'disconnect', nothing]], EAGEREST, 1, INTERPRETER, 7],
  [
    'the jump cache keeps slots that were given back',
    [
      [JumpCacheMemory, 'forget', nothing],
      [SlotTable, 'clear', emptyWithAlarm],
    ],
    small,
  ],
  [
    'flat regions stay when code appears above the data boundary',
    [
      [
        DataBoundary,
        'raise',
        function (this: DataBoundary, page: number) {
          this.first = Math.max(this.first, page + 1);
        },
      ],
    ],
    EAGEREST,
  ],
  ['a region goes on after the walker changed its code', [[InterpEngine, 'invalidated', nothing]], EAGEREST],
  [
    'words that devices store are not announced',
    [
      [Ram, 'write16', storeWord(2)],
      [Ram, 'write32', storeWord(4)],
    ],
    EAGEREST,
    1,
    INTERPRETER,
    23,
  ],
  [
    'bytes that devices copy are not announced',
    [
      [
        Ram,
        'write',
        function (this: Ram, pa: number, data: Uint8Array) {
          this.data.set(data, pa - this.base);
        },
      ],
    ],
    EAGEREST,
    1,
    INTERPRETER,
    3,
  ],
  ['translations of the harts that wait are not dropped', flushActiveOnly(), EAGEREST, 2],
  [
    'a flush keeps the last table of leaves',
    keepLeafTable(),
    { ...INTERPRETER, units: FEW },
    1,
    { ...EXACT, units: FEW },
  ],
];

/** The same for programs with CSRs and floating point. */
export const CSR_FAULTS: readonly Fault[] = [
  ['a region does not notice that floating point is off', changeInBlock(FS), EAGEREST],
  ['a region does not notice a change of SUM', changeInBlock(SUM), EAGEREST],
  ['a region enables interrupts that are pending', changeInBlock(SIE), EAGEREST],
  [
    'a region reads the time of the beginning of its block',
    [
      [
        JitOps,
        'left',
        function (this: JitOps) {
          this.c.local_get(this.ic);
        },
      ],
    ],
    EAGEREST,
  ],
  [
    'a region goes on where the hart has to execute a CSR instruction',
    [
      [
        JitOps,
        'leave',
        function (this: JitOps) {
          if (rowOf(this.insn.op).ext !== 'zicsr') leave.call(this);
        },
      ],
    ],
    EAGEREST,
  ],
];

/** The number of the first program that shows the fault, by its end or by an exception, or -1. */
export function findFault(
  [, replacements, policy, harts = 1, reference = INTERPRETER, from = 0]: Fault,
  profile: PrivilegedProfile,
  first: number,
  programs: number,
): number {
  for (let i = from; i < from + programs; i++) {
    const seed = first + i;
    const program = privilegedProgram(new Random(seed), { ...profile, harts });
    const right = runPrivileged(program, reference, seed, true);
    try {
      const wrong = withFault(replacements, () => runPrivileged(program, policy, seed, true));
      if (right.hash !== wrong.hash) return i;
    } catch {
      return i;
    }
  }
  return -1;
}
