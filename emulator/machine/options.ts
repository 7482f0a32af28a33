// The options of a machine, with defaults and limits. Names follow QEMU's options where they exist.

import { FW_CFG_NAME_BYTES, type FwCfgFile } from '../../devices/fw-cfg.ts';
import type { DiskImage } from '../../devices/virtio-disk.ts';
import { HostError } from '../base/errors.ts';
import type { DeviceDefinition, Violation } from '../bus/define.ts';
import type { AddedDevice, RamPort } from '../bus/device.ts';
import type { Fault } from '../bus/fault-kinds.ts';
import type { Hostile } from '../bus/hostile.ts';
import type { JitTuning } from '../engine/jit/jit.ts';
import type { RetiredOptions } from '../engine/retired.ts';
import type { Extensions } from '../isa/index.ts';
import { parseCpu } from './cpu.ts';
import { isElf, readElf } from './elf.ts';
import type { JournalEntry } from './journal.ts';
import type { ImageFile, LoadOption } from './loader.ts';
import { MAX_HARTS, MIB, PAYLOAD_BASE, RAM_BASE, VIRTIO_SLOTS } from './memory-map.ts';
import type { Schedule } from './schedule.ts';

/** `lockstep`: both side by side, see lockstep.ts; `Machine.create` alone does not make a pair. */
export type EngineKind = 'jit' | 'interp' | 'lockstep';
/** `device`: the board has the kcov device. `guest`, `off`: it does not, like QEMU's. */
export type KcovMode = 'device' | 'guest' | 'off';

/** Kinds of devices behind virtio-mmio. */
export const VIRTIO_KINDS = ['blk', 'console', 'rng'] as const;
export type VirtioKind = (typeof VIRTIO_KINDS)[number];

export interface VirtioOption {
  kind: VirtioKind;
  /** Slot 0..7; default: the highest free one, as QEMU chooses. */
  slot?: number;
  /** blk: the contents; writes never reach it. */
  image?: Uint8Array | DiskImage;
  readOnly?: boolean;
  /** console: size of its window; without it the device reports none. */
  size?: { readonly rows: number; readonly cols: number };
}

/** A device of the user's own (emulator/bus/define.ts). */
export interface UserDevice {
  readonly definition: DeviceDefinition;
  /** Parameters in place of the defaults, as texts. */
  readonly params?: Readonly<Record<string, string>>;
}

/** Settings for tests and experiments; none changes the guest's results. */
export interface EngineTuning extends JitTuning {
  /** Decoded pages that the interpreter keeps, at most 1024. */
  readonly decodedPages?: number;
}

export interface MachineOptions {
  kernel?: ImageFile;
  initrd?: ImageFile;
  /**
   * `default`: SBI built into the host, or none for a bare-metal test program, which is recognised
   * by its `tohost`; `none`: the kernel starts in M-mode; or a firmware image.
   */
  bios?: 'default' | 'none' | ImageFile;
  /** Kernel command line. */
  append?: string;
  ramBytes?: number;
  /** As QEMU's `-cpu`, default `rv64` (cpu.ts), or the optional extensions themselves. */
  cpu?: string | Extensions;
  harts?: number;
  engine?: EngineKind;
  /** The JIT compiles as early as possible, even if it does not pay: for tests of compiled code. */
  eager?: boolean;
  /**
   * Thresholds and limits of the engine, in place of `eager`; the guest's results are the same with
   * any.
   */
  tuning?: EngineTuning;
  kcov?: KcovMode;
  /** Units between two links of the run's hash chain (run-hash.ts); absent: no chain. */
  runHash?: number;
  /**
   * Count how often instructions retire; with the gate `kcov`, which needs the interpreter, only
   * while coverage is recorded.
   */
  retired?: Omit<RetiredOptions, 'gate'> & { readonly gate?: 'kcov' };
  virtio?: readonly VirtioOption[];
  /** virtio-mmio version 1 (true, QEMU's default) or 2. */
  virtioLegacy?: boolean;
  /** Seed of all random bytes for the guest. */
  seed?: bigint;
  /** Seed of the order and length of the harts' turns; absent: plain round robin. */
  schedSeed?: bigint;
  /** How the seed is used, from the first instruction in user mode on; before it: round robin. */
  schedule?: Schedule;
  /**
   * Device tree blob in place of the generated one; it must then contain the kernel command line
   * and initrd.
   */
  dtb?: ImageFile;
  /** Devices of the caller's own. */
  devices?: readonly AddedDevice[];
  /** Images put into RAM besides the kernel, as QEMU's -device loader does. */
  loads?: readonly LoadOption[];
  /** Start of the real-time clock, in nanoseconds since 1970. Default: RTC_EPOCH. */
  rtcBase?: bigint;
  /**
   * QEMU's -icount shift: one instruction takes 2^shift nanoseconds of the guest's clocks, 0 to 10.
   * Default 0.
   */
  icountShift?: number;
  /** Devices of the user's own, at most USER_SLOTS. */
  ownDevices?: readonly UserDevice[];
  /** Files that the guest finds through fw_cfg; the board has the device where there are any. */
  fwCfg?: readonly FwCfgFile[];
  /** Faults of devices. */
  faults?: readonly Fault[];
  /** Devices that are hostile. */
  hostile?: readonly Hostile[];
  /** Names of devices whose faults are chosen later, with `FaultLayer.arm` or `provoke`. */
  faultable?: readonly string[];
  /** A line that a device of the user's own logs. */
  onDeviceLog?: (line: string) => void;
  /** A rule of such a device was violated. */
  onViolation?: (violation: Violation) => void;
  /** Does memory that the guest has freed belong to the range? For the rules of devices. */
  isFreed?: (ram: RamPort, address: number, bytes: number) => boolean;
  /** Console output, byte by byte. */
  onConsole?: (byte: number) => void;
  /** Input from the journal of an earlier run, which arrives at its recorded times. */
  replay?: readonly JournalEntry[];
}

