// Debian's unmodified riscv64 kernel boots to a user program and powers off, with and without
// OpenSBI, on one and four harts, in both engines; its log agrees with QEMU's. Needs apt
// (setup/fetch-guests.mjs --linux), else it says why not.

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  DEFAULT_EXTENSIONS,
  type EngineKind,
  EXTENSIONS,
  Machine,
  type MachineOptions,
  qemuCpu,
  stateHash,
} from '../../emulator/index.ts';
import { writeCpio } from '../../toolchain/cpio.ts';
import { assemble } from '../support/asm.ts';
import { findProgram, missing, withScratch } from '../support/tools.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const OPENSBI = '/usr/lib/riscv64-linux-gnu/opensbi/generic';
const QEMU = findProgram('qemu-system-riscv64');
const fetched = spawnSync(process.execPath, [join(ROOT, 'setup/fetch-guests.mjs'), '--linux'], {
  cwd: ROOT,
  encoding: 'utf8',
});
const noLinux = missing(
  `linux (${fetched.stderr.trim()})`,
  fetched.status === 0 ? fetched.stdout : undefined,
);
const DIR = dirname(fetched.stdout.trim());
const APPEND = 'console=ttyS0 earlycon=sbi no4lvl';
const RAM = 256 << 20;
const BUDGET = 4e9;

const INIT = `#!/bin/busybox sh
B=/bin/busybox
for d in proc sys dev; do $B mkdir -p /$d; done
$B mount -t proc proc /proc
$B mount -t sysfs sys /sys
$B mount -t devtmpfs dev /dev
exec < /dev/console > /dev/console 2>&1
echo harts $($B grep -c ^processor /proc/cpuinfo)
$B uname -m
$B grep -m1 ^isa /proc/cpuinfo
/bin/rdtime && echo rdtime $?
echo year $($B date +%Y)
$B awk 'BEGIN { for (i = 0; i < 3000; i++) s += (i % 2 ? -1 : 1) / (2 * i + 1); printf "%.12f\\n", 4 * s }'
for m in virtio_mmio virtio_blk virtio-rng; do $B insmod /mods/$m.ko; done
if [ -e /dev/vda ]; then
  $B md5sum /dev/vda
  $B dd if=/bin/busybox of=/dev/vda bs=4096 count=100 conv=fsync 2> /dev/null
  $B dd if=/dev/vda bs=4096 count=100 2> /dev/null | $B md5sum
  $B dd if=/bin/busybox bs=4096 count=100 2> /dev/null | $B md5sum
  $B cat /sys/class/misc/hw_random/rng_available
fi
$B poweroff -f
`;

/** The instructions of the vDSO's clock_gettime, and exit(0). */
const RDTIME = 'rdtime a0\nli a0, 0\nli a7, 93\necall';

/** The result of awk in INIT. */
function leibniz(): string {
  let s = 0;
  for (let i = 0; i < 3000; i++) s += (i % 2 ? -1 : 1) / (2 * i + 1);
  return (4 * s).toFixed(12);
}

function initrd(): Uint8Array {
  const module = (name: string) => ({
    path: `mods/${name}.ko`,
    mode: 0o100644,
    data: readFileSync(join(DIR, `${name}.ko`)),
  });
  return writeCpio([
    { path: 'init', mode: 0o100755, data: new TextEncoder().encode(INIT) },
    { path: 'bin/rdtime', mode: 0o100755, data: assemble(RDTIME, 0x1_0000).bytes },
    { path: 'bin/busybox', mode: 0o100755, data: readFileSync(join(DIR, '../bin/busybox')) },
    ...['virtio_mmio', 'virtio_blk', 'virtio-rng'].map(module),
  ]);
}

const file = (path: string) => ({ name: path, bytes: new Uint8Array(readFileSync(path)) });

function boot(options: Partial<MachineOptions> & { engine: EngineKind }) {
  let text = '';
  const machine = Machine.create({
    kernel: file(join(DIR, 'Image')),
    initrd: { name: 'initrd', bytes: initrd() },
    append: APPEND,
    ramBytes: RAM,
    onConsole: byte => {
      text += String.fromCharCode(byte);
    },
    ...options,
  });
  const result = machine.run(BUDGET);
  return { machine, result, text: text.replaceAll('\r', '') };
}

/**
 * Lines in which two boards of the same map may differ: time, identity, PCI, what depends on the
 * tree's size.
 */
