// Results of M and Zb* at corner values against the sentences of the manual, in BigInt. The oracles
// test the same and everything else at random (test/oracle); this finds a broken rule in
// milliseconds.

import { describe, expect, test } from 'vitest';
import { encode, type Mnemonic } from '../../emulator/isa/index.ts';
import { Flat, jit, RAM_BASE } from '../support/flat.ts';

const MASK = 2n ** 64n - 1n;
const s = (v: bigint, bits = 64) => BigInt.asIntN(bits, v);
const u = (v: bigint, bits = 64) => BigInt.asUintN(bits, v);
const w = (v: bigint) => s(v, 32);
const bits = (v: bigint, width: number) => [...u(v, width).toString(2).padStart(width, '0')];
const clz = (v: bigint, width: number) =>
  BigInt(bits(v, width).join('').padEnd(width).indexOf('1') + 1 || width + 1) - 1n;
const ctz = (v: bigint, width: number) => {
  const at = bits(v, width).reverse().indexOf('1');
  return BigInt(at < 0 ? width : at);
};
const pop = (v: bigint, width: number) => BigInt(bits(v, width).filter(b => b === '1').length);
const rol = (v: bigint, n: bigint, width: number) => {
  const k = n & BigInt(width - 1);
  return (u(v, width) << k) | (u(v, width) >> (BigInt(width) - k));
};
const bytesOf = (v: bigint) => Array.from({ length: 8 }, (_, i) => (u(v) >> BigInt(8 * i)) & 0xffn);
const join = (bytes: bigint[]) => bytes.reduce((all, byte, i) => all | (byte << BigInt(8 * i)), 0n);
const div = (a: bigint, b: bigint) => (b === 0n ? -1n : a / b);
const rem = (a: bigint, b: bigint) => (b === 0n ? a : a % b);

const EXPECTED: Partial<Record<Mnemonic, (a: bigint, b: bigint) => bigint>> = {
  mul: (a, b) => a * b,
  mulh: (a, b) => (s(a) * s(b)) >> 64n,
  mulhsu: (a, b) => (s(a) * b) >> 64n,
  mulhu: (a, b) => (a * b) >> 64n,
  div: (a, b) => div(s(a), s(b)),
  divu: (a, b) => div(a, b),
  rem: (a, b) => rem(s(a), s(b)),
  remu: (a, b) => rem(a, b),
  mulw: (a, b) => w(a * b),
  divw: (a, b) => w(div(w(a), w(b))),
  divuw: (a, b) => w(div(u(a, 32), u(b, 32))),
  remw: (a, b) => w(rem(w(a), w(b))),
  remuw: (a, b) => w(rem(u(a, 32), u(b, 32))),
  addw: (a, b) => w(a + b),
  sllw: (a, b) => w(a << (b & 31n)),
  srlw: (a, b) => w(u(a, 32) >> (b & 31n)),
  sraw: (a, b) => w(w(a) >> (b & 31n)),
  sra: (a, b) => s(a) >> (b & 63n),
  slt: (a, b) => (s(a) < s(b) ? 1n : 0n),
  sltu: (a, b) => (a < b ? 1n : 0n),
  'add.uw': (a, b) => u(a, 32) + b,
  sh3add: (a, b) => (a << 3n) + b,
  'sh2add.uw': (a, b) => (u(a, 32) << 2n) + b,
  andn: (a, b) => a & ~b,
  orn: (a, b) => a | ~b,
  xnor: (a, b) => ~(a ^ b),
  clz: a => clz(a, 64),
  ctz: a => ctz(a, 64),
  cpop: a => pop(a, 64),
  clzw: a => clz(a, 32),
  ctzw: a => ctz(a, 32),
  cpopw: a => pop(a, 32),
  max: (a, b) => (s(a) > s(b) ? a : b),
  minu: (a, b) => (u(a) < b ? a : b),
  'sext.b': a => s(a, 8),
  'sext.h': a => s(a, 16),
  'zext.h': a => u(a, 16),
  rol: (a, b) => rol(a, b, 64),
  ror: (a, b) => rol(a, 64n - (b & 63n), 64),
  rolw: (a, b) => w(rol(a, b, 32)),
  rorw: (a, b) => w(rol(a, 32n - (b & 31n), 32)),
  'orc.b': a => join(bytesOf(a).map(byte => (byte ? 0xffn : 0n))),
  rev8: a => join(bytesOf(a).reverse()),
  bclr: (a, b) => a & ~(1n << (b & 63n)),
  bext: (a, b) => (a >> (b & 63n)) & 1n,
  binv: (a, b) => a ^ (1n << (b & 63n)),
  bset: (a, b) => a | (1n << (b & 63n)),
};

const CORNERS = [
  0n,
  1n,
  2n,
  31n,
  63n,
  0x7fn,
  0x80n,
  0x7fff_ffffn,
  0x8000_0000n,
  0xffff_ffffn,
  0x1234_5678_9abc_def0n,
]
  .flatMap(v => [v, u(-v)])
  .concat([2n ** 32n, 5n << 61n, 2n ** 63n, 2n ** 63n - 1n, 0xff00_ff00_0000_80ffn]);

/** Runs one instruction on x1 and x2 and gives x3. */
type Machine = (name: Mnemonic) => (a: bigint, b: bigint) => bigint;

const interpreted: Machine = name => {
  const flat = new Flat();
  flat.load([encode(name, { rd: 3, rs1: 1, rs2: 2 })]);
  return (a, b) => {
    flat.setX(1, a);
    flat.setX(2, b);
    flat.pc = BigInt(RAM_BASE);
    flat.run(1);
    return flat.x(3);
  };
};

/**
 * In a loop that has been compiled and is entered by a jump backwards; behind it time is spun away.
 */
const compiled: Machine = name => {
  const flat = new Flat({ engine: jit });
  flat.load([
    encode(name, { rd: 3, rs1: 1, rs2: 2 }),
    encode('addi', { rd: 10, rs1: 10, imm: -1 }),
    encode('bne', { rs1: 10, rs2: 0, imm: -8 }),
    encode('jal', { rd: 0, imm: 0 }),
    encode('jal', { rd: 0, imm: -16 }),
  ]);
  const run = (a: bigint, b: bigint): bigint => {
    flat.setX(1, a);
    flat.setX(2, b);
    flat.setX(3, 99n);
    flat.setX(10, 1n);
    flat.pc = BigInt(RAM_BASE + 16);
    flat.run(100);
    return flat.x(3);
  };
  for (let i = 0; i < 100; i++) run(1n, 1n);
  return run;
};

describe.each([
  ['interpreted', interpreted],
  ['compiled', compiled],
] as const)('register-register instructions at corner values, %s', (_how, machine) => {
  for (const [name, expected] of Object.entries(EXPECTED) as [Mnemonic, (a: bigint, b: bigint) => bigint][]) {
    test(name, () => {
      const run = machine(name);
      for (const a of CORNERS) {
        for (const b of CORNERS) expect([a, b, run(a, b)]).toEqual([a, b, expected(a, b) & MASK]);
      }
    });
  }
});
