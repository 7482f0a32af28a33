// The ring of a passive listener (devices/kcov-ring.ts) on a bare RAM: what compiled code puts into
// it equals what stores to the device's registers do, in the guest's buffer and at the listener.

import { expect, test } from 'vitest';
import type { KcovHooks, KcovSink } from '../../devices/kcov.ts';
import { CTX, HART, HOOK, HOOKS, RECORD, REG } from '../../devices/kcov-layout.ts';
import { RecordRing, RING_BYTES } from '../../emulator/machine/kcov-inline/ring.ts';
import { AREA, BASE, CONTEXT, type Fixture, fixture, HARTS, KVA, TABLE } from './kcov-fixture.ts';

const RAM_BYTES = 0x10_0000;
const SWITCH_TABLE = BASE + 0x4000;
const OTHER_HARTS = BASE + 0x6000;
const OTHER_CONTEXT = BASE + 0x7000;
/** Its memory has a place for each of so many comparisons. */
const WORDS = 0x8000;

interface Heard {
  fixture: Fixture;
  /** A hook: by the function of compiled code, or by stores. */
  hook(kind: number, a: bigint, b: bigint, pc: number): void;
  /** All records, in order, and how many came one by one. */
  records(): string[];
  singly(): number;
  /** The length of each run. */
  runs(): number[];
}

function listener(isCompiled: boolean): Heard {
  let hooks: KcovHooks | undefined;
  const f = fixture(
    RAM_BYTES,
    ram => ({
      ring: (slow, full) => new RecordRing(ram, 0x1_0000 + RAM_BYTES, slow, full),
      publishHooks: table => (hooks = table),
    }),
    RING_BYTES,
  );
  const heard: string[] = [];
  let singly = 0;
  const runs: number[] = [];
  const hear = (tid: number, words: Uint32Array, area: number, index: number): void =>
    void heard.push([tid, ...words, area, index].join());
  const sink: KcovSink = {
    isPassive: true,
    record: (origin, _isEdge, words, area, index) => {
      singly++;
      hear(origin.tid, words, area, index);
    },
    run: (origin, { words, at, count, halves, area, index }) => {
      runs.push(count);
      for (let i = 0; i < count; i++)
        hear(origin.tid, words.slice(at + i * halves, at + (i + 1) * halves), area, index + i);
    },
  };
  f.device.observe(sink);
  for (let at = 0; at < HOOKS.SIZE; at += 8) f.ram.write64(TABLE + at, 0xffff_ffff_8000_0000n);
  f.store(REG.HOOKS, TABLE);
  return {
    fixture: f,
    hook(kind, a, b, pc) {
      f.store(REG.ARG0, a);
      f.store(REG.ARG1, b);
      if (isCompiled) hooks!.report!(kind, pc, 0xffff_ffff);
      else f.store(REG.TRIGGER + 8 * kind, 0xffff_ffff_0000_0000n | BigInt(pc));
    },
    records() {
      f.device.flush();
      return heard;
    },
    singly: () => singly,
    runs: () => runs,
  };
}

function table({ ram }: Fixture, at: number, bits: number, labels: readonly bigint[]): bigint {
  ram.write64(at, BigInt(labels.length));
  ram.write64(at + 8, BigInt(bits));
  for (const [i, label] of labels.entries()) ram.write64(at + 16 + 8 * i, label);
  return KVA + BigInt(at);
}

const labels = (count: number): bigint[] => Array.from({ length: count }, (_, i) => BigInt(i) << 33n);

test('switches between comparisons go to the ring, with cases of every width and number', () => {
  const run = (isCompiled: boolean) => {
    const heard = listener(isCompiled);
    const f = heard.fixture;
    f.context(RECORD.CMP, WORDS, { TID: 7 });
    for (let round = 0; round < 3; round++) {
      f.ram.write64(AREA, 0n);
      heard.hook(HOOK.CMP8, 1n, 2n, 0x100);
      for (const [i, count] of [0, 1, 5, 120, 0, 3].entries()) {
        const at = table(f, SWITCH_TABLE + 0x800 * (i % 2), 8 << (i % 4), labels(count));
        heard.hook(HOOK.SWITCH, 0xffff_ffff_ffff_fff0n + BigInt(i), at, 0x200 + 8 * i);
        if (i % 2) heard.hook(HOOK.CONST_CMP2, 0x1_2345n, 0xffff_fffen, 0x300);
      }
    }
    return { heard, records: heard.records(), ram: Buffer.from(f.ram.read(BASE, RAM_BYTES)) };
  };
  const [stored, compiled] = [run(false), run(true)];
  expect(stored.records).toHaveLength(3 * (1 + 129 + 3));
  expect(compiled.records).toEqual(stored.records);
  expect(compiled.ram.equals(stored.ram)).toBe(true);
  expect(compiled.heard.singly()).toBe(1);
});

