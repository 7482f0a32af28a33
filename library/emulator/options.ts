// The options of a machine, and their translation into those of the emulator.

import { isBytes } from '../../emulator/base/arguments.ts';
import type { AddedDevice } from '../../emulator/bus/device.ts';
import {
  type ImageFile,
  type MachineOptions as InnerOptions,
  isElf,
  isLinuxImage,
  parseSchedule,
  type VirtioOption,
} from '../../emulator/index.ts';

/**
 * A file that the guest boots or loads: an ELF executable for RV64, a Linux `Image`, or raw bytes.
 * `name` appears in messages only.
 */
export type Image = Uint8Array | { readonly name: string; readonly bytes: Uint8Array };

/** An image that is put into RAM besides the kernel. */
export interface LoadedImage {
  readonly image: Image;
  /** Physical address. Absent: an ELF file says where. */
  readonly at?: number;
}

/** The contents of a disk that are read when the guest reads them, such as a file. */
export interface DiskImage {
  /** Bytes of the disk. */
  readonly bytes: number;
  /** Fills `into` with the bytes from offset `at` on. Must always give the same bytes. */
  read(at: number, into: Uint8Array): void;
}

/** A device in one of the eight virtio-mmio slots. */
export type VirtioDevice =
  | {
      readonly kind: 'blk';
      /** The contents. The machine keeps the guest's writes; they never reach the image. */
      readonly image: Uint8Array | DiskImage;
      readonly readOnly?: boolean;
      /** 0 to 7. Default: the highest free one, as in QEMU. */
      readonly slot?: number;
    }
  | {
      readonly kind: 'console';
      /** Of its window, in characters. */
      readonly size?: { readonly rows: number; readonly cols: number };
      readonly slot?: number;
    }
  | { readonly kind: 'rng'; readonly slot?: number };

/**
 * Where input arrives: `uart`, `console`: bytes for the serial port or the virtio console. `break`:
 * a break on the serial line, without bytes. `resize`: a new window of the virtio console, four
 * bytes: rows and columns, two bytes each, low byte first.
 */
export type InputPort = 'uart' | 'console' | 'break' | 'resize';

/** Input with the virtual time of its arrival, in units of one instruction. */
export interface InputEvent {
  readonly at: number;
  readonly port: InputPort;
  readonly bytes: ArrayLike<number> & Iterable<number>;
}

/** The options of a machine. All but `kernel` have defaults. */
export interface MachineOptions {
  /** The image to boot. Needed unless `bios` or `images` is given. */
  readonly kernel?: Image;
  /** Initial RAM disk, handed to the kernel by the device tree. */
  readonly initrd?: Image;
  /** Images put into RAM besides. */
  readonly images?: readonly LoadedImage[];
  /**
   * Firmware. `default`: SBI is provided by the host, and the kernel starts in S-mode; a bare-metal
   * test program, known by its symbol `tohost`, starts in M-mode. `none`: the kernel starts in
   * M-mode. Or an image, such as OpenSBI.
   */
  readonly bios?: 'default' | 'none' | Image;
  /** Kernel command line. */
  readonly append?: string;
  /** Device tree blob instead of the generated one. */
  readonly dtb?: Image;
  /** Bytes of RAM, a multiple of 4096 from 2 MiB to 3.5 GiB. Default: 128 MiB. */
  readonly memory?: number;
  /** Number of harts, 1 to 8. Default: 1. */
  readonly harts?: number;
  /** CPU and extensions, as QEMU's `-cpu` spells them: `rv64,zba=off`. Default: `rv64`. */
  readonly cpu?: string;
  /**
   * `jit` compiles hot code to WebAssembly; `interp` interprets; `lockstep` runs both and throws
   * where they differ. The guest computes the same with each. Default: `jit`.
   */
  readonly engine?: 'jit' | 'interp' | 'lockstep';
  /** Is the kcov device on the board? Default: true. */
  readonly kcov?: boolean;
  /**
   * Count how often each instruction of these virtual addresses `[low, high)`, both even, retires.
   * At most 64 MiB.
   */
  readonly countInstructions?: { readonly low: bigint; readonly high: bigint };
  readonly virtio?: readonly VirtioDevice[];
  /** Devices of your own. */
  readonly devices?: readonly AddedDevice[];
  /** Seed of everything random that the guest can ask for. Default: 0n. */
  readonly seed?: bigint;
  /** Seed of the order and the length of the harts' turns. Absent: plain round robin. */
  readonly schedSeed?: bigint;
  /**
   * How the seed orders the harts from the first instruction in user mode on: `rw`, `rp` or
   * `pct:DEPTH[:UNITS]`, as `--schedule`. Absent: turns of random lengths, from power-on.
   */
  readonly schedule?: string;
  /** An instruction takes 2^icount nanoseconds of the guest's clocks, 0 to 10. Default: 0. */
  readonly icount?: number;
  /** Start of the real-time clock, in nanoseconds since 1970. Default: a constant. */
  readonly rtcBase?: bigint;
  /** Called with each byte that the guest prints, while it runs. Absent: `takeOutput` has them. */
  readonly onConsole?: (byte: number) => void;
  /** Input that arrives by itself: `inputs` of an earlier machine. Ordered by time. */
  readonly replay?: readonly InputEvent[];
}

