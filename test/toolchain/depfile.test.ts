// The list of included files is read as clang writes it, whatever their names are.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parseDepfile } from '../../toolchain/depfile.ts';
import { requireTool } from '../../toolchain/index.ts';

const cwd = mkdtempSync(join(tmpdir(), 'kcovbox-depfile-'));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const NAMES = ['a b.h', 'a$b.h', 'a$$b.h', 'a#b.h', 'a:b.h', 'a: b.h', "a'b.h", 'a  b c.h', '#.h', '$ #.h'];

test('the files that clang lists are those that it read', () => {
  for (const name of NAMES) writeFileSync(join(cwd, name), '');
  writeFileSync(join(cwd, 'main.c'), NAMES.map(name => `#include "${name}"\n`).join(''));
  execFileSync(requireTool('clang'), ['-MD', '-MF', 'list', '-c', 'main.c', '-o', 'o: $ #.o'], { cwd });
  expect(parseDepfile(readFileSync(join(cwd, 'list'), 'utf8'))).toEqual(['main.c', ...NAMES]);
});
