// Programs in the style of the four systems' own kcov tests, written against those systems' headers
// alone: they compile without a warning and pass. Their headers can be included one by one, in any
// personality.

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { buildProgram, DIALECTS, type Dialect, findTool, hasGlibc } from '../../toolchain/index.ts';
import { programFlags } from '../../toolchain/program.ts';
import { initrd, kernel, run } from '../kernel/boot.ts';
import { withScratch } from '../support/tools.ts';

const ready = hasGlibc() && findTool('clang') !== undefined;
if (!ready) console.warn('skipped: guest tests need clang-19 and libc6-dev-riscv64-cross');

const PROGRAMS = resolve(import.meta.dirname, '../../guest-programs');
/** Compiler flags of such programs. */
const STRICT = [
  '-Wall',
  '-Wextra',
  '-Wshadow',
  '-Wno-unused-parameter',
  '-Wno-unused-result',
  '-Wno-sign-compare',
];

/** Program, dialect, arguments, and what the output holds at least. */
const SUITES: [string, Dialect, string, RegExp][] = [
  ['openbsd-regress', 'openbsd', '', /^ok cmp thread$/m],
  ['openbsd-remote', 'openbsd', '', /^ok remote-interrupt in mode 2$/m],
  ['netbsd-atf', 'netbsd', '', /^kcov_remote: passed$/m],
  ['freebsd-atf', 'freebsd', '', /^cleaned: passed$/m],
  ['bsd-executor', 'openbsd', '', /^ok executor$/m],
  ['bsd-executor', 'netbsd', '', /^ok executor$/m],
  ['bsd-executor', 'freebsd', '', /^ok executor$/m],
  ['bsd-surroundings', 'openbsd', '', /^ok surroundings$/m],
  ['bsd-surroundings', 'netbsd', '', /^ok surroundings$/m],
  ['bsd-surroundings', 'freebsd', '', /^ok surroundings$/m],
  ['linux-selftest', 'linux', '', /^# Totals: pass:14 fail:0 xfail:0 xpass:0 skip:0 error:0$/m],
  ['linux-executor', 'linux', '', /^ok executor$/m],
  ['linux-documented', 'linux', 'pc', /^0xffffffff8/],
  ['linux-documented', 'linux', 'cmp', /^ip: 0xffffffff8\w+ type: 0x[0-7], arg1: /],
  ['linux-documented', 'linux', 'remote', /^nothing$/m],
];

async function suite(name: string, dialect: Dialect): Promise<Uint8Array> {
  const cflags = [...STRICT, '-Werror'];
  return readFileSync(
    (await buildProgram(join(PROGRAMS, `kcov-suites/${name}.c`), { dialect, cflags })).path,
  );
}

describe.skipIf(!ready)('programs of the real systems', () => {
  const harts = { ramBytes: 256 << 20, harts: 2 };
  it.each(SUITES)('%s on %s %s', async (name, dialect, args, wanted) => {
    const archive = initrd({ 'bin/t': await suite(name, dialect) });
    const elf = await kernel(dialect);
    for (const options of [
      { kcov: 'device', engine: 'jit', eager: true },
      { kcov: 'off', engine: 'interp' },
    ] as const) {
      const end = run(elf, archive, `init=/bin/t -- ${args}`, { ...harts, ...options });
      expect(end.text).toMatch(wanted);
      expect(end.text).not.toMatch(/^not ok|: failed/m);
      expect(end.status).toBe(0);
    }
  });

  it.each(['netbsd', 'freebsd'] as const)(
    'a test program of %s lists, chooses and fails as one of ATF',
    async dialect => {
      const archive = initrd({ 'bin/t': await suite(`${dialect}-atf`, dialect) });
      const one = dialect === 'netbsd' ? 'kcov_dup2' : 'enable';
      const elf = await kernel(dialect);
      const start = (args: string) => run(elf, archive, `init=/bin/t -- ${args}`, { engine: 'interp' });
      expect(start('-l').text).toMatch(
        new RegExp(`^Content-Type: application/X-atf-tp; version="1"\n\nident: [^]*\n\nident: ${one}\n`),
      );
      expect(start(one)).toMatchObject({ text: 'passed\n', status: 0 });
      expect(start(`-r /dev/stdout ${one}:body`)).toMatchObject({ text: 'passed\n', status: 0 });
      expect(start('no_such_case').status).toBe(1);
      if (dialect === 'netbsd') return;
      expect(start('skipped').text).toMatch(/^skipped: module /);
      expect(start('skipped').status).toBe(0);
      expect(start('-l').text).toMatch(
        /^ident: cleaned\ndescr: leaves a file to its cleanup\nhas.cleanup: true$/m,
      );
    },
  );
});

/** Headers of a personality by the name that programs include. */
function headers(dialect: Dialect): string[] {
  const root = join(PROGRAMS, 'include', dialect);
  return (readdirSync(root, { recursive: true }) as string[])
    .filter(name => statSync(join(root, name)).isFile())
    .sort();
}

describe.skipIf(!ready).each([...DIALECTS])('headers of %s', dialect => {
  it('each compile alone, twice, without a warning of their own', () =>
    withScratch(dir => {
      const source = join(dir, 'one.c');
      const own = join(PROGRAMS, 'include');
      const flags = programFlags(source, { dialect }).filter(
        flag => !flag.startsWith('-Wl') && flag !== '-static',
      );
      for (const header of headers(dialect)) {
        writeFileSync(source, `#include <${header}>\n#include <${header}>\nint main(void) { return 0; }\n`);
        const args = [
          ...flags,
          '-fsyntax-only',
          '-Wall',
          '-Wextra',
          '-Wsystem-headers',
          '-Wno-unused',
          source,
        ];
        const said = spawnSync(findTool('clang')!, args, { encoding: 'utf8' }).stderr;
        const about = said.split('\n').filter(line => line.startsWith(own) || / (fatal )?error: /.test(line));
        expect(
          about.filter(line => !/#include_next|extension used|GNU/.test(line)),
          header,
        ).toEqual([]);
      }
    }));
});
