// Floating-point instructions in a compiled loop against soft-float, which the oracles have
// verified: result, flags and state of one instruction, for operands at the corners of every fast
// path, with and without NX set, in every rounding mode.

import { CSR, FFLAGS, FP_A, FP_B, FP_C, FP_RESULT, FP_RM, FRM, MSTATUS } from '../../emulator/hart/layout.ts';
import { FP_MNEMONICS, fpHelper } from '../../emulator/hart/softfloat.ts';
import { encode, type Mnemonic, OP, rowNamed } from '../../emulator/isa/index.ts';
import { Flat, jit, RAM_BASE } from './flat.ts';
import { cornerHalf } from './oracle/corners.ts';
import { Random } from './random.ts';

const FS_DIRTY = 0x6000;
const DYNAMIC = 7;
/**
 * Where the loop ends (it spins there), and where it is entered: by a jump backwards, so that its
 * first round is compiled code.
 */
const END = 12;
const START = 16;
/** Enough for any way through the loop; what is left is spun away. */
const UNITS = 200;
const WARM_RUNS = 100;

const f64 = new Float64Array(1);
const bits64 = new BigUint64Array(f64.buffer);
const f32 = new Float32Array(1);
const bits32 = new Uint32Array(f32.buffer);

const double = (x: number): bigint => {
  f64[0] = x;
  return bits64[0]!;
};
const BOX = 0xffff_ffff_0000_0000n;
const single = (x: number): bigint => {
  f32[0] = x;
  return BOX | BigInt(bits32[0]!);
};

const NUMBERS = [
  0,
  -0,
  1,
  -1,
  1.5,
  3,
  -7,
  0.1,
  1 / 3,
  1e-3,
  12345.678,
  Infinity,
  -Infinity,
  NaN,
  2 ** 31,
  2 ** 63,
];
const CORNERS: Readonly<Record<'s' | 'd', readonly bigint[]>> = {
  s: [
    ...[...NUMBERS, 2 ** -126, 2 ** -149, 2 ** -127, 2 ** 127, -(2 ** -64), 2 ** -75, 2 ** 24 + 2].map(
      single,
    ),
    ...[0x0080_0001n, 0x0100_0000n, 0x00ff_ffffn, 0x7f7f_ffffn, 0x7f80_0001n, 0xff80_1234n].map(b => BOX | b),
    double(1),
    0n,
  ],
  d: [
    ...[...NUMBERS, 2 ** -1022, 5e-324, 2 ** -1023, 2 ** 1023, -(2 ** -512), 2 ** -540, 2 ** 53 + 2].map(
      double,
    ),
    ...[0x0010_0000_0000_0001n, 0x0020_0000_0000_0000n, 0x001f_ffff_ffff_ffffn, 0x7fef_ffff_ffff_ffffn],
    ...[0x7ff0_0000_0000_0001n, 0xfff0_0000_1234_0000n, 0x3fef_ffff_ffff_ffffn, 0x3ff0_0000_0000_0001n],
  ],
};

/**
 * Random operands that meet: like exponents now and then, so that sums cancel and products nearly
 * do.
 */
function operand(random: Random, format: 'h' | 's' | 'd'): bigint {
  if (format === 'h') return cornerHalf(random);
  // Few bits: results that are exact, and now and then just not.
  if (random.oneIn(3)) {
    const few = (random.below(64) - 32) * 2 ** (random.oneIn(4) ? random.below(60) - 30 : 0);
    return format === 's' ? single(few) : double(few);
  }
  if (random.oneIn(2)) return random.pick(CORNERS[format]);
  // The square root of something tiny, with all bits: products whose error is lost.
  if (format === 'd' && random.oneIn(4)) {
    const exponent = BigInt(1023 - 505 - random.below(30));
    return (random.u64() & 0x800f_ffff_ffff_ffffn) | (exponent << 52n);
  }
  const near = random.oneIn(2);
  if (format === 's') {
    const word = near ? (random.u32() & 0x83ff_ffff) | 0x3c00_0000 : random.u32();
    return BOX | BigInt(word >>> 0);
  }
  const word = random.u64();
  return near ? (word & 0x803f_ffff_ffff_ffffn) | 0x3fc0_0000_0000_0000n : word;
}

