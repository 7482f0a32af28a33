// Programs made for the limits of the region JIT (test/support/shapes): compiled, they leave what
// they leave interpreted, after any number of instructions. And the search is tested itself: it
// finds faults that are put into the JIT.

import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { DecodedPages } from '../../emulator/engine/interp/decoded-pages.ts';
import { JitOps } from '../../emulator/engine/jit/emit/ops.ts';
import type { InlineFamily } from '../../emulator/engine/jit/inline-call.ts';
import type { Group } from '../../emulator/engine/jit/region/groups.ts';
import { SINK } from '../../emulator/hart/layout.ts';
import { RecordTally, TallyWriter } from '../../emulator/machine/kcov-inline/tally.ts';
import { LocalPool } from '../../emulator/wasm/local.ts';
import { CodeWriter } from '../../emulator/wasm/module.ts';
import { describeOnce, dose } from '../support/again.ts';
import { seedFromEnvironment, seedText } from '../support/random.ts';
import type { Piece } from '../support/shapes/pieces.ts';
import { search } from '../support/shapes/search.ts';

const SEED = seedFromEnvironment(0x5a9e5);
const PROGRAMS = Number(process.env['KCOVBOX_PROGRAMS'] ?? dose(8));

/** The current fault of the JIT; set by a test. */
const fault = vi.hoisted(() => ({ name: '' }));

// Files of tests share their modules: this one loads them again, with those below replaced, and
// the next file loads its own.
vi.hoisted(() => vi.resetModules());
afterAll(() => void vi.resetModules());

vi.mock('../../emulator/engine/jit/region/groups.ts', async importOriginal => {
  const real = await importOriginal<typeof import('../../emulator/engine/jit/region/groups.ts')>();
  const findGroups: typeof real.findGroups = (insns, storesOnly) => {
    if (fault.name === 'an AMO does not end a group')
      return real.findGroups(
        insns.map(i => (/^(amo|lr|sc)/.test(i.insn.name) ? { ...i, insn: { ...i.insn, rd: 0 } } : i)),
        storesOnly,
      );
    const groups = real.findGroups(insns, storesOnly);
    if (fault.name === 'a group forgets its last access')
      for (const group of new Set(groups))
        if (group && group.high - group.low > 8) (group as Group).high -= 8;
    return groups;
  };
  return { ...real, findGroups };
});

vi.mock('../../emulator/engine/jit/region/registers.ts', async importOriginal => {
  const real = await importOriginal<typeof import('../../emulator/engine/jit/region/registers.ts')>();
  const planRegisters: typeof real.planRegisters = (...args) => {
    const plan = real.planRegisters(...args);
    if (fault.name === 'a register is not stored')
      for (const mask of plan.dirtyIn) (mask as { x: number }).x &= ~(1 << 13);
    return plan;
  };
  return { ...real, planRegisters };
});

vi.mock('../../emulator/machine/kcov-inline/index.ts', async importOriginal => {
  const real = await importOriginal<typeof import('../../emulator/machine/kcov-inline/index.ts')>();
  const kcovInlineCalls: typeof real.kcovInlineCalls = table => {
    const calls = real.kcovInlineCalls(table);
    // Calls are known by their identity, so their family is changed and not copied.
    const family = calls[0]!.family as { begin: InlineFamily['begin'] };
    const { begin } = family;
    family.begin = context => {
      const emitter = begin(context);
      const { c, ic } = context;
      const site: typeof emitter.site = (call, where) => {
        const isClean = where.isClean || fault.name === 'a hook does not look again after a store';
        emitter.site(call, { ...where, isClean });
        if (fault.name === 'a hook retires an instruction too few')
          c.local_get(ic).i32_const(1).i32_add().local_set(ic);
      };
      return {
        enter: () => emitter.enter(),
        leave: () => emitter.leave(),
        release: () => emitter.release(),
        site,
      };
    };
    return calls;
  };
  return { ...real, kcovInlineCalls };
});

afterEach(() => {
  fault.name = '';
  vi.restoreAllMocks();
});

