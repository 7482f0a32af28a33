// The commands are consistent: one spelling for image, trace, output and format, and a message if
// one is missing. Through bin/, as a user runs them.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Elf, FORMATS } from '../../coverage/index.ts';
import { runResult } from '../../run/schema.ts';
import { DIALECTS, temporaryPath } from '../../toolchain/index.ts';
import { isOneLine, kcovbox, kcovboxLines, type Ran, ROOT, shell } from '../support/command.ts';

const cwd = mkdtempSync(join(tmpdir(), 'kcovbox-commands-'));
const file = (name: string, text: string): void => writeFileSync(join(cwd, name), text);
const run = (...args: string[]): Ran => kcovbox(args, { cwd });
/** In one process, which reads the kernel's debug information faster each time. */
const runAll = (...lines: string[][]): Ran[] =>
  kcovboxLines(lines, { cwd }).map(({ status, stdout, stderr }) => ({ status, stdout, stderr }));
const EXAMPLE = join(ROOT, 'guest-programs', 'openbsd-kcov.c');
const LINUX = join(ROOT, 'guest-programs', 'linux-kcov.c');

beforeAll(() => {
  file('says.c', '#include <stdio.h>\nint main(void) { return puts("hi") < 0; }\n');
  file('exit7.c', 'int main(void) { return 7; }\n');
  file('reads.c', '#include <unistd.h>\nint main(void) { return read(-1, 0, 0) != 0; }\n');
  expect(run('run', '--cover', 'a.kcov', '--test-name', 'first test', EXAMPLE).status).toBe(0);
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

describe('output and format', () => {
  test('the suffix is the format, for run and for cov export alike', () => {
    const suffixes = [
      ['a.info', /^TN:/],
      ['a.html', /^<!doctype html>/i],
      ['a.xml', /^<\?xml/],
      ['a.jsonl', /^\{"/],
      ['a.csv', /^"?\w+"?,/],
    ] as const;
    const ran = runAll(
      ...suffixes.map(([name]) => ['run', '--cover', name, EXAMPLE]),
      ...suffixes.map(([name]) => ['cov', 'export', 'a.kcov', '-o', `of-${name}`]),
    );
    for (const [i, [name, start]] of suffixes.entries()) {
      expect(ran[i]!.status, name).toBe(0);
      expect(readFileSync(join(cwd, name), 'utf8')).toMatch(start);
      expect(ran[suffixes.length + i], name).toEqual({ status: 0, stdout: '', stderr: '' });
      expect(readFileSync(join(cwd, `of-${name}`), 'utf8')).toMatch(start);
    }
  });

  test.each([
    ['run', '--cover', 'a.xyz', EXAMPLE],
    ['cov', 'export', 'a.kcov', '-o', 'a.xyz'],
    ['cov', 'report', 'a.kcov', '-o', 'a.xyz'],
  ])('%s %s: an unknown suffix is refused, and the message lists them', (...args) => {
    const { status, stdout, stderr } = run(...args);
    expect({ status, stdout }).toEqual({ status: 125, stdout: '' });
    expect(stderr).toMatch(/a\.xyz.*\.html.*--format\n$/);
    expect(existsSync(join(cwd, 'a.xyz'))).toBe(false);
  });

  test('--format overrides the suffix', () => {
    expect(run('cov', 'export', 'a.kcov', '-o', 'b.txt', '--format', 'lcov').status).toBe(0);
    expect(readFileSync(join(cwd, 'b.txt'), 'utf8')).toMatch(/^TN:/);
  });

  test('cov report -o writes a page, or the text that it prints', () => {
    const report = ['cov', 'report', 'a.kcov'];
    const [page, text, printed] = runAll([...report, '-o', 'r.html'], [...report, '-o', 'r.txt'], report);
    expect(page).toEqual({ status: 0, stdout: '', stderr: '' });
    expect(readFileSync(join(cwd, 'r.html'), 'utf8')).toMatch(/^<!doctype html>/i);
    expect(text!.status).toBe(0);
    expect(readFileSync(join(cwd, 'r.txt'), 'utf8')).toBe(printed!.stdout);
  });

  test('--result - is a result on standard output, and nothing else is', () => {
    const { status, stdout } = run('run', '--result', '-', EXAMPLE);
    expect(status).toBe(0);
    expect(runResult.parse(JSON.parse(stdout)).outcome.records).toBeGreaterThan(5);
    expect(existsSync(join(cwd, '-'))).toBe(false);
  });

  test('reports of the run and of its trace call the kernel by one name', () => {
    for (const { stdout } of runAll(
      ['cov', 'report', 'a.kcov'],
      ['run', '--cover', '-', EXAMPLE],
      ['run', '--exact', '--cover', '-', EXAMPLE],
    ))
      expect(stdout).toMatch(/^kernel openbsd {2}/m);
  });

  test('the kernel has one name in the trace and in the result', () => {
    const { stdout } = run('run', '--result', '-', EXAMPLE);
    const facts = JSON.parse(run('cov', 'stats', '--json', 'a.kcov').stdout) as { image: string };
    expect(runResult.parse(JSON.parse(stdout)).run.images.kernel.id).toBe(facts.image);
  });

  test('--test-name is the name of the test in every format', () => {
    expect(run('cov', 'stats', 'a.kcov').stdout).toMatch(/^tests +first test$/m);
  });
});

describe('images are found', () => {
  test('symbolize finds the kernel that the PCs fit', () => {
    const pcs = run('run', EXAMPLE).stdout;
    const { status, stdout, stderr } = kcovbox(['symbolize'], { cwd, input: pcs });
    expect(status).toBe(0);
    // Earlier versions of the kernel may be in the cache, too.
    expect(stderr).toMatch(/^kcovbox: these are PCs of the openbsd kernel(; of the \d+ that fit, .*)?\n$/);
    expect(stdout).toMatch(/^0x[0-9a-f]{16}: trap_handle kernel\/trap\/trap\.c:\d+$/m);
    const kernel = run('build', 'kernel').stdout.trim();
    expect(kcovbox(['symbolize', '-k', kernel], { cwd, input: pcs }).stdout).toBe(stdout);
    // As arguments, too, which leave standard input alone.
    const words = pcs.trim().split(/\s+/);
    expect(kcovbox(['symbolize', '-k', kernel, ...words], { cwd, input: 'nothing' })).toEqual({
      status: 0,
      stdout,
      stderr: '',
    });
    expect(kcovbox(['symbolize', words[0]!, 'main'], { cwd })).toEqual({
      status: 125,
      stdout: '',
      stderr: 'kcovbox: "main" is not a PC: expected hexadecimal digits\n',
    });
  });

  test('takes what the example programs print, and says which lines have no PC', () => {
    const pcs = run('run', '--dialect', 'linux', LINUX).stdout;
    expect(pcs).toMatch(/^pc 0x[0-9a-f]{16}\n/);
    const input = `\nzebra\n${pcs}the end\n`;
    const { status, stdout, stderr } = kcovbox(['symbolize'], { cwd, input });
    expect(stderr).toMatch(/^kcovbox: these are PCs of the linux kernel/m);
    expect(stderr).toMatch(/^kcovbox: line 2: "zebra" has no PC, nor have 1 more$/m);
    expect([status, stdout.match(/^0x/gm)!.length]).toEqual([0, pcs.trim().split('\n').length]);
  });

  test('finds the kernel of call addresses too, as rawcover has them', () => {
    run('run', '--cover', 'raw.kcov', EXAMPLE);
    const input = run('cov', 'export', '--format', 'rawcover', 'raw.kcov').stdout;
    const { status, stdout, stderr } = kcovbox(['symbolize'], { cwd, input });
    expect(stderr).toMatch(/^kcovbox: these are PCs of the openbsd kernel/);
    expect([status, stdout.match(/^0x/gm)!.length]).toEqual([0, input.trim().split('\n').length]);
    const kernel = run('build', 'kernel').stdout.trim();
    expect(kcovbox(['symbolize', '-k', kernel], { cwd, input }).stdout).toBe(stdout);
  });

  test('of several kernels of one name, the last used; other names are a question', () => {
    const pcs = run('run', EXAMPLE).stdout;
    const elf = readFileSync(run('build', 'kernel').stdout.trim());
    const cache = join(cwd, 'several');
    mkdirSync(join(cache, 'kernel'), { recursive: true });
    const text = new Elf(elf, 'kernel').sections.find(({ name }) => name === '.text')!;
    /** A kernel whose last byte of code differs, used `used` seconds after 2020. */
    const add = (name: string, conf: string, byte: number, used: number) => {
      const path = join(cache, 'kernel', `${name}.elf`);
      const when = 1_577_836_800 + used;
      elf[text.offset + text.size - 1] = byte;
      writeFileSync(path, elf);
      utimesSync(path, 1_577_836_800 + byte, 1_577_836_800 + byte);
      writeFileSync(`${path}.json`, JSON.stringify({ key: ['kernel', '/tree', conf, ''].join('\0') }));
      utimesSync(`${path}.json`, when, when);
    };
    const symbolize = () => kcovbox(['symbolize'], { cwd, input: pcs, env: { KCOVBOX_CACHE: cache } });
    add('openbsd-aaaaaaaaaaaa', 'openbsd', 1, 10);
    add('openbsd-bbbbbbbbbbbb', 'openbsd', 2, 30); // built before the next one, used after it
    add('openbsd-cccccccccccc', 'openbsd', 3, 20);
    expect(symbolize()).toMatchObject({
      status: 0,
      stderr:
        'kcovbox: these are PCs of the openbsd kernel; of the 3 that fit, openbsd-bbbbbbbbbbbb.elf was used last; -k chooses another of kcovbox cache ls\n',
    });
    const listed = kcovbox(['cache', 'ls'], { cwd, env: { KCOVBOX_CACHE: cache } }).stdout;
    const notes = listed.match(/(?<=openbsd-\w{12}\.elf {2})sha256:[0-9a-f]{16} {2}of \/tree$/gm);
    expect(new Set(notes).size).toBe(3);
    add('mine-dddddddddddd', 'openbsd+mine', 4, 5);
    expect(symbolize()).toMatchObject({
      status: 125,
      stdout: '',
      stderr:
        'kcovbox: these PCs fit 2 kernels (openbsd, openbsd+mine): choose one with -k $(kcovbox build kernel --conf openbsd)\n',
    });
  });

  test('a PC without code is ??, as addr2line says, and --strict refuses it', () => {
    const kernel = run('build', 'kernel').stdout.trim();
    const end = new Elf(readFileSync(kernel), 'kernel').sections
      .filter(({ flags }) => flags & 2)
      .reduce((most, { addr, size }) => Math.max(most, addr + size), -Infinity);
    const pcs = ['10', BigInt.asUintN(64, BigInt(end)).toString(16), 'f'.repeat(16)];
    const symbolize = (...args: string[]) =>
      kcovbox(['symbolize', '-k', kernel, ...args], { cwd, input: pcs.map(pc => `${pc}\n`).join('') });
    const shown = pcs.map(pc => `0x${pc}`);
    expect(symbolize()).toEqual({
      status: 0,
      stdout: shown.map(pc => `${pc}: ?? ??:0\n`).join(''),
      stderr: '',
    });
    const frames = symbolize('--json').stdout.trimEnd().split('\n');
    expect(frames.map(line => JSON.parse(line))).toEqual(
      shown.map(pc => ({ pc, frames: [{ function: '', file: '', line: 0, column: 0, inline: false }] })),
    );
    expect(symbolize('--strict')).toMatchObject({ status: 125, stderr: expect.toSatisfy(isOneLine) });
  });

  test('input without lines ends with one line, however much there is of it', () => {
    const kernel = run('build', 'kernel').stdout.trim();
    const capsule = join(ROOT, 'test', 'capsule', 'count.kcapsule');
    const endless = (command: string, source: string) => {
      const { status, stderr } = shell(`set -o pipefail; ${source} | kcovbox ${command}`, {
        cwd,
        timeout: 60_000,
      });
      expect(stderr).toSatisfy(isOneLine);
      expect(stderr).toMatch(/line 1 has more than 65,536 characters$/m);
      expect(status).toBe(125);
    };
    endless(`symbolize -k ${kernel}`, "(yes | tr -d '\\n' 2>/dev/null; true)");
    endless('symbolize', '(cat /dev/zero 2>/dev/null; true)');
    endless(`debug ${capsule}`, '(cat /dev/zero 2>/dev/null; true)');
  });

  test('and says so where none fits', () => {
    const { status, stderr } = kcovbox(['symbolize'], { cwd, input: '0x1234\n' });
    expect(status).toBe(125);
    expect(stderr).toMatch(/^kcovbox: no kernel built here .*: give the image with -k\n$/);
  });
});

describe('a program', () => {
  test('that does not compile ends with status 123, after the words of the compiler', () => {
    file('broken.c', 'int main(void) { return x; }\n');
    const { status, stderr } = run('run', 'broken.c');
    expect(status).toBe(123);
    expect(stderr).toMatch(/broken\.c:1:\d+: error: .*'x'[\s\S]*\nkcovbox: broken\.c does not compile\n$/);
    expect(run('build', 'broken.c').status).toBe(123);
  });

  test('that stores to address 0 dies of SIGSEGV, with a word', () => {
    file('null.c', 'int main(void) { *(char *)0 = 1; return 0; }\n');
    const { status, stdout, stderr } = run('run', 'null.c');
    expect({ status, stderr }).toEqual({ status: 139, stderr: '' });
    expect(stdout).toMatch(/signal 11.*address 0/);
  });

  test('is compiled with -Wall, and --cflags has the last word', () => {
    file('unused.c', 'int main(void) { int n = N; return 0; }\n');
    expect(run('run', '--cflags', '-DN=1', 'unused.c').stderr).toMatch(/unused variable 'n'/);
    expect(run('run', '--cflags', '-DN=2 -Wno-unused', 'unused.c')).toMatchObject({ status: 0, stderr: '' });
  });

  test('may be named like an option', () => {
    file('-x.c', 'int main(void) { return 3; }\n');
    expect(run('run', './-x.c')).toEqual({ status: 3, stdout: '', stderr: '' });
    expect(run('run', '--', '-x.c').status).toBe(3);
  });

  test('gets its environment from --env', () => {
    file(
      'env.c',
      '#include <stdio.h>\n#include <stdlib.h>\nint main(void) { puts(getenv("A")); puts(getenv("B")); }\n',
    );
    expect(run('run', '--env', 'A=a "b" \\c', '--env', 'B=', 'env.c').stdout).toBe('a "b" \\c\n\n');
  });

  test('gets all of its arguments, or none and a reason', () => {
    file('count.c', '#include <stdio.h>\nint main(int c, char **v) { printf("%d %s\\n", c, v[c - 1]); }\n');
    const args = (n: number): string[] => Array.from({ length: n }, (_, i) => `${i + 1}`);
    expect(run('run', 'count.c', '--', ...args(240)).stdout).toBe('241 240\n');
    const { status, stderr } = run('run', 'count.c', '--', ...args(1000));
    expect(status).toBe(125);
    const [, fit] = /^kcovbox: 1000 arguments are too many: (\d+) fit/.exec(stderr)!;
    expect(run('run', 'count.c', '--', ...args(Number(fit))).stdout).toBe(`${Number(fit) + 1} ${fit}\n`);
    const long = run('run', 'count.c', '--', 'x'.repeat(100_000));
    expect(long).toMatchObject({
      status: 125,
      stderr: expect.stringMatching(/the arguments take \d+ bytes: \d+ fit/),
    });
    expect(run('run', 'count.c', '--', 'x'.repeat(60_000)).stdout).toBe(`2 ${'x'.repeat(60_000)}\n`);
  });
});

describe('--trace', () => {
  test('covers a program that knows nothing of kcov, on every personality', () => {
    const ran = runAll(
      ...DIALECTS.flatMap(dialect => [
        ['run', '--dialect', dialect, '--trace', '--cover', 't.kcov', 'reads.c'],
        ['cov', 'report', '--by', 'function', 't.kcov'],
        ['cov', 'stats', 't.kcov'],
      ]),
    );
    for (const [i, dialect] of DIALECTS.entries()) {
      const [traced, report, stats] = ran.slice(3 * i);
      expect(traced, dialect).toEqual({ status: 1, stdout: '', stderr: '' });
      expect(report!.stdout, dialect).toMatch(/\bsys_read\b/);
      expect(stats!.stdout, dialect).toMatch(/^lost +0$/m);
    }
  });

  test('and without it an empty coverage file says why', () => {
    const { status, stderr } = run('run', '--cover', 'empty.info', 'exit7.c');
    expect(status).toBe(7);
    expect(stderr).toMatch(
      /^kcovbox: empty\.info has no records: the program did not enable kcov; add --trace\n$/,
    );
  });
});

describe('an empty coverage file', () => {
  test.each([
    ['hello world', ['--max-insns', '1000000']],
    ['of a program that --trace traces', ['--max-insns', '1000000', '--trace']],
  ])('of a run that was cut says so: %s', (_, options) => {
    const { status, stderr } = run('run', ...options, '--cover', 'cut.info', 'exit7.c');
    expect(status).toBe(124);
    expect(stderr).toMatch(
      /^kcovbox: the instruction budget.*\nkcovbox: cut\.info has no records: the run ended before the program enabled kcov\n$/,
    );
  });
});

describe('annotated source', () => {
  test('is one format of run and of cov export', () => {
    const [ran, exported] = runAll(
      ['run', '--cover', '-', '--format', 'source', EXAMPLE],
      ['cov', 'export', '--format', 'source', 'a.kcov'],
    );
    const { stdout } = ran!;
    expect(stdout).toMatch(/ \+ .*syscall/);
    expect(exported).toMatchObject({ status: 0, stderr: '' });
    expect(stdout.endsWith(exported!.stdout.replaceAll('first test', 'openbsd-kcov'))).toBe(true);
  });
});

describe('thresholds and reports', () => {
  test('are judged with a word, and checked before the work', () => {
    const under = (percent: string): string[] => ['cov', 'report', `--fail-under=${percent}`, 'a.kcov'];
    const [missed, reached, ...wrong] = runAll(...['90', '0', '101', 'abc', '-1', 'NaN', ''].map(under));
    expect(missed!.status).toBe(1);
    expect(missed!.stderr).toMatch(
      /^kcovbox: [\d.]+% of the lines are covered \(\d+ of \d+\), --fail-under wants 90%\n$/,
    );
    expect(reached).toMatchObject({ status: 0, stderr: '' });
    for (const one of wrong)
      expect(one).toMatchObject({
        status: 125,
        stdout: '',
        stderr: expect.stringMatching(/--fail-under.*from 0 to 100/),
      });
  });

  test('annotated source of a function that did not run, and a sentence where none of many did', () => {
    const source = (...args: string[]) => ['cov', 'report', '--by', 'source', ...args, 'a.kcov'];
    const [shown, none] = runAll(source('-f', '^edu_command$'), source('-F', 'kernel/opt/edu/edu.c'));
    expect(shown).toMatchObject({ status: 0, stderr: '' });
    expect(shown!.stdout).toMatch(/^kernel\/opt\/edu\/edu\.c\n.* 0\/\d+ points {2}edu_command {2}0 calls$/m);
    expect(shown!.stdout).toMatch(/^ *\d+ +0 - /m);
    expect(none).toEqual({
      status: 0,
      stdout: 'no function of -F kernel/opt/edu/edu.c is covered; -f NAME shows one all the same\n',
      stderr: '',
    });
  });

  test('every report of a filtered trace says that the filter may have taken something away', () => {
    const what = 'code that is not covered here may have run in the records that were left out';
    const raw = (trace: string): string[] => ['cov', 'export', '--format', 'rawcover', trace];
    const ways = ['file', 'function', 'source'];
    const [filter, part, whole, merged, ...first] = runAll(
      ['cov', 'filter', '-f', 'read|trap', '-o', 'part.kcov', 'a.kcov'],
      raw('part.kcov'),
      raw('a.kcov'),
      ['cov', 'merge', '-o', 'mixed.kcov', 'a.kcov', 'part.kcov'],
      ...FORMATS.map(format => ['cov', 'export', '--format', format, '-o', `as.${format}`, 'part.kcov']),
    );
    expect(filter!.status).toBe(0);
    const left = new Set(part!.stdout.split('\n'));
    const hidden = whole!.stdout.split('\n').find(pc => !left.has(pc))!;
    const rest = runAll(
      ['cov', 'stats', 'part.kcov'],
      ['cov', 'diff', 'a.kcov', 'part.kcov'],
      ['cov', 'explain', '-t', 'part.kcov', hidden],
      ['cov', 'report', '-o', 'part.html', 'part.kcov'],
      ['cov', 'export', '-o', 'part.json', 'part.kcov'],
      ['cov', 'report', 'a.kcov'],
      ['cov', 'report', 'mixed.kcov'],
      ...ways.map(by => ['cov', 'report', '--by', by, 'part.kcov']),
    );
    for (const [i, format] of FORMATS.entries())
      expect(first[i]!.stderr, format).toBe(
        ['kcov', 'json', 'html'].includes(format) ? '' : `kcovbox: the trace is filtered: ${what}\n`,
      );
    /** Lines of both streams with the sentence. */
    const said = rest.map(({ status, stdout, stderr }) => {
      expect(status, stderr).toBe(0);
      return `${stdout}${stderr}`.split('\n').filter(line => line.includes(what));
    });
    expect(said).toEqual([
      [`filtered           ${what}`],
      [`part is filtered: ${what}`],
      [`  filtered: ${what}`],
      [],
      [],
      [],
      [`  filtered: ${what}`],
      ...ways.map(() => [expect.stringMatching(new RegExp(`^ *filtered: ${what}$`))]),
    ]);
    expect(readFileSync(join(cwd, 'part.html'), 'utf8')).toContain(what);
    expect(JSON.parse(readFileSync(join(cwd, 'part.json'), 'utf8')).filtered).toBe(true);
    expect(merged).toEqual({
      status: 0,
      stdout: '',
      stderr:
        'kcovbox: part.kcov is filtered and does not show which lines did not run; ' +
        'so the merged trace does not either\n',
    });
  });

  test('a format of counts says when its lines are not all that could run', () => {
    const only = (name: string): string =>
      `kcovbox: ${name} lists only lines that ran: the trace does not show which others did not\n`;
    const none = (name: string): string => `kcovbox: ${name} lists no line: the trace has comparisons only\n`;
    const cover = (name: string, ...args: string[]): string[] => [
      ...['run', '--dialect', 'linux', '--cover', name, LINUX],
      ...args,
    ];
    const exported = (name: string, trace: string): string[] => ['cov', 'export', '-o', name, trace];
    const lines: readonly (readonly [line: string[], remark: string])[] = [
      [cover('pc.info'), ''],
      [cover('cmp.xml', '--', '1'), none('cmp.xml')],
      [cover('pc.kcov'), ''],
      [cover('cmp.kcov', '--', '1'), ''],
      [cover('cmp.html', '--', '1'), ''],
      [exported('pc.xml', 'pc.kcov'), ''],
      [exported('cmp.info', 'cmp.kcov'), none('cmp.info')],
      [
        ['cov', 'merge', '-o', 'both.kcov', 'pc.kcov', 'cmp.kcov'],
        'kcovbox: cmp.kcov does not show which lines did not run; so the merged trace does not either\n',
      ],
      [exported('both.info', 'both.kcov'), only('both.info')],
      [exported('both.xml', 'both.kcov'), only('both.xml')],
      [exported('both.json', 'both.kcov'), ''],
    ];
    const remarks = runAll(...lines.map(([line]) => line)).map(({ stderr }) => stderr);
    expect(remarks).toEqual(lines.map(([, remark]) => remark));
  });

  test('the two of a diff have different names', () => {
    mkdirSync(join(cwd, 'old'));
    writeFileSync(join(cwd, 'old', 'a.kcov'), readFileSync(join(cwd, 'a.kcov')));
    const [other, same] = runAll(
      ['cov', 'diff', 'a.kcov', 'old/a.kcov'],
      ['cov', 'diff', 'a.kcov', 'a.kcov'],
    );
    expect(other!.stdout.split('\n')[0]).toMatch(/^points {2}only a\.kcov: 0 {2}only old\/a\.kcov: 0 /);
    expect(same!.stdout.split('\n')[0]).toMatch(/^points {2}only A: a: 0 {2}only B: a: 0 /);
  });

  test('a selection that nothing matches is an error, not 0 of 0', () => {
    for (const ran of runAll(...['report', 'stats'].map(verb => ['cov', verb, '-F', 'nomatch', 'a.kcov'])))
      expect(ran).toMatchObject({
        status: 125,
        stdout: '',
        stderr: expect.stringMatching(/^kcovbox: nothing instrumented matches -F nomatch/),
      });
  });
});

describe('help', () => {
  test.each([
    [['help', 'cov', 'export'], /^Usage: kcovbox cov export /],
    [['cov', 'export', '--help'], /^Usage: kcovbox cov export /],
    [['cov', 'help', 'export'], /^Usage: kcovbox cov export /],
    [['help', 'run'], /^Usage: kcovbox run /],
    [['boot', '--help'], /^Usage: kcovbox boot \[options of qemu-system-riscv64\]\n/],
  ])('%j', (args, usage) => {
    const { status, stdout, stderr } = run(...args);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(usage);
  });

  test.each([
    '--help',
    'run --help',
    'cov export --help',
    '--version',
    'run says.c',
    'run --trace --cover - says.c', // two outputs
  ])('%s to a full disk is one line', args => {
    const { status, stderr } = shell(`kcovbox ${args} > /dev/full`, { cwd });
    expect(status).toBe(125);
    expect(stderr).toSatisfy(isOneLine);
  });
});

describe('what is left behind', () => {
  test('a file that a killed writer left goes with the next one', () => {
    file(temporaryPath('k.html', 999_999_999), 'half');
    file('k.html.note.tmp', "somebody else's");
    expect(run('cov', 'export', 'a.kcov', '-o', 'k.html').status).toBe(0);
    expect(
      readdirSync(cwd)
        .filter(name => name.startsWith('k.html'))
        .sort(),
    ).toEqual(['k.html', 'k.html.note.tmp']);
  });

  test('a signal to the command alone ends its compilers', () => {
    const cache = join(cwd, 'cache');
    // Not the shell itself, whose command line holds the same words.
    const tools = `pgrep -f "^[^ ]*(make|clang|lld)[^ ]* .*${cache}"`;
    // A configuration that is not in the package, where nothing would be compiled.
    const line = `KCOVBOX_CACHE=${cache} kcovbox build kernel --conf openbsd+poison & pid=$!
      for i in $(seq 200); do sleep 0.1; ${tools} > /dev/null && echo running && break; done
      kill -TERM $pid; wait $pid; echo "status $?"; sleep 1; ${tools} | wc -l`;
    const { stdout } = shell(line, { cwd });
    expect(stdout).toBe('running\nstatus 143\n0\n');
  });

  test.each(['{}', '[]', 'null', '7', '{"key":1}', 'DAMAGED-INPUTS'])(
    'a damaged manifest (%s) is built anew',
    text => {
      const cache = join(cwd, 'cache2');
      mkdirSync(cache, { recursive: true });
      const env = { KCOVBOX_CACHE: cache };
      expect(kcovbox(['build', 'exit7.c'], { cwd, env }).status).toBe(0);
      const folder = join(cache, 'program');
      const manifest = join(folder, readdirSync(folder).find(name => name.endsWith('.json'))!);
      const good = JSON.parse(readFileSync(manifest, 'utf8')) as object;
      writeFileSync(manifest, text === 'DAMAGED-INPUTS' ? JSON.stringify({ ...good, inputs: 'x' }) : text);
      const again = kcovbox(['build', 'exit7.c'], { cwd, env });
      expect(again).toMatchObject({ status: 0, stderr: 'exit7.c: built\n' });
      expect(kcovbox(['build', 'exit7.c'], { cwd, env }).stderr).toBe('exit7.c: up to date\n');
    },
  );
});

test('a program that edits lines of the terminal is a plain run without one, traced as well', () => {
  const program = join(ROOT, 'guest-programs/tests/devices.c');
  const { status, stdout, stderr } = run(
    'run',
    '--dialect',
    'linux',
    '--trace',
    '--cover',
    'x.kcov',
    program,
  );
  expect([status, stderr]).toEqual([0, '']);
  expect(stdout).not.toContain('not ok');
  expect(stdout).toContain('ok keys_signal_the_foreground');
});
