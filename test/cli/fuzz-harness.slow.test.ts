// `kcovbox fuzz --harness` on small puzzles: abort() stands behind what random bytes do not meet.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { kcovbox } from '../support/command.ts';

const cwd = mkdtempSync(join(tmpdir(), 'kcovbox-puzzles-'));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const number = (offset: number, least: number): string =>
  `uint64_t v; if (n < ${least}) return 0; memcpy(&v, d + ${offset}, 8);`;

const PUZZLES: Readonly<Record<string, string>> = {
  'a number of eight bytes': `${number(3, 12)} if (v == 0x1122334455667788) abort();`,
  'one that is big-endian': `${number(0, 8)} if (__builtin_bswap64(v) == 0x1020304050607080) abort();`,
  'a switch of 64 bits': `${number(0, 8)} switch (v) { case 0xdeadbeefcafef00d: abort(); case 77777777777: return 4; case 5: return 6; }`,
  'a text of strcmp':
    'char b[32] = {0}; if (n < 4 || n > 31) return 0; memcpy(b, d, n); if (!strcmp(b, "correct horse battery")) abort();',
  'a third word of a table, and what follows it':
    'static const char *t[] = {"alpha", "bravo", "charlie", "delta"}; if (n < 10) return 0; for (int i = 0; i < 4; i++) ' +
    'if (!strncmp((const char *)d, t[i], strlen(t[i])) && !memcmp(d + 7, "zz9", 3) && i == 2) abort();',
  'thirty bytes of memcmp': 'if (n > 39 && !memcmp(d + 5, "0123456789abcdefghijklmnopqrst", 30)) abort();',
  'two numbers behind arithmetic':
    'int a, b; if (n < 8) return 0; memcpy(&a, d, 4); memcpy(&b, d + 4, 4); if (a + 1000 == 123456789 && b - 7 == 3333333) abort();',
};

it.each(Object.keys(PUZZLES))('finds %s in 20,480 executions', name => {
  writeFileSync(
    join(cwd, 'puzzle.c'),
    '#include <stddef.h>\n#include <stdint.h>\n#include <stdlib.h>\n#include <string.h>\n' +
      `int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) { ${PUZZLES[name]} return 0; }\n`,
  );
  const folder = name.replaceAll(/\W/g, '-');
  const { status, stdout } = kcovbox(
    ['fuzz', 'run', '--harness', 'puzzle.c', '-n', '20480', '-j', '1', folder],
    { cwd },
  );
  expect(stdout).toContain(': SIGABRT behind 0x');
  expect(status).toBe(1);
});
