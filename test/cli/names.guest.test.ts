// Names that other programs stumble over: with quotes and backslashes, with control characters,
// with bytes that are not UTF-8, and a current folder that is no longer there.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isOneLine, kcovbox, kcovboxLines, ROOT, shell } from '../support/command.ts';

const cwd = mkdtempSync(join(tmpdir(), 'kcovbox-names-'));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const NAMES = ['a"b', '\\', '--', "$x'y;z", '#%s<&>'];
const ARGS = ['', '"', '\\', 'a b', '--', 'seed=5', 'ü', '\ufffd', '\n'];
/** With words of the kernel, which are none in a value. */
const VALUE = 'x bootinfo  seed=5 y="\\ ü\\';
/** Prints its words and one variable as they are, each in one line of hexadecimal digits. */
const SOURCE = `#include <stdio.h>
#include <stdlib.h>
static void hex(const char *s) { while (*s) printf("%02x", *s++ & 0xff); putchar('\\n'); }
int main(int argc, char **argv) {
    for (int i = 0; i < argc; i++) hex(argv[i]);
    hex(getenv("V"));
    return 0;
}
`;
const hex = (words: readonly string[]): string =>
  words.map(word => `${Buffer.from(word).toString('hex')}\n`).join('');

beforeAll(() => {
  for (const name of NAMES) writeFileSync(join(cwd, `${name}.c`), SOURCE);
  writeFileSync(join(cwd, 'line\nfeed.c'), SOURCE);
  writeFileSync(join(cwd, 'escape\u001b.c'), SOURCE);
});

test.each(NAMES)('a program may have the name %s', name => {
  const cover = `${NAMES.indexOf(name)}.kcov`;
  const args = ['run', '--trace', '--cover', cover, '--result', 'a.json', '--env', `V=${VALUE}`];
  const { status, stdout, stderr } = kcovbox([...args, '--', `./${name}.c`, ...ARGS], { cwd });
  expect([status, stderr]).toEqual([0, '']);
  expect(stdout).toBe(hex([name, ...ARGS, VALUE]));
  const { run } = JSON.parse(readFileSync(join(cwd, 'a.json'), 'utf8'));
  expect(run.program).toMatchObject({ name, argv: [name, ...ARGS] });
});

test('a report names such a program', () => {
  const lines = NAMES.map((_, i) => ['cov', 'export', `${i}.kcov`, '-o', `${i}.json`]);
  for (const [i, { status }] of kcovboxLines(lines, { cwd }).entries()) {
    expect(status, NAMES[i]).toBe(0);
    const { tests } = JSON.parse(readFileSync(join(cwd, `${i}.json`), 'utf8'));
    expect(tests.map((one: { name: string }) => one.name)).toEqual([NAMES[i]]);
  }
});

test('a capsule of such a program is the same run', () => {
  expect(kcovbox(['run', '--record', 'q.kcapsule', '--env', 'V=1', 'a"b.c', 'x'], { cwd }).status).toBe(0);
  const { status, stdout, stderr } = kcovbox(['replay', 'q.kcapsule'], { cwd });
  expect(stderr).toMatch(/the same run/);
  expect([status, stdout]).toEqual([0, hex(['a"b', 'x', '1'])]);
});

test.each([
  ['line\nfeed.c', 'program name "line feed" has blanks or characters other than ASCII; rename it'],
  ['escape\u001b.c', 'program name "escape\\x1b" has blanks or characters other than ASCII; rename it'],
  [`${'n'.repeat(251)}.c`, 'program name "nnnnnnnnnnnnnnnn..." has more than 250 characters; rename it'],
])('the name %j is refused', (name, message) => {
  const { status, stdout, stderr } = kcovbox(['run', name], { cwd });
  expect([status, stdout, stderr]).toEqual([125, '', `kcovbox: ${message}\n`]);
});

/** Shell lines with bytes that are not UTF-8, which no argument of `spawn` can have. */
const BYTES: readonly (readonly [line: string, message: RegExp])[] = [
  [
    `cp \\#*.c $'b\\xff.c'; kcovbox run $'b\\xff.c'`,
    /"b\ufffd\.c" on the command line has bytes that are not/,
  ],
  [`kcovbox run --env V=1 \\#*.c -- a $'\\xc3'`, /"\ufffd" on the command line has bytes that are not UTF-8/],
  [`kcovbox run --env $'V=\\xed\\xa0\\x80' \\#*.c`, /"V=\ufffd+" on the command line has bytes/],
  [`kcovbox cov merge -o $'\\x80.kcov' a.kcov`, /"\ufffd\.kcov" on the command line has bytes that/],
  [`KCOVBOX_CACHE=$PWD/$'\\xff' kcovbox cache ls`, /KCOVBOX_CACHE has bytes that are not UTF-8; set it/],
  [
    `mkdir $'d\\xff'; cd $'d\\xff'; kcovbox run ../a.c`,
    /the current folder .*d\ufffd has bytes that are not/,
  ],
];

test.each(BYTES)('%s', (line, message) => {
  const before = shell('ls -A', { cwd }).stdout;
  const { status, stdout, stderr } = shell(line, { cwd });
  expect(stderr).toMatch(message);
  expect(stderr).toSatisfy(isOneLine);
  expect([status, stdout]).toEqual([125, '']);
  shell(`rm -rf $'b\\xff.c' $'d\\xff'`, { cwd });
  expect(shell('ls -A', { cwd }).stdout).toBe(before);
});

/** Each verb in a folder that is gone; those that need it fail in one line, the others work. */
const GONE = [
  'run --cover a.kcov PROGRAM',
  'run --record a.kcapsule PROGRAM',
  'run --kernel-source tree PROGRAM',
  'run PROGRAM',
  'replay a.kcapsule',
  'debug a.kcapsule',
  'why a.kcapsule',
  'capsule info a.kcapsule',
  'capsule extract -o x a.kcapsule',
  'serve .',
  'dev header a.ts',
  'faults ls',
  'faults sweep a.c',
  'ktest --kernel-source tree',
  'boot -kernel a.elf',
  'build PROGRAM',
  'build PROGRAM -o a',
  'disasm 8082',
  'symbolize -k a.elf',
  'cov report a.kcov',
  'cov merge -o b.kcov a.kcov',
  'check -kernel a.elf',
  'cache ls',
  'bench --from a.json',
  'bench --json a.json mix',
  'doctor',
];

describe('in a folder that is no longer there', () => {
  test.each(GONE)('%s', line => {
    const words = line.replace('PROGRAM', join(ROOT, 'examples', 'hello.c'));
    const { status, stderr } = shell(`mkdir x; cd x; rmdir ../x; kcovbox ${words} < /dev/null`, { cwd });
    if (status === 0) return;
    expect(status).toBe(125);
    expect(stderr).toSatisfy(isOneLine);
    expect(stderr).toMatch(/: no such file$|the current folder is no longer there; change to another one/m);
  });
});
