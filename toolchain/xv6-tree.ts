// A user's checkout of xv6-riscv: its sources in memory, without what it has built. They are
// compiled in a copy, so the tree itself is never changed.
import { type Dirent, lstatSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { KcovboxError } from '../emulator/base/errors.ts';
import { makeFolders } from './folders.ts';
import { sha256OfParts } from './hash.ts';
import { systemReason } from './system-errors.ts';

/** Files that a tree of xv6 must have. */
const NEEDED = ['Makefile', 'kernel/syscall.c', 'kernel/syscall.h', 'kernel/defs.h', 'mkfs/mkfs.c'];
/** Products of its Makefile, which would be older than ours, and what is no source. */
const PRODUCT = /(?:\.(?:o|d|asm|sym|img|out)|^user\/(?:_\w+|initcode|usys\.S)|^kernel\/kernel|^mkfs\/mkfs)$/;
/** A tree has about 100 files of at most 100 KB each. */
const FILES_MAX = 4000;
const FILE_MAX = 4 << 20;
/** All files together are in memory at once. */
const TREE_MAX = 64 << 20;

/** Contents by path inside of the tree, in order. */
export type Xv6Tree = ReadonlyMap<string, Uint8Array>;

const refused = (why: string): KcovboxError => new KcovboxError('input', why);

/** Errors: KcovboxError of one line if `dir` is none, or cannot be read. */
export function readXv6Tree(dir: string): Xv6Tree {
  const paths: string[] = [];
  const walk = (folder: string): void => {
    for (const entry of entriesOf(dir, folder)) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.name.startsWith('.') || PRODUCT.test(path)) continue;
      if (entry.isDirectory()) walk(path);
      else if (entry.isFile()) paths.push(path);
      if (paths.length > FILES_MAX) throw refused(`${dir} has more than ${FILES_MAX} files: it is not xv6`);
    }
  };
  const missing = NEEDED.find(path => !isFile(join(dir, path)));
  entriesOf(dir, '');
  if (missing !== undefined) throw refused(`${dir} is not a checkout of xv6-riscv: it has no ${missing}`);
  walk('');
  const tree = new Map<string, Uint8Array>();
  let sum = 0;
  for (const path of paths.sort()) {
    const bytes = contentsOf(join(dir, path));
    sum += bytes.length;
    if (sum > TREE_MAX)
      throw refused(
        `${dir} has more than ${TREE_MAX >> 20} MiB of files: it is not xv6; remove what is no source of it`,
      );
    tree.set(path, bytes);
  }
  return tree;
}

/** A link is none: the copy has no links. */
const isFile = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;

function entriesOf(dir: string, folder: string): Dirent[] {
  try {
    return readdirSync(join(dir, folder), { withFileTypes: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'no such folder' : (systemReason(code) ?? code);
    throw refused(`xv6 ${join(dir, folder)}: ${why}`);
  }
}

function contentsOf(path: string): Uint8Array {
  if (statSync(path).size > FILE_MAX) throw refused(`${path} is larger than a source of xv6`);
  return readFileSync(path);
}

/** Names the contents. */
export const hashOfXv6 = (tree: Xv6Tree): string =>
  sha256OfParts(...[...tree].flatMap(([path, bytes]) => [path, '\0', String(bytes.length), '\0', bytes]));

/** Into a new folder. */
export function writeXv6Tree(tree: Xv6Tree, folder: string): void {
  for (const [path, bytes] of tree) {
    const file = join(folder, path);
    makeFolders(dirname(file));
    writeFileSync(file, bytes);
  }
}

/** Its system calls with their numbers. */
export function xv6Syscalls(tree: Xv6Tree): Map<string, number> {
  const text = new TextDecoder().decode(tree.get('kernel/syscall.h'));
  const rows = text.matchAll(/^[ \t]*#[ \t]*define[ \t]+SYS_(\w+)[ \t]+(\d+)\b/gm);
  return new Map([...rows].map(([, name, number]) => [name!, Number(number)]));
}
