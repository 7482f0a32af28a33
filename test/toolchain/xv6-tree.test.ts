// A tree of xv6 in memory: what of it is read, its name, and its limits.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { hashOfXv6, readXv6Tree } from '../../toolchain/index.ts';

const cwd = mkdtempSync(join(tmpdir(), 'kcovbox-xv6-tree-'));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const SOURCES = ['Makefile', 'kernel/defs.h', 'kernel/syscall.c', 'kernel/syscall.h', 'mkfs/mkfs.c'];

function treeIn(name: string, more: readonly string[] = []): string {
  const dir = join(cwd, name);
  for (const path of [...SOURCES, ...more]) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), `/* ${path} */\n`);
  }
  return dir;
}

test('sources are read, and neither products nor links nor hidden files', () => {
  const dir = treeIn('all', [
    'kernel/a.o',
    'kernel/kernel',
    'fs.img',
    '.git/HEAD',
    'user/_cat',
    'user/cat.c',
  ]);
  symlinkSync('/etc', join(dir, 'etc'));
  expect([...readXv6Tree(dir).keys()]).toEqual([...SOURCES, 'user/cat.c']);
});

test('its hash follows from paths and contents, and from nothing else', () => {
  const [one, two] = [treeIn('one'), treeIn('two', ['kernel/old.o'])];
  expect(hashOfXv6(readXv6Tree(two))).toBe(hashOfXv6(readXv6Tree(one)));
  writeFileSync(join(two, 'kernel/defs.h'), 'int x;\n');
  expect(hashOfXv6(readXv6Tree(two))).not.toBe(hashOfXv6(readXv6Tree(one)));
});

test.each([
  ['a file', ['kernel/big.c'], 5, /big\.c is larger than a source of xv6$/],
  [
    'all files together',
    Array.from({ length: 17 }, (_, i) => `kernel/${i}.c`),
    4,
    /large-2 has more than 64 MiB of files: it is not xv6; remove what is no source of it$/,
  ],
])('%s may be too large', (_, paths, mib, message) => {
  const dir = treeIn(`large-${paths.length > 1 ? 2 : 1}`, paths);
  for (const path of paths) truncateSync(join(dir, path), mib << 20);
  expect(() => readXv6Tree(dir)).toThrow(message);
});