/** Operands are singles; of conversions the source counts. */
const reads = (name: string): 'h' | 's' | 'd' => {
  const last = name.split('.').at(-1);
  return last === 's' || last === 'h' ? last : 'd';
};

interface Case {
  readonly operands: readonly bigint[];
  readonly flags: number;
  readonly frm: number;
}

class Loop {
  readonly #flat: Flat;
  readonly #name: Mnemonic;
  readonly #rm: number;

  constructor(name: Mnemonic, rm: number) {
    this.#name = name;
    this.#rm = rm;
    this.#flat = new Flat({ engine: jit });
    this.#flat.load([
      encode(name, { rd: 4, rs1: 1, rs2: 2, rs3: 3, rm }),
      encode('addi', { rd: 10, rs1: 10, imm: -1 }),
      encode('bne', { rs1: 10, rs2: 0, imm: -8 }),
      encode('jal', { rd: 0, imm: 0 }),
      encode('jal', { rd: 0, imm: -START }),
    ]);
    this.#flat.hart.state.set(MSTATUS, this.#flat.hart.state.get(MSTATUS) | FS_DIRTY);
    const ones: Case = { operands: [double(1), double(1), double(1)], flags: 1, frm: 0 };
    for (let i = 0; i < WARM_RUNS; i++) this.run(ones);
  }

  /** The results of the instruction: flags, then the value. */
  run({ operands, flags, frm }: Case): string {
    const { hart } = this.#flat;
    const s = hart.state;
    this.#flat.pc = BigInt(RAM_BASE + START);
    for (const [i, value] of operands.entries()) {
      this.#flat.setF(i + 1, value);
      this.#flat.setX(i + 1, value);
    }
    this.#flat.setX(10, 1n);
    s.set(FFLAGS, flags);
    s.set(FRM, frm);
    this.#flat.run(UNITS);
    const result = rowNamed(this.#name).regs.rd === 'x' ? this.#flat.x(4) : s.getF(4);
    return `${s.get(FFLAGS)} ${result.toString(16)} after ${s.get64(CSR)} at ${this.#flat.pc}`;
  }

  expected({ operands, flags, frm }: Case): string {
    const s = this.#flat.hart.state;
    for (const [i, slot] of [FP_A, FP_B, FP_C].entries()) s.set64(slot, operands[i]!);
    s.set(FFLAGS, flags);
    s.set(FP_RM, this.#rm === DYNAMIC ? frm : this.#rm);
    fpHelper(s, OP[this.#name]);
    const end = RAM_BASE + END;
    return `${s.get(FFLAGS)} ${s.get64(FP_RESULT).toString(16)} after ${s.get64(CSR)} at ${end}`;
  }
}

/** Compares; the answer is a list of differences and how much was compared. */
export function compareLoops(seed: number, cases: number): { differences: string[]; compared: number } {
  const differences: string[] = [];
  let compared = 0;
  for (const name of FP_MNEMONICS) {
    const hasMode = rowNamed(name).format.operands.includes('rm');
    const modes = name.startsWith('fround') ? [DYNAMIC, 0, 1, 2, 3, 4] : [DYNAMIC, 0, 1];
    for (const rm of hasMode ? modes : [0]) {
      const random = new Random(seed ^ OP[name]);
      const loop = new Loop(name, rm);
      for (let i = 0; i < cases; i++) {
        const [a, b, c] = [0, 1, 2].map(() => operand(random, reads(name))) as [bigint, bigint, bigint];
        // Now and then the second is the first or its negative: sums of zero, quotients of one.
        const sign = random.below(2) === 0 ? 0n : reads(name) === 's' ? 1n << 31n : 1n << 63n;
        const one: Case = {
          operands: [a, random.oneIn(4) ? a ^ sign : b, c],
          flags: random.pick([0, 0, 1, 1, 1, 4, 31]),
          frm: random.oneIn(3) ? random.below(5) : 0,
        };
        const [ours, theirs] = [loop.run(one), loop.expected(one)];
        compared++;
        if (ours === theirs || differences.length >= 10) continue;
        const shown = one.operands.map(x => x.toString(16)).join(' ');
        differences.push(
          `${name} rm ${rm} ${shown} flags ${one.flags} frm ${one.frm}: ${ours}, soft-float ${theirs}`,
        );
      }
    }
  }
  return { differences, compared };
}
