/**
 * Names of source files with line feeds, tabs, quotes and escapes of a terminal: every format holds
 * them in its own way, and no name makes a record of another file.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { kcovbox } from '../support/command.ts';
import { missing, run, scratch } from './support.ts';

const reason = missing('names of source files', 'clang-19', 'ld.lld-19');
const noReaders = missing('names in lcov and XML', 'lcov', 'xmllint');
const NAMES = ['line\nDA:99,7\nfeed.c', 'tab\t.c', 'title\u001b]0;x\u0007.c', 'a "b" & <c>.c', '\u009b2J.c'];
const HEAD = `void done(void) { *(volatile int *)0x100000 = 0x5555; for (;;); }
__asm__(".section .init,\\"ax\\"\\n.globl _start\\n_start: la sp, 0x80200000\\n call main\\n");
`;
const FLAGS = [
  '--target=riscv64',
  '-march=rv64imac',
  '-mabi=lp64',
  '-mcmodel=medany',
  '-ffreestanding',
  '-g',
];

describe.skipIf(reason)('names of source files', () => {
  const dir = join(scratch(), 'names');
  const cover = (output: string): string => {
    const { status, stdout, stderr } = kcovbox(
      ['boot', '--exact', '--cover', output, '-bios', 'none', '-kernel', 'bare.elf', '-nographic'],
      { cwd: dir },
    );
    expect([status, stderr]).toEqual([0, '']);
    return output === '-' ? stdout : readFileSync(join(dir, output), 'utf8');
  };
  let lines = { covered: 0, total: 0 };

  beforeAll(() => {
    mkdirSync(dir, { recursive: true });
    const calls = NAMES.map((_, i) => `void f${i}(int); f${i}(${i});`).join(' ');
    writeFileSync(join(dir, 'main.c'), `${HEAD}void main(void) { ${calls} done(); }\n`);
    const sources = NAMES.map((name, i) => {
      const text = `int sink;\r\nvoid f${i}(int x)\r\n{\r\n\tif (x > 2)\r\n\t\tsink = x;\r\n}\r\n`;
      writeFileSync(join(dir, name), text.replace('int sink', i === 0 ? 'int sink' : 'extern int sink'));
      return `./${name}`;
    });
    const link = ['-nostdlib', '-static', '-fuse-ld=lld-19', '-Wl,-Ttext=0x80001000'];
    const init = '-Wl,--section-start=.init=0x80000000';
    run('clang-19', [...FLAGS, ...link, init, '-w', 'main.c', ...sources, '-o', 'bare.elf'], { cwd: dir });
    const { files, totals } = JSON.parse(cover('out.json'));
    ({ lines } = totals);
    expect(files.map(({ path }: { path: string }) => path).sort()).toEqual(
      [...NAMES, 'main.c'].map(name => join(dir, name)).sort(),
    );
  });

  it('lcov: each line is a record of the format', () => {
    const text = cover('out.info').trimEnd().split('\n');
    expect(text.filter(line => !/^((TN|SF|FN|FNDA|FNF|FNH|DA|LF|LH):.*|end_of_record)$/.test(line))).toEqual(
      [],
    );
    expect(text.filter(line => line.startsWith('DA:'))).toHaveLength(lines.total);
    expect(text.filter(line => line.startsWith('SF:'))).toHaveLength(NAMES.length + 1);
    expect(text).toContain(`SF:${dir}/line\\x0aDA:99,7\\x0afeed.c`);
  });

  it.skipIf(noReaders)('the readers of lcov and XML find the lines and the names', () => {
    cover('out.xml');
    const summary = run('sh', ['-c', 'lcov --summary out.info 2>&1'], { cwd: dir });
    expect(summary).toContain(`(${lines.covered} of ${lines.total} lines)`);
    for (const name of NAMES) {
      const shown = name.replaceAll('\u001b', '?').replaceAll('\u0007', '?'); // XML forbids them
      const where = `string(//class[@filename=concat("${dir}/", ${literal(shown)})]/@filename)`;
      const found = run('xmllint', ['--nonet', '--xpath', where, 'out.xml'], { cwd: dir });
      expect(found.replace(/\n$/, '')).toBe(join(dir, shown));
    }
  });

  it('text: a line each, without control characters, and the source with its marks', () => {
    const text = cover('-');
    expect(text.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
    expect(text).toContain(`${dir}/line\\x0aDA:99,7\\x0afeed.c\n`);
    expect(text.match(/^ {5}4 {8}1 [+~] {9}if \(x > 2\)$/gm)).toHaveLength(NAMES.length);
    expect(text.match(/^ {5}5 {8}0 - {17}sink = x;$/gm)).toHaveLength(3);
  });
});

/** An expression of XPath, which has no escapes in strings. */
const literal = (text: string): string =>
  `concat(${text
    .split('"')
    .map(part => `"${part}"`)
    .join(`, '"', `)}, "")`;
