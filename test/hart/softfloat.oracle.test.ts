// Every F and D computation against QEMU's user-mode emulation: results and flags, all five
// rounding modes, corner and random operands. KCOVBOX_FP_VECTORS sets the number of operand triples
// per format.

import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FFLAGS, FP_A, FP_B, FP_C, FP_RESULT, FP_RM } from '../../emulator/hart/layout.ts';
import { FP_MNEMONICS, fpHelper } from '../../emulator/hart/softfloat.ts';
import { type Mnemonic, OP, rowNamed } from '../../emulator/isa/index.ts';
import { Random, seedFromEnvironment, seedText } from '../support/random.ts';
import { findLlvm, findProgram, missing, runProgram, withScratch } from '../support/tools.ts';
import { bench } from './fixture.ts';

const clang = findLlvm('clang');
const lld = findLlvm('ld.lld') ?? findProgram('ld.lld');
const qemu = findProgram('qemu-riscv64', 'qemu-riscv64-static');
const absent = [
  missing('clang', clang),
  missing('ld.lld', lld),
  missing('qemu-riscv64 (user mode)', qemu),
].some(x => x);

const vectors = Number(process.env['KCOVBOX_FP_VECTORS'] ?? 4000);
const MODES = 5;
const RESULT_BYTES = 9;

const takesInteger = (name: string): boolean => /^fcvt\.[sd]\.[wl]/.test(name);
const givesInteger = (name: string): boolean => /^(feq|flt|fle|fclass|fcvt\.[wl])/.test(name);
/** Instructions whose operands are singles; conversions go by their source. */
const readsSingle = (name: string): boolean =>
  takesInteger(name) ? name.startsWith('fcvt.s') : name.endsWith('.s');

function assembly(name: string): string {
  const count = /^fn?m(add|sub)/.test(name) ? 3 : /^(fsqrt|fclass|fcvt)/.test(name) ? 1 : 2;
  const from = takesInteger(name) ? ['t1'] : ['ft0', 'ft1', 'ft2'].slice(0, count);
  const to = givesInteger(name) ? 't0' : 'ft3';
  return `${name} ${[to, ...from].join(', ')}${givesInteger(name) ? '' : '\\n fmv.x.d t0, ft3'}`;
}

/** fcvt.w and its like have a static mode of their own in assembly unless "dyn" is said. */
function dynamic(name: string): string {
  return /^fcvt\.[wl]/.test(name) ? `${assembly(name)}, dyn` : assembly(name);
}

/**
 * The user-mode QEMU of today's Debian lacks the others; zf-tables.test.ts and the random programs
 * compare them.
 */
const known = FP_MNEMONICS.filter(name => ['f', 'd'].includes(rowNamed(name).ext));
const singles = known.filter(readsSingle);
const doubles = known.filter(name => !readsSingle(name));

function produce(seed: number): Buffer {
  return withScratch(directory => {
    const runs = (names: readonly string[]): string =>
      names.map(name => `RUN("${dynamic(name)}")\n`).join('');
    writeFileSync(join(directory, 'ops.h'), `#ifdef SINGLE\n${runs(singles)}#else\n${runs(doubles)}#endif\n`);
    const program = join(directory, 'fp-vectors');
    const output = join(directory, 'vectors');
    const source = join(import.meta.dirname, 'oracle/fp-vectors.c');
    const flags = ['--target=riscv64-linux-gnu', '-march=rv64gc', '-O1', '-ffreestanding', '-nostdlib'];
    const defines = [`-DSEED=0x${seedText(seed)}ul`, `-DVECTORS=${vectors}`, `-I${directory}`];
    runProgram(clang!, [...flags, '-static', `--ld-path=${lld}`, ...defines, source, '-o', program]);
    const run = spawnSync('sh', ['-c', '"$0" "$1" > "$2"', qemu!, program, output], { timeout: 300_000 });
    expect(run.status, String(run.stderr)).toBe(0);
    return readFileSync(output);
  });
}

test.skipIf(absent)('results and flags of every operation and rounding mode are those of qemu', () => {
  const seed = seedFromEnvironment(new Random(0xf10a7).u32());
  const data = produce(seed);
  const { hart } = bench();
  const s = hart.state;
  const differences: string[] = [];
  let compared = 0;
  let at = 0;
  const check = (name: Mnemonic, rm: number, operands: readonly bigint[]): void => {
    s.set64(FP_A, operands[0]!);
    s.set64(FP_B, operands[1]!);
    s.set64(FP_C, operands[2]!);
    s.set(FP_RM, rm);
    s.set(FFLAGS, 0);
    fpHelper(s, OP[name]);
    const [theirs, theirFlags] = [data.readBigUInt64LE(at), data[at + 8]];
    at += RESULT_BYTES;
    compared++;
    const [ours, ourFlags] = [s.get64(FP_RESULT), s.get(FFLAGS)];
    if ((ours !== theirs || ourFlags !== theirFlags) && differences.length < 20) {
      const shown = operands.map(x => x.toString(16)).join(' ');
      differences.push(
        `${name} rm=${rm} ${shown}: ${ours.toString(16)} ${ourFlags}, qemu ${theirs.toString(16)} ${theirFlags}`,
      );
    }
  };
  for (let i = 0; i < 2 * vectors; i++) {
    const operands = [0, 8, 16].map(offset => data.readBigUInt64LE(at + offset));
    at += 24;
    for (let rm = 0; rm < MODES; rm++)
      for (const name of i % 2 ? singles : doubles) check(name, rm, operands);
  }
  console.log(`soft-float: ${compared} results compared with qemu, seed ${seedText(seed)}`);
  expect(at).toBe(data.length);
  expect(differences).toEqual([]);
});
