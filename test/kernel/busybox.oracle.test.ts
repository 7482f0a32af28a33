// Debian's static riscv64 busybox, a program not built for this kernel: its tools and its shell
// give the same results as on Linux (QEMU's user-mode emulation), and the console has job control.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { findTool, hasGlibc } from '../../toolchain/index.ts';
import { findProgram, missing, runProgram } from '../support/tools.ts';
import { converse, initrd, kernel, run } from './boot.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const COMMON = join(ROOT, 'guest-programs/tests/shell.sh');
const user = findProgram('qemu-riscv64', 'qemu-riscv64-static');
const noUser = missing('qemu-riscv64', user);
const noCompiler = missing(
  'clang-19 with libc6-dev-riscv64-cross',
  hasGlibc() ? findTool('clang') : undefined,
);
const fetched = spawnSync(process.execPath, [join(ROOT, 'setup/fetch-guests.mjs')], { encoding: 'utf8' });
const absent = missing(
  `busybox (${fetched.stderr.trim()})`,
  fetched.status === 0 ? fetched.stdout : undefined,
);

/** Output that depends on this kernel's own devices and processes. */
const OURS = `
/busybox mkdir /bin
/busybox --install -s /bin
ls -l /dev
find /dev -name '*z*' | sort
md5sum /busybox
printf 'b\\na\\nc\\n' | sort | tr a-z A-Z | xargs echo
echo one two | xargs -n1 echo item; find /bin -name cat -exec echo found {} ';'; env -i A=b env
tar cf - /dev 2> /dev/null | tar tf - | sort | head -2
timeout 1 sleep 5; echo timeout $?
sleep 100 & kill %1; wait %1; echo killed $?
cd /proc/self && pwd && ls fd > /dev/null && mount | wc -l; readlink /proc/1/exe
df / | tail -1 | tr -s ' ' | cut -d' ' -f1,6; ps | grep -q '[/]init.sh' && echo ps; uname -sm
mount -t tmpfs none /tmp && touch /tmp/x && umount /tmp && ls /tmp
echo through > /dev/stdout; stty size < /dev/console; tty < /dev/console
exit 7
`;

describe.skipIf(noCompiler || absent)("Debian's static busybox", () => {
  const path = fetched.stdout.trim();
  let elf: string;
  let busybox: Uint8Array;
  beforeAll(async () => {
    elf = await kernel();
    busybox = readFileSync(path);
  });

  it('finds devices, processes and mounts', () => {
    const archive = initrd({ busybox, 'init.sh': new TextEncoder().encode(OURS) });
    const end = run(elf, archive, 'init=/busybox -- sh /init.sh');
    expect(end.text).toContain(`${runProgram('md5sum', [path]).split(' ')[0]}  /busybox`);
    expect(end.text).toMatch(/^crw-rw-rw- .* 1, +3 .* null$/m);
    expect(end.text).toContain('/dev/zero\n');
    expect(end.text).toContain('A B C\nitem one\nitem two\nfound /bin/cat\nA=b\ndev/\ndev/console\n');
    expect(end.text).toMatch(/timeout 143\n(.*Terminated\n)?killed 143\n/);
    expect(end.text).toMatch(/\/proc\/self\n4\n\/busybox\ntmpfs \/\nps\nLinux riscv64\n/);
    expect(end.text).toMatch(/through\n24 80\n\/dev\/console\n$/);
    expect(end.status).toBe(7);
  });

  it.skipIf(noUser)('its tools print what they print on Linux', () => {
    const dir = mkdtempSync(join(tmpdir(), 'kcovbox-test-'));
    const there = spawnSync(user!, [path, 'sh', COMMON, dir], { encoding: 'utf8', timeout: 60_000 });
    const archive = initrd({ busybox, 'shell.sh': readFileSync(COMMON) });
    for (const harts of [1, 4]) {
      const here = run(elf, archive, 'init=/busybox -- sh /shell.sh /tmp', { harts });
      expect(here.text).toBe(there.stdout);
      expect(here.status).toBe(there.status);
    }
  });

  it('has job control at the console: ^C, ^Z, ^\\, jobs, kill, bg, fg', () => {
    const text = converse(elf, initrd({ busybox }), 'init=/busybox -- sh -i', [
      ['# ', '/busybox mkdir /bin; /busybox --install -s /bin; mkfifo /tmp/p /tmp/q\r'],
      ['# ', 'cat /tmp/p &\r'],
      ['# ', 'jobs; kill %1\r'],
      ['# ', 'jobs\r'],
      ['Terminated', ''],
      ['# ', 'cat /tmp/p\r'],
      ['/tmp/p\r', '\x03'],
      ['# ', 'echo after $?\r'],
      ['after 130', ''],
      ['# ', 'cat /tmp/q | sort\r'],
      ['sort\r', '\x1a'],
      ['Stopped', ''],
      ['# ', 'bg; jobs\r'],
      ['Running', ''],
      ['# ', 'fg\r'],
      ['sort\r', '\x1c'],
      ['Quit', ''],
      ['# ', 'stty tostop; echo x &\r'],
      ['# ', 'jobs\r'],
      ['Stopped (tty output)', ''],
      ['# ', 'fg\r'],
      ['x\r', 'exit 3\r'],
    ]);
    expect(text).toMatch(/exit 3\s*$/);
  });
});
