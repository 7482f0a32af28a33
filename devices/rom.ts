// Boot ROM: read-only bytes that firmware reads first. Harts do not execute it (the machine sets
// their registers as QEMU's reset code would); it holds the structure that OpenSBI's fw_dynamic
// finds through a2.
// Specification: OpenSBI docs/firmware/fw_dynamic.md (struct fw_dynamic_info).
// Divergence: the rest of the ROM reads as zero, where QEMU has its reset code.

import type { Device } from '../emulator/bus/device.ts';

export const FW_DYNAMIC_OFFSET = 0x28;
const FW_DYNAMIC_MAGIC = 0x4942_534fn;
const FW_DYNAMIC_VERSION = 2n;
const NEXT_MODE_S = 1n;

export class Rom implements Device {
  readonly name = 'rom';
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  read(offset: number, bytes: number): number {
    let value = 0;
    for (let i = bytes - 1; i >= 0; i--) value = value * 256 + (this.#bytes[offset + i] ?? 0);
    return value;
  }

  write(): void {}

  peek(offset: number, bytes: number): number {
    return this.read(offset, bytes);
  }

  reset(): void {}

  save(): unknown {
    return null;
  }

  load(): void {}
}

/** The contents: fw_dynamic_info with the address at which the payload starts. */
export function romContents(next: number): Uint8Array {
  const bytes = new Uint8Array(FW_DYNAMIC_OFFSET + 48);
  const view = new DataView(bytes.buffer);
  // magic, version, next_addr, next_mode, options, boot_hart
  [FW_DYNAMIC_MAGIC, FW_DYNAMIC_VERSION, BigInt(next), NEXT_MODE_S, 0n, 0n].forEach((word, i) => {
    view.setBigUint64(FW_DYNAMIC_OFFSET + 8 * i, word, true);
  });
  return bytes;
}
