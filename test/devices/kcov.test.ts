// The kcov device, driven through its registers as the kernel drives it: records of every mode,
// hostile word 0, UNIQ modes, CURRENT and remote sections.
import { beforeEach, describe, expect, it } from 'vitest';
import { PUBLISH_WORK } from '../../devices/kcov.ts';
import {
  CTX,
  CTXF,
  ERR,
  HART,
  HOOK,
  HOOKS,
  KIND,
  LIMIT,
  RECORD,
  REG,
  SEEN,
} from '../../devices/kcov-layout.ts';
import { Bus } from '../../emulator/bus/bus.ts';
import {
  AREA,
  BASE,
  CONTEXT,
  EDGE_AREA,
  EDGE_SEEN,
  type Fixture,
  fixture,
  HARTS,
  KVA,
  SEEN_SET,
  seenSet,
  TABLE,
} from './kcov-fixture.ts';

let f: Fixture;
beforeEach(() => {
  f = fixture();
});
const lost = () => f.ram.read64(CONTEXT + CTX.LOST);
const mixed = (prev: bigint) => ((prev & 0xfffn) * 0x61c8_8646_80b5_83ebn) & 0xfffn;

describe('an access of half a register', () => {
  it('is a fault, so that stores of two harts cannot mix', () => {
    const bus = new Bus();
    bus.add(f.device, 0x1000, REG.SIZE);
    f.context(RECORD.PC, 16);
    for (const offset of [0, 4]) {
      expect(bus.load(0x1000 + REG.CURRENT + offset, 4)).toBe(false);
      for (const hart of [0, 1]) {
        f.hart.current = hart;
        expect(bus.store(0x1000 + REG.TRIGGER + offset, 4, 0x8000_0000 + hart, 0)).toBe(false);
      }
    }
    f.hart.current = 0;
    expect(bus.store(0x1000 + REG.TRIGGER, 8, 0x8000_0000, 7)).toBe(true);
    expect([f.word(0), f.word(1)]).toEqual([1n, 0x7_8000_0000n]);
  });
});

describe('plain modes', () => {
  it('appends one word per pc and four per comparison', () => {
    f.context(RECORD.PC, 8);
    f.pc(KVA + 0x8020_0004n);
    f.pc(7);
    expect([f.word(0), f.word(1), f.word(2)]).toEqual([2n, KVA + 0x8020_0004n, 7n]);
    f.ram.write64(AREA, 0n);
    f.context(RECORD.CMP, 9);
    f.cmp('CMP8', -1n, 2n, 0x42);
    expect([0, 1, 2, 3, 4].map(i => f.word(i))).toEqual([1n, 6n, (1n << 64n) - 1n, 2n, 0x42n]);
  });

  it.each([
    ['CMP1', 0n, 0x80n],
    ['CMP2', 2n, 0xff80n],
    ['CMP4', 4n, 0xffff_ff80n],
    ['CMP8', 6n, 0xffff_ffff_ffff_ff80n],
    ['CONST_CMP1', 1n, 0x80n],
    ['CONST_CMP2', 3n, 0xff80n],
    ['CONST_CMP4', 5n, 0xffff_ff80n],
    ['CONST_CMP8', 7n, 0xffff_ffff_ffff_ff80n],
  ] as const)('%s has type %d and widens its operands without sign', (kind, type, arg) => {
    f.context(RECORD.CMP, 64);
    f.cmp(kind, -128n, 3n);
    expect([f.word(1), f.word(2), f.word(3)]).toEqual([type, arg, 3n]);
  });

  it('ignores hooks whose kind the mode does not record', () => {
    f.context(RECORD.PC, 64);
    f.cmp('CMP4', 1, 2);
    f.context(RECORD.CMP, 64);
    f.pc(1);
    f.context(0, 64);
    f.pc(1);
    f.cmp('SWITCH', 1, 0);
    expect(f.word(0)).toBe(0n);
  });

  it('drops whole records when full, says nothing in the area, and counts them as lost', () => {
    f.context(RECORD.PC, 4);
    for (let i = 1; i <= 5; i++) f.pc(i);
    expect([0, 1, 2, 3].map(i => f.word(i))).toEqual([3n, 1n, 2n, 3n]);
    expect(lost()).toBe(2n);
    f.ram.write64(AREA, 0n);
    f.context(RECORD.CMP, 8);
    f.cmp('CMP4', 1, 2);
    f.cmp('CMP4', 3, 4);
    expect([f.word(0), lost()]).toEqual([1n, 1n]);
  });

  it.each([
    [1, 0, 0],
    [2, 1, 0],
    [5, 4, 1],
    [8, 7, 1],
    [9, 8, 2],
    [512, 511, 127],
  ])('an area of %d words holds %d pcs or %d comparisons', (words, pcs, cmps) => {
    f.context(RECORD.PC, words);
    for (let i = 0; i < words + 3; i++) f.pc(i);
    expect(f.word(0)).toBe(BigInt(pcs));
    f.ram.write64(AREA, 0n);
    f.context(RECORD.CMP, words);
    for (let i = 0; i < words + 3; i++) f.cmp('CMP8', i, i);
    expect(f.word(0)).toBe(BigInt(cmps));
  });
});

