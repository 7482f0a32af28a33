// Outputs of one folder: test of writeFiles (cli/io/output.ts).
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeFiles } from '../../cli/io/output.ts';
import { temporaryPath } from '../../toolchain/index.ts';

/** More than Linux gives to a process (PID_MAX_LIMIT). */
const NOBODY = 2 ** 22 + 1;

test('files of a folder are written whole, and what a killed writer left of them is removed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'write-files-'));
  try {
    const left = (name: string): string => temporaryPath(join(folder, name), NOBODY);
    for (const name of ['1.txt', '2.txt', 'another']) writeFileSync(left(name), 'half');
    writeFiles(
      folder,
      new Map([
        ['1.txt', 'one'],
        ['2.txt', 'two'],
      ]),
    );
    expect(
      readdirSync(folder)
        .sort()
        .map(name => join(folder, name)),
    ).toEqual([join(folder, '1.txt'), join(folder, '2.txt'), left('another')].sort());
    expect(readFileSync(join(folder, '2.txt'), 'utf8')).toBe('two');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