/** An image by the name under which the loader takes it. @internal */
export function imageFile(image: Image, role: string): ImageFile {
  if (!isBytes(image)) return image;
  const isNamed = isElf(image) || isLinuxImage(image);
  return { name: isNamed ? role : `${role}.bin`, bytes: image };
}

/** Without the keys whose value is undefined. */
function given<T extends object>(options: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const entries = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]: Exclude<T[K], undefined> };
}

/** The same in the emulator's terms. @internal */
export function innerOptions(options: MachineOptions, onConsole: (byte: number) => void): InnerOptions {
  const { kernel, initrd, images, bios, append, dtb, memory, harts, cpu, engine, kcov, replay } = options;
  const { countInstructions, virtio, devices, seed, schedSeed, schedule, icount, rtcBase } = options;
  return given({
    kernel: kernel && imageFile(kernel, 'kernel'),
    initrd: initrd && imageFile(initrd, 'initrd'),
    loads: images?.map(({ image, at }) => ({
      image: imageFile(image, 'image'),
      raw: false,
      ...(at === undefined ? {} : { at }),
    })),
    bios: bios === undefined || typeof bios === 'string' ? bios : imageFile(bios, 'bios'),
    dtb: dtb && imageFile(dtb, 'dtb'),
    append,
    ramBytes: memory,
    harts,
    cpu,
    engine,
    kcov: kcov === undefined ? undefined : kcov ? ('device' as const) : ('off' as const),
    retired: countInstructions,
    virtio: virtio as readonly VirtioOption[] | undefined,
    devices,
    seed,
    schedSeed,
    schedule: schedule === undefined ? undefined : parseSchedule(schedule),
    icountShift: icount,
    rtcBase,
    replay,
    onConsole,
  }) as InnerOptions;
}

export interface TimelineOptions {
  /** Units between two snapshots at first; doubled when their pages take too much. Default 10^6. */
  readonly spacing?: number;
  /** Bytes that the pages and disk blocks of all snapshots may take. Default 256 MiB. */
  readonly maxBytes?: number;
}

export interface MomentsOptions {
  /** Places between which to look. Default: from the first to the latest. */
  readonly from?: number;
  readonly to?: number;
  /** At most so many. Default 1000. */
  readonly most?: number;
}

export interface TraceOptions {
  /** Name of the test that the records are attributed to. */
  readonly test?: string;
  /** Whose kcov the guest speaks: openbsd, netbsd, freebsd or linux; a fact for readers. */
  readonly dialect?: string;
  /**
   * Count records as coverage for which the program's buffer had no room. Default: they are marked
   * as lost.
   */
  readonly keepLost?: boolean;
}
