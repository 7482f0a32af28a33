// A folder of this machine as an initial file system: Debian's programs (setup/fetch-guests.mjs).
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { CpioEntry } from '../../toolchain/index.ts';

const S_IFMT = 0o170000;
const S_IFDIR = 0o040000;
const S_IFLNK = 0o120000;

/** Folders, files and symbolic links below `folder`, in the order of their names. */
export function entriesOf(folder: string, isWanted: (path: string) => boolean = () => true): CpioEntry[] {
  const below = (path: string): CpioEntry[] =>
    readdirSync(join(folder, path))
      .sort()
      .flatMap((name): CpioEntry[] => {
        const to = path ? `${path}/${name}` : name;
        const from = join(folder, to);
        const { mode } = lstatSync(from);
        if ((mode & S_IFMT) === S_IFDIR)
          return [{ path: to, mode: S_IFDIR | 0o755, data: new Uint8Array() }, ...below(to)];
        if (!isWanted(to)) return [];
        const isLink = (mode & S_IFMT) === S_IFLNK;
        const data = isLink
          ? new TextEncoder().encode(readlinkSync(from))
          : new Uint8Array(readFileSync(from));
        return [{ path: to, mode, data }];
      });
  return below('');
}
