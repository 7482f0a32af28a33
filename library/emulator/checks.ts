// The arguments of the machine: their types and, where the emulator does not say it, their ranges.
import {
  type Argument,
  aBoolean,
  aFunction,
  aString,
  aUint64,
  aWhole,
  bytesOf,
  type Check,
  checkArguments,
  hasParts,
  is,
  isBytes,
  listOf,
  oneOf,
  optional,
  optionsOf,
  shapeOf,
} from '../../emulator/base/arguments.ts';
import type { AddedDevice, Device } from '../../emulator/bus/device.ts';
import { ICOUNT_MAX, MAX_HARTS, VIRTIO_KINDS, type VirtioKind } from '../../emulator/index.ts';
import type {
  DiskImage,
  InputEvent,
  LoadedImage,
  MachineOptions,
  MomentsOptions,
  TimelineOptions,
  TraceOptions,
  VirtioDevice,
} from './options.ts';

/** @internal */
export const check = (where: string, ...args: readonly Argument[]): void =>
  checkArguments('machine', where, args);

/** @internal */
export const UNITS = is(
  'a whole number from 0 on, or Infinity',
  value => value === Infinity || (Number.isSafeInteger(value) && Number(value) >= 0),
);

/** @internal */
export const ADDRESS = is(
  'an address: a bigint, or a whole number below 2 ** 53',
  value => typeof value === 'bigint' || Number.isSafeInteger(value),
);

/** @internal */
export const PORT = oneOf('uart', 'console', 'break', 'resize');

const aByte = aWhole(0, 255);
const isByte = (value: unknown): boolean => aByte(value, '') === undefined;

/** @internal */
export const INPUT = is(
  'text, or bytes in a Uint8Array or another iterable',
  value => typeof value === 'string' || hasParts(value, Symbol.iterator),
);

/** @internal */
export const BYTES_OF_INPUT: Check = (value, path) =>
  isBytes(value) ? undefined : listOf(aByte)(value, path);

const BYTES = bytesOf('an image');

const IMAGE: Check = (value, path) =>
  typeof value !== 'object' || value === null || isBytes(value)
    ? BYTES(value, path)
    : optionsOf<{ name: string; bytes: Uint8Array }>({ name: aString, bytes: BYTES })(value, path);

const LOADED = optionsOf<LoadedImage>({ image: IMAGE, at: optional(aWhole(0)) });

const DISK: Check = (value, path) =>
  isBytes(value) ? undefined : shapeOf<DiskImage>({ bytes: aWhole(0), read: aFunction })(value, path);

const SLOT = optional(aWhole(0, 7));
/** The types demand every kind of the emulator in `VirtioDevice` and in the table below. */
const KINDS: readonly VirtioDevice['kind'][] = VIRTIO_KINDS;
const A_KIND = oneOf(...KINDS);
const VIRTIO: Record<VirtioKind, Check> = {
  blk: optionsOf<{ kind: string; image: object; readOnly: boolean; slot: number }>({
    kind: A_KIND,
    image: DISK,
    readOnly: optional(aBoolean),
    slot: SLOT,
  }),
  console: optionsOf<{ kind: string; size: object; slot: number }>({
    kind: A_KIND,
    size: optional(
      optionsOf<{ rows: number; cols: number }>({ rows: aWhole(0, 65535), cols: aWhole(0, 65535) }),
    ),
    slot: SLOT,
  }),
  rng: optionsOf<{ kind: string; slot: number }>({ kind: A_KIND, slot: SLOT }),
};

const A_VIRTIO_DEVICE: Check = (value, path) =>
  shapeOf<{ kind: string }>({ kind: A_KIND })(value, path) ??
  VIRTIO[(value as { kind: keyof typeof VIRTIO }).kind](value, path);

const ADDED = shapeOf<AddedDevice>({
  base: aWhole(0),
  size: aWhole(0),
  irq: optional(aWhole(0)),
  create: aFunction,
});

