// Every option of `qemu-system-riscv64 -M virt`, and its effect here. Parsing and
// `kcovbox boot --help-qemu` follow this table; test/cli/qemu-options.oracle.test.ts compares it
// with the help of QEMU itself.
import { UserError } from '../io/fail.ts';
import { parseCount, parseMoment, parseSeed } from '../io/values.ts';
import { GDB_PORT, parseGdb } from '../run/gdb-options.ts';
import { parseIcount, parseMemory, parseRtc, parseSmp } from './machine-values.ts';
import type { QemuOptions } from './options.ts';
import { isOn, oneOf, properties } from './properties.ts';
import { addDevice, addDrive, checkObject } from './qemu-devices.ts';

/**
 * `works`: has its effect. `fits`: only the value that the machine has anyway is accepted.
 * `ignored`: has no effect that the guest can see. `warns`: ignored with a warning, because the
 * guest may notice. `refused`: the text names a replacement.
 */
export type Effect = 'works' | 'fits' | 'ignored' | 'warns' | 'refused';

export interface OptionRow {
  readonly name: string;
  /** Placeholder of its value; absent = the option takes none. */
  readonly value?: string;
  readonly effect: Effect;
  readonly doc: string;
  readonly read?: (options: QemuOptions, value: string) => void;
}

type Read = NonNullable<OptionRow['read']>;

const works = (name: string, value: string, doc: string, read: Read): OptionRow => ({
  name,
  value,
  effect: 'works',
  doc,
  read,
});
const flag = (name: string, doc: string, read: (options: QemuOptions) => void): OptionRow => ({
  name,
  effect: 'works',
  doc,
  read,
});
const fits = (name: string, value: string, doc: string, read: (value: string) => void): OptionRow => ({
  name,
  value,
  effect: 'fits',
  doc,
  read: (_, text) => read(text),
});
/** Rows of one effect; `=` follows a name that takes a value. */
const rows = (effect: Effect, names: string, doc: string): OptionRow[] =>
  names.split(' ').map(text => {
    const name = text.replace('=', '');
    return { name, effect, doc, ...(name === text ? {} : { value: 'ARG' }) };
  });

function machine(text: string): void {
  const p = properties(text);
  oneOf('-machine', p.get('') ?? p.get('type') ?? '', ['virt']);
  for (const [key, value] of p) {
    if (key === '' || key === 'type' || key === 'usb' || key.startsWith('dump-') || key.startsWith('mem-'))
      continue;
    if (key === 'accel') accel(value);
    else if (!(key === 'aclint' && !isOn(value)) && !(key === 'aia' && value === 'none'))
      throw new UserError(`-machine ${key}=${value}: the board is virt with CLINT and PLIC; omit it`);
  }
}

function accel(text: string): void {
  const name = properties(text).get('') ?? properties(text).get('accel') ?? '';
  if (name !== 'tcg')
    throw new UserError(`-accel ${name}: guest code is compiled to WebAssembly; use tcg or omit it`);
}

/** Where the serial port can be connected: the standard streams, or nowhere. */
function serial(options: QemuOptions, value: string): void {
  options.serials++;
  const id = /^chardev:(.+)$/.exec(value)?.[1];
  const target = id === undefined ? value : options.chardevs.get(id);
  if (target === undefined) throw new UserError(`-serial ${value}: no -chardev has id=${id}`);
  if (options.serials > 1) {
    if (target !== 'none' && target !== 'null')
      throw new UserError(`-serial ${value}: the board has one serial port`);
    return;
  }
  if (!['stdio', 'mon:stdio', 'none', 'null'].includes(target))
    throw new UserError(
      `-serial ${value}: use stdio, mon:stdio or null; redirect standard output for a file`,
    );
  options.isSilent = target === 'none' || target === 'null';
}

function chardev(options: QemuOptions, text: string): void {
  const p = properties(text);
  const [backend, id] = [p.get('') ?? '', p.get('id')];
  if (backend !== 'stdio' && backend !== 'null')
    throw new UserError(`-chardev ${backend}: use stdio or null; redirect the standard streams for others`);
  if (!id) throw new UserError(`-chardev ${text}: no id=`);
  options.chardevs.set(id, backend);
}

const none = (option: string, hint: string) => (value: string) => {
  if (value !== 'none' && value !== 'null' && value !== '/dev/null')
    throw new UserError(`${option} ${value}: use none or null; ${hint}`);
};

function action(options: QemuOptions, text: string): void {
  for (const [event, what] of properties(text)) {
    if (event === 'reboot')
      options.noReboot = oneOf('-action reboot', what, ['reset', 'shutdown']) === 'shutdown';
    else if (event === 'shutdown') oneOf('-action shutdown', what, ['poweroff']);
    else if (event !== 'panic' && event !== 'watchdog')
      throw new UserError(`-action ${event}: unknown event`);
  }
}

function gdb(options: QemuOptions, more: Partial<NonNullable<QemuOptions['gdb']>>): void {
  options.gdb = { port: GDB_PORT, stopped: false, ...options.gdb, ...more };
}

