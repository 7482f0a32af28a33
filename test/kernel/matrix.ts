// The table of test/kernel/matrix.*.test.ts: every program of guest-programs/tests, with the one
// kernel ELF, on QEMU's virt board with OpenSBI.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect } from 'vitest';
import { findTool, hasGlibc, requireTool } from '../../toolchain/index.ts';
import { prebuilt } from '../support/kernels.ts';
import { findProgram, missing, runProgram } from '../support/tools.ts';
import { failures, initrd, kernel, program, runQemu } from './boot.ts';

export interface Row {
  /** Not Linux's ABI: why there is nothing to compare with. */
  readonly own?: string;
  readonly conf?: string;
  /** Arguments, and programs that they name. */
  readonly args?: string;
  readonly with?: readonly string[];
  readonly disk?: true;
  /**
   * Compares times: on one hart QEMU's clock counts instructions, so other load on the host does
   * not show. With several, QEMU takes minutes then.
   */
  readonly countsTime?: true;
  /** Lines that must be there instead of "ok" lines. */
  readonly says?: RegExp;
  /** More arguments and programs, for the long dose. */
  readonly more?: readonly string[];
}

const LINUX: Row = {};
export const PROGRAMS: Readonly<Record<string, Row>> = {
  attributes: LINUX,
  calls: LINUX,
  clocks: { countsTime: true },
  'cpu-clocks': { countsTime: true },
  devices: { own: 'its nodes are ours' },
  disk: { own: 'minfs is ours', disk: true },
  'disk-damage': { own: 'minfs is ours', disk: true, args: '10 1' },
  drivers: { own: 'sysfs of our devices, which skips those that the board lacks' },
  edu: { own: 'its device is not on the virt board; the program says so for every test' },
  events: LINUX,
  'fail-nth': { own: '/dev/fail-nth is ours', conf: prebuilt('openbsd+fail-nth') },
  files: LINUX,
  fuzz: { own: 'harms its kernel', args: '3000 9' },
  hwprobe: { own: 'its answers are those of the hart it runs on' },
  inotify: LINUX,
  jobs: LINUX,
  lent: { own: 'kqueue and kcov are not in Linux', args: '200 3' },
  limits: LINUX,
  // It runs each three times. leaks.guest.test.ts has all programs, on our machine.
  leaks: {
    own: 'runs others as process 1',
    args: '/bin/pipes /bin/memory',
    with: ['pipes', 'memory'],
    more: ['threads'],
  },
  'lock-order': { own: '/dev/lock-order is ours', conf: prebuilt('linux+lockdep'), says: /^slab page$/m },
  memory: LINUX,
  owners: LINUX,
  pipes: LINUX,
  priorities: LINUX,
  processes: LINUX,
  procfs: LINUX,
  provoke: {
    own: 'bugs on demand',
    conf: prebuilt('openbsd+kasan'),
    args: 'heap-overflow',
    says: /BUG: KASAN: slab-out/,
  },
  ptys: LINUX,
  queues: { own: 'kqueue is of the BSDs' },
  signals: LINUX,
  sockets: LINUX,
  splice: LINUX,
  stress: LINUX,
  'sysv-shm': LINUX,
  threads: LINUX,
  truncate: LINUX,
  'watch-graphs': { own: 'kqueue is not in Linux' },
};

export const FOLDER = resolve(import.meta.dirname, '../../guest-programs/tests');
export const user = findProgram('qemu-riscv64', 'qemu-riscv64-static');
export const system = findProgram('qemu-system-riscv64');
const noCompiler = missing(
  'clang-19 with libc6-dev-riscv64-cross',
  hasGlibc() ? findTool('clang') : undefined,
);
export const noUser = missing('qemu-riscv64', user) || noCompiler;
export const noSystem = missing('qemu-system-riscv64', system) || noCompiler;

/** A fresh disk with minfs on it: QEMU's options, and what the checker says of it. */
export function freshDisk(): { readonly options: string[]; check(): string } {
  const dir = mkdtempSync(join(tmpdir(), 'kcovbox-test-'));
  const [tool, image] = [join(dir, 'mkfs'), join(dir, 'disk')];
  const source = join(FOLDER, '../tools/mkfs-minfs.c');
  runProgram(requireTool('clang'), ['-O1', '-Wall', '-Werror', source, '-o', tool]);
  runProgram(tool, [image, '8']);
  return {
    options: ['-drive', `file=${image},if=none,format=raw,id=d`, '-device', 'virtio-blk-device,drive=d'],
    check: () => runProgram(tool, ['--check', image]),
  };
}

export async function onBoard(name: string, row: Row, harts: number): Promise<string> {
  const names = [name, ...(row.with ?? [])];
  const files = await Promise.all(
    names.map(async each => [`bin/${each}`, await program(`tests/${each}.c`)] as const),
  );
  const append = `init=/bin/${name}${row.args ? ` -- ${row.args}` : ''}`;
  const more = [
    ...['-smp', String(harts)],
    ...(row.disk ? freshDisk().options : []),
    ...(row.countsTime && harts === 1 ? ['-icount', 'shift=3'] : []),
  ];
  return runQemu(system!, await kernel(row.conf), initrd(Object.fromEntries(files)), append, more);
}

/** Runs a program on the board; what its console showed, without a failed test. */
export async function passes(name: string, row: Row, harts: number): Promise<string> {
  const text = await onBoard(name, row, harts);
  if (row.says) expect(text).toMatch(row.says);
  else expect(failures(text)).toEqual([]);
  for (const line of text.split('\n')) if (/# skipped/.test(line)) console.log(`${name}: ${line}`);
  return text;
}