describe('hostile word 0', () => {
  const counts = [
    (1n << 64n) - 1n,
    (1n << 64n) - 2n,
    (1n << 63n) - 1n,
    1n << 63n,
    (1n << 62n) - 1n,
    1n << 62n,
    (1n << 61n) - 1n,
    (1n << 32n) - 1n,
    1n << 32n,
    (1n << 32n) + 1n,
    0x8000_0000n,
    0xffff_ffffn,
    63n,
    64n,
    100n,
  ];
  it.each(counts)('a stored count of %d makes no write outside and no record', count => {
    for (const mode of [RECORD.PC, RECORD.CMP]) {
      f.ram.fill(AREA - 0x1000, 0x3000, 0xa5);
      f.context(mode, 64);
      f.ram.write64(AREA, count);
      f.pc(1);
      f.cmp('CMP8', 1, 2);
      expect(f.word(0)).toBe(count);
      expect(f.touched(AREA - 0x1000, 0x1000)).toEqual([]);
      expect(f.touched(AREA + 8, 0x1ff0)).toEqual([]);
    }
  });

  it('a small stored count makes recording go on from there', () => {
    f.context(RECORD.PC, 64);
    f.ram.write64(AREA, 62n);
    f.pc(9);
    f.pc(10);
    expect([f.word(0), f.word(63)]).toEqual([63n, 9n]);
    expect(f.touched(AREA + 64 * 8, 8)).toEqual([]);
  });
});

describe('switch', () => {
  const table = (bits: number, cases: bigint[]) => {
    f.ram.write64(TABLE, BigInt(cases.length));
    f.ram.write64(TABLE + 8, BigInt(bits));
    for (const [i, c] of cases.entries()) f.ram.write64(TABLE + 16 + 8 * i, c);
    return KVA + BigInt(TABLE);
  };
  const record = (i: number) => [1, 2, 3, 4].map(k => f.word(4 * i + k));

  it('gives one constant record per case in table order, matching or not', () => {
    f.context(RECORD.CMP, 64);
    f.cmp('SWITCH', 7, table(32, [5n, 7n, 9n]), 0x99);
    expect(f.word(0)).toBe(3n);
    expect([record(0), record(1), record(2)]).toEqual([
      [5n, 5n, 7n, 0x99n],
      [5n, 7n, 7n, 0x99n],
      [5n, 9n, 7n, 0x99n],
    ]);
  });

  it.each([
    [8, 1n],
    [16, 3n],
    [32, 5n],
    [64, 7n],
  ])('a width of %d bits is type %d', (bits, type) => {
    f.context(RECORD.CMP, 64);
    f.cmp('SWITCH', 0, table(bits, [1n]));
    expect(f.word(1)).toBe(type);
  });

  it.each([0, 1, 7, 9, 24, 33, 128])('a width of %d bits records nothing', bits => {
    f.context(RECORD.CMP, 64);
    f.cmp('SWITCH', 0, table(bits, [1n, 2n]));
    expect(f.word(0)).toBe(0n);
  });

  it('loses each remaining case of a full area', () => {
    f.context(RECORD.CMP, 5);
    f.cmp('SWITCH', 0, table(8, [1n, 2n, 3n]));
    expect([f.word(0), lost()]).toEqual([1n, 2n]);
  });

  it('is written as FreeBSD writes it: operand with bit 0 set, case, no constant bit', () => {
    f.context(RECORD.CMP, 64, { FLAGS: CTXF.SWITCH_FREEBSD });
    f.cmp('SWITCH', 6, table(32, [5n, 6n]), 0x99);
    expect([record(0), record(1)]).toEqual([
      [4n, 7n, 5n, 0x99n],
      [4n, 7n, 6n, 0x99n],
    ]);
    f.ram.write64(AREA, 0n);
    f.context(RECORD.CMP, 5, { FLAGS: CTXF.SWITCH_FREEBSD });
    f.cmp('SWITCH', 6, table(32, [5n, 6n, 7n]));
    expect(lost()).toBe(1n);
  });

  it('refuses a table outside ram or longer than ram', () => {
    f.context(RECORD.CMP, 64);
    f.cmp('SWITCH', 0, 0x10n);
    expect(f.load(REG.ERROR)).toBe(BigInt(ERR.SWITCH));
    f.store(REG.ERROR, 0);
    const at = table(8, [1n]);
    f.ram.write64(TABLE, 1n << 60n);
    f.cmp('SWITCH', 0, at);
    expect([f.load(REG.ERROR), f.word(0)]).toEqual([BigInt(ERR.SWITCH), 0n]);
  });
});

