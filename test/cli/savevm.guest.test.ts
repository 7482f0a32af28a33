// `boot -savevm` and `boot -loadvm`: a run that goes on from a file, in a new process and on the
// other engine, has the capsule of the run that nobody saved, byte for byte. KCOVBOX_SEED,
// KCOVBOX_RUNS.
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import {
  buildKernel,
  buildProgram,
  findTool,
  hasGlibc,
  requireTool,
  writeCpio,
} from '../../toolchain/index.ts';
import { assemble, FINISH } from '../support/asm.ts';
import { isOneLine, kcovbox, ROOT } from '../support/command.ts';
import { Random, seedFromEnvironment, seedText } from '../support/random.ts';
import { runProgram } from '../support/tools.ts';

const ready = hasGlibc() && findTool('clang') !== undefined;
if (!ready) console.warn('skipped: guest tests need clang-19 and libc6-dev-riscv64-cross');

const SEED = seedFromEnvironment(0x5a7e);
const RUNS = Number(process.env['KCOVBOX_RUNS'] || 2);
const dir = mkdtempSync(join(tmpdir(), 'kcovbox-savevm-'));
const at = (name: string): string => join(dir, name);
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Polls for a byte so seldom that the host needs two windows of 20 million units to see it. */
const SELDOM = `
  li s0, 0x10000000
  li s1, 2
1: li t1, 12000
2: addi t1, t1, -1
  bnez t1, 2b
  lbu t0, 5(s0)
  andi t0, t0, 1
  beqz t0, 1b
  lbu t0, 0(s0)
  sb t0, 0(s0)
  addi s1, s1, -1
  bnez s1, 1b
  li a0, 5
  ${FINISH}`;

/** Writes so many MiB to its disk, which takes a unit for each byte; then counts for 20 million. */
const writes = (mib: number): string => `
  li s0, 0x10001000
  li t0, 3
  sw t0, 0x70(s0)
  li t0, 1
  sw t0, 0x24(s0)
  sw t0, 0x20(s0)
  li t0, 11
  sw t0, 0x70(s0)
  li t0, 4
  sw t0, 0x38(s0)
  la t0, table
  sw t0, 0x80(s0)
  la t0, available
  sw t0, 0x90(s0)
  la t0, used
  sw t0, 0xa0(s0)
  li t0, 1
  sw t0, 0x44(s0)
  li t0, 15
  sw t0, 0x70(s0)
  fence
  sw zero, 0x50(s0)
  la t0, used
1: lhu t1, 2(t0)
  beqz t1, 1b
  li t1, 10000000
2: addi t1, t1, -1
  bnez t1, 2b
  lbu a0, status
  addi a0, a0, 3
  ${FINISH}
  .align 4
table: .dword header
  .word 16
  .half 1, 1
  .dword 0x80400000
  .word ${mib} << 20
  .half 1, 2
  .dword status
  .word 1
  .half 2, 0
  .zero 16
available: .half 0, 1, 0, 0, 0, 0
  .align 3
used: .zero 64
header: .word 1, 0
  .dword 0
status: .byte 0xff`;

const boot = (input: string, ...args: string[]) => kcovbox(['boot', ...args], { cwd: dir, input });
const bytes = (name: string): Buffer => readFileSync(at(name));

/** Saves at random moments before `end` and goes on; `images`: what is booted. */
function search(images: string[], input: string, end: number, status: number, random: Random): void {
  const whole = boot(input, ...images, '--record', at('whole'));
  expect(whole).toMatchObject({ status, stderr: '' });
  for (let i = 0; i < RUNS; i++) {
    const moment = 1 + random.below(end);
    const note = `unit ${moment} of seed ${seedText(SEED)}`;
    const [first, second] = random.oneIn(2) ? ['jit', 'interp'] : ['interp', 'jit'];
    const place = ['-savevm', at('s.ksnap'), '--snapshot-at', `${moment}`];
    const saved = boot(input, ...images, '--engine', first!, ...place, '--record', at('saved'));
    expect(saved, note).toEqual(whole);
    const on = boot(input, ...images, '--engine', second!, '-loadvm', at('s.ksnap'), '--record', at('on'));
    expect([on.status, on.stderr], note).toEqual([status, '']);
    expect(whole.stdout.endsWith(on.stdout), note).toBe(true);
    for (const name of ['saved', 'on']) expect(bytes(name).equals(bytes('whole')), note).toBe(true);
  }
}

