// Options of real QEMU command lines: their effects, and the messages for those without effect
// here.
import { describe, expect, test } from 'vitest';
import { describeOptions, parseQemu } from '../../cli/boot/qemu-options.ts';

const parse = (line: string) => parseQemu(['-kernel', 'k', ...line.split(' ').filter(Boolean)]);
const refusal = (line: string): string => {
  try {
    parse(line);
  } catch (error) {
    return (error as Error).message;
  }
  return 'accepted';
};

describe('meanings', () => {
  test.each([
    ['-m 0.25G', { memory: 2 ** 28 }],
    ['-m 512', { memory: 2 ** 29 }],
    ['-m 512 -append a -m 64 -append b', { memory: 2 ** 26, append: 'b' }],
    ['-m size=64M,maxmem=64M', { memory: 2 ** 26 }],
    ['-m 131072K', { memory: 2 ** 27 }],
    ['-smp 2,sockets=1', { smp: 2 }],
    ['-smp cpus=4,sockets=2,cores=2,threads=1', { smp: 4 }],
    ['-smp sockets=1,cores=3', { smp: 3 }],
    ['-smp 4,maxcpus=4', { smp: 4 }],
    ['-icount shift=3', { icountShift: 3 }],
    ['-icount 7', { icountShift: 7 }],
    ['-icount shift=auto,sleep=off', { icountShift: 3 }],
    ['-rtc base=2001-02-03T04:05:06,clock=vm', { rtcBase: 981_173_106_000_000_000n }],
    ['-rtc base=localtime', { rtcBase: undefined }],
    ['-serial null', { isSilent: true }],
    ['-chardev stdio,id=c0,mux=on -serial chardev:c0 -mon chardev=c0', { isSilent: false }],
    ['-s -S', { gdb: { port: 1234, stopped: true } }],
    ['-action reboot=shutdown,panic=none', { noReboot: true }],
    ['-semihosting', { warnings: [expect.stringContaining('-semihosting is ignored')] }],
    ['-device loader,file=f.elf', { loads: [{ file: 'f.elf', raw: false }] }],
    [
      '-device loader,file=f.bin,addr=0x80400000,force-raw=on',
      { loads: [{ file: 'f.bin', at: 0x8040_0000, raw: true }] },
    ],
    [
      '-device loader,data=0x123,data-len=4,addr=0x80000000,data-be=on',
      { loads: [{ bytes: Uint8Array.of(0, 0, 1, 0x23), at: 0x8000_0000, raw: true }] },
    ],
    [
      '-drive file=a,,b.img,format=raw,if=virtio',
      { drives: [{ id: 'drive0', file: 'a,b.img', readOnly: false }] },
    ],
  ])('%s', (line, meaning) => expect(parse(line)).toMatchObject(meaning));

  test.each([
    '-nodefaults -no-user-config -monitor null -display none -name guest,process=x -uuid 0 -d int,cpu -D log',
    '-M virt,aclint=off -machine virt,accel=tcg -accel tcg,thread=single -nographic -serial mon:stdio -no-shutdown',
    '-nic none -net none -vga none -parallel none -snapshot -boot order=c -L /usr/share',
    '-object rng-random,filename=/dev/urandom,id=r -device virtio-rng-device,rng=r --no-reboot',
    '-msg timestamp=on -overcommit mem-lock=off -singlestep -watchdog-action none',
  ])('accepted: %s', line => expect(parse(line).warnings).toEqual([]));
});

describe('refused in one line, with what to do', () => {
  test.each([
    ['-netdev user,id=n', '-netdev is not possible: there is no network'],
    ['-device virtio-net-device,netdev=n', '-device virtio-net-device: there is no network'],
    ['-device virtio-blk-pci,drive=x', 'there is no PCI: use the -device of virtio-mmio'],
    ['-device e1000', 'there is no network'],
    ['-device frob', '-device frob: there are virtio-blk-device'],
    ['-nic user', '-nic user: use none or null'],
    ['-hda disk.img', '-hda is not possible: use -drive file=FILE,if=virtio,format=raw'],
    ['disk.img', '"disk.img" is not an option; kernels are given with -kernel FILE'],
    ['-enable-kvm', 'guest code is compiled to WebAssembly'],
    ['-accel kvm', '-accel kvm: guest code is compiled to WebAssembly'],
    ['-M sifive_u', '-machine sifive_u: expected one of virt'],
    ['-M virt,aclint=on', '-machine aclint=on: the board is virt'],
    ['-m 1.5.5G', '-m 1.5.5G: expected a size'],
    ['-m 64M,maxmem=1G', 'no memory can be plugged in later'],
    ['-smp 3,sockets=2', 'the topology has 2 harts, not 3'],
    ['-smp 2,maxcpus=4', 'maxcpus must be cpus'],
    ['-smp 0', '"0" is not a number of harts'],
    ['-icount shift=11', 'shift is 0 to 10, or auto'],
    ['-icount shift=1,align=on', "align=on would make runs follow the host's clock"],
    ['-icount shift=1,rr=record,rrfile=x', 'kcovbox run --record'],
    ['-rtc base=yesterday', 'expected a date'],
    ['-monitor stdio', '-monitor stdio: use none or null; use -gdb tcp::PORT'],
    ['-serial tcp::4444', '-serial tcp::4444: use stdio'],
    ['-serial stdio -serial stdio', 'the board has one serial port'],
    ['-serial chardev:x', 'no -chardev has id=x'],
    ['-drive file=a,format=qcow2', 'qemu-img convert -O raw'],
    ['-drive file=a,if=pflash', 'the board has no pflash interface'],
    ['-drive file=a,frob=1', 'unknown property "frob"'],
    ['-device loader,file=a,addr=x', 'addr=x is not a number'],
    ['-kernel', '-kernel needs a value: FILE'],
    ['-frobnicate', 'unknown option -frobnicate; see kcovbox boot --help-qemu'],
  ])('%s', (line, message) => {
    expect(refusal(line)).toContain(message);
    expect(refusal(line)).not.toContain('\n');
  });
});

test('the table as text has a line per option', () => {
  const text = describeOptions();
  expect(text).toMatch(/^as in QEMU:\n {2}-h +help\n/);
  expect(text).toContain('  -netdev ARG ');
  const names = text.split('\n').flatMap(line => /^ {2}(-(?!device )\S+)/.exec(line)?.[1] ?? []);
  expect(names.filter((name, i) => names.indexOf(name) < i)).toEqual([]);
  for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(160);
});