test(`compiled programs leave what interpreted ones leave, seed ${seedText(SEED)}`, {
  timeout: 120_000,
}, () => {
  const { found } = search(SEED, PROGRAMS);
  expect(found, JSON.stringify(found)).toBeUndefined();
});

/** Only blocks of many address groups have more locals. */
const MANY_LOCALS = 60;

const FAULTS: Readonly<Record<string, () => void>> = {
  'an AMO does not end a group': () => {},
  'a group forgets its last access': () => {},
  'a register is not stored': () => {},
  'a hook does not look again after a store': () => {},
  'a hook retires an instruction too few': () => {},
  // As when each part of the compiler had numbers of its own.
  'a local is used for two things': () => {
    const real = LocalPool.prototype.indexOf;
    vi.spyOn(LocalPool.prototype, 'indexOf').mockImplementation(function (this: LocalPool, local) {
      const index = real.call(this, local);
      const other = this.declared.indexOf(local.type, 10);
      return index > MANY_LOCALS && other >= 0 ? this.params.length + other : index;
    });
  },
  // The constant of the cache's limit, 4097 - bytes of the group; nothing else has such a value.
  'a page cache is three bytes too long': () => {
    const real = CodeWriter.prototype.i64_const;
    vi.spyOn(CodeWriter.prototype, 'i64_const').mockImplementation(function (this: CodeWriter, value) {
      const isLimit = typeof value === 'number' && value > 4097 - 512 && value < 4096;
      return real.call(this, isLimit ? (value as number) + 3 : value);
    });
  },
  'an exit forgets the instructions of its block': () => {
    const real = JitOps.prototype.leave;
    vi.spyOn(JitOps.prototype, 'leave').mockImplementation(function (this: JitOps) {
      const { before } = this;
      this.before = 0;
      real.call(this);
      this.before = before;
    });
  },
  // Stores to the slot of x13 go to the sink.
  'a register is not written through': () => {
    const real = CodeWriter.prototype.i64_store;
    vi.spyOn(CodeWriter.prototype, 'i64_store').mockImplementation(function (this: CodeWriter, offset) {
      return real.call(this, offset === 8 * 13 ? SINK : offset);
    });
  },
  'a hook counts where another does': () => {
    const real = RecordTally.prototype.cellOf;
    vi.spyOn(RecordTally.prototype, 'cellOf').mockImplementation(function (this: RecordTally, lo) {
      return real.call(this, lo & ~0xff);
    });
  },
  'a hook counts behind a record that was changed': () =>
    void vi.spyOn(TallyWriter.prototype, 'needLast').mockImplementation(() => {}),
  'the second page of a region is not protected': () => {
    const real = DecodedPages.prototype.protect;
    let last = -2;
    vi.spyOn(DecodedPages.prototype, 'protect').mockImplementation(function (this: DecodedPages, page) {
      if (page !== last + 1) real.call(this, page);
      last = page;
    });
  },
};

/** A program that shows the fault, where few programs of all kinds do. */
const KINDS: Readonly<Record<string, readonly Piece['kind'][]>> = {
  'a group forgets its last access': ['groups'],
  'a hook does not look again after a store': ['hooks'],
  'a hook retires an instruction too few': ['hooks', 'hooked'],
  'a local is used for two things': ['groups', 'hooked'],
  'a hook counts where another does': ['hooks', 'hooked'],
  'a hook counts behind a record that was changed': ['hooks', 'hooked'],
};

/** Faults that are looked for in warm regions; the others are in hot ones. */
const WARM = ['an exit forgets the instructions of its block', 'a register is not written through'];

describeOnce('a fault in the JIT is found', () => {
  test.each(Object.entries(FAULTS))('%s', { timeout: 300_000 }, (name, inject) => {
    fault.name = name;
    inject();
    const kinds = KINDS[name];
    const { found, programs } = search(SEED, 200, kinds, undefined, [WARM.includes(name) ? 'warm' : 'hot']);
    console.info(`${name}: program ${programs}, ${JSON.stringify(found)}`);
    expect(found).toBeDefined();
    expect(found!.program.pieces.length).toBeLessThanOrEqual(3);
  });
});