describe('-savevm and -loadvm', () => {
  test('a kernel that polls for piped input', () => {
    writeFileSync(at('seldom.elf'), assemble(SELDOM).bytes);
    const images = ['-bios', 'none', '-kernel', at('seldom.elf'), '-m', '16M'];
    search(images, 'ab', 39_000_000, 5, new Random(SEED));
  });

  test.skipIf(!ready)('a kernel with processes, a disk and two harts', async () => {
    const program = readFileSync(
      (await buildProgram(join(ROOT, 'guest-programs/tests/disk.c'), { dialect: 'openbsd' })).path,
    );
    writeFileSync(at('initrd'), writeCpio([{ path: 'init', mode: 0o100755, data: program }]));
    const tool = join(ROOT, 'guest-programs', 'tools', 'mkfs-minfs.c');
    runProgram(requireTool('clang'), ['-O1', tool, '-o', at('mkfs')]);
    runProgram(at('mkfs'), [at('disk'), '8']);
    const { path } = await buildKernel('openbsd');
    const drive = ['-drive', `file=${at('disk')},if=virtio,format=raw`];
    const images = ['-kernel', path, '-initrd', at('initrd'), '-m', '32M', '-smp', '2', ...drive];
    search(images, '', 1_500_000, 0, new Random(SEED + 1));
  });

  test('a guest that has written more to its disk than a file holds', () => {
    writeFileSync(at('blank'), '');
    truncateSync(at('blank'), 128 * 2 ** 20);
    const disk = ['-drive', `file=${at('blank')},if=none,format=raw,id=d`].concat([
      '-device',
      'virtio-blk-device,drive=d,bus=virtio-mmio-bus.0',
    ]);
    const images = (mib: number) => {
      writeFileSync(at('writes.elf'), assemble(writes(mib)).bytes);
      const modern = ['-global', 'virtio-mmio.force-legacy=false'];
      return [
        '-bios',
        'none',
        '-kernel',
        at('writes.elf'),
        '-m',
        '128M',
        '--max-insns',
        '3e8',
        ...modern,
        ...disk,
      ];
    };
    const save = ['-savevm', at('d.ksnap'), '--snapshot-at'];
    expect(boot('', ...images(3), ...save, '5000000')).toEqual({ status: 3, stdout: '', stderr: '' });
    expect(boot('', ...images(3), '-loadvm', at('d.ksnap'))).toEqual({ status: 3, stdout: '', stderr: '' });
    const before = bytes('d.ksnap');
    expect(boot('', ...images(65), ...save, '75000000')).toEqual({
      status: 125,
      stdout: '',
      stderr:
        'kcovbox: the guest has written 68157440 bytes of its disks; a snapshot file holds 67108864 ' +
        'at most: take it earlier, or record the run\n',
    });
    expect(bytes('d.ksnap').equals(before)).toBe(true);
    // A capsule has the disk as it was, and a debugger goes back over all that was written.
    const recorded = boot('', ...images(65), '--record', at('d.kcapsule'), '--thin');
    expect(recorded).toEqual({ status: 3, stdout: '', stderr: '' });
    const commands = ['goto end', 'info hash', 'goto 1000', 'goto end', 'info hash'];
    const files = [at('d.kcapsule'), at('writes.elf'), at('blank')];
    const { stdout, stderr } = kcovbox(['debug', ...files, ...commands.flatMap(one => ['-x', one])], {
      cwd: dir,
    });
    const [first, second] = stdout.match(/^state .*$/gm) ?? [stderr];
    expect(second).toBe(first);
  });

  test('other images, other options and files that are none are refused in one line', () => {
    writeFileSync(at('seldom.elf'), assemble(SELDOM).bytes);
    writeFileSync(at('other.elf'), assemble(`nop\n${SELDOM}`).bytes);
    const images = ['-bios', 'none', '-kernel', at('seldom.elf'), '-m', '16M'];
    const saved = boot('ab', ...images, '-savevm', at('p.ksnap'), '--snapshot-at', '5000');
    expect(saved).toMatchObject({ status: 5, stdout: 'ab', stderr: '' });
    const other = ['-bios', 'none', '-kernel', at('other.elf'), '-m', '16M'];
    const load = ['-loadvm', at('p.ksnap')];
    const refused: [string[], RegExp][] = [
      [[...other, ...load], /is of another run: images\.kernel differs; give /],
      [[...images, ...load, '-smp', '2'], /is of another run: -smp is 2, was 1/],
      [[...images, '-loadvm', at('seldom.elf')], /is not a snapshot/],
      [[...images, ...load, '-s'], /-savevm and -loadvm without -gdb/],
      [[...images, '--snapshot-at', '5'], /--snapshot-at without -savevm/],
      [[...images, '-savevm', at('q'), '--snapshot-at', 'noon'], /--snapshot-at noon: /],
    ];
    for (const [args, message] of refused) {
      const { status, stderr } = boot('', ...args);
      expect([status, isOneLine(stderr)], stderr).toEqual([125, true]);
      expect(stderr).toMatch(message);
    }
    const late = boot('ab', ...images, '-savevm', at('late'), '--snapshot-at', '9000000000');
    expect(late).toMatchObject({
      status: 125,
      stderr: expect.stringMatching(
        /late was not written: the run ended at unit \d+, before unit 9000000000\n$/,
      ),
    });
  });
});
