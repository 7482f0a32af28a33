// QEMU's own help is the list of its options: each has a row in cli/boot/option-rows.ts, and every
// row is one of them.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { OWN_OPTIONS, QEMU_OPTIONS } from '../../cli/boot/option-rows.ts';
import { assemble, FINISH } from '../support/asm.ts';
import { findProgram, missing, runProgram } from '../support/tools.ts';

const QEMU = findProgram('qemu-system-riscv64');
const COMMAND = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), 'bin', 'kcovbox.cjs');
const dir = mkdtempSync(join(tmpdir(), 'kcovbox-options-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/**
 * Names and whether a value follows, from lines such as `-hda/-hdb file  use ...` and
 * `-h or -help   display ...`.
 */
function listed(help: string): Map<string, boolean> {
  const found = new Map<string, boolean>();
  for (const line of help.split('\n')) {
    const [, names, rest] = /^(--?[A-Za-z][\w-]*(?:(?:\/| or )-[\w-]+)*)(.*)$/.exec(line) ?? [];
    if (names === undefined) continue;
    const takesValue = /^ \S|^ +file /.test(rest!) && !/^ enable /.test(rest!);
    for (const [name] of names.matchAll(/[A-Za-z][\w-]*(?=$|[/ ])/g))
      if (name !== 'or') found.set(name, takesValue || (found.get(name) ?? false));
  }
  return found;
}

describe.skipIf(missing('qemu-system-riscv64', QEMU))("QEMU's command line", () => {
  const help = listed(runProgram(QEMU!, ['-help']));
  const rows = new Map([...QEMU_OPTIONS, ...OWN_OPTIONS].map(row => [row.name, row]));

  test('every option that QEMU lists has a row, and takes a value as there', () => {
    expect(help.size).toBeGreaterThan(100);
    const wrong = [...help].filter(
      ([name, takesValue]) => (rows.get(name)?.value !== undefined) !== takesValue,
    );
    expect(wrong).toEqual([]);
    expect([...help.keys()].filter(name => !rows.has(name))).toEqual([]);
  });

  test('every row is an option of QEMU', () => {
    const alias = ['M']; // of -machine, which the help leaves out
    expect(
      QEMU_OPTIONS.map(({ name }) => name).filter(name => !help.has(name) && !alias.includes(name)),
    ).toEqual([]);
  });

  const kernel = join(dir, 'kernel.elf');
  /**
   * Ends with the sum of the bytes at 0x80400000 and whether a1 names a device tree that begins as
   * it should.
   */
  writeFileSync(
    kernel,
    assemble(`
      lw t0, 0(a1)
      li t1, 0xedfe0dd0
      slli t1, t1, 32
      srai t1, t1, 32
      sub t0, t0, t1
      seqz a0, t0
      li t2, 0x80400000
      li t3, 4
    1: lbu t0, 0(t2)
      add a0, a0, t0
      addi t2, t2, 1
      addi t3, t3, -1
      bnez t3, 1b
      ${FINISH}`).bytes,
  );
  writeFileSync(join(dir, 'four'), Uint8Array.of(1, 2, 3, 4));
  const dtb = join(dir, 'virt.dtb');
  spawnSync(QEMU!, ['-M', `virt,dumpdtb=${dtb}`]);

  test.each([
    ['-device loader,file=four,addr=0x80400000', 11],
    ['-device loader,data=0x01020304,data-len=4,addr=0x80400000', 11],
    ['-m 0.125G -smp 2,sockets=1 -nodefaults -monitor null -serial stdio -name x -d int -D log', 1],
    [`-dtb ${dtb}`, 1],
  ])('%s does what it does in QEMU', (line, status) => {
    const words = ['-bios', 'none', '-kernel', kernel, '-display', 'none', ...line.split(' ')];
    const options = { cwd: dir, timeout: 30_000, encoding: 'utf8', input: '' } as const;
    expect(spawnSync(QEMU!, ['-M', 'virt', ...words], options).status).toBe(status);
    const ours = spawnSync(process.execPath, [COMMAND, 'boot', ...words], options);
    expect([ours.status, ours.stderr]).toEqual([status, '']);
  });

  writeFileSync(join(dir, 'large.bin'), new Uint8Array(5 << 20));

  // QEMU does not compare with the images of loaders.
  test.each([`-bios ${kernel} -kernel ${kernel}`, '-bios none -kernel large.bin -initrd four -m 8M'])(
    '%s is refused, as in QEMU',
    line => {
      const words = ['-display', 'none', ...line.split(' ')];
      const options = { cwd: dir, timeout: 30_000, encoding: 'utf8', input: '' } as const;
      const theirs = spawnSync(QEMU!, ['-M', 'virt', ...words], options);
      expect([theirs.status, theirs.stderr]).toEqual([1, expect.stringContaining('overlap')]);
      const ours = spawnSync(process.execPath, [COMMAND, 'boot', ...words], options);
      expect([ours.status, ours.stderr]).toEqual([125, expect.stringContaining(' lies over ')]);
    },
  );

  test('an ELF segment that starts below RAM', () => {
    // As GNU ld -Ttext=0x80000000 makes it: one segment that begins with the headers, a page below
    // RAM.
    const file = new Uint8Array(0x1100);
    const view = new DataView(file.buffer);
    file.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
    for (const [at, value] of [
      [16, 2],
      [18, 243],
      [52, 64],
      [54, 56],
      [56, 1],
    ] as const)
      view.setUint16(at, value, true);
    view.setUint32(20, 1, true);
    view.setBigUint64(24, 0x8000_0000n, true);
    view.setBigUint64(32, 64n, true);
    view.setUint32(64, 1, true);
    view.setUint32(68, 5, true);
    for (const at of [80, 88]) view.setBigUint64(at, 0x7fff_f000n, true);
    for (const at of [96, 104]) view.setBigUint64(at, 0x1100n, true);
    view.setBigUint64(112, 0x1000n, true);
    // li a0, 0x100000; li a1, 0x73333; sw a1, 0(a0); j .   (status 7)
    for (const [i, word] of [0x0010_0537, 0x0007_35b7, 0x3335_8593, 0x00b5_2023, 0x0000_006f].entries())
      view.setUint32(0x1000 + 4 * i, word, true);
    const path = join(dir, 'below.elf');
    writeFileSync(path, file);
    const words = ['-bios', 'none', '-kernel', path, '-display', 'none'];
    const options = { timeout: 30_000, encoding: 'utf8', input: '' } as const;
    expect(spawnSync(QEMU!, ['-M', 'virt', ...words], options).status).toBe(7);
    expect(spawnSync(process.execPath, [COMMAND, 'boot', ...words], options).status).toBe(7);
  });

  test('-no-reboot ends the run', () => {
    const path = join(dir, 'reboot.elf');
    writeFileSync(path, assemble('li t0, 0x100000\n li t1, 0x7777\n sw t1, 0(t0)\n1: j 1b').bytes);
    const words = ['-bios', 'none', '-kernel', path, '-display', 'none', '-no-reboot'];
    const options = { timeout: 30_000, encoding: 'utf8', input: '' } as const;
    expect(spawnSync(QEMU!, ['-M', 'virt', ...words], options).status).toBe(0);
    expect(spawnSync(process.execPath, [COMMAND, 'boot', ...words], options).status).toBe(0);
  });
});