function global(options: QemuOptions, text: string): void {
  const match = /^virtio-mmio\.force-legacy=(on|off|true|false)$/.exec(text);
  if (!match) throw new UserError(`-global ${text}: only virtio-mmio.force-legacy=true|false`);
  options.virtioLegacy = isOn(match[1]);
}

export const QEMU_OPTIONS: readonly OptionRow[] = [
  flag('h', 'help', o => void (o.wants = 'help')),
  flag('help', 'help', o => void (o.wants = 'help')),
  flag('version', 'the version of kcovbox', o => void (o.wants = 'version')),
  works('kernel', 'FILE', 'ELF, Linux Image, or raw code named *.bin', (o, v) => void (o.kernel = v)),
  works('initrd', 'FILE', 'initial RAM disk', (o, v) => void (o.initrd = v)),
  works('append', 'STR', 'kernel command line', (o, v) => void (o.append = v)),
  works('bios', 'default|none|FILE', 'the built-in SBI, nothing, or firmware', (o, v) => void (o.bios = v)),
  works(
    'loadvm',
    'FILE',
    'go on from a file of -savevm, of the same images and options (QEMU: a tag in a disk image)',
    (o, v) => void (o.loadvm = v),
  ),
  works('dtb', 'FILE', 'device tree in place of the generated one', (o, v) => void (o.dtb = v)),
  works(
    'm',
    '[size=]SIZE',
    'RAM, also with a fraction: 0.25G; default 128M',
    (o, v) => void (o.memory = parseMemory(v)),
  ),
  works('smp', '[cpus=]N[,sockets=N]...', 'harts, 1 to 8', (o, v) => void (o.smp = parseSmp(v))),
  works('cpu', 'rv64|rva22s64|max[,EXT=on|off]...', 'extensions (docs/isa.md)', (o, v) => void (o.cpu = v)),
  works('drive', 'file=F,if=none|virtio[,id=ID][,readonly=on]', 'raw image; writes stay in memory', addDrive),
  works('device', 'NAME[,...]', 'virtio-mmio devices and loader', addDevice),
  works('global', 'virtio-mmio.force-legacy=B', 'virtio version 1 (default) or 2', global),
  works(
    'icount',
    '[shift=]N|auto',
    '2^N ns of time per instruction; default 0',
    (o, v) => void (o.icountShift = parseIcount(v)),
  ),
  works(
    'rtc',
    'base=DATE',
    'where the real-time clock begins; utc and localtime are 2026-01-01',
    (o, v) => void (o.rtcBase = parseRtc(v)),
  ),
  works('serial', 'stdio|mon:stdio|null|chardev:ID', 'the serial port', serial),
  works('chardev', 'stdio|null,id=ID', 'for -serial chardev:ID', chardev),
  works('gdb', 'tcp::PORT', 'GDB stub on the loopback interface', (o, v) =>
    gdb(o, { port: parseGdb(v, '-gdb') }),
  ),
  flag('s', 'short for -gdb tcp::1234', o => gdb(o, {})),
  flag('S', 'wait for GDB before the first instruction', o => gdb(o, { stopped: true })),
  works(
    'seed',
    'HEX',
    'everything random in the guest; in hexadecimal, unlike in QEMU',
    (o, v) => void (o.seed = parseSeed(v)),
  ),
  flag('no-reboot', 'end the run instead of rebooting', o => void (o.noReboot = true)),
  works(
    'action',
    'reboot=shutdown,...',
    'reboot=shutdown is -no-reboot; panic and watchdog are ignored',
    action,
  ),

  fits('M', 'virt', '-machine', machine),
  fits('machine', 'virt', 'with CLINT and PLIC', machine),
  fits('accel', 'tcg', 'guest code is compiled to WebAssembly', accel),
  fits('display', 'none', 'there is no display', v => void oneOf('-display', v, ['none'])),
  fits('vga', 'none', 'there is no display', v => void oneOf('-vga', v, ['none'])),
  { name: 'nographic', effect: 'fits', doc: 'the serial port is the standard streams' },
  fits('monitor', 'none', 'there is no monitor', none('-monitor', 'use -gdb tcp::PORT to inspect the guest')),
  fits('qmp', 'none', 'there is no monitor', none('-qmp', 'use -gdb tcp::PORT to inspect the guest')),
  fits(
    'qmp-pretty',
    'none',
    'there is no monitor',
    none('-qmp-pretty', 'use -gdb tcp::PORT to inspect the guest'),
  ),
  fits('parallel', 'none', 'there is no parallel port', none('-parallel', 'the board has a serial port')),
  fits(
    'net',
    'none',
    'there is no network',
    none('-net', 'there is no network: its input could not be repeated'),
  ),
  fits(
    'nic',
    'none',
    'there is no network',
    none('-nic', 'there is no network: its input could not be repeated'),
  ),
  fits('object', 'rng-random|rng-builtin,...', 'random bytes come from --seed', checkObject),
  { name: 'snapshot', effect: 'fits', doc: 'writes never reach an image' },

  ...rows('ignored', 'nodefaults no-user-config', 'the board has no devices by default but its own'),
  ...rows('ignored', 'name= uuid=', 'the guest cannot see it'),
  ...rows('ignored', 'no-shutdown', 'the run ends when the guest powers off'),
  ...rows(
    'ignored',
    'd= D= dfilter= trace= msg=',
    'nothing is logged; kcovbox check compares with QEMU instruction by instruction',
  ),
  ...rows('ignored', 'singlestep', 'results do not depend on how code is executed; --engine interp'),
  ...rows('ignored', 'boot=', 'the image of -kernel or -bios is booted'),
  ...rows('ignored', 'L=', 'there is no firmware folder'),
  ...rows('ignored', 'mem-path= mem-prealloc overcommit=', "guest RAM is this process's memory"),
  ...rows('ignored', 'sandbox= runas= chroot= compat=', 'the guest cannot reach the host'),
  ...rows('ignored', 'async-teardown enable-sync-profile only-migratable', 'inside QEMU only'),
  ...rows('ignored', 'mon= watchdog-action=', 'there is no monitor and no watchdog device'),
  ...rows('ignored', 'full-screen portrait rotate=', 'there is no display'),

  ...rows(
    'warns',
    'semihosting semihosting-config=',
    'semihosting calls trap as ebreak does; end the run with the finisher at 0x100000, HTIF, or SBI',
  ),

  ...rows('refused', 'enable-kvm', 'guest code is compiled to WebAssembly; omit it'),
  ...rows('refused', 'netdev=', 'there is no network: its input could not be repeated'),
  ...rows(
    'refused',
    'fda= fdb= hda= hdb= hdc= hdd= cdrom= sd= mtdblock= blockdev= iscsi=',
    'use -drive file=FILE,if=virtio,format=raw',
  ),
  ...rows('refused', 'pflash=', 'the board has no flash; use -bios FILE'),
  ...rows('refused', 'option-rom=', 'the firmware has no option ROMs; use -device loader'),
  ...rows('refused', 'fw_cfg=', 'boot takes no files for fw_cfg; use -append, -initrd or -device loader'),
  ...rows(
    'refused',
    'fsdev= virtfs=',
    'files of the host cannot be shared; put them into an -initrd or a -drive',
  ),
  ...rows('refused', 'numa= tpmdev= usb usbdevice=', 'not on this board; omit it'),
  ...rows('refused', 'audio= audiodev= audio-help', 'there is no sound; omit it'),
  ...rows('refused', 'spice= vnc=', 'there is no display; the console is the standard streams'),
  ...rows('refused', 'debugcon=', 'the board has no debug console; use -serial'),
  ...rows('refused', 'incoming=', 'runs do not migrate; see -loadvm'),
  ...rows('refused', 'plugin=', 'coverage is recorded by kcovbox run --cover'),
  ...rows('refused', 'readconfig= set= add-fd=', 'give the options themselves'),
  ...rows('refused', 'daemonize pidfile=', "use the shell's & and $!"),
  ...rows('refused', 'echr=', 'the key that leaves is Ctrl-A x'),
  ...rows('refused', 'preconfig dump-vmstate=', 'inside QEMU only; omit it'),
];