describe('limits of one hook', () => {
  /** A set in which all buckets start one chain over `nodes` nodes. */
  const longChain = (at: number, nodes: number): void => {
    seenSet(f, at, nodes, 1);
    const pool = at + SEEN.SIZE + (4 << 12);
    f.ram.write64(at + SEEN.USED, BigInt(nodes));
    for (let bucket = 0; bucket < 1 << 12; bucket++) f.ram.write32(at + SEEN.SIZE + 4 * bucket, 1);
    for (let n = 0; n < nodes; n++) {
      f.ram.write32(pool + 16 * n, n + 1 < nodes ? n + 2 : 0);
      f.ram.write64(pool + 16 * n + 8, BigInt(n));
    }
  };
  const flags = () => f.ram.read32(CONTEXT + CTX.FLAGS);
  const refused = () => [f.load(REG.ERROR), f.load(REG.ERROR_ADDR)];

  it.each([RECORD.CMP, RECORD.UNIQ_CMP])(
    'records so many cases of a switch, then reports (mode %d)',
    mode => {
      f = fixture(8 << 20);
      const table = BASE + 0x20_0000;
      const cases = LIMIT.SWITCH_CASES + 1;
      f.ram.write64(table, BigInt(cases));
      f.ram.write64(table + 8, 64n);
      for (let i = 0; i < cases; i++) f.ram.write64(table + 16 + 8 * i, BigInt(i));
      const [area, seen] = [BASE + 0x30_0000, BASE + 0x50_0000];
      f.ram.write64(area, 0n);
      seenSet(f, seen, cases, 4);
      f.context(mode, 0x2_0000, { AREA: area, SEEN: seen });
      f.cmp('SWITCH', 1, KVA + BigInt(table));
      expect(f.word(0, area)).toBe(BigInt(LIMIT.SWITCH_CASES));
      expect([flags(), ...refused()]).toEqual([CTXF.LIMITED, BigInt(ERR.LIMIT), BigInt(table)]);
      const most = LIMIT.SWITCH_CASES + (mode === RECORD.CMP ? 0 : LIMIT.SEEN_STEPS);
      expect(f.work()).toBeLessThanOrEqual(most);
      f.ram.write64(table, BigInt(LIMIT.SWITCH_CASES));
      f.store(REG.ERROR, 0);
      f.context(RECORD.CMP, 0x2_0000, { AREA: area });
      f.cmp('SWITCH', 1, KVA + BigInt(table));
      expect([flags(), f.load(REG.ERROR)]).toEqual([0, 0n]);
    },
  );

  it('compares so many nodes, then reports and remembers nothing', () => {
    f = fixture(8 << 20);
    const seen = BASE + 0x20_0000;
    longChain(seen, LIMIT.SEEN_STEPS + 1);
    f.ram.write64(EDGE_AREA, 0n);
    f.context(RECORD.UNIQ_PC | RECORD.UNIQ_EDGE, 64, { SEEN: seen, EDGE_AREA, EDGE_SEEN: seen });
    const before = f.ram.read(seen, 0x20_0000);
    f.pc(LIMIT.SEEN_STEPS);
    expect([f.word(0), f.word(0, EDGE_AREA)]).toEqual([0n, 0n]);
    expect([flags(), ...refused()]).toEqual([CTXF.LIMITED, BigInt(ERR.LIMIT), BigInt(seen)]);
    expect(Buffer.compare(f.ram.read(seen, 0x20_0000), before)).toBe(0);
    expect(f.work()).toBe(LIMIT.SEEN_STEPS);
    // The last node within the limit is found.
    f.store(REG.ERROR, 0);
    f.context(RECORD.UNIQ_PC, 64, { SEEN: seen });
    f.pc(LIMIT.SEEN_STEPS - 1);
    expect([flags(), f.load(REG.ERROR), f.word(0), lost()]).toEqual([0, 0n, 0n, 0n]);
  });

  it('counts the chains of all cases of a switch together', () => {
    f = fixture(8 << 20);
    const seen = BASE + 0x20_0000;
    const nodes = 4000;
    seenSet(f, seen, nodes, 4);
    const pool = seen + SEEN.SIZE + (4 << 12);
    f.ram.fill(pool, 40 * nodes, 0);
    for (let bucket = 0; bucket < 1 << 12; bucket++) f.ram.write32(seen + SEEN.SIZE + 4 * bucket, 1);
    for (let n = 0; n + 1 < nodes; n++) f.ram.write32(pool + 40 * n, n + 2);
    f.ram.write64(seen + SEEN.USED, BigInt(nodes));
    f.ram.write64(TABLE, 1000n);
    f.ram.write64(TABLE + 8, 64n);
    f.context(RECORD.UNIQ_CMP, 64, { SEEN: seen });
    f.cmp('SWITCH', 1, KVA + BigInt(TABLE), 9);
    expect(flags()).toBe(CTXF.LIMITED);
    expect(f.load(REG.ERROR)).toBe(BigInt(ERR.LIMIT));
    // 16 whole chains found no node free; the 17th was not followed to its end.
    expect(lost()).toBe(16n);
    expect(f.work()).toBe(17 + LIMIT.SEEN_STEPS);
  });
});

