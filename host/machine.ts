// The configuration of a guest's machine, as `run`, `replay` and the library choose it, and the
// options of the emulator for it.
import type {
  EngineKind,
  Extensions,
  Fault,
  Hostile,
  KcovMode,
  MachineOptions,
  Schedule,
} from '../emulator/index.ts';
import type { Dialect } from '../toolchain/index.ts';
import { CMDLINE_FILE } from './command-line.ts';
import type { LoadedDevice } from './device.ts';
import { freedMemory } from './freed-memory.ts';
import type { GuestImages } from './guest.ts';

export interface MachineChoice {
  readonly dialect: Dialect;
  /** Kernel configuration. */
  readonly conf: string;
  readonly kcov: KcovMode;
  readonly engine: EngineKind;
  readonly smp: number;
  /** Optional extensions of the harts. */
  readonly cpu: Extensions;
  /** Bytes. */
  readonly memory: number;
  readonly seed?: bigint | undefined;
  readonly schedSeed?: bigint | undefined;
  readonly schedule?: Schedule | undefined;
  /** 2^N ns of the guest's time per instruction. */
  readonly icount: number;
  readonly maxInsns?: number | undefined;
  /** Devices of the user's own. */
  readonly devices?: readonly LoadedDevice[] | undefined;
  readonly faults?: readonly Fault[] | undefined;
  readonly hostile?: readonly Hostile[] | undefined;
  readonly cflags: readonly string[];
  /** kcov is compiled into the program. */
  readonly trace?: boolean;
  readonly env: Readonly<Record<string, string>>;
}

/** Of the emulator, for the kernel, the initrd and the command line. */
export function imageOptions(
  images: Pick<GuestImages, 'kernel' | 'loaded' | 'initrd' | 'append' | 'tail'>,
): MachineOptions {
  const { loaded, initrd, append, tail } = images;
  const options = { kernel: { name: 'kernel', bytes: loaded ?? images.kernel }, append };
  if (tail === undefined) return { ...options, initrd: { name: 'initrd', bytes: initrd } };
  const cmdline = new TextEncoder().encode(tail);
  return {
    ...options,
    fwCfg: [
      { name: CMDLINE_FILE, bytes: cmdline },
      { name: 'opt/kcovbox/initrd', bytes: initrd },
    ],
  };
}

/** The emulator's options for `images`. */
export function machineOptions(images: GuestImages, choice: MachineChoice): MachineOptions {
  const { size } = images;
  return {
    ...imageOptions(images),
    ramBytes: choice.memory,
    harts: choice.smp,
    cpu: choice.cpu,
    engine: choice.engine,
    kcov: choice.kcov,
    icountShift: choice.icount,
    ...deviceOptions(images, choice.devices),
    ...(choice.faults?.length && { faults: choice.faults }),
    ...(choice.hostile?.length && { hostile: choice.hostile }),
    ...(size ? { virtio: [{ kind: 'console' as const, size }] } : {}),
    ...(choice.seed === undefined ? {} : { seed: choice.seed }),
    ...(choice.schedSeed === undefined ? {} : { schedSeed: choice.schedSeed }),
    ...(choice.schedule && { schedule: choice.schedule }),
  };
}

/** Devices of the user's own, and facts about the kernel for their rules. */
export function deviceOptions(
  images: { readonly kernel: Uint8Array },
  devices: readonly LoadedDevice[] = [],
): Pick<MachineOptions, 'ownDevices' | 'isFreed'> {
  if (devices.length === 0) return {};
  const hasRules = devices.some(({ definition }) => definition.rules);
  const isFreed = hasRules ? freedMemory(images.kernel) : undefined;
  return { ownDevices: devices, ...(isFreed && { isFreed }) };
}
