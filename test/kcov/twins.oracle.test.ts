// The device's recorder (devices/kcov-record.ts, kcov-seen.ts) against its twin in C (kernel/opt/
// kcovguest: record.c, seen.c), compiled for the host: random contexts, areas, switch tables and
// seen-sets, and the limits of one hook. Every byte of RAM must be equal after every program.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import koffi from 'koffi';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KcovDevice } from '../../devices/kcov.ts';
import { CMP_WORDS, CTX, CTXF, HART, HOOK, LIMIT, RECORD, REG, SEEN } from '../../devices/kcov-layout.ts';
import { Ram } from '../../emulator/bus/ram.ts';
import { Random, seedFromEnvironment, seedText } from '../support/random.ts';
import { findLlvm, missing } from '../support/tools.ts';

const CLANG = findLlvm('clang');
const KERNEL = resolve(import.meta.dirname, '../../kernel');
const PROGRAMS = Number(process.env['KCOVBOX_PROGRAMS'] ?? 1000);

const BASE = 0x8000_0000;
const RAM_BYTES = 1 << 20;
const KVA = 0xffff_ffff_0000_0000n;
const HARTS = BASE;
const CONTEXT = BASE + 0x1000;
const AREA = BASE + 0x2000;
const EDGE_AREA = BASE + 0x4000;
const TABLE = BASE + 0x1_0000;
const SETS = [BASE + 0x4_0000, BASE + 0x8_0000] as const;

/** Physical addresses are offsets into `ram`; a switch table is told by its physical address. */
const SHIM = `
#include "opt/kcovguest/record.h"
u8 *ram;
struct op { u64 kind, arg0, arg1, pc; };
void play(u8 *memory, const struct op *ops, u32 count)
{
    ram = memory;
    struct kcov_context *ctx = (struct kcov_context *)(memory + ${CONTEXT - BASE});
    for (u32 i = 0; i < count; i++) {
        const struct op *op = ops + i;
        if (op->kind == KCOV_HOOK_PC) {
            if (ctx->mode & KCOV_RECORD_ANY_PC)
                kcov_record_pc(0, 0, ctx, op->pc);
        } else if (ctx->mode & KCOV_RECORD_ANY_CMP) {
            bool is_switch = op->kind == KCOV_HOOK_SWITCH;
            u64 table = (u64)(memory + (op->arg1 - ${KVA}UL - ${BASE}UL));
            kcov_record_cmp(op->arg0, is_switch ? table : op->arg1, ctx, op->pc, op->kind);
            ctx->arg1 = op->arg1;
        } else { /* the device has latched the operands already */
            ctx->arg0 = op->arg0;
            ctx->arg1 = op->arg1;
        }
    }
}
`;
const MEMLAYOUT = `#pragma once
#include "types.h"
extern u8 *ram;
static inline void *pa_to_va(u64 pa) { return ram + (pa - ${BASE}UL); }
`;

interface Op {
  kind: number;
  arg0: bigint;
  arg1: bigint;
  pc: bigint;
}

interface Program {
  /** Bytes of RAM before the hooks. */
  ram: Uint8Array;
  ops: Op[];
}

type Play = (memory: Uint8Array, ops: Uint8Array, count: number) => void;

/** A well-formed set of short or endless chains. Returns the values of its records. */
function writeSet(view: DataView, random: Random, at: number, words: number): void {
  const log2 = random.below(4);
  const nodes = random.below(64) + 1;
  const used = random.below(nodes + 1);
  const buckets = at + SEEN.SIZE;
  const pool = buckets + 64;
  const bytes = SEEN.NODE_HEADER + 8 * words;
  view.setUint32(at - BASE + SEEN.BUCKETS_LOG2, log2, true);
  view.setUint32(at - BASE + SEEN.NODE_WORDS, words, true);
  for (const [field, value] of [
    [SEEN.NODES, nodes],
    [SEEN.USED, used],
    [SEEN.BUCKETS, buckets],
    [SEEN.POOL, pool],
  ] as const) {
    view.setBigUint64(at - BASE + field, BigInt(value), true);
  }
  // Chains go to earlier nodes only, as insertion makes them; several may share a tail.
  for (let b = 0; b < 1 << log2; b++) view.setUint32(buckets - BASE + 4 * b, random.below(used + 1), true);
  for (let n = 0; n < used; n++) {
    const node = pool - BASE + n * bytes;
    view.setUint32(node, random.below(n + 1), true);
    for (let w = 0; w < words; w++) view.setBigUint64(node + 8 + 8 * w, value(random), true);
  }
}

