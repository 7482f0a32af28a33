/**
 * A program of one file gives its lines the states that a program of all files gives them, in the
 * same order, or says that it cannot: for a real run and for
 * random traces. The oracle is the program of all files.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  Coverage,
  codeWindow,
  didRun,
  Elf,
  ExecutedLines,
  Program,
  pcOf,
  readTrace,
  type Trace,
  TraceBuilder,
  Undecided,
} from '../../coverage/index.ts';
import { buildKernel } from '../../toolchain/index.ts';
import { kcovbox, ROOT } from '../support/command.ts';
import { Random, seedFromEnvironment, seedText } from '../support/random.ts';
import { missing, run as runTool } from './support.ts';

const reason = missing('programs of one file', 'clang-19', 'ld.lld-19');

/** Lines of a file as they are shown; undefined: it cannot be decided. */
function statesOf(trace: Trace, program: Program, path: string): string | undefined {
  const coverage = new Coverage(trace, program);
  const file = program.files.find(one => one.path === path);
  try {
    return JSON.stringify([...(file?.lines ?? [])].map(([line, code]) => [line, coverage.line(code)]));
  } catch (error) {
    if (error instanceof Undecided) return undefined;
    throw error;
  }
}

/** Compares all files; the share that was decided. */
function compare(trace: Trace, whole: Program, seed: number, isChosen = (): boolean => true): number {
  let decided = 0;
  const coverage = new Coverage(trace, whole);
  const paths = whole.files.map(({ path }) => path).filter(path => path !== '' && isChosen());
  for (const path of paths) {
    const part = statesOf(trace, new Program(whole.elf, { file: path, from: whole }), path);
    if (part === undefined) continue;
    decided++;
    const { lines } = whole.files.find(one => one.path === path)!;
    const wanted = JSON.stringify([...lines].map(([line, code]) => [line, coverage.line(code)]));
    expect(part === wanted, `${path}, ${seedText(seed)}: ${part}\nnot ${wanted}`).toBe(true);
  }
  return decided / paths.length;
}

describe.skipIf(reason)('a program of one file', () => {
  const seed = seedFromEnvironment(0x0f11e);
  const random = new Random(seed);
  const dir = mkdtempSync(join(tmpdir(), 'kcovbox-one-file-'));
  let whole: Program;

  beforeAll(async () => {
    whole = new Program(new Elf(readFileSync((await buildKernel('openbsd')).path), 'kernel'));
  }, 600_000);
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  it.each([0.02, 0.3, 0.9])('gives the states of a trace of the share %s of all points', share => {
    const builder = new TraceBuilder({ dialect: 'openbsd', image: whole.elf.imageId, flow: 'known' });
    const source = builder.source({ test: 'random' });
    for (let point = 0; point < whole.count; point++)
      if (random.below(1000) < share * 1000) builder.pc(source, pcOf(whole.ret(point)));
    compare(builder.finish(), whole, seed, () => random.oneIn(4));
  });

  it('gives the states of a run, and decides most files', () => {
    const trace = join(dir, 'run.kcov');
    const program = join(ROOT, 'guest-programs', 'openbsd-kcov.c');
    kcovbox(['run', '--cover', trace, program], { cwd: dir });
    const share = compare(readTrace(readFileSync(trace)), whole, seed, () => random.oneIn(3));
    expect(share).toBeGreaterThan(0.8);
  });

  // The lines of `step` hang on whether each copy of `each`, a function of the header, ran.
  it('does not decide lines that are inlined into a function of another file', () => {
    writeFileSync(
      join(dir, 'each.h'),
      `static inline __attribute__((always_inline)) int each(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += step(i, n);
    return sum;
}
`,
    );
    writeFileSync(
      join(dir, 'main.c'),
      `extern int outside(int);
static inline __attribute__((always_inline)) int step(int i, int n)
{
    if (n > 4)
        outside(i);
    return i;
}
#include "each.h"
int one(void) { return each(outside(1)); }
int two(void) { return each(3); }
`,
    );
    writeFileSync(
      join(dir, 'other.c'),
      'void __sanitizer_cov_trace_pc(void) {}\nint outside(int n) { return n; }\n',
    );
    const target = ['--target=riscv64', '-march=rv64imac', '-mcmodel=medany', '-ffreestanding', '-O2', '-g'];
    const clang = (...args: string[]) => runTool('clang-19', [...target, ...args], { cwd: dir });
    clang('-fsanitize-coverage=trace-pc', '-c', 'main.c', '-o', 'main.o');
    clang('-c', 'other.c', '-o', 'other.o');
    const linked = ['-nostdlib', '-static', '-fuse-ld=lld-19', '-Wl,-e,one', '-Wl,-Ttext=0x80000000'];
    clang(...linked, 'main.o', 'other.o', '-o', 'main.elf');
    const elf = new Elf(readFileSync(join(dir, 'main.elf')), 'main.elf');
    const all = new Program(elf);
    const path = all.files.find(file => file.path.endsWith('main.c'))!.path;
    const traces = Array.from({ length: all.count }, (_, point) => {
      const builder = new TraceBuilder({ dialect: 'openbsd', image: elf.imageId, flow: 'known' });
      builder.pc(builder.source({ test: 'one' }), pcOf(all.ret(point)));
      return builder.finish();
    });
    const states = traces.map(trace => statesOf(trace, new Program(elf, { file: path }), path));
    expect(states).toContain(undefined);
    for (const [point, trace] of traces.entries())
      expect([undefined, statesOf(trace, all, path)], `point ${point}`).toContain(states[point]);
  });

  it('finds the same without a program of all files', () => {
    const path = 'kernel/fs/sys_rw.c';
    const alone = new Program(whole.elf, { file: path });
    expect(alone.files.find(one => one.path === path)!.lines.size).toBeGreaterThan(50);
    const builder = new TraceBuilder({ dialect: 'openbsd', image: whole.elf.imageId, flow: 'known' });
    builder.pc(builder.source({ test: 'one' }), pcOf(whole.ret(whole.count >> 1)));
    const trace = builder.finish();
    expect(statesOf(trace, alone, path)).toBe(statesOf(trace, whole, path));
    expect(new Program(whole.elf, { file: 'no/such.c' }).files).toEqual([]);
  });

  it('has the lines that ran', () => {
    const { elf } = whole;
    const { low, high } = codeWindow(elf);
    const counts = new BigUint64Array(Number((high - low) / 2n));
    let isRun = false;
    for (let i = 0; i < counts.length; i++) {
      if (random.oneIn(50)) isRun = random.oneIn(3);
      if (isRun) counts[i] = BigInt(random.below(3));
    }
    const coverage = Coverage.exact(elf, { low, counts }, 'random');
    const executed = new ExecutedLines(elf, { low, counts });
    for (const { path, lines } of coverage.program.files) {
      if (!random.oneIn(10)) continue;
      const wanted = [...lines].map(([line, code]) => [line, didRun(coverage.line(code).state)]);
      expect([...executed.of(path)], `${path}, ${seedText(seed)}`).toEqual(wanted);
    }
    expect(executed.of('none.c').size).toBe(0);
  });
});
