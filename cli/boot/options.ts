// The options of `boot`, and their defaults.
import type { EngineKind, KcovMode, VirtioOption } from '../../emulator/index.ts';
import type { GdbOptions } from '../run/gdb-options.ts';
import type { Moment } from '../run/moment.ts';

export interface QemuOptions {
  kernel?: string;
  initrd?: string;
  dtb?: string;
  append: string;
  bios: string;
  cpu?: string;
  /** Bytes. */
  memory: number;
  smp: number;
  drives: { id: string; file: string; readOnly: boolean }[];
  devices: { kind: VirtioOption['kind']; drive?: string; slot?: number }[];
  /** Files of -device loader; without an address, the image determines it. */
  loads: { file?: string; bytes?: Uint8Array; at?: number; raw: boolean }[];
  virtioLegacy: boolean;
  icountShift: number;
  /** Nanoseconds since 1970. */
  rtcBase: bigint | undefined;
  engine: EngineKind;
  kcov: KcovMode;
  seed?: bigint;
  maxInsns?: number;
  /** The output for executed source lines, and the image; see `--exact`. */
  cover?: string;
  image?: string;
  exact?: boolean;
  /** Where to write a capsule, and whether without the images. */
  record?: string;
  thin?: boolean;
  /** Where to write a snapshot, and when; a snapshot from which to go on. */
  savevm?: string;
  snapshotAt?: Moment;
  loadvm?: string;
  /** Deliver piped input as it comes. */
  interactive?: boolean;
  /** Without the profile of earlier runs. */
  cold?: boolean;
  gdb?: GdbOptions;
  noReboot: boolean;
  /** The serial port is connected to nothing. */
  isSilent: boolean;
  /** Number of -serial options. */
  serials: number;
  /** Backend by id. */
  chardevs: Map<string, string>;
  /** Print help instead of running. */
  wants?: 'help' | 'help-qemu' | 'version';
  /** One line for each option that has an effect in QEMU but none here. */
  warnings: string[];
}

/** Without any word. */
export const defaults = (): QemuOptions => ({
  append: '',
  bios: 'default',
  memory: 128 * 2 ** 20,
  smp: 1,
  drives: [],
  devices: [],
  loads: [],
  virtioLegacy: true,
  icountShift: 0,
  rtcBase: undefined,
  engine: 'jit',
  kcov: 'device',
  noReboot: false,
  isSilent: false,
  serials: 0,
  chardevs: new Map(),
  warnings: [],
});