it('a change of the hook table counts as work, a store that changes nothing does not', () => {
  f.store(REG.HARTS, HARTS);
  f.store(REG.KVA_OFFSET, 0);
  const work: number[] = [];
  for (const offset of [0, 1, 1, 2]) {
    const before = f.work();
    f.store(REG.HOOKS, TABLE);
    f.store(REG.KVA_OFFSET, offset);
    work.push(f.work() - before);
  }
  expect(work).toEqual([PUBLISH_WORK, PUBLISH_WORK, 0, PUBLISH_WORK]);
});

describe('uniq modes', () => {
  beforeEach(() => {
    seenSet(f, SEEN_SET, 8, 4);
    seenSet(f, EDGE_SEEN, 8, 1);
    f.ram.write64(EDGE_AREA, 0n);
  });
  const uniq = (mode: number, words = 64) => f.context(mode, words, { SEEN: SEEN_SET, EDGE_SEEN, EDGE_AREA });

  it('reports a pc once, whatever the user does to word 0', () => {
    uniq(RECORD.UNIQ_PC);
    for (const pc of [1, 2, 1, 2, 3]) f.pc(pc);
    expect([0, 1, 2, 3].map(i => f.word(i))).toEqual([3n, 1n, 2n, 3n]);
    f.ram.write64(AREA, 0n);
    f.pc(2);
    f.pc(4);
    expect([f.word(0), f.word(1)]).toEqual([1n, 4n]);
  });

  it('computes edges from the low 12 bits of the previous pc', () => {
    uniq(RECORD.UNIQ_EDGE);
    const pcs = [0x8020_1234n, 0x8020_5678n, 0x8020_1234n, 0x8020_5678n];
    for (const pc of pcs) f.pc(KVA + pc);
    const edge = (i: number) => f.word(i, EDGE_AREA);
    expect(edge(1)).toBe(KVA + pcs[0]!);
    expect(edge(2)).toBe((KVA + pcs[1]!) ^ mixed(pcs[0]!));
    expect(edge(3)).toBe((KVA + pcs[0]!) ^ mixed(pcs[1]!));
    expect(edge(0)).toBe(3n);
    expect(f.ram.read64(CONTEXT + CTX.PREV)).toBe(KVA + pcs[3]!);
    expect(f.word(0)).toBe(0n);
  });

  it('fills both areas when both bits are set', () => {
    uniq(RECORD.UNIQ_PC | RECORD.UNIQ_EDGE);
    for (const pc of [5, 5, 6]) f.pc(pc);
    expect([f.word(0), f.word(1), f.word(2)]).toEqual([2n, 5n, 6n]);
    expect(f.word(0, EDGE_AREA)).toBe(3n);
  });

  it('compares whole tuples of comparisons', () => {
    uniq(RECORD.UNIQ_CMP);
    f.cmp('CMP4', 1, 2, 9);
    f.cmp('CMP4', 1, 2, 9);
    f.cmp('CMP8', 1, 2, 9);
    f.cmp('CMP4', 1, 3, 9);
    f.cmp('CMP4', 1, 2, 10);
    expect(f.word(0)).toBe(4n);
  });

  it('remembers what found no room, so it never comes back', () => {
    uniq(RECORD.UNIQ_PC, 2);
    f.pc(1);
    f.pc(2);
    f.ram.write64(AREA, 0n);
    f.pc(2);
    expect([f.word(0), lost()]).toEqual([0n, 1n]);
  });

  it('drops new records once the pool of nodes is used up', () => {
    uniq(RECORD.UNIQ_PC);
    for (let i = 0; i < 20; i++) f.pc(i);
    expect([f.word(0), lost()]).toEqual([8n, 12n]);
  });

  it('reports a malformed set as an error and goes on', () => {
    uniq(RECORD.UNIQ_PC);
    f.ram.write64(CONTEXT + CTX.SEEN, 0x123456n);
    f.pc(1);
    expect([f.load(REG.ERROR), f.word(0)]).toEqual([BigInt(ERR.SEEN), 0n]);
  });
});

