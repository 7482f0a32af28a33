// `kcovbox cache`: lists and removes built files.
import { basename, join } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { Elf, shortId } from '../../coverage/index.ts';
import { counted, visible } from '../../emulator/base/words.ts';
import { builtKernels } from '../../host/kernels.ts';
import {
  type CacheEntry,
  cacheEntries,
  cacheFolders,
  packageRoot,
  pruneCache,
} from '../../toolchain/index.ts';
import { UserError } from '../io/fail.ts';

const HOUR = 3_600_000;
const UNITS: Readonly<Record<string, number>> = { h: HOUR, d: 24 * HOUR, w: 7 * 24 * HOUR };

/** Milliseconds of "12h", "30d" or "2w". */
function parseAge(text: string): number {
  const [, count, unit] = /^(\d{1,5})([hdw])$/.exec(text) ?? [];
  if (count === undefined)
    throw new InvalidArgumentError('expected hours, days or weeks, such as 12h, 30d or 2w');
  return Number(count) * UNITS[unit!]!;
}

const sizeOf = (entries: readonly CacheEntry[]): string => {
  const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
};

function ageOf({ used }: CacheEntry): string {
  const hours = Math.max(0, Math.floor((Date.now() - used) / HOUR));
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} d`;
}

/** Kinds of many small files, one line each. */
const SUMMED = ['fact', 'objects'] as const;
const isSummed = ({ kind }: CacheEntry): boolean => (SUMMED as readonly string[]).includes(kind);

/**
 * The difference between kernels of one configuration, by path: the identity in traces and reports,
 * the source tree unless it is that of the package, and drivers.
 */
function kernelNotes(): Map<string, string> {
  const notes = new Map<string, string>();
  for (const { path, tree, drivers, read } of builtKernels()) {
    const of = tree === undefined || tree === join(packageRoot(), 'kernel') ? '' : `  of ${visible(tree)}`;
    const own = drivers.length === 0 ? '' : `  with ${visible(drivers.join(', '))}`;
    try {
      notes.set(path, `  ${shortId(new Elf(read(), path).imageId)}${of}${own}`);
    } catch {} // damaged: it will be built again
  }
  return notes;
}

function list(): void {
  const entries = cacheEntries();
  const notes = kernelNotes();
  for (const entry of entries)
    if (!isSummed(entry))
      console.log(
        `${sizeOf([entry]).padStart(9)}  ${ageOf(entry).padStart(5)}  ${entry.kind.padEnd(7)}  ${basename(entry.path)}${notes.get(entry.path) ?? ''}`,
      );
  for (const kind of SUMMED) {
    const files = entries.filter(entry => entry.kind === kind);
    console.log(`${sizeOf(files).padStart(9)}         ${kind.padEnd(7)}  ${counted(files.length, 'file')}`);
  }
  console.log(`${sizeOf(entries).padStart(9)}         in all   ${cacheFolders().join(' and ')}`);
}

export function register(program: Command): void {
  const cache = program
    .command('cache')
    .description('list or remove built files: kernels, programs, objects, images of recordings')
    .addHelpText('after', '\nExamples:\n  kcovbox cache ls\n  kcovbox cache prune --older-than 7d');
  cache
    .command('ls')
    .description('list the files of the cache with their sizes and the time since their last use')
    .addHelpText(
      'after',
      '\nBehind a kernel are its identity, by which traces name it, the tree that it was built from unless\n' +
        'that is kernel/ of the package, and the drivers of run --driver.\n' +
        'Examples:\n  kcovbox cache ls\n  kcovbox cache ls | grep kernel',
    )
    .action(list);
  cache
    .command('prune')
    .description('remove files not used for 30 days, or for another time')
    .option('--older-than <age>', 'hours, days or weeks without use: 12h, 30d, 2w', parseAge)
    .option('--all', 'remove everything, images of recordings too')
    .addHelpText(
      'after',
      '\nIn a checkout this includes the compiled objects, which all checkouts of the user share.\n' +
        'Removed files are built again when needed, except the images of recordings, which replay finds by hash.\n' +
        'Examples:\n  kcovbox cache prune\n  kcovbox cache prune --older-than 7d\n  kcovbox cache prune --all',
    )
    .action((options: { olderThan?: number; all?: true }) => {
      if (options.all && options.olderThan !== undefined)
        throw new UserError('cache prune: --all removes everything; omit --older-than');
      const age = options.olderThan ?? parseAge('30d');
      const removed = pruneCache(options.all ? Number.POSITIVE_INFINITY : Date.now() - age);
      console.log(
        `removed ${counted(removed.length, 'file')}, ${sizeOf(removed)}, in ${cacheFolders().join(' and ')}`,
      );
    });
}
