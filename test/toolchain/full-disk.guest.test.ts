// A full disk is a failure of the host: one line names the folder, whatever the tools made of it.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { isOneLine, kcovbox } from '../support/command.ts';

const dir = mkdtempSync(join(tmpdir(), 'kcovbox-full-'));
const small = join(dir, 'small');
mkdirSync(small);
const mount = (kib: number): boolean =>
  spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${kib}k`, 'tmpfs', small]).status === 0;
const unmount = () => spawnSync('umount', ['-l', small]);

const canMount = mount(64);
if (canMount) unmount();
else console.warn('skipped: a full disk; only root can mount one');
afterAll(() => rmSync(dir, { recursive: true, force: true }));

writeFileSync(join(dir, 'ok.c'), '#include <stdio.h>\nint main(void) { return puts("hello") < 0; }\n');
writeFileSync(join(dir, 'bad.c'), '#error No space left on device: Bus error\nint x = "Bus error\n";\n');

describe.skipIf(!canMount)('a full disk', () => {
  afterEach(() => {
    unmount();
  });

  // With 64 KiB the linker ends with a bus error: it maps a file that has no blocks behind it.
  test.each([
    [4, 'program', 'build ok.c'],
    [64, 'program', 'build ok.c'],
    [200, 'kernel', 'build kernel --conf openbsd+debug'],
    [1500, 'kernel', 'build kernel'],
  ])('of %i KiB below the cache of a %s: %s', (kib, kind, line) => {
    mount(kib);
    const ended = kcovbox(line.split(' '), { cwd: dir, env: { KCOVBOX_CACHE: small } });
    const stderr = ended.stderr.replace(/^kcovbox: building the .* kernel, about \d+ s\n/, '');
    expect({ ...ended, stderr }).toMatchObject({
      status: 125,
      stdout: '',
      stderr: `kcovbox: cannot write in ${join(small, kind)}: no space left on the device; make room, or set KCOVBOX_CACHE to a folder on another disk\n`,
    });
    expect(stderr).toSatisfy(isOneLine);
    expect(readdirSync(join(small, kind))).toEqual([]);
  });

  test('below the images of a thin capsule, which is a remark that names the file', () => {
    const kernel = kcovbox(['build', 'kernel'], { cwd: dir }).stdout.trim();
    mount(2 * 1024); // for the program, not for a kernel
    const env = { KCOVBOX_CACHE: small };
    const line = ['run', '--kernel', kernel, '--record', 'thin.kcapsule', '--thin', 'ok.c'];
    const ended = kcovbox(line, { cwd: dir, env });
    expect([ended.status, ended.stdout]).toEqual([0, 'hello\n']);
    const said = ended.stderr.replace(/[0-9a-f]{64}/, 'HASH');
    expect(said).toBe(
      `kcovbox: the images of thin.kcapsule were not kept (cannot write ${join(small, 'image', 'HASH')}: no space left on the device); replay will ask for them\n`,
    );
  });

  test('below the temporary files of the compiler', () => {
    mount(4);
    writeFileSync(join(small, 'rest'), '');
    spawnSync('dd', ['if=/dev/zero', `of=${join(small, 'rest')}`, 'bs=4096']);
    const env = { KCOVBOX_CACHE: join(dir, 'cache'), TMPDIR: small };
    const { status, stderr } = kcovbox(['build', 'ok.c'], { cwd: dir, env });
    expect([status, stderr]).toEqual([
      125,
      `kcovbox: cannot write in ${small}: no space left on the device; make room, or set TMPDIR to a folder on another disk\n`,
    ]);
  });
});

test('a program whose text speaks of full disks is to blame for its own errors', () => {
  const env = { KCOVBOX_CACHE: join(dir, 'cache') };
  const { status, stderr } = kcovbox(['build', 'bad.c'], { cwd: dir, env });
  expect(status).toBe(123);
  expect(stderr).toMatch(/#error|error: No space left on device/);
  expect(stderr).toMatch(/\nkcovbox: bad\.c does not compile\n$/);
});
