// Addresses that the guest gives to the kcov device, and the check of each.

import type { RamPort } from '../emulator/bus/device.ts';

/** The reason why recording was refused; the device stores it in ERROR and ERROR_ADDR. */
export class KcovFault extends Error {
  readonly code: number;
  readonly address: number;

  constructor(code: number, address: number) {
    super(`kcov error ${code} at 0x${address.toString(16)}`);
    this.code = code;
    this.address = address;
  }
}

/**
 * An address that the guest stored, as a number. Above 2^53 it is inexact, but then it is outside
 * RAM in any case.
 */
export function readAddress(ram: RamPort, pa: number): number {
  return ram.read32(pa + 4) * 0x1_0000_0000 + ram.read32(pa);
}