/** Few different values, so that records meet again. */
const value = (random: Random): bigint =>
  random.pick([0n, 1n, 7n, 0x80n, 0xffn, 0x8000n, 0xffff_ffffn, 2n ** 63n, 2n ** 64n - 1n, KVA + 0x20_1234n]);

const MODES = [
  RECORD.PC,
  RECORD.CMP,
  RECORD.UNIQ_PC,
  RECORD.UNIQ_EDGE,
  RECORD.UNIQ_PC | RECORD.UNIQ_EDGE,
  RECORD.UNIQ_CMP,
];
/** Word 0 belongs to the user. */
const COUNTS = [0n, 0n, 1n, 2n, 30n, 31n, 2n ** 32n, 2n ** 62n - 1n, 2n ** 63n, 2n ** 64n - 1n];

function generate(random: Random): Program {
  const ram = new Uint8Array(RAM_BYTES);
  const view = new DataView(ram.buffer);
  const field = (at: number, v: bigint) => view.setBigUint64(CONTEXT - BASE + at, v, true);
  view.setUint32(CONTEXT - BASE + CTX.MODE, random.pick(MODES), true);
  view.setUint32(CONTEXT - BASE + CTX.FLAGS, random.pick([0, 0, CTXF.SWITCH_FREEBSD]), true);
  field(CTX.AREA, BigInt(AREA));
  field(CTX.WORDS, BigInt(random.below(33) + 1));
  field(CTX.EDGE_AREA, BigInt(EDGE_AREA));
  field(CTX.SEEN, BigInt(SETS[0]));
  field(CTX.EDGE_SEEN, BigInt(SETS[1]));
  field(CTX.PREV, value(random));
  for (const area of [AREA, EDGE_AREA]) view.setBigUint64(area - BASE, random.pick(COUNTS), true);
  writeSet(view, random, SETS[0], CMP_WORDS);
  writeSet(view, random, SETS[1], random.pick([1, CMP_WORDS]));
  const cases = random.below(6);
  view.setBigUint64(TABLE - BASE, BigInt(cases), true);
  view.setBigUint64(TABLE - BASE + 8, BigInt(random.pick([8, 16, 32, 64, 64, 0, 24])), true);
  for (let i = 0; i < cases; i++) view.setBigUint64(TABLE - BASE + 16 + 8 * i, value(random), true);
  const ops = Array.from({ length: random.below(12) + 1 }, (): Op => {
    const kind = random.below(HOOK.COUNT);
    const arg1 = kind === HOOK.SWITCH ? KVA + BigInt(TABLE) : value(random);
    return { kind, arg0: value(random), arg1, pc: value(random) };
  });
  return { ram, ops };
}

/** Plays a program on the device; returns RAM without the hart blocks. */
function onDevice(program: Program): Uint8Array {
  const memory = new WebAssembly.Memory({ initial: 1 + RAM_BYTES / 0x1_0000 });
  const ram = new Ram(memory, 0x1_0000, BASE, RAM_BYTES);
  ram.data.set(program.ram);
  const device = new KcovDevice({ ram, hart: { current: 0, count: 1 } });
  const store = (register: number, v: bigint): void => {
    device.write(register, 4, Number(v & 0xffff_ffffn));
    device.write(register + 4, 4, Number(v >> 32n));
  };
  store(REG.HARTS, BigInt(HARTS));
  store(REG.KVA_OFFSET, KVA);
  store(REG.CURRENT, BigInt(CONTEXT));
  for (const { kind, arg0, arg1, pc } of program.ops) {
    if (kind !== HOOK.PC) {
      store(REG.ARG0, arg0);
      store(REG.ARG1, arg1);
    }
    store(REG.TRIGGER + 8 * kind, pc);
  }
  ram.fill(HARTS, HART.SIZE, 0);
  return ram.data.slice();
}

