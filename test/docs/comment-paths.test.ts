// Comments point to files by path. Every path that a comment of the code names exists: from the
// root of the repository, from the comment's own folder, or from one of the roots that its part of
// the tree uses.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../support/command.ts';

const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\n')
  .filter(path => path !== '' && existsSync(join(ROOT, path)));
const known = new Set(tracked);

/**
 * Comments below `kernel/` write `mm/page.c`, those of the engine `jit/region/region.ts`, and so
 * on.
 */
const ROOTS = [
  '',
  'kernel',
  'kernel/include',
  'emulator',
  'emulator/engine',
  'emulator/engine/jit',
  'docs',
  'test',
];

/** A path has a slash and ends in a suffix that our sources have. */
const PATH =
  /(?<![\w./<*-])((?:\.{1,2}\/)*(?:[\w-]+\/)+[\w.-]*[\w-]\.(?:ts|mjs|cjs|c|h|S|def|md))\b(?![\w/*])/g;

/** The comments of a source, with their line numbers. */
function commentsOf(text: string): { line: number; text: string }[] {
  return [...text.matchAll(/\/\*[\s\S]*?\*\/|(?<![:'"`])\/\/.*$/gm)].map(match => ({
    line: text.slice(0, match.index).split('\n').length,
    text: match[0],
  }));
}

const exists = (path: string, from: string): boolean =>
  [...ROOTS, dirname(from), dirname(dirname(from))].some(root => known.has(join(root, path)));

/** Paths of other projects that comments cite, products of the build, and patterns. */
const NOT_OURS = new Set([
  'asm-generic/stat.h',
  'asm-generic/termbits.h',
  'dev/NAME.c',
  'dist/kcovbox.cjs',
  'dist/sucrase.cjs',
  'docs/firmware/fw_dynamic.md',
  'drivers/rtc/rtc-goldfish.c',
  'hw/misc/sifive_test.c',
  'hw/rtc/goldfish_rtc.c',
  'kernel/kcov.c',
  'linux/stat.h',
  'machine/atomic.h',
  'mm/oom_kill.c',
  'net/unix/garbage.c',
  'sys/dev/kcov.c',
  'sys/kern/subr_kcov.c',
  'target/riscv/cpu.c',
]);

const deadPaths = (path: string, text: string): string[] =>
  commentsOf(text).flatMap(({ line, text: comment }) =>
    [...comment.matchAll(PATH)]
      .map(([, name]) => name!)
      .filter(name => !exists(name, path) && !NOT_OURS.has(name))
      .map(name => `${path}:${line}: ${name}`),
  );

it('sees a path that does not exist, and knows one that does', () => {
  const text = '// see kernel/none/none.c\nint a; /* and kernel/boot/main.c */\n';
  expect(deadPaths('kernel/a.c', text)).toEqual(['kernel/a.c:1: kernel/none/none.c']);
});

it('paths named in comments exist', () => {
  const sources = tracked.filter(
    path => /\.(ts|mjs|cjs|c|h|S)$/.test(path) && !/^guest-programs\/include\//.test(path),
  );
  const dead = sources.flatMap(path => deadPaths(path, readFileSync(join(ROOT, path), 'utf8')));
  expect(dead).toEqual([]);
  const cited = new Set(
    sources.flatMap(path =>
      [...readFileSync(join(ROOT, path), 'utf8').matchAll(PATH)].map(([, name]) => name),
    ),
  );
  expect([...NOT_OURS].filter(name => !cited.has(name))).toEqual([]);
});