// A kernel of the user's may do so: a record changes the cases of the next one.
test.each([-40, -32, -24, -16, 24, 64])('the cases of a switch begin %i bytes behind the buffer', offset => {
  const run = (isCompiled: boolean) => {
    const heard = listener(isCompiled);
    const f = heard.fixture;
    f.context(RECORD.CMP, WORDS, { TID: 7 });
    heard.hook(HOOK.CMP8, 1n, 2n, 0x100);
    for (let round = 0; round < 4; round++) {
      const at = table(f, AREA + offset - 16, 32, new Array(4).fill(BigInt(round % 2)));
      heard.hook(HOOK.SWITCH, 5n, at, 0x200);
      heard.hook(HOOK.CMP8, 1n, 2n, 0x100);
    }
    return { records: heard.records(), ram: Buffer.from(f.ram.read(BASE, RAM_BYTES)) };
  };
  const [stored, compiled] = [run(false), run(true)];
  expect(stored.records.length).toBeGreaterThan(8);
  expect(compiled.records).toEqual(stored.records);
  expect(compiled.ram.equals(stored.ram)).toBe(true);
});

test('a ring that is full of one buffer makes room', () => {
  const run = (isCompiled: boolean) => {
    const heard = listener(isCompiled);
    const f = heard.fixture;
    f.context(RECORD.CMP, WORDS);
    const at = table(f, SWITCH_TABLE, 32, labels(120));
    for (let i = 0; i < 60; i++) heard.hook(HOOK.SWITCH, BigInt(i), at, 0x200);
    return { heard, records: heard.records(), ram: Buffer.from(f.ram.read(BASE, RAM_BYTES)) };
  };
  const [stored, compiled] = [run(false), run(true)];
  expect(stored.records).toHaveLength(60 * 120);
  expect(compiled.records).toEqual(stored.records);
  expect(compiled.ram.equals(stored.ram)).toBe(true);
  // The first switch.
  expect(compiled.heard.singly()).toBe(120);
});

test.each([
  [1, 900],
  [12, 1100],
  [40, 350],
])('a full ring keeps %i records of a buffer together', (length, rounds) => {
  const run = (isCompiled: boolean) => {
    const heard = listener(isCompiled);
    heard.fixture.context(RECORD.PC, 64);
    for (let round = 0; round < rounds; round++) {
      heard.fixture.ram.write64(AREA, 0n);
      for (let i = 0; i < length; i++) heard.hook(HOOK.PC, 0n, 0n, 8 * round + i);
    }
    return { heard, records: heard.records() };
  };
  const [stored, compiled] = [run(false), run(true)];
  expect(compiled.records).toEqual(stored.records);
  const first = length === 1 ? [] : [length - 1];
  expect(compiled.heard.runs()).toEqual([...first, ...new Array(rounds - 1).fill(length)]);
});

test('records behind a change of the hart blocks belong to the context there', () => {
  const run = (isCompiled: boolean) => {
    const heard = listener(isCompiled);
    const f = heard.fixture;
    f.context(RECORD.PC, 64, { TID: 1 });
    heard.hook(HOOK.PC, 0n, 0n, 0x100);
    heard.hook(HOOK.PC, 0n, 0n, 0x108);
    f.ram.write(OTHER_CONTEXT, f.ram.read(CONTEXT, CTX.SIZE));
    f.ram.write32(OTHER_CONTEXT + CTX.TID, 2);
    f.ram.write(OTHER_HARTS, f.ram.read(HARTS, 2 * HART.SIZE));
    f.ram.write64(OTHER_HARTS + HART.CURRENT, BigInt(OTHER_CONTEXT));
    f.store(REG.HARTS, OTHER_HARTS);
    heard.hook(HOOK.PC, 0n, 0n, 0x110);
    return heard.records();
  };
  expect(run(true)).toEqual(run(false));
  expect(run(true).map(record => record[0])).toEqual(['1', '1', '2']);
});
