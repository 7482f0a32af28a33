// The core alone (kernel/conf/teach): it boots in every dialect, runs the examples with the output
// of the whole kernel, and records the coverage of kcov's conformance programs.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildKernel, findTool, hasGlibc, requireTool } from '../../toolchain/index.ts';
import { prebuilt } from '../support/kernels.ts';
import { runProgram } from '../support/tools.ts';

const ready = hasGlibc() && findTool('clang') !== undefined;
if (!ready) console.warn('skipped: guest tests need clang-19 and libc6-dev-riscv64-cross');

const ROOT = resolve(import.meta.dirname, '../..');
const BIN = join(ROOT, 'bin/kcovbox.cjs');
const CONFIGURATIONS = [
  prebuilt('openbsd+teach'),
  prebuilt('netbsd+teach'),
  prebuilt('freebsd+teach'),
  prebuilt('linux+teach'),
];

describe.skipIf(!ready)('the kernel without options', () => {
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'teach-'));
    for (const conf of CONFIGURATIONS) await buildKernel(conf);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const run = (...args: readonly string[]) => {
    const { stdout, status } = spawnSync(process.execPath, [BIN, 'run', ...args], {
      cwd: folder,
      encoding: 'utf8',
    });
    return { stdout, status };
  };

  // docs/kernel.md names the number. Lines of all files that the compiler reads, headers included.
  it('has at most 24,000 lines', () => {
    const make = (...words: readonly string[]) =>
      runProgram(requireTool('make'), [
        '-s',
        '-C',
        join(ROOT, 'kernel'),
        'CONF=openbsd+teach',
        `OUT=${folder}`,
        ...words,
      ]);
    const [flags = '', ...sources] = make('commands').trimEnd().split('\n');
    const files = new Set<string>();
    for (const line of sources) {
      const args = [...flags.split(' ').filter(Boolean).slice(1), '-I', folder, '-MM', line.split(' ')[0]!];
      const rule = spawnSync(requireTool('clang'), args, { cwd: join(ROOT, 'kernel'), encoding: 'utf8' });
      expect(rule.stderr).toBe('');
      for (const [path] of rule.stdout.matchAll(/[\w./-]+\.(?:c|h|S|def)\b/g))
        if (!path.startsWith('/')) files.add(path);
    }
    let lines = 0;
    for (const path of files)
      lines += readFileSync(join(ROOT, 'kernel', path), 'utf8').split('\n').length - 1;
    expect(lines).toBeLessThan(24_000);
    expect(lines).toBeGreaterThan(20_000); // else the count is wrong, or the document
  });

  it.each(CONFIGURATIONS)('%s: its kcov records a program that uses it', conf => {
    const [dialect = ''] = conf.split('+');
    const program = join(ROOT, `guest-programs/${dialect}-kcov.c`);
    const end = run('--conf', conf, program);
    expect(end.status).toBe(0);
    expect(end.stdout).toMatch(/0x[0-9a-f]{16}/);
  });

  const EXAMPLES = ['hello', 'constants', 'factorial', 'lines', 'pipe', 'interrupt', 'race', 'cost'];
  it.each(EXAMPLES)('examples/%s.c prints the lines of the whole kernel', name => {
    const program = join(ROOT, `examples/${name}.c`);
    const [whole, core] = [run(program), run('--conf', 'openbsd+teach', program)];
    expect(core.status).toBe(whole.status);
    expect(core.stdout.split('\n').length).toBe(whole.stdout.split('\n').length);
  });
});
