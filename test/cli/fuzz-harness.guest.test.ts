// `kcovbox fuzz --harness`: code of the user's own. The example's bug is behind a magic word and a
// checksum; the oracle of a find is the code itself, run with the kept bytes.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { findTool, hasGlibc } from '../../toolchain/index.ts';
import { kcovbox, ROOT } from '../support/command.ts';

const ready = hasGlibc() && findTool('clang') !== undefined;
if (!ready) console.warn('skipped: guest tests need clang-19 and libc6-dev-riscv64-cross');

const PARSE = join(ROOT, 'examples/fuzz/parse.c');

describe.skipIf(!ready)('a harness', () => {
  const cwd = mkdtempSync(join(tmpdir(), 'kcovbox-harness-'));
  afterAll(() => rmSync(cwd, { recursive: true, force: true }));
  const run = (...args: readonly string[]) => kcovbox([...args], { cwd });
  const file = (name: string, text: string): string => {
    writeFileSync(join(cwd, name), text);
    return name;
  };

  it('finds what is behind a magic word and a checksum, the same on the other engine', () => {
    const found = run('fuzz', 'run', '--harness', PARSE, '-n', '5120', 'parse');
    expect(found.stdout).toMatch(/^\d+ executions: .* 1 crashes\n {2}at execution \d+: SIGABRT behind 0x/);
    expect(found.status).toBe(1);
    const [crash = ''] = readdirSync(join(cwd, 'parse/crashes'));
    expect(readdirSync(join(cwd, 'parse/crashes', crash)).sort()).toEqual([
      'execution.txt',
      'input.bin',
      'program.txt',
      'title.txt',
    ]);
    const verified = run('fuzz', 'verify', '--sample', '40', '--engine', 'interp', 'parse');
    expect(verified.stdout).toBe('2 epochs of 5 repeated: equal\n');
    // The code itself, with the bytes that were kept, ends by abort().
    const bytes = [...readFileSync(join(cwd, 'parse/crashes', crash, 'input.bin'))];
    mkdirSync(join(cwd, 'main'));
    file(
      'main/main.c',
      `#include "${PARSE}"\nstatic const uint8_t bytes[] = {${bytes.join()}};\n` +
        'int main(void) { return LLVMFuzzerTestOneInput(bytes, sizeof(bytes)); }\n',
    );
    expect(run('run', 'main/main.c').status).toBe(128 + 6);
    const other = run('fuzz', 'repro', 'parse');
    expect([other.status, other.stderr]).toEqual([
      125,
      expect.stringContaining('a harness has no C program'),
    ]);
  });

  it('each execution begins anew, and LLVMFuzzerInitialize was called before it', () => {
    file(
      'state.c',
      '#include <stddef.h>\n#include <stdint.h>\n#include <unistd.h>\nstatic int calls, begun;\n' +
        'int LLVMFuzzerInitialize(int *argc, char ***argv) { begun = *argc + 10 * (**argv)[0]; return 0; }\n' +
        'int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)\n' +
        '{ return begun + 10000 * ++calls + 100000 * (int)size + 1000000 * data[0]; }\n',
    );
    const program = 'test_one_input(&"\\x02\\x01", 0x2)\n';
    const exec = () => run('fuzz', 'exec', '--harness', 'state.c', file('p.txt', program + program)).stdout;
    const value = (calls: number): string =>
      `0x${(1 + 10 * 'h'.charCodeAt(0) + 10_000 * calls + 200_000 + 2_000_000).toString(16)}`;
    expect(exec().match(/0x[0-9a-f]+/g)).toEqual([value(1), value(2)]);
    expect(exec()).toBe(exec());
  });

  it.each([
    ['SIGSEGV', '*(volatile char *)8 = 1;'],
    ['SIGILL', 'if (data[0]) __builtin_trap();'],
    ['SIGBUS', 'for (int fd = 0; fd < 1024; fd++) close(fd); signal(SIGBUS, SIG_DFL); raise(SIGBUS);'],
    [
      'SIGSEGV',
      'volatile char deep[4096]; deep[0] = 1; return deep[0] + LLVMFuzzerTestOneInput(data, size) + deep[1];',
    ],
  ])('%s has a title: %s', (signal, statement) => {
    file(
      'crash.c',
      '#include <signal.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <unistd.h>\n' +
        `int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { ${statement} return (int)size + data[0]; }\n`,
    );
    const { status, stdout } = run(
      ...['fuzz', 'exec', '--harness', 'crash.c', file('c.txt', 'test_one_input(&"a", 0x1)\n')],
    );
    expect(stdout).toContain(`crash: ${signal} behind 0x`);
    expect(status).toBe(1);
  });

  /** Each byte is another place of a crash; the code goes on to other points before it waits. */
  const FORKS = (wait: string, inner = '') =>
    '#include <signal.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <sys/wait.h>\n#include <unistd.h>\n' +
    'int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)\n{\n' +
    `    siginfo_t info;\n    pid_t child = fork();\n    if (child == 0) {\n        ${inner}\n` +
    '        if (data[0] == 1) *(volatile char *)8 = 1;\n        if (data[0] == 2) *(volatile char *)16 = 1;\n' +
    '        if (data[0] == 3) raise(SIGKILL);\n        _exit(3);\n    }\n' +
    `    (void)info;\n    if (size > 9) return 7;\n    ${wait};\n    return (int)size;\n}\n`;

  it.each([
    ['waitpid(child, NULL, 0)', ''],
    ['wait(NULL)', ''],
    ['waitid(P_PID, (id_t)child, &info, WEXITED)', ''],
    ['usleep(1000)', ''],
    // A process of a process.
    ['wait(NULL)', 'child = fork(); if (child) { int end; wait(&end); _exit(WIFEXITED(end)); }'],
  ])('the crash of a process that the code has forked is one: %s %s', (wait, inner) => {
    file('forks.c', FORKS(wait, inner));
    const titleOf = (byte: number): string | undefined => {
      const program = file('f.txt', `test_one_input(&"\\x0${byte}", 0x1)\n`);
      return /^crash: (.*)$/m.exec(run('fuzz', 'exec', '--harness', 'forks.c', program).stdout)?.[1];
    };
    const [none, first, second, killed] = [0, 1, 2, 3].map(titleOf);
    expect(first).toMatch(/^SIGSEGV behind 0x[0-9a-f]+$/);
    expect(second).toMatch(/^SIGSEGV behind 0x[0-9a-f]+$/);
    expect(second).not.toBe(first);
    expect([none, killed]).toEqual([undefined, undefined]);
  });

  it('a process that the code has forked ends where it returns', () => {
    file(
      'returns.c',
      '#include <stddef.h>\n#include <stdint.h>\n#include <sys/wait.h>\n#include <unistd.h>\nstatic int calls;\n' +
        'int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)\n{\n' +
        '    int status;\n    calls++;\n    if (fork() == 0)\n        return 100;\n' +
        '    wait(&status);\n    return 10 * calls + WEXITSTATUS(status);\n}\n',
    );
    const call = 'test_one_input(&"a", 0x1)\n';
    const { stdout } = run('fuzz', 'exec', '--harness', 'returns.c', file('r.txt', call + call));
    expect(stdout.match(/test_one_input: 0x[0-9a-f]+/g)).toEqual([
      'test_one_input: 0xa',
      'test_one_input: 0x14',
    ]);
    expect(stdout).toMatch(/^done, /m);
  });

  it('a loop without end is a hang', () => {
    file(
      'loop.c',
      '#include <stddef.h>\n#include <stdint.h>\n' +
        'int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { for (;;) if (data[0] > size + 300) return 1; }\n',
    );
    const { stdout } = run(
      'fuzz',
      'exec',
      '--harness',
      'loop.c',
      file('l.txt', 'test_one_input(&"a", 0x1)\n'),
    );
    expect(stdout).toContain('crash: hang in test_one_input\n');
    const asC = run('fuzz', 'exec', '-c', '--harness', 'loop.c', 'l.txt');
    expect([asC.stdout, asC.status]).toEqual(['', 125]);
    expect(asC.stderr).toContain('the call of a harness has no C program');
  });

  it.each([
    [['--harness', 'none.c'], 'none.c: no such file'],
    [['--harness', 'main/main.c'], 'does not link'],
    [['--harness', PARSE, '--kasan'], '--kasan is for the kernels of kcovbox'],
    [['--harness', PARSE, '--append', 'a'], '--append is for a kernel'],
    [['--harness', PARSE, '--linux', PARSE], 'are two targets'],
    [['--harness', PARSE, '--schedule', 'rw'], 'a second thread is for the kernels'],
    [['--cflags', '-O2'], '--cflags is for the C file of --harness'],
    [['--linux', PARSE], 'is not an Image of Linux for RISC-V'],
    [['--linux', 'none'], 'none'],
    [['--xv6', 'none'], 'xv6 none: no such folder'],
    [['--xv6', '.'], 'is not a checkout of xv6-riscv: it has no Makefile'],
    [['--xv6', '.', '--harness', PARSE], 'are two targets'],
    [['--xv6', '.', '--kasan'], '--kasan is for the kernels of kcovbox'],
    [['--xv6', '.', '--append', 'a'], '--append is for a kernel'],
    [['--xv6', '.', '--schedule', 'rw'], 'a second thread is for the kernels'],
  ])('refuses %j in one line', (words, why) => {
    const { status, stderr } = run('fuzz', 'run', ...words, 'refused');
    expect(status).not.toBe(0);
    expect(stderr.trim().split('\n').at(-1)).toContain(why);
    expect(stderr).not.toMatch(/\n\s+at /);
  });
});
