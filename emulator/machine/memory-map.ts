// The memory map. The addresses and interrupt numbers are those of QEMU's virt board, so that one
// guest image runs on both; kcov and edu lie in its platform-bus window, which is empty there.

export interface Region {
  base: number;
  size: number;
  /** PLIC source, 0 = none. */
  irq: number;
}

export const VIRTIO_SLOTS = 8;
export const MAX_HARTS = 8;

export const MAP = {
  rom: { base: 0x1000, size: 0xf000, irq: 0 },
  finisher: { base: 0x10_0000, size: 0x1000, irq: 0 },
  rtc: { base: 0x10_1000, size: 0x1000, irq: 11 },
  clint: { base: 0x200_0000, size: 0x1_0000, irq: 0 },
  kcov: { base: 0x400_0000, size: 0x1000, irq: 0 },
  edu: { base: 0x401_0000, size: 0x1000, irq: 12 },
  user: { base: 0x402_0000, size: 0x1_0000, irq: 13 },
  plic: { base: 0xc00_0000, size: 0x60_0000, irq: 0 },
  uart: { base: 0x1000_0000, size: 0x100, irq: 10 },
  virtio: { base: 0x1000_1000, size: 0x1000, irq: 1 },
  fwCfg: { base: 0x1010_0000, size: 0x18, irq: 0 },
} as const satisfies Record<string, Region>;

/** Start of RAM. */
export const RAM_BASE = 0x8000_0000;
/** The start of a payload after firmware: the next 2 MiB, as in QEMU and OpenSBI. */
export const PAYLOAD_BASE = 0x8020_0000;

export const MIB = 2 ** 20;

/** Slot n of virtio-mmio. */
export function virtioSlot(n: number): Region {
  const { base, size, irq } = MAP.virtio;
  return { base: base + n * size, size, irq: irq + n };
}

/**
 * The node of the device tree of a device that can have faults; without the address where the
 * device has a kind of its own.
 */
export const nodeOf = (device: string): string =>
  device.replace(/^virtio(\d)$/, (_, n) => `virtio_mmio@${virtioSlot(Number(n)).base.toString(16)}`);

/** Devices of the user's own, in the order in which they are given. */
export const USER_SLOTS = 8;
export function userSlot(n: number): Region {
  const { base, size, irq } = MAP.user;
  return { base: base + n * size, size, irq: irq + n };
}

/**
 * QEMU's rule for the device tree: as high as possible below 3 GiB, 2 MiB aligned. If that would
 * overlap data that ends at `used`, as with very little RAM, page alignment is used.
 */
export function fdtAddress(ramBytes: number, fdtBytes: number, used: number): number {
  const end = Math.min(RAM_BASE + ramBytes, 3072 * MIB);
  const at = (align: number): number => Math.floor((end - fdtBytes) / align) * align;
  return at(2 * MIB) >= used ? at(2 * MIB) : at(4096);
}

/** QEMU's rule for the initial RAM disk: half of RAM, at most 128 MiB, after the kernel. */
export function initrdAddress(ramBytes: number, kernelStart: number): number {
  return kernelStart + Math.min(ramBytes / 2, 128 * MIB);
}