/** Options that QEMU lacks, or spells otherwise. */
export const OWN_OPTIONS: readonly OptionRow[] = [
  works(
    'engine',
    'jit|interp|lockstep',
    'how to execute; the result is the same',
    (o, v) => void (o.engine = oneOf('--engine', v, ['jit', 'interp', 'lockstep'])),
  ),
  works(
    'kcov',
    'device|off',
    'is the kcov device on the board',
    (o, v) => void (o.kcov = oneOf('--kcov', v, ['device', 'guest', 'off'])),
  ),
  works(
    'max-insns',
    'N',
    'end with status 124 after so many instructions and exceptions',
    (o, v) => void (o.maxInsns = parseCount(v)),
  ),
  works(
    'cover',
    'FILE',
    'with --exact: write which source lines of -k ELF ran; format by suffix',
    (o, v) => void (o.cover = v),
  ),
  works(
    'savevm',
    'FILE',
    "write a snapshot at --snapshot-at, and go on (QEMU: the monitor's savevm)",
    (o, v) => void (o.savevm = v),
  ),
  works(
    'snapshot-at',
    'MOMENT',
    'first-instruction (in U-mode, default), marker[:N] (the finisher has N << 16 | 0x4d4b), ' +
      'or a number of units',
    (o, v) => void (o.snapshotAt = parseMoment(v)),
  ),
  works(
    'record',
    'FILE',
    'write a capsule: all that it takes to repeat the run, for kcovbox replay',
    (o, v) => void (o.record = v),
  ),
  flag('thin', 'with --record: hashes in place of the images', o => void (o.thin = true)),
  flag('cold', 'compile as in a first run, without a profile of earlier ones', o => void (o.cold = true)),
  flag('interactive', 'deliver piped input as it comes, as at a terminal', o => void (o.interactive = true)),
  flag('exact', 'count every instruction that ran', o => void (o.exact = true)),
  works(
    'k',
    'ELF',
    'image with debug information that --exact counts; default -kernel (QEMU: the keyboard)',
    (o, v) => void (o.image = v),
  ),
  flag('help-qemu', 'this table', o => void (o.wants = 'help-qemu')),
];
