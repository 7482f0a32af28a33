// QEMU's command line, as far as this machine has what it names. One dash or two; the value is the next word.
// What cannot be honoured is refused by name instead of being ignored.
import type { EngineKind, KcovMode, VirtioOption } from '../../emulator/index.ts';
import { UserError } from '../io/fail.ts';
import { parseCount, parseHarts, parseRam, parseSeed } from '../io/values.ts';
import { type GdbOptions, parseGdb } from '../run/gdb.ts';

export interface QemuOptions {
  kernel?: string;
  initrd?: string;
  append: string;
  bios: string;
  memory: number;
  cpu?: string;
  smp: number;
  drives: { id: string; file: string; readOnly: boolean }[];
  devices: { kind: VirtioOption['kind']; drive?: string; slot?: number }[];
  virtioLegacy: boolean;
  engine: EngineKind;
  kcov: KcovMode;
  seed?: bigint;
  maxInsns?: number;
  gdb?: GdbOptions;
}

/** Comma-separated `key=value` words; a word without `=` is its own value. */
function properties(text: string): Map<string, string> {
  return new Map(
    text.split(',').map((part, i): [string, string] => {
      const eq = part.indexOf('=');
      return eq < 0 ? [i === 0 ? '' : part, i === 0 ? part : 'on'] : [part.slice(0, eq), part.slice(eq + 1)];
    }),
  );
}

function addDrive(options: QemuOptions, text: string): void {
  const p = properties(text);
  const file = p.get('file');
  if (!file) throw new UserError(`-drive ${text}: no file=`);
  const format = p.get('format') ?? 'raw';
  if (format !== 'raw') throw new UserError(`-drive ${text}: only format=raw, not ${format}`);
  const id = p.get('id') ?? `drive${options.drives.length}`;
  const readOnly = p.get('readonly') === 'on' || p.get('read-only') === 'on';
  options.drives.push({ id, file, readOnly });
  // QEMU's if=virtio makes the device too.
  if (p.get('if') === 'virtio') options.devices.push({ kind: 'blk', drive: id });
}

const DEVICES: Readonly<Record<string, VirtioOption['kind'] | 'ignored'>> = {
  'virtio-blk-device': 'blk',
  'virtio-rng-device': 'rng',
  'virtio-serial-device': 'console',
  virtconsole: 'ignored', // the port of virtio-serial-device is always a console
};

function addDevice(options: QemuOptions, text: string): void {
  const p = properties(text);
  const name = p.get('') ?? '';
  const kind = DEVICES[name];
  if (!kind) throw new UserError(`-device ${name}: not here; there are ${Object.keys(DEVICES).join(', ')}`);
  if (kind === 'ignored') return;
  const bus = p.get('bus');
  const slot = bus === undefined ? undefined : /^virtio-mmio-bus\.([0-7])$/.exec(bus)?.[1];
  if (bus !== undefined && slot === undefined)
    throw new UserError(`-device ${text}: bus is virtio-mmio-bus.0 to .7`);
  const drive = p.get('drive');
  options.devices.push({
    kind,
    ...(drive === undefined ? {} : { drive }),
    ...(slot === undefined ? {} : { slot: Number(slot) }),
  });
}

function oneOf<T extends string>(option: string, value: string, allowed: readonly T[]): T {
  if (!allowed.includes(value as T)) throw new UserError(`${option} ${value}: one of ${allowed.join(', ')}`);
  return value as T;
}

type Handler = (options: QemuOptions, value: string) => void;

const WITH_VALUE: Readonly<Record<string, Handler>> = {
  kernel: (o, v) => void (o.kernel = v),
  initrd: (o, v) => void (o.initrd = v),
  append: (o, v) => void (o.append = v),
  bios: (o, v) => void (o.bios = v),
  cpu: (o, v) => void (o.cpu = v),
  m: (o, v) => void (o.memory = parseRam(v.replace(/^size=/, ''))),
  smp: (o, v) => void (o.smp = parseHarts(v)),
  drive: addDrive,
  device: addDevice,
  global: (o, v) => {
    const match = /^virtio-mmio\.force-legacy=(on|off|true|false)$/.exec(v);
    if (!match) throw new UserError(`-global ${v}: only virtio-mmio.force-legacy=true|false`);
    o.virtioLegacy = match[1] === 'on' || match[1] === 'true';
  },
  engine: (o, v) => void (o.engine = oneOf('--engine', v, ['jit', 'interp', 'lockstep'])),
  kcov: (o, v) => void (o.kcov = oneOf('--kcov', v, ['device', 'guest', 'off'])),
  seed: (o, v) => void (o.seed = parseSeed(v)),
  'max-insns': (o, v) => void (o.maxInsns = parseCount(v)),
  gdb: (o, v) => void (o.gdb = { stopped: o.gdb?.stopped ?? false, port: parseGdb(v) }),
  // Accepted: they describe what this machine is anyway.
  M: (_, v) => void oneOf('-M', v.split(',')[0]!, ['virt']),
  machine: (_, v) => void oneOf('-machine', v.split(',')[0]!, ['virt']),
  serial: (_, v) => void oneOf('-serial', v, ['stdio', 'mon:stdio']),
  monitor: (_, v) => void oneOf('-monitor', v, ['none']),
  display: (_, v) => void oneOf('-display', v, ['none']),
  accel: () => {},
  icount: () => {},
};
/** What QEMU's `-s` means. */
const GDB_PORT = 1234;
const FLAGS = new Set(['nographic', 'no-reboot', 'no-shutdown']);

/** Reads the words; the first thing that is wrong is named. */
export function parseQemu(words: readonly string[]): QemuOptions {
  const options: QemuOptions = {
    append: '',
    bios: 'default',
    memory: 128 * 2 ** 20,
    smp: 1,
    drives: [],
    devices: [],
    virtioLegacy: true,
    engine: 'jit',
    kcov: 'device',
  };
  for (let i = 0; i < words.length; i++) {
    const text = words[i]!;
    const [, name, inline] = /^--?([A-Za-z][\w-]*)(?:=(.*))?$/s.exec(text) ?? [];
    if (name === undefined)
      throw new UserError(`boot: "${text}" is no option; kernels are given with -kernel FILE`);
    if (FLAGS.has(name)) continue;
    if (name === 's' || name === 'S') {
      options.gdb = {
        port: options.gdb?.port ?? GDB_PORT,
        stopped: name === 'S' || (options.gdb?.stopped ?? false),
      };
      continue;
    }
    const handler = WITH_VALUE[name];
    if (!handler) throw new UserError(`boot: unknown option ${text}; see kcovbox boot --help`);
    const value = inline ?? words[++i];
    if (value === undefined) throw new UserError(`boot: ${text} needs a value`);
    try {
      handler(options, value);
    } catch (error) {
      throw error instanceof UserError
        ? error
        : new UserError(`${text} ${value}: ${(error as Error).message}`);
    }
  }
  if (options.kernel === undefined && (options.bios === 'default' || options.bios === 'none'))
    throw new UserError('boot: nothing to boot; give -kernel FILE or -bios FILE');
  return options;
}
