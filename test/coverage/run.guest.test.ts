/**
 * From a run of the guest to files for other tools, and the guest kernel's debug information
 * compared with llvm.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { CallSites, Coverage, cleanPath, Elf, hex, readTrace, Symbolizer } from '../../coverage/index.ts';
import { buildKernel } from '../../toolchain/index.ts';
import { missing, run, scratch } from './support.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const reason = missing('coverage of the guest', 'clang-19', 'ld.lld-19', 'llvm-symbolizer-19');

const PROGRAM = `
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/kcov.h>
#include <sys/mman.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    unsigned long n = 65536;
    int mode = KCOV_MODE_TRACE_PC, p[2];
    char b[16];
    int fd = open("/dev/kcov", O_RDWR);
    if (fd < 0 || ioctl(fd, KIOSETBUFSIZE, &n))
        return 1;
    uint64_t *area = mmap(0, n * 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (ioctl(fd, KIOENABLE, &mode))
        return 2;
    __atomic_store_n(&area[0], 0, __ATOMIC_RELAXED);
    pipe(p);
    if (argc > 1)
        area[area[0]] = 7;
    write(p[1], "hello", 5);
    read(p[0], b, 5);
    uint64_t count = __atomic_load_n(&area[0], __ATOMIC_RELAXED);
    ioctl(fd, KIODISABLE, 0);
    for (uint64_t i = 1; i <= count; i++)
        printf("0x%lx\\n", (unsigned long)area[i]);
    return 0;
}
`;

const SEEK = `
#include <fcntl.h>
#include <unistd.h>
int main(void)
{
    int fd = open("/tmp/x", O_CREAT | O_RDWR, 0600);
    for (int i = 0; i < 5; i++)
        lseek(fd, i, SEEK_SET);
    for (int i = 0; i < 3; i++)
        lseek(fd, i, 99);
    lseek(fd, 0, SEEK_CUR);
    return 0;
}
`;

function kcovbox(args: string[], input?: string): { status: number; stdout: string; stderr: string } {
  const done = spawnSync(process.execPath, [join(ROOT, 'bin/kcovbox.cjs'), ...args], {
    encoding: 'utf8',
    input: input ?? '',
  });
  return { status: done.status ?? -1, stdout: done.stdout, stderr: done.stderr };
}

describe.skipIf(reason)('coverage of a run', () => {
  let program: string;
  let kernel: string;
  const trace = () => join(scratch(), 'run.kcov');
  let printed: string[];

  beforeAll(async () => {
    program = join(scratch(), 'pipes.c');
    writeFileSync(program, PROGRAM);
    kernel = (await buildKernel('openbsd')).path;
    const ran = kcovbox(['run', '--cover', trace(), program]);
    expect(ran.stderr).toBe('');
    expect(ran.status).toBe(0);
    printed = ran.stdout.trim().split('\n');
  });

  it('the host saw what the program found in its area, and every PC is a call site', () => {
    const recorded = readTrace(readFileSync(trace()));
    const pcs = Array.from(recorded.records, point => `0x${recorded.pointPc[point]!.toString(16)}`);
    expect(printed.length).toBeGreaterThan(100);
    expect(pcs.join(' ')).toContain(printed.join(' '));
    expect(recorded.findings).toEqual([]);
    const coverage = Coverage.of(recorded, new Elf(readFileSync(kernel), 'kernel.elf'));
    const covered = coverage.program.functions
      .filter(fn => coverage.functionState(fn) === 'covered')
      .map(fn => fn.name);
    expect(covered).toEqual(expect.arrayContaining(['sys_pipe2', 'pipe_read', 'pipe_write']));
  });

  it('symbolize names the functions of the printed PCs as llvm-symbolizer does of the calls', () => {
    const ours = kcovbox(['symbolize', '-k', kernel, '--json', '--strict'], printed.join('\n'));
    expect(ours.status).toBe(0);
    const rows = ours.stdout
      .trim()
      .split('\n')
      .map(
        line =>
          JSON.parse(line) as { call: string; frames: { function: string; file: string; line: number }[] },
      );
    const theirs = run('llvm-symbolizer-19', ['--output-style=JSON', `--obj=${kernel}`], {
      input: `${rows.map(row => row.call).join('\n')}\n`,
    });
    const expected = theirs
      .trim()
      .split('\n')
      .map(line => {
        const { Symbol: frames } = JSON.parse(line) as {
          Symbol: { FunctionName: string; FileName: string; Line: number }[];
        };
        return frames.map(f => `${f.FunctionName} ${cleanPath(f.FileName)}:${f.Line}`).join(' < ');
      });
    expect(rows.map(row => row.frames.map(f => `${f.function} ${f.file}:${f.line}`).join(' < '))).toEqual(
      expected,
    );
  });

  it('calls of a function that is inlined are a lower bound, those of others are exact', () => {
    const source = join(scratch(), 'seek.c');
    writeFileSync(source, SEEK);
    const calls = (file: string, ...options: string[]) => {
      const ran = kcovbox(['run', ...options, '--cover', join(scratch(), file), source]);
      expect(ran.stderr).toBe('');
      expect(ran.status).toBe(0);
      const { files } = JSON.parse(readFileSync(join(scratch(), file), 'utf8')) as {
        files: { functions: { name: string; hits: number; atLeast?: true }[] }[];
      };
      const all = files.flatMap(({ functions }) => functions);
      return (name: string) => {
        const { hits, atLeast = false } = all.find(fn => fn.name === name)!;
        return { hits, atLeast };
      };
    };
    const recorded = calls('seek.json', '--trace');
    expect(recorded('sys_lseek')).toEqual({ hits: 9, atLeast: false });
    // Three of its nine calls leave on a path without a hook.
    expect(recorded('seek_regular')).toEqual({ hits: 6, atLeast: true });
    const exact = calls('exact.json', '--exact');
    expect(exact('sys_lseek')).toEqual({ hits: 9, atLeast: false });
    // Has an entry that nothing called, and inlined copies that ran: one more often than once.
    expect(exact('tmpfs_find').atLeast).toBe(true);
    expect(exact('tmpfs_find').hits).toBeGreaterThan(1);
    // Has no entry: its copies alone are counted, by the hooks that recorded it above.
    expect(exact('seek_regular')).toEqual({ hits: 6, atLeast: true });
  });

  it('the debug information of the whole kernel reads as llvm reads it', () => {
    const elf = new Elf(readFileSync(kernel), 'kernel.elf');
    const sites = new CallSites(elf);
    const symbolizer = new Symbolizer(elf, { symbolsWin: true });
    const calls = Array.from(sites.call);
    const theirs = run('llvm-symbolizer-19', ['--output-style=JSON', `--obj=${kernel}`], {
      input: `${calls.map(hex).join('\n')}\n`,
    });
    for (const [i, line] of theirs.trim().split('\n').entries()) {
      const { Symbol: frames } = JSON.parse(line) as {
        Symbol: { FunctionName: string; FileName: string; Line: number; Column: number }[];
      };
      const expected = frames.map(f => `${f.FunctionName} ${f.FileName}:${f.Line}:${f.Column}`);
      const ours = symbolizer.frames(calls[i]!).map(f => `${f.function} ${f.file}:${f.line}:${f.column}`);
      if (ours.join() !== expected.join()) expect(ours).toEqual(expected);
    }
  });

  const noLcov = missing('genhtml of a run', 'lcov', 'genhtml');
  it.skipIf(noLcov)('genhtml shows the numbers of our own report', () => {
    const info = join(scratch(), 'run.info');
    expect(
      kcovbox(['cov', 'export', trace(), '--format', 'lcov', '--source-root', ROOT, '-o', info]).status,
    ).toBe(0);
    const out = join(scratch(), 'genhtml-run');
    mkdirSync(out, { recursive: true });
    const log = run('sh', ['-c', `genhtml -o ${out} ${info} 2>&1`]);
    const report = kcovbox(['cov', 'stats', '--json', trace()]);
    const { totals } = JSON.parse(report.stdout) as {
      totals: Coverage['totals'] extends () => infer T ? T : never;
    };
    expect(log).toContain(`(${totals.lines.covered} of ${totals.lines.total} lines)`);
    expect(log).toMatch(/functions\.*: [\d.]+% \(\d+ of \d+ functions\)/);
  });

  it('a program that scribbles over its area is found out', () => {
    const path = join(scratch(), 'bad.kcov');
    expect(kcovbox(['run', '--cover', path, program, '--', 'scribble']).status).toBe(0);
    expect(readTrace(readFileSync(path)).findings).toEqual([
      expect.stringMatching(
        /^descriptor 1: record \d+ was changed in guest memory to 0x7; the device wrote 0xffffffff8/,
      ),
    ]);
  });

  it('a damaged trace, a wrong image and a wrong PC are one line and a failure', () => {
    const cut = join(scratch(), 'cut.kcov');
    writeFileSync(cut, readFileSync(trace()).subarray(0, 900));
    const oneLine = (done: { status: number; stderr: string; stdout: string }, text: RegExp) => {
      expect(done.stdout).toBe('');
      expect(done.stderr).toMatch(text);
      expect(done.stderr.trimEnd()).not.toContain('\n');
      expect(done.status).toBe(125);
    };
    oneLine(kcovbox(['cov', 'report', cut]), /^kcovbox: .*cut\.kcov is truncated after \d+ records/);
    oneLine(kcovbox(['cov', 'report', trace(), '-k', program]), /is not an ELF file: wrong magic/);
    oneLine(
      kcovbox(['symbolize', '-k', kernel, '--strict'], '0x1234\n'),
      /PC 0x1234 is not a call site: .* has no code there/,
    );
    oneLine(
      kcovbox(['symbolize', '-k', kernel], 'zebra\n'),
      /line 1: "zebra" has no PC: expected hexadecimal digits/,
    );
  });
});
