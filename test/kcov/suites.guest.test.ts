// Programs in the style of the four systems' own kcov tests, written against those systems' headers
// alone: they compile without a warning and pass. Their headers can be included one by one, in any
// personality. suites.slow.test.ts compiles all code of the guest for all of them.

import { spawnSync } from 'node:child_process';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DIALECTS, type Dialect, findTool, hasGlibc } from '../../toolchain/index.ts';
import { programFlags } from '../../toolchain/program.ts';
import { initrd, kernel, run } from '../kernel/boot.ts';
import { withScratch } from '../support/tools.ts';
import { FIRST, OTHERS, PROGRAMS, suite, suiteTests } from './suites.ts';

const ready = hasGlibc() && findTool('clang') !== undefined;
if (!ready) console.warn('skipped: guest tests need clang-19 and libc6-dev-riscv64-cross');

describe.skipIf(!ready)('programs of the real systems', () => {
  suiteTests(FIRST, true);
  suiteTests(OTHERS, false);

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
