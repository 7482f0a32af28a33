// The steps between power-on and the first instruction: images, device tree and the harts'
// registers. Placement follows QEMU's virt board: raw kernels at the start of RAM or 2 MiB after
// the firmware, the device tree as high as possible below 3 GiB, the initial RAM disk after the
// kernel.

import { FW_DYNAMIC_OFFSET } from '../../devices/rom.ts';
import { hex } from '../base/bits.ts';
import { HostError } from '../base/errors.ts';
import { Xoshiro } from '../base/xoshiro.ts';
import type { Bus } from '../bus/bus.ts';
import type { Ram } from '../bus/ram.ts';
import { cause, type Hart, layout as L } from '../hart/index.ts';
import { boardTree } from './board.ts';
import type { Placed } from './devices.ts';
import { encodeFdt } from './fdt.ts';
import {
  checkFdt,
  type ImageFile,
  type Loaded,
  loadExtra,
  loadImage,
  loadInitrd,
  requireDisjoint,
} from './loader.ts';
import { fdtAddress, initrdAddress, MAP, MIB, PAYLOAD_BASE, RAM_BASE } from './memory-map.ts';
import type { Complete } from './options.ts';
import type { Sbi } from './sbi.ts';

export interface BootContext {
  options: Complete;
  ram: Ram;
  bus: Bus;
  harts: readonly Hart[];
  board: { placed: readonly Placed[] };
  sbi: Sbi | undefined;
}

export interface Booted {
  /** The image in which the harts start: the firmware or the kernel. */
  image: Loaded | undefined;
  kernel: Loaded | undefined;
  /** The device tree blob and its physical address. */
  fdt: Uint8Array;
  fdtAddress: number;
}

const RNG_SEED_BYTES = 32;
/** The register in which QEMU's reset code leaves the address of its jump. */
const T0 = 5;
const A2 = 12;

export function boot(m: BootContext): Booted {
  const { options: o, ram, bus } = m;
  const firmware = typeof o.bios === 'object' ? loadImage(ram, bus, rawAllowed(o.bios), RAM_BASE) : undefined;
  const kernelBase = firmware
    ? Math.ceil(firmware.end / (2 * MIB)) * 2 * MIB
    : o.bios === 'none'
      ? RAM_BASE
      : PAYLOAD_BASE;
  const kernel = o.kernel && loadImage(ram, bus, o.kernel, kernelBase);
  const initrd = o.initrd && {
    start: initrdAddress(o.ramBytes, kernel!.start),
    end: initrdAddress(o.ramBytes, kernel!.start) + o.initrd.bytes.length,
  };
  const fdt = o.dtb ? checkFdt(o.dtb) : deviceTree(m, initrd);
  const used = Math.max(firmware?.end ?? 0, kernel?.end ?? 0, initrd?.end ?? 0);
  const at = fdtAddress(o.ramBytes, fdt.length, used);
  if (at < Math.max(used, RAM_BASE) && !o.initrd)
    throw new HostError(`${hex(o.ramBytes)} bytes of ram leave no room for the device tree`);
  requireDisjoint([
    [{ name: 'the device tree', start: at, end: at + fdt.length }],
    firmware?.ranges ?? [],
    kernel?.ranges ?? [],
    o.initrd ? [loadInitrd(ram, bus, o.initrd, initrd!.start, at)] : [],
    ...(o.loads ?? []).map(load => loadExtra(ram, bus, load)),
  ]);
  ram.write(at, fdt);
  const image = firmware ?? kernel;
  // Without a kernel the image comes from a loader, and starts at the kernel's address.
  const entry = image?.entry ?? kernelBase;
  if (m.sbi) {
    for (const hart of m.harts) hart.reset(0n, 0n, cause.S);
    m.sbi.start(0, entry, BigInt(at));
  } else {
    for (const hart of m.harts) start(hart, entry, at);
  }
  return { image, kernel, fdt, fdtAddress: at };
}

/** Raw firmware may have any name. */
function rawAllowed(file: ImageFile): ImageFile {
  return /\.\w+$/.test(file.name) ? file : { ...file, name: `${file.name}.bin` };
}

/** M-mode as QEMU's reset code leaves it: a0 = hart, a1 = device tree, a2 = fw_dynamic_info. */
function start(hart: Hart, entry: number, fdt: number): void {
  hart.reset(BigInt(entry), BigInt(fdt));
  hart.state.put(L.X + 8 * T0, entry | 0, 0);
  hart.state.put(L.X + 8 * A2, MAP.rom.base + FW_DYNAMIC_OFFSET, 0);
}

function deviceTree(m: BootContext, initrd: { start: number; end: number } | undefined): Uint8Array {
  const { options: o } = m;
  const rng = new Xoshiro(o.seed ^ 0x5eedn);
  const rngSeed = Uint8Array.from({ length: RNG_SEED_BYTES }, () => rng.next() & 0xff);
  return encodeFdt(
    boardTree({
      harts: o.harts,
      extensions: o.extensions,
      ramBytes: o.ramBytes,
      devices: m.board.placed,
      bootargs: o.append,
      stdout: `/soc/serial@${MAP.uart.base.toString(16)}`,
      rngSeed,
      ...(initrd ? { initrd } : {}),
    }),
  );
}