const MAY_DIFFER = new RegExp(
  [
    'model|Platform Name|MHPM|NODE_DATA|Memory: |audit: type|unaligned access|pci|PMU|pmu|counters|system clock',
    'random: |initrd memory|deferred pages|riscv,isa|^isa|Domain0 Next Arg1|per-cpu|sched_clock|clocksource|BogoMIPS',
  ].join('|'),
);
const comparable = (log: string): string[] =>
  log
    .split('\n')
    .map(line => line.replace(/^\[ *[0-9.]+\] /, '').trimEnd())
    .filter(line => line !== '' && !MAY_DIFFER.test(line))
    .sort();

describe.skipIf(noLinux)("Debian's linux", () => {
  it.each([1, 4])('boots on %i harts with the built-in sbi, the same in both engines', harts => {
    const fast = boot({ engine: 'jit', harts });
    expect(fast.result).toEqual({ kind: 'exit', status: 0 });
    expect(fast.text).toContain(`harts ${harts}\nriscv64\n`);
    expect(fast.text).toContain(`\n${leibniz()}\n`);
    // busybox is static glibc: date goes through the vDSO, whose clock_gettime executes rdtime in
    // U-mode.
    expect(fast.text).toMatch(/rdtime 0\nyear \d{4}\n/);
    expect(fast.text).toMatch(/^isa\t+: rv64imafdc\w*_sstc_\w*svinval\w*svpbmt/m);
    const plain = boot({ engine: 'interp', harts });
    expect(plain.text).toBe(fast.text);
    expect(plain.machine.instret).toBe(fast.machine.instret);
    expect(stateHash(plain.machine)).toBe(stateHash(fast.machine));
  });

  it.each([
    ['modern', false],
    ['legacy', true],
  ])('uses %s virtio disks and entropy', (_, virtioLegacy) => {
    const image = Uint8Array.from({ length: 1 << 20 }, (_, i) => (i * 7) ^ (i >> 9));
    const { text } = boot({
      engine: 'interp',
      harts: 2,
      virtioLegacy,
      virtio: [{ kind: 'blk', image }, { kind: 'rng' }],
    });
    const sum = withScratch(dir => {
      writeFileSync(join(dir, 'image'), image);
      return spawnSync('md5sum', [join(dir, 'image')], { encoding: 'utf8' }).stdout.split(' ')[0];
    });
    expect(text).toContain(`${sum}  /dev/vda\n`);
    expect(text).toMatch(/([0-9a-f]{32}) {2}-\n\1 {2}-\nvirtio_rng.0/);
  });

  const noOpensbi = missing('opensbi', existsSync(OPENSBI) ? OPENSBI : undefined);
  it.skipIf(noOpensbi)('boots on 4 harts behind fw_dynamic', () => {
    const { result, text } = boot({ engine: 'interp', harts: 4, bios: file(`${OPENSBI}/fw_dynamic.bin`) });
    expect(result).toEqual({ kind: 'exit', status: 0 });
    expect(text).toContain('OpenSBI v');
    expect(text).toContain('harts 4\n');
  });

  it.skipIf(noOpensbi || missing('qemu-system-riscv64', QEMU))(
    'prints behind fw_jump what it prints on QEMU',
    () => {
      const firmware = `${OPENSBI}/fw_jump.bin`;
      // A hart with Zicbom makes Linux reserve bounce buffers, and QEMU 7.2 has no such hart.
      const known = EXTENSIONS.filter(({ since }) => since === 7).map(({ name }) => name);
      const shared = new Set([...DEFAULT_EXTENSIONS].filter(name => known.includes(name)));
      const ours = boot({ engine: 'interp', bios: file(firmware), cpu: shared }).text;
      const theirs = withScratch(dir => {
        writeFileSync(join(dir, 'initrd'), initrd());
        const cpu = qemuCpu(shared);
        const args = ['-M', 'virt', '-cpu', cpu, '-m', '256', '-nographic', '-bios', firmware];
        const images = ['-kernel', join(DIR, 'Image'), '-initrd', join(dir, 'initrd'), '-append', APPEND];
        return spawnSync(QEMU!, [...args, ...images], {
          encoding: 'utf8',
          timeout: 300_000,
        }).stdout.replaceAll('\r', '');
      });
      expect(comparable(ours).length).toBeGreaterThan(150);
      expect(comparable(ours)).toEqual(comparable(theirs));
    },
  );
});