describe.skipIf(missing('clang', CLANG))('the recorder and its twin in C', () => {
  let directory: string;
  let play: Play;

  const inC = (program: Program): Uint8Array => {
    const memory = program.ram.slice();
    const ops = new BigUint64Array(program.ops.flatMap(o => [BigInt(o.kind), o.arg0, o.arg1, o.pc]));
    play(memory, new Uint8Array(ops.buffer), program.ops.length);
    return memory;
  };
  const differs = (program: Program): boolean => Buffer.compare(inC(program), onDevice(program)) !== 0;

  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'kcovbox-twins-'));
    writeFileSync(join(directory, 'memlayout.h'), MEMLAYOUT);
    writeFileSync(join(directory, 'shim.c'), SHIM);
    const library = join(directory, 'twin.so');
    const result = spawnSync(
      CLANG!,
      [
        ...['-shared', '-fPIC', '-O1', '-Wall', '-Werror', '-DCONFIG_PERSONALITY_LINUX', '-o', library],
        ...[`-I${directory}`, `-I${KERNEL}/include`, `-I${KERNEL}`],
        ...[join(directory, 'shim.c'), `${KERNEL}/opt/kcovguest/record.c`, `${KERNEL}/opt/kcovguest/seen.c`],
      ],
      { encoding: 'utf8' },
    );
    expect(result.stderr).toBe('');
    play = koffi.load(library).func('void play(uint8_t *memory, const uint8_t *ops, uint32_t count)');
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  it('leave the same bytes in random programs', () => {
    const seed = seedFromEnvironment(0x7717);
    const random = new Random(seed);
    for (let n = 0; n < PROGRAMS; n++) {
      const program = generate(random);
      if (!differs(program)) continue;
      for (let i = program.ops.length - 1; i >= 0; i--) {
        const smaller = { ...program, ops: program.ops.toSpliced(i, 1) };
        if (differs(smaller)) program.ops = smaller.ops;
      }
      const [c, device] = [inC(program), onDevice(program)];
      const at = c.findIndex((byte, i) => byte !== device[i]);
      expect.fail(`seed ${seedText(seed)}, program ${n}: ${JSON.stringify(program.ops, (_, v) => (typeof v === 'bigint' ? v.toString(16) : v))}
        first difference at 0x${(BASE + at).toString(16)}: ${c[at]} in C, ${device[at]} in the device`);
    }
    console.log(`${PROGRAMS} programs of hooks, seed ${seedText(seed)}`);
  });

  it.each([
    ['a switch at the limit', RECORD.CMP, LIMIT.SWITCH_CASES, 1],
    ['a switch above it', RECORD.CMP, LIMIT.SWITCH_CASES + 1, 1],
    ['a switch above it with unique records', RECORD.UNIQ_CMP, LIMIT.SWITCH_CASES + 3, 1],
    ['a switch whose chains are long', RECORD.UNIQ_CMP, 3000, 3000],
    ['a switch whose chains are as long as the limit', RECORD.UNIQ_CMP, 64, 1024],
  ])('stop at the same place: %s', (_, mode, cases, chain) => {
    const ram = new Uint8Array(RAM_BYTES);
    const view = new DataView(ram.buffer);
    view.setUint32(CONTEXT - BASE + CTX.MODE, mode, true);
    view.setBigUint64(CONTEXT - BASE + CTX.AREA, BigInt(AREA), true);
    view.setBigUint64(CONTEXT - BASE + CTX.WORDS, 1024n, true);
    view.setBigUint64(CONTEXT - BASE + CTX.SEEN, BigInt(SETS[1]), true);
    view.setBigUint64(TABLE - BASE, BigInt(cases), true);
    view.setBigUint64(TABLE - BASE + 8, 64n, true);
    for (let i = 0; i < cases; i++) view.setBigUint64(TABLE - BASE + 16 + 8 * i, BigInt(i), true);
    const set = SETS[1] - BASE;
    view.setUint32(set + SEEN.NODE_WORDS, CMP_WORDS, true);
    view.setBigUint64(set + SEEN.NODES, BigInt(chain), true);
    view.setBigUint64(set + SEEN.USED, BigInt(chain), true);
    view.setBigUint64(set + SEEN.BUCKETS, BigInt(SETS[1] + SEEN.SIZE), true);
    view.setBigUint64(set + SEEN.POOL, BigInt(SETS[1] + SEEN.SIZE + 64), true);
    view.setUint32(set + SEEN.SIZE, chain, true);
    for (let n = 0; n < chain; n++) view.setUint32(set + SEEN.SIZE + 64 + 40 * n, n, true);
    const program = { ram, ops: [{ kind: HOOK.SWITCH, arg0: 5n, arg1: KVA + BigInt(TABLE), pc: 9n }] };
    const left = onDevice(program);
    const flags = new DataView(left.buffer).getUint32(CONTEXT - BASE + CTX.FLAGS, true);
    const isLimited = cases > LIMIT.SWITCH_CASES || cases * chain > LIMIT.SEEN_STEPS;
    expect(flags).toBe(isLimited ? CTXF.LIMITED : 0);
    expect(Buffer.compare(inC(program), left)).toBe(0);
  });
});