const EVENT = shapeOf<InputEvent>({
  at: aWhole(0),
  port: PORT,
  bytes: is(
    'an array of numbers from 0 to 255',
    value => isBytes(value) || (Array.isArray(value) && value.every(isByte)),
  ),
});

/** The end of 9999, which is the last year of a date in a description of a run. */
const RTC_END = 253_402_300_800n * 10n ** 9n;
const RTC_BASE = is(
  'a bigint: nanoseconds from 1970 on, before the end of the year 9999',
  value => typeof value === 'bigint' && value >= 0n && value < RTC_END,
);

/** @internal */
export const MACHINE = optionsOf<MachineOptions>({
  kernel: optional(IMAGE),
  initrd: optional(IMAGE),
  images: optional(listOf(LOADED)),
  bios: (value, path) =>
    typeof value === 'string'
      ? oneOf('default', 'none')(value, path)
      : value === undefined
        ? undefined
        : IMAGE(value, path),
  append: optional(aString),
  dtb: optional(IMAGE),
  memory: optional(is('a number of bytes, such as 128 * 2 ** 20', Number.isSafeInteger)),
  harts: optional(aWhole(1, MAX_HARTS)),
  cpu: optional(aString),
  engine: optional(oneOf('jit', 'interp', 'lockstep')),
  kcov: optional(aBoolean),
  countInstructions: optional(optionsOf<{ low: bigint; high: bigint }>({ low: aUint64, high: aUint64 })),
  virtio: optional(listOf(A_VIRTIO_DEVICE)),
  devices: optional(listOf(ADDED)),
  seed: optional(aUint64),
  schedSeed: optional(aUint64),
  schedule: optional(aString),
  icount: optional(aWhole(0, ICOUNT_MAX)),
  rtcBase: optional(RTC_BASE),
  onConsole: optional(aFunction),
  replay: optional(listOf(EVENT)),
});

/** @internal */
export const TRACE = optionsOf<TraceOptions>({
  test: optional(aString),
  dialect: optional(aString),
  keepLost: optional(aBoolean),
});

/** @internal */
export const TIMELINE = optionsOf<TimelineOptions>({
  spacing: optional(aWhole(1, Number.MAX_SAFE_INTEGER)),
  maxBytes: optional(aWhole(0, Number.MAX_SAFE_INTEGER)),
});

/** @internal */
export const MOMENTS = optionsOf<MomentsOptions>({
  from: optional(aWhole(0, Number.MAX_SAFE_INTEGER)),
  to: optional(aWhole(0, Number.MAX_SAFE_INTEGER)),
  most: optional(aWhole(1, 1_000_000)),
});

/** @internal */
export const HART = aWhole(0);
/** @internal */
export const STORE_BYTES = aWhole(1, 4096);
/** @internal */
export const EVENT_NUMBER = aWhole(1, Number.MAX_SAFE_INTEGER);

type DeviceParts = Pick<Device, 'name' | 'read' | 'write' | 'reset' | 'save' | 'load'>;

const DEVICE = shapeOf<DeviceParts>({
  name: aString,
  read: aFunction,
  write: aFunction,
  reset: aFunction,
  save: aFunction,
  load: aFunction,
});

/** The same device; `create` must return one whose parts are there. @internal */
export const checkedDevice = ({ base, size, irq, create }: AddedDevice): AddedDevice => ({
  base,
  size,
  ...(irq !== undefined && { irq }),
  create(ports) {
    const device = create(ports);
    check(`device at 0x${base.toString(16)}`, ['the result of create', device, DEVICE]);
    return device;
  },
});

/** Its fields are the emulator's; their presence tells a snapshot from other objects. @internal */
export const SNAPSHOT: Check = is('a snapshot, as Machine.snapshot makes it', value =>
  hasParts(value, 'ramBytes', 'hash', 'pages', 'harts', 'rest', 'versions', 'observed'),
);
