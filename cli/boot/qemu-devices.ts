// QEMU's -drive, -device and -object: the devices that the board accepts, and replacements for the
// others.
import { UserError } from '../io/fail.ts';
import type { QemuOptions } from './options.ts';
import { isOn, onlyKeys, properties } from './properties.ts';

/**
 * Properties of drives without effect here: they concern the host's caching of a file that is only
 * read.
 */
const DRIVE_IGNORED = [
  'cache',
  'aio',
  'discard',
  'detect-zeroes',
  'rerror',
  'werror',
  'media',
  'index',
  'snapshot',
];

export function addDrive(options: QemuOptions, text: string): void {
  const p = properties(text);
  const what = `-drive ${text}`;
  onlyKeys(what, p, ['file', 'format', 'id', 'readonly', 'read-only', 'if', ...DRIVE_IGNORED]);
  const file = p.get('file');
  if (!file) throw new UserError(`${what}: no file=`);
  const format = p.get('format') ?? 'raw';
  if (format !== 'raw') throw new UserError(`${what}: only format=raw; convert with qemu-img convert -O raw`);
  const place = p.get('if') ?? 'none';
  if (place !== 'none' && place !== 'virtio')
    throw new UserError(`${what}: only if=none and if=virtio; the board has no ${place} interface`);
  const id = p.get('id') ?? `drive${options.drives.length}`;
  if (options.drives.some(drive => drive.id === id)) throw new UserError(`${what}: id=${id} is given twice`);
  const readOnly = isOn(p.get('readonly')) || isOn(p.get('read-only'));
  options.drives.push({ id, file, readOnly });
  // QEMU's if=virtio makes the device too.
  if (place === 'virtio') options.devices.push({ kind: 'blk', drive: id });
}

type Add = (options: QemuOptions, text: string, p: Map<string, string>) => void;

function addVirtio(kind: QemuOptions['devices'][number]['kind']): Add {
  return (options, text, p) => {
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
  };
}

/** `loader,file=F[,addr=A][,force-raw=on]` and `loader,data=V,data-len=N,addr=A[,data-be=on]`. */
function addLoader(options: QemuOptions, text: string, p: Map<string, string>): void {
  const what = `-device ${text}`;
  onlyKeys(what, p, ['', 'file', 'addr', 'force-raw', 'data', 'data-len', 'data-be']);
  const number = (key: string): number | undefined => {
    const value = p.get(key);
    if (value === undefined) return undefined;
    const n = Number(value);
    if (!Number.isSafeInteger(n) || n < 0) throw new UserError(`${what}: ${key}=${value} is not a number`);
    return n;
  };
  const [file, at, length] = [p.get('file'), number('addr'), number('data-len')];
  if (file !== undefined) {
    options.loads.push({ file, raw: isOn(p.get('force-raw')), ...(at === undefined ? {} : { at }) });
    return;
  }
  const data = p.get('data');
  if (data === undefined || at === undefined || !length || length > 8 || !/^(0x[0-9a-f]+|\d+)$/i.test(data))
    throw new UserError(`${what}: expected file=FILE, or data=NUMBER,data-len=1 to 8,addr=ADDRESS`);
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt.asUintN(64, BigInt(data)), true);
  const value = bytes.slice(0, length);
  options.loads.push({ bytes: isOn(p.get('data-be')) ? value.reverse() : value, at, raw: true });
}

interface DeviceRow {
  readonly name: string;
  readonly doc: string;
  readonly add: Add;
}

const nothing: Add = () => {};

/** The devices that can be added. */
export const DEVICES: readonly DeviceRow[] = [
  { name: 'virtio-blk-device', doc: 'a disk: drive=ID[,bus=virtio-mmio-bus.N]', add: addVirtio('blk') },
  { name: 'virtio-rng-device', doc: 'random bytes, from --seed', add: addVirtio('rng') },
  { name: 'virtio-serial-device', doc: 'a console with one port', add: addVirtio('console') },
  { name: 'virtconsole', doc: 'the port of virtio-serial-device, which is there', add: nothing },
  {
    name: 'loader',
    doc: 'an image or a number in RAM: file=F[,addr=A] or data=V,data-len=N,addr=A',
    add: addLoader,
  },
];

/** Devices of QEMU that the board does not support, by pattern, with a replacement. */
const ABSENT: readonly (readonly [RegExp, string])[] = [
  [
    /^virtio-net|^(e1000|rtl8139|ne2k|usb-net|i8255|pcnet|vmxnet)/,
    'there is no network: its input could not be repeated',
  ],
  [/^virtio-.*-pci(-.*)?$/, 'there is no PCI: use the -device of virtio-mmio, for example virtio-blk-device'],
  [
    /^virtio-(gpu|keyboard|mouse|tablet|input|sound|snd)|^(VGA|ramfb|bochs-display|qxl|usb-)/,
    'there is no display and no input device: the console is the serial port',
  ],
  [/^virtio-(9p|fs)|^vhost-/, 'files of the host cannot be shared: put them into an -initrd or a -drive'],
  [/^virtserialport$/, 'virtio-serial-device has one port, a console: use virtconsole'],
  [/^(nvme|ahci|ide-|scsi-|virtio-scsi|sd-card)/, 'disks are virtio: -device virtio-blk-device,drive=ID'],
  [/^virtio-(balloon|crypto|iommu|mem|pmem|vsock)/, 'not on this board; omit it'],
];

export function addDevice(options: QemuOptions, text: string): void {
  const p = properties(text);
  const name = p.get('') ?? p.get('driver') ?? '';
  const row = DEVICES.find(device => device.name === name);
  if (row) {
    row.add(options, text, p);
    return;
  }
  const why = ABSENT.find(([pattern]) => pattern.test(name))?.[1];
  throw new UserError(`-device ${name}: ${why ?? `there are ${DEVICES.map(d => d.name).join(', ')}`}`);
}

/** Sources of randomness are accepted: virtio-rng-device names one. */
export function checkObject(text: string): void {
  const type = properties(text).get('') ?? '';
  if (!/^rng-(random|builtin|egd)$/.test(type))
    throw new UserError(`-object ${type}: only rng-random and rng-builtin, whose bytes come from --seed`);
}
