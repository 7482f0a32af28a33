// docs/locks.md against the kernel: each lock of the source has a row, each row a lock; and the
// order in which a kernel with lockdep takes them while the test programs run is the table's.
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findTool, hasGlibc, requireTool } from '../../toolchain/index.ts';
import { prebuilt } from '../support/kernels.ts';
import { runProgram, withScratch } from '../support/tools.ts';
import { FILE_PROGRAMS, initrd, kernel, OWN_FILE_PROGRAMS, program, run } from './boot.ts';

const ready = hasGlibc() && findTool('clang') !== undefined;
if (!ready) console.warn('skipped: guest tests need clang-19 and libc6-dev-riscv64-cross');

const ROOT = resolve(import.meta.dirname, '../..');
const KERNEL = join(ROOT, 'kernel');

interface Row {
  readonly rank: number;
  readonly name: string;
  readonly kind: string;
  readonly file: string;
}

const rows: readonly Row[] = [
  ...readFileSync(join(ROOT, 'docs/locks.md'), 'utf8').matchAll(
    /^\| (\d+) \| `([^`]+)` \| (mutex|spinlock) \| `([^`]+)` \|/gm,
  ),
].map(([, rank, name, kind, file]) => ({ rank: Number(rank), name: name!, kind: kind!, file: file! }));

/** Locks of the checkers' tests, which break every rule. */
const PROVOKED = 'opt/provoke/provoke.c';

function locksOfSource(): { name: string; kind: string; file: string }[] {
  const found = new Map<string, { name: string; kind: string; file: string }>();
  for (const file of readdirSync(KERNEL, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.c') || file === PROVOKED) continue;
    const text = readFileSync(join(KERNEL, file), 'utf8');
    for (const [, make, name] of text.matchAll(
      /\b(SPINLOCK_INIT|spin_init|MUTEX_INIT|mutex_init)\((?:[^()"]*,\s*)?"([^"]+)"\)/g,
    ))
      found.set(name!, { name: name!, kind: /^spin/i.test(make!) ? 'spinlock' : 'mutex', file });
  }
  return [...found.values()];
}

const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);

describe('docs/locks.md', () => {
  it('has a row for each lock of the kernel, with its kind and file', () => {
    const documented = rows.map(({ name, kind, file }) => ({ name, kind, file }));
    expect(documented.sort(byName)).toEqual(locksOfSource().sort(byName));
  });

  it('is sorted by rank, and has mutexes before spinlocks', () => {
    const ranks = rows.map(({ rank }) => rank);
    expect(ranks).toEqual(ranks.toSorted((a, b) => a - b));
    const kinds = rows.map(({ kind }) => kind);
    expect(kinds.lastIndexOf('mutex')).toBeLessThan(kinds.indexOf('spinlock'));
  });
});

/** A disk with an empty minfs. */
const minfs = (): Uint8Array =>
  withScratch(dir => {
    const tool = join(dir, 'mkfs');
    runProgram(requireTool('clang'), ['-O1', join(ROOT, 'guest-programs/tools/mkfs-minfs.c'), '-o', tool]);
    runProgram(tool, [join(dir, 'disk'), '8']);
    return new Uint8Array(readFileSync(join(dir, 'disk')));
  });

const PROGRAMS = [
  ...['clocks', 'cpu-clocks', 'events', 'memory', 'processes', 'signals', 'stress', 'threads', 'drivers'],
  ...['edu', 'disk', 'lent', ...FILE_PROGRAMS, ...OWN_FILE_PROGRAMS],
];
/** Pairs that the programs make the kernel take; fewer would mean that the run has shrunk. */
const PAIRS = 250;

describe.skipIf(!ready)('the order in which locks are taken', () => {
  it('is the order of the table, on four harts', async () => {
    const files: Record<string, Uint8Array> = { 'lock-order': await program('tests/lock-order.c') };
    for (const name of PROGRAMS) files[name] = await program(`tests/${name}.c`);
    const append = `init=/lock-order -- ${PROGRAMS.map(name => `/${name}`).join(' ')}`;
    const options = { harts: 4, virtio: [{ kind: 'blk', image: minfs() }] } as const;
    const end = run(await kernel(prebuilt('linux+lockdep')), initrd(files), append, options, 40e9);
    expect(end.status).toBe(0);
    const rank = new Map(rows.map(row => [row.name, row.rank]));
    const pairs = end.text
      .trimEnd()
      .split('\n')
      .map(line => line.split(' '));
    expect(pairs.filter(pair => pair.length !== 2 || !pair.every(name => rank.has(name)))).toEqual([]);
    expect(pairs.length).toBeGreaterThan(PAIRS);
    expect(pairs.filter(([first, second]) => rank.get(first!)! >= rank.get(second!)!)).toEqual([]);
  });
});
