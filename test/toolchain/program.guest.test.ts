// The image of a program depends on its text, not on where it or the package is.
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { buildProgram } from '../../toolchain/index.ts';
import { ROOT } from '../support/command.ts';

const dir = mkdtempSync(join(tmpdir(), 'kcovbox-program-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const SELF = ['-include', join(ROOT, 'guest-programs', 'kcov-self.h')];

test.each([
  ['examples/race.c', []],
  ['examples/pipe.c', SELF],
  ['guest-programs/openbsd-kcov.c', SELF],
])('%s %j: a copy elsewhere has the image of the one in the package', async (source, cflags) => {
  const copy = join(dir, basename(source));
  cpSync(join(ROOT, source), copy);
  const [inside, outside] = await Promise.all(
    [join(ROOT, source), copy].map(path => buildProgram(path, { dialect: 'openbsd', cflags })),
  );
  expect(readFileSync(outside!.path).equals(readFileSync(inside!.path))).toBe(true);
});