export const RAM_DEFAULT = 128 * MIB;
/** As in QEMU: a microsecond per instruction. */
export const ICOUNT_MAX = 10;
export const RAM_MIN = 2 * MIB;
/**
 * The host memory of a 32-bit WebAssembly module is 4 GiB; windows and decoded code need some of
 * it.
 */
export const RAM_MAX = 3584 * MIB;

export type Complete = MachineOptions &
  Required<
    Pick<
      MachineOptions,
      'bios' | 'append' | 'ramBytes' | 'harts' | 'engine' | 'kcov' | 'virtio' | 'seed' | 'icountShift'
    >
  > & {
    virtioLegacy: boolean;
    /** The extensions of `cpu`. */
    extensions: Extensions;
  };

/** Fills in the defaults and refuses invalid options. */
export function complete(options: MachineOptions): Complete {
  const { cpu = 'rv64' } = options;
  const o: Complete = {
    bios: 'default',
    append: '',
    ramBytes: RAM_DEFAULT,
    harts: 1,
    engine: 'jit',
    kcov: 'device',
    virtio: [],
    virtioLegacy: true,
    seed: 0n,
    icountShift: 0,
    ...options,
    extensions: typeof cpu === 'string' ? parseCpu(cpu) : cpu,
  };
  if (o.bios === 'default' && o.kernel && isBareMetal(o.kernel)) o.bios = 'none';
  if (!(o.harts >= 1 && o.harts <= MAX_HARTS) || o.harts % 1 !== 0) {
    throw new HostError(`${o.harts} harts: 1 to ${MAX_HARTS} are possible`);
  }
  if (!(o.ramBytes >= RAM_MIN && o.ramBytes <= RAM_MAX)) {
    const mib = (n: number): string => `${+(n / MIB).toFixed(3)} MiB`;
    throw new HostError(`${mib(o.ramBytes)} of ram: ${mib(RAM_MIN)} to ${mib(RAM_MAX)} are possible`);
  }
  if (o.ramBytes % 4096 !== 0) throw new HostError(`${o.ramBytes} bytes of ram: not a multiple of 4096`);
  if (!(o.icountShift >= 0 && o.icountShift <= ICOUNT_MAX) || o.icountShift % 1 !== 0) {
    throw new HostError(`icount shift ${o.icountShift}: 0 to ${ICOUNT_MAX} are possible`);
  }
  if (o.virtio.length > VIRTIO_SLOTS) {
    throw new HostError(`${o.virtio.length} virtio devices: there are ${VIRTIO_SLOTS} slots`);
  }
  if (o.dtb && (o.append !== '' || o.initrd))
    throw new HostError(`${o.dtb.name}: command line and initrd belong into /chosen of this device tree`);
  if (!o.kernel && !o.loads?.length && (o.bios === 'default' || o.bios === 'none'))
    throw new HostError('nothing to boot: no kernel');
  if (o.retired?.gate && o.engine !== 'interp') {
    throw new HostError(`engine ${o.engine} does not count by gate ${o.retired.gate}: interp does`);
  }
  if (o.runHash !== undefined && !(Number.isSafeInteger(o.runHash) && o.runHash > 0))
    throw new HostError(`run hash every ${o.runHash} units: not a whole number from 1 on`);
  for (const { name } of o.fwCfg ?? [])
    if (!/^[\x21-\x7e]+$/.test(name) || name.length >= FW_CFG_NAME_BYTES)
      throw new HostError(
        `fw_cfg file "${name}": a name has 1 to ${FW_CFG_NAME_BYTES - 1} visible characters`,
      );
  if (o.initrd && !o.kernel) throw new HostError(`${o.initrd.name}: an initrd without a kernel`);
  return o;
}

/** A RISC-V test program: linked at the address of firmware, with HTIF. */
function isBareMetal({ name, bytes }: ImageFile): boolean {
  if (!isElf(bytes)) return false;
  try {
    const elf = readElf(bytes, name);
    const isBelow = elf.segments.some(s => s.paddr >= BigInt(RAM_BASE) && s.paddr < BigInt(PAYLOAD_BASE));
    return isBelow && elf.symbols.some(s => s.name === 'tohost');
  } catch {
    return false; // the loader will report the error
  }
}

/** Slot of every virtio device: as requested, else from the top. */
export function virtioSlots(devices: readonly VirtioOption[]): Map<number, VirtioOption> {
  const slots = new Map<number, VirtioOption>();
  for (const d of devices) {
    if (d.slot === undefined) continue;
    if (!(d.slot >= 0 && d.slot < VIRTIO_SLOTS)) {
      throw new HostError(`virtio slot ${d.slot}: 0 to ${VIRTIO_SLOTS - 1} are possible`);
    }
    if (slots.has(d.slot)) throw new HostError(`virtio slot ${d.slot} is given twice`);
    slots.set(d.slot, d);
  }
  let free = VIRTIO_SLOTS - 1;
  for (const d of devices) {
    if (d.slot !== undefined) continue;
    while (slots.has(free)) free--;
    slots.set(free, d);
  }
  return slots;
}