describe('current', () => {
  it('0 means that operands and triggers are ignored', () => {
    f.context(RECORD.CMP, 64);
    f.store(REG.CURRENT, 0);
    const before = f.ram.read(CONTEXT, CTX.SIZE);
    f.cmp('CMP8', 1, 2);
    f.pc(3);
    expect(f.ram.read(CONTEXT, CTX.SIZE)).toEqual(before);
    expect(f.word(0)).toBe(0n);
  });

  it('is per hart, lives in the hart block, and is published as a host address', () => {
    f.context(RECORD.PC, 64);
    expect(f.ram.read64(HARTS + HART.CURRENT)).toBe(BigInt(CONTEXT));
    expect(f.published).toEqual([f.ram.host(CONTEXT), 0]);
    f.hart.current = 1;
    f.pc(1);
    expect(f.word(0)).toBe(0n);
    f.store(REG.CURRENT, CONTEXT);
    f.pc(1);
    expect(f.word(0)).toBe(1n);
    expect(f.ram.read64(HARTS + HART.SIZE)).toBe(BigInt(CONTEXT));
  });

  it('keeps operands of an interrupted hook apart from those of other contexts', () => {
    f.context(RECORD.CMP, 64);
    f.store(REG.ARG0, 11);
    f.store(REG.CURRENT, 0);
    f.store(REG.ARG0, 99);
    f.store(REG.CURRENT, CONTEXT);
    f.store(REG.ARG1, 22);
    f.store(REG.TRIGGER + 8 * HOOK.CMP8, 1);
    expect([f.word(2), f.word(3)]).toEqual([11n, 22n]);
  });

  it.each([0x10, BASE + 1, BASE + 0x10_0000, 1n << 60n])('refuses context %d', pa => {
    f.store(REG.CURRENT, pa);
    expect([f.load(REG.CURRENT), f.load(REG.ERROR)]).toEqual([0n, BigInt(ERR.CONTEXT)]);
    f.pc(1);
    expect(f.published).toEqual([0, 0]);
  });

  it.each([
    [BASE - 8, 64],
    [BASE + 0x10_0000 - 8, 64],
    [AREA + 4, 64],
    [AREA, 0x1000_0000],
  ])('refuses area %d of %d words', (area, words) => {
    f.context(RECORD.PC, words, { AREA: area });
    f.pc(1);
    expect([f.load(REG.ERROR), f.load(REG.ERROR_ADDR)]).toEqual([BigInt(ERR.AREA), BigInt(area)]);
    f.store(REG.ERROR, 0);
    expect(f.load(REG.ERROR)).toBe(0n);
  });
});

