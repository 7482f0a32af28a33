// The file-related guest programs where the behaviour is Linux's own: under QEMU's user-mode emulation the host's Linux
// answers, under QEMU's virt board our kernel does, with OpenSBI and with several harts. Debian's busybox on top.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { hasGlibc, requireTool, TOOLS, which } from '../../toolchain/index.ts';
import { findProgram, missing, runProgram } from '../support/tools.ts';
import { failures, initrd, kernel, program, run, runQemu } from './boot.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const user = findProgram('qemu-riscv64', 'qemu-riscv64-static');
const system = findProgram('qemu-system-riscv64');
const noCompiler = missing(
  'clang-19 with libc6-dev-riscv64-cross',
  hasGlibc() ? which(TOOLS.clang) : undefined,
);
const noUser = missing('qemu-riscv64', user) || noCompiler;
const noSystem = missing('qemu-system-riscv64', system) || noCompiler;

describe.skipIf(noUser)('on Linux, by user-mode emulation', () => {
  for (const name of ['files', 'pipes', 'sockets', 'procfs', 'truncate', 'splice', 'inotify']) {
    it(`${name}: every test is ok`, async () => {
      const path = join(mkdtempSync(join(tmpdir(), 'kcovbox-test-')), name);
      writeFileSync(path, await program(`tests/${name}.c`), { mode: 0o755 });
      const done = spawnSync(user!, [path], {
        encoding: 'utf8',
        env: { ...process.env, QEMU_USER: '1' },
        timeout: 60_000,
      });
      expect(failures(done.stdout)).toEqual([]);
    });
  }
});

describe.skipIf(noSystem)("on QEMU's virt board", () => {
  let elf: string;
  beforeAll(async () => {
    elf = await kernel();
  });

  for (const harts of ['1', '4'])
    for (const name of [
      'files',
      'pipes',
      'sockets',
      'queues',
      'devices',
      'procfs',
      'truncate',
      'splice',
      'inotify',
    ]) {
      it(`${name}: every test is ok with ${harts} hart(s)`, async () => {
        const archive = initrd({ [name]: await program(`tests/${name}.c`) });
        expect(failures(runQemu(system!, elf, archive, `init=/${name}`, ['-smp', harts]))).toEqual([]);
      });
    }

  for (const legacy of ['true', 'false']) {
    it(`disk: minfs with force-legacy=${legacy}, and the image is sound afterwards`, async () => {
      const dir = mkdtempSync(join(tmpdir(), 'kcovbox-test-'));
      const tool = join(dir, 'mkfs');
      const image = join(dir, 'disk');
      const source = join(ROOT, 'guest-programs/tools/mkfs-minfs.c');
      runProgram(requireTool('clang'), ['-O1', '-Wall', '-Werror', source, '-o', tool]);
      runProgram(tool, [image, '8']);
      const text = runQemu(system!, elf, initrd({ disk: await program('tests/disk.c') }), 'init=/disk', [
        '-global',
        `virtio-mmio.force-legacy=${legacy}`,
        '-drive',
        `file=${image},if=none,format=raw,id=d`,
        '-device',
        'virtio-blk-device,drive=d',
      ]);
      expect(failures(text)).toEqual([]);
      expect(text).not.toMatch(/skipped/);
      expect(runProgram(tool, ['--check', image])).toMatch(/ 0 problems/);
    });
  }
});

const SCRIPT = `
/busybox mkdir /bin
/busybox --install -s /bin
ls -l /dev
find /dev -name '*z*' | sort
md5sum /busybox
seq 1 1000 | awk '{ s += $1 } END { print s }'
printf 'b\\na\\nc\\n' | sort | tr a-z A-Z | xargs echo
for i in 1 2 3; do (exit $i); echo status $?; done
echo text > /tmp/x && cp /tmp/x /tmp/y && cmp /tmp/x /tmp/y && wc -c < /tmp/y
dd if=/dev/zero bs=1k count=64 2> /dev/null | gzip -c | gunzip -c | md5sum
tar cf - /tmp 2> /dev/null | tar tf - | sort
mkfifo /tmp/f; (echo through > /tmp/f &); cat /tmp/f
trap 'echo caught' TERM; kill -TERM $$; sleep 0
cd /proc/self && pwd && ls fd > /dev/null && mount | wc -l
ps | grep -c init > /dev/null && echo end
exit 7
`;

describe.skipIf(noCompiler)("Debian's static busybox", () => {
  const fetched = spawnSync(process.execPath, [join(ROOT, 'setup/fetch-guests.mjs')], { encoding: 'utf8' });
  const absent = missing(
    `busybox (${fetched.stderr.trim()})`,
    fetched.status === 0 ? fetched.stdout : undefined,
  );

  it.skipIf(absent)('runs sh, ls, find, pipes, md5sum, tar and more', async () => {
    const busybox = readFileSync(fetched.stdout.trim());
    const archive = initrd({ busybox, 'init.sh': new TextEncoder().encode(SCRIPT) });
    const end = run(await kernel(), archive, 'init=/busybox -- sh /init.sh');
    const sum = runProgram('md5sum', [fetched.stdout.trim()]).split(' ')[0];
    expect(end.status).toBe(7);
    expect(end.text).toContain(`${sum}  /busybox`);
    expect(end.text).toMatch(/^crw-rw-rw- .* 1, +3 .* null$/m);
    expect(end.text).toContain('/dev/zero\n');
    expect(end.text).toContain(
      '500500\nA B C\nstatus 1\nstatus 2\nstatus 3\n5\nfcd6bcb56c1689fcef28b57c22475bad  -\n',
    );
    expect(end.text).toContain('tmp/\ntmp/x\ntmp/y\nthrough\ncaught\n/proc/');
    expect(end.text).toMatch(/end\n$/);
  });
});
