// The core alone (kernel/conf/teach): it boots in every dialect, runs the examples with the output
// of the whole kernel, and records the coverage of kcov's conformance programs.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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

/** Lines that are neither blank nor only a comment. */
const linesOfCode = (text: string): number =>
  text
    .replaceAll(/\/\*.*?\*\//gs, comment => comment.replaceAll(/[^\n]/g, ''))
    .split('\n')
    .filter(line => line.trim() !== '').length;

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

  /** Of all files that the compiler reads, headers included. */
  function codeOf(conf: string): number {
    const out = join(folder, conf);
    const make = (...words: readonly string[]) =>
      runProgram(requireTool('make'), [
        '-s',
        '-C',
        join(ROOT, 'kernel'),
        `CONF=${conf}`,
        `OUT=${out}`,
        ...words,
      ]);
    const [flags = '', ...lines] = make('commands').trimEnd().split('\n');
    const sources = lines.map(line => line.split(' ')[0]!);
    // All C files as one: a start of clang for each takes seconds.
    const all = join(folder, `${conf}.c`);
    const isC = (path: string): boolean => path.endsWith('.c');
    writeFileSync(
      all,
      sources
        .filter(isC)
        .map(path => `#include "${path}"\n`)
        .join(''),
    );
    const args = [...flags.split(' ').filter(Boolean).slice(1), '-I', out, '-MM'];
    const rules = spawnSync(requireTool('clang'), [...args, all, ...sources.filter(path => !isC(path))], {
      cwd: join(ROOT, 'kernel'),
      encoding: 'utf8',
    });
    expect(rules.stderr).toBe('');
    const files = new Set<string>();
    for (const [path] of rules.stdout.matchAll(/[\w./+-]+\.(?:c|h|S|def)(?=\s|$)/g))
      if (!path.startsWith('/')) files.add(path);
    let count = 0;
    for (const path of files) count += linesOfCode(readFileSync(join(ROOT, 'kernel', path), 'utf8'));
    return count;
  }

  /** The numbers of a page, written as "PREFIX 10,000 lines of code". */
  const said = (page: string, pattern: RegExp): number[] =>
    [
      ...readFileSync(join(ROOT, 'docs', page), 'utf8')
        .replace(/\s+/g, ' ')
        .matchAll(pattern),
    ].map(([, n = '']) => Number(n.replaceAll(',', '')));
  const CORE_MAX = 10_000;

  it('the documents say how many lines of code the kernel has', async () => {
    expect(said('kernel.md', /at most ([\d,]+) lines of code/g)).toEqual([CORE_MAX]);
    expect(said('teaching.md', /at most ([\d,]+) lines of code/g)).toEqual([CORE_MAX]);
    await buildKernel('linux');
    const whole = Math.round(codeOf('linux') / 1000) * 1000;
    expect(said('kernel.md', /the whole kernel has some ([\d,]+)\./g)).toEqual([whole]);
    expect(said('research.md', /some ([\d,]+) lines of code/g)).toEqual([whole]);
  });

  it.each(CONFIGURATIONS)(`%s has at most ${CORE_MAX} lines of code`, conf => {
    const lines = codeOf(conf);
    expect(lines).toBeLessThanOrEqual(CORE_MAX);
    expect(lines).toBeGreaterThan(9_400); // else the count is wrong, or the document
  });

  it.each(CONFIGURATIONS)('%s: its kcov records a program that uses it', conf => {
    const [dialect = ''] = conf.split('+');
    const program = join(ROOT, `guest-programs/${dialect}-kcov.c`);
    const end = run('--conf', conf, program);
    expect(end.status).toBe(0);
    expect(end.stdout).toMatch(/0x[0-9a-f]{16}/);
  });

  // Every state and event of kcov, but those that need an option: a descriptor sent over a socket
  // (SOCKETS), a descriptor that is ready (POLL), and NetBSD's mailboxes (TOYUSB).
  it.each(CONFIGURATIONS)('%s: kcov answers as the tables of the dialect say', conf => {
    const [dialect = ''] = conf.split('+');
    const { stdout } = run('--conf', conf, join(ROOT, `guest-programs/kcov-conformance/${dialect}.c`));
    const failed = stdout.split('\n').filter(line => line.startsWith('not ok'));
    const missing: readonly (readonly [cells: RegExp, count: number])[] = [
      [/\] sendfd: got 38 /, 8],
      [/\] poll: got 11 /, dialect === 'netbsd' ? 0 : 1],
      [/\] attach=1: got 2 /, dialect === 'netbsd' ? 5 : 0],
      [/^not ok: mailbox: /, dialect === 'netbsd' ? 16 : 0],
    ];
    for (const [cells, count] of missing)
      expect(failed.filter(line => cells.test(line)).length, `${cells}`).toBe(count);
    expect(
      failed.filter(line => !missing.some(([cells]) => cells.test(line))),
      'cells that need no option',
    ).toEqual([]);
    expect(Number(/^(\d+) cells, /m.exec(stdout)?.[1])).toBeGreaterThan(200);
  });

  it('refuses what needs an option', () => {
    const program = join(folder, 'refused.c');
    writeFileSync(
      program,
      `#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static volatile int handled;
static void handler(int sig) { handled = sig; }
int main(void)
{
    int file = open("/tmp/file", O_RDWR | O_CREAT | O_TRUNC, 0600);
    int wrote = write(file, "text", 4);
    int handler_set = signal(SIGUSR1, handler) == SIG_ERR ? errno : 0;
    int shorter = open("/tmp/file", O_RDWR | O_TRUNC) < 0 ? errno : 0;
    int still = open("/tmp/file", O_RDWR) >= 0;
    if (!handler_set)
        raise(SIGUSR1);
    printf("%d %d %d %d %d\\n", wrote, handler_set, shorter, still, handled);
}
`,
    );
    expect(run('--conf', 'openbsd+teach', program).stdout).toBe('4 38 0 1 0\n');
    expect(run(program).stdout).toBe('4 0 0 1 10\n');
  });

  it('a page has one owner on four harts', () => {
    const program = join(ROOT, 'guest-programs/tests/owners.c');
    const args = ['--conf', 'linux+teach', '--smp', '4', '--schedule', 'rw', '--sched-seed'];
    for (const seed of ['0x1', '0x2', '0x3', '0x4'])
      expect(run(...args, seed, program, '--', '60'), seed).toEqual({
        stdout: 'ok a_page_has_one_owner\n',
        status: 0,
      });
  });

  it('a signal that is ignored now is pending for no thread', () => {
    const program = join(folder, 'ignored.c');
    writeFileSync(
      program,
      `#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static pthread_barrier_t barrier;
static void *other(void *arg)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, 0);
    pthread_kill(pthread_self(), SIGUSR1);
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    pthread_sigmask(SIG_UNBLOCK, &set, 0);
    return arg;
}
int main(void)
{
    pthread_t thread;
    pthread_barrier_init(&barrier, 0, 2);
    pthread_create(&thread, 0, other, 0);
    pthread_barrier_wait(&barrier);
    signal(SIGUSR1, SIG_IGN);
    pthread_barrier_wait(&barrier);
    pthread_join(thread, 0);
    if (kill(0, SIGUSR1) != 0) // all processes of the group
        return 1;
    puts("lives");
}
`,
    );
    for (const conf of ['linux', 'linux+teach'])
      expect(run('--conf', conf, program), conf).toEqual({ stdout: 'lives\n', status: 0 });
  });

  it('has the errors of the whole kernel', () => {
    const program = join(folder, 'errors.c');
    writeFileSync(
      program,
      `#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static void show(const char *what, long result)
{
    printf("%s %d\\n", what, result < 0 ? errno : 0);
}
int main(void)
{
    int *gone = mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), word = 0;
    munmap(gone, 4096);
    show("/tmp", open("/tmp", O_RDONLY | O_CREAT | O_EXCL, 0600));
    show("/tmp/", open("/tmp/", O_RDONLY | O_CREAT | O_EXCL, 0600));
    show("/", open("/", O_RDONLY | O_CREAT | O_EXCL, 0600));
    show("wake", syscall(SYS_futex, &word, FUTEX_WAKE, 1, 0, 0, 0));
    show("wake nowhere", syscall(SYS_futex, gone, FUTEX_WAKE, 1, 0, 0, 0));
    show("wake in the kernel", syscall(SYS_futex, -4096L, FUTEX_WAKE, 1, 0, 0, 0));
    pid_t child = fork();
    if (!child)
        _exit(0);
    show("group 5", waitpid(-5, 0, 0));
    show("no group", waitpid(-77, 0, WNOHANG));
    show("the child", waitpid(child, 0, 0));
}
`,
    );
    for (const conf of ['linux', 'linux+teach'])
      expect(run('--conf', conf, program), conf).toEqual({
        stdout: `/tmp 17\n/tmp/ 21\n/ 21\nwake 0\nwake nowhere 14\nwake in the kernel 14
group 5 10\nno group 10\nthe child 0\n`,
        status: 0,
      });
  });

  it('a zombie goes when its new parent waits for no child', () => {
    const program = join(folder, 'zombie.c');
    writeFileSync(
      program,
      `#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void)
{
    int ends[2];
    pid_t orphan;
    pipe(ends);
    signal(SIGCHLD, SIG_IGN);
    if (!fork()) {
        signal(SIGCHLD, SIG_DFL);
        orphan = fork();
        if (!orphan)
            _exit(0);
        usleep(10000);
        printf("zombie: %d\\n", kill(orphan, 0));
        fflush(stdout);
        write(ends[1], &orphan, sizeof(orphan));
        _exit(0);
    }
    read(ends[0], &orphan, sizeof(orphan));
    usleep(10000);
    printf("reaped: %d\\n", kill(orphan, 0));
}
`,
    );
    for (const conf of ['linux', 'linux+teach'])
      expect(run('--conf', conf, program), conf).toEqual({
        stdout: 'zombie: 0\nreaped: -1\n',
        status: 0,
      });
  });

  // kernel/dev/console.c, which the option TERMINAL replaces.
  it('its console gives bytes as they come, or lines with echo', () => {
    const program = join(folder, 'input.c');
    writeFileSync(
      program,
      `#include <stdio.h>
#include <unistd.h>
int main(void)
{
    char text[300];
    ssize_t n;
    printf("terminal: %d\\n", isatty(0));
    while ((n = read(0, text, sizeof(text))) > 0)
        printf("[%.*s]", (int)n, text);
    printf("end %zd\\n", n);
}
`,
    );
    const read = (input: string, ...args: readonly string[]): string =>
      spawnSync(process.execPath, [BIN, 'run', '--conf', 'openbsd+teach', ...args, program], {
        cwd: folder,
        encoding: 'utf8',
        input,
      }).stdout;
    expect(read('one\ntwo')).toBe('terminal: 1\n[one\ntwo]end 0\n');
    expect(read('one\rtwo\nthree\x04', '--append', 'tty=24x80')).toBe(
      'terminal: 1\none\ntwo\nthree[one\n][two\n][three]end 0\n',
    );
    const long = 'y'.repeat(200);
    expect(read(`${long}\r\x04`, '--append', 'tty=24x80')).toBe(`terminal: 1\n${long}\n[${long}\n]end 0\n`);
    // More than the ring has room for: the port waits until there is some.
    const text = 'x'.repeat(10_000);
    expect(read(text).replaceAll(/[[\]]/g, '')).toBe(`terminal: 1\n${text}end 0\n`);
  });

  const EXAMPLES = ['hello', 'constants', 'factorial', 'lines', 'pipe', 'interrupt', 'race', 'cost'];
  it.each(EXAMPLES)('examples/%s.c prints the lines of the whole kernel', name => {
    const program = join(ROOT, `examples/${name}.c`);
    const [whole, core] = [run(program), run('--conf', 'openbsd+teach', program)];
    expect(core.status).toBe(whole.status);
    expect(core.stdout.split('\n').length).toBe(whole.stdout.split('\n').length);
  });
});
