// Every program of guest-programs/tests, with the one kernel ELF, where others decide: QEMU's virt
// board with OpenSBI, one hart and four; and for what is Linux's ABI also the host's Linux under
// QEMU's user-mode emulation, with the same lines of output. A program that nobody put into the
// table fails the test.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findTool, hasGlibc, requireTool } from '../../toolchain/index.ts';
import { prebuilt } from '../support/kernels.ts';
import { findProgram, missing, runProgram } from '../support/tools.ts';
import { failures, initrd, kernel, program, runQemu } from './boot.ts';

interface Row {
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
}

const LINUX: Row = {};
const PROGRAMS: Readonly<Record<string, Row>> = {
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
  leaks: { own: 'runs others as process 1', args: '/bin/pipes /bin/threads', with: ['pipes', 'threads'] },
  'lock-order': { own: '/dev/lock-order is ours', conf: prebuilt('linux+lockdep'), says: /^slab page$/m },
  memory: LINUX,
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
};

const FOLDER = resolve(import.meta.dirname, '../../guest-programs/tests');
const user = findProgram('qemu-riscv64', 'qemu-riscv64-static');
const system = findProgram('qemu-system-riscv64');
const noCompiler = missing(
  'clang-19 with libc6-dev-riscv64-cross',
  hasGlibc() ? findTool('clang') : undefined,
);
const noUser = missing('qemu-riscv64', user) || noCompiler;
const noSystem = missing('qemu-system-riscv64', system) || noCompiler;

/** A fresh disk with minfs on it: QEMU's options, and what the checker says of it. */
function freshDisk(): { readonly options: string[]; check(): string } {
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

async function onBoard(name: string, row: Row, harts: number): Promise<string> {
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

/** The lines of tests; where one was skipped, as if it had been made. */
const verdicts = (text: string): string[] =>
  text
    .split('\n')
    .filter(line => /^(not )?ok /.test(line))
    .map(line => line.replace(/ # skipped.*/, ''));

it('the table names every program', () => {
  const there = readdirSync(FOLDER).flatMap(name => (name.endsWith('.c') ? [name.slice(0, -2)] : []));
  expect(Object.keys(PROGRAMS).sort()).toEqual(there.sort());
});

describe.skipIf(noSystem)("on QEMU's virt board", () => {
  for (const [name, row] of Object.entries(PROGRAMS))
    for (const harts of [1, 4])
      it(`${name} with ${harts} hart(s)`, async () => {
        const text = await onBoard(name, row, harts);
        if (row.says) expect(text).toMatch(row.says);
        else expect(failures(text)).toEqual([]);
        for (const line of text.split('\n')) if (/# skipped/.test(line)) console.log(`${name}: ${line}`);
      });

  for (const legacy of ['true', 'false'])
    it(`disk with force-legacy=${legacy}, and the image is sound afterwards`, async () => {
      const disk = freshDisk();
      const archive = initrd({ disk: await program('tests/disk.c') });
      const more = ['-global', `virtio-mmio.force-legacy=${legacy}`, ...disk.options];
      const text = runQemu(system!, await kernel(), archive, 'init=/disk', more);
      expect(failures(text)).toEqual([]);
      expect(text).not.toMatch(/skipped/);
      expect(disk.check()).toMatch(/ 0 problems/);
    });
});

describe.skipIf(noUser || noSystem)(
  'on Linux by user-mode emulation, and the same output from our kernel',
  () => {
    for (const [name, row] of Object.entries(PROGRAMS)) {
      if (row.own) console.log(`${name}: not compared with Linux: ${row.own}`);
      it.skipIf(row.own !== undefined)(name, async () => {
        const path = join(mkdtempSync(join(tmpdir(), 'kcovbox-test-')), name);
        writeFileSync(path, await program(`tests/${name}.c`), { mode: 0o755 });
        const env = { ...process.env, QEMU_USER: '1' };
        const done = spawnSync(user!, [path], { encoding: 'utf8', env, timeout: 60_000 });
        expect(failures(done.stdout)).toEqual([]);
        expect(verdicts(done.stdout)).toEqual(verdicts(await onBoard(name, row, 1)));
      });
    }
  },
);
