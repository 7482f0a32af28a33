// Addresses that the guest gives to the kcov device, and what happens when one is wrong.

import type { RamPort } from '../emulator/bus/device.ts';

/** Why recording was refused; the device turns it into ERROR and ERROR_ADDR. */
export class KcovFault extends Error {
  readonly code: number;
  readonly address: number;

  constructor(code: number, address: number) {
    super(`kcov error ${code} at 0x${address.toString(16)}`);
    this.code = code;
    this.address = address;
  }
}

/** An address that the guest stored, as a number; anything above 2^53 is as wrong as any other address outside RAM. */
export function readAddress(ram: RamPort, pa: number): number {
  return ram.read32(pa + 4) * 0x1_0000_0000 + ram.read32(pa);
}