describe('around the device', () => {
  it('tells a listener of stored and lost records without changing ram', () => {
    const quiet = fixture();
    f.device.onRecord(r => f.records.push(r));
    for (const g of [f, quiet]) {
      g.context(RECORD.PC, 2, { TID: 5, PID: 4, SYSCALL: 63, KIND: KIND.REMOTE_INTR, HANDLE: 77 });
      g.pc(10);
      g.pc(11);
    }
    expect(f.device.isObserved).toBe(true);
    expect(f.records.map(r => [r.kind, r.pc, r.isLost])).toEqual([
      ['pc', 10n, false],
      ['pc', 11n, true],
    ]);
    const who = { tid: 5, pid: 4, syscall: 63, context: 'remote-interrupt', handle: 77n };
    expect(f.records[0]).toMatchObject(who);
    expect(Buffer.compare(f.ram.data, quiet.ram.data)).toBe(0);
  });

  it('tells a listener of records that overwrite their own context', () => {
    const quiet = fixture();
    f.device.onRecord(r => f.records.push(r));
    for (const g of [f, quiet]) {
      // Record k of an area k words before the context is the field that says where the area is.
      for (const k of [1, 2, 3, 4]) {
        g.context(RECORD.PC, 64, { AREA: CONTEXT - 8 * k });
        g.ram.write64(CONTEXT - 8 * k, BigInt(k));
        g.pc(0xffff_ffff_ffff_fff0n);
      }
    }
    const told = f.records.map(r => [r.area, r.index, r.isLost]);
    expect(told).toEqual([1, 2, 3, 4].map(k => [CONTEXT - 8 * k, k, false]));
    expect(Buffer.compare(f.ram.data, quiet.ram.data)).toBe(0);
  });

  it('keeps nothing but registers beside ram: save and load go on in the middle', () => {
    f.context(RECORD.CMP, 64);
    f.store(REG.ARG0, 1);
    const saved = JSON.parse(JSON.stringify(f.device.save()));
    const other = fixture();
    other.ram.data.set(f.ram.data);
    other.device.load(saved);
    for (const g of [f, other]) {
      g.store(REG.ARG1, 2);
      g.store(REG.TRIGGER + 8 * HOOK.CMP8, 3);
    }
    expect(Buffer.compare(other.ram.data, f.ram.data)).toBe(0);
    expect(other.word(0)).toBe(1n);
    expect(other.published).toEqual(f.published);
  });

  it('announces the table of hooks', () => {
    const table = BASE + 0x9000;
    for (let k = 0; k < HOOK.COUNT; k++) f.ram.write64(table + 8 * k, KVA + BigInt(0x8020_0000 + 64 * k));
    f.ram.write64(table + HOOKS.LIVE_OFFSET, 192n);
    f.ram.write64(table + HOOKS.BASE_VAR, KVA + 0x8030_0000n);
    f.store(REG.HOOKS, table);
    expect(f.device.hooks).toMatchObject({ liveOffset: 192, baseVar: KVA + 0x8030_0000n });
    expect(f.device.hooks!.addresses[HOOK.SWITCH]).toBe(KVA + 0x8020_0240n);
    f.store(REG.HOOKS, 0x40);
    expect([f.device.hooks, f.load(REG.ERROR)]).toEqual([undefined, BigInt(ERR.HOOKS)]);
  });

  it('reset forgets everything', () => {
    f.context(RECORD.PC, 64);
    f.device.reset();
    f.pc(1);
    expect([f.word(0), f.load(REG.HARTS), f.published]).toEqual([0n, 0n, [0, 0]]);
  });
});
