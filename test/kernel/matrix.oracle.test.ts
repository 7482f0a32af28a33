// Every program of guest-programs/tests, with the one kernel ELF, where others decide: QEMU's virt
// board with OpenSBI, one hart and four; and for what is Linux's ABI also the host's Linux under
// QEMU's user-mode emulation, with the same lines of output. A program that nobody put into the
// table fails the test. matrix.slow.test.ts has one hart for those that are not Linux's.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { failures, initrd, kernel, program, runQemu } from './boot.ts';
import { FOLDER, freshDisk, noSystem, noUser, onBoard, PROGRAMS, passes, system, user } from './matrix.ts';

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

/** The output of a program that passed with one hart, to be compared with Linux. */
const shown = new Map<string, string>();

describe.skipIf(noSystem)("on QEMU's virt board", () => {
  for (const [name, row] of Object.entries(PROGRAMS))
    for (const harts of row.own === undefined ? [1, 4] : [4])
      it(`${name} with ${harts} hart(s)`, async () => {
        const text = await passes(name, row, harts);
        if (harts === 1) shown.set(name, text);
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
        // A second attempt boots our kernel again.
        const ours = shown.get(name) ?? (await onBoard(name, row, 1));
        shown.delete(name);
        expect(verdicts(done.stdout)).toEqual(verdicts(ours));
      });
    }
  },
);
