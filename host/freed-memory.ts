// Memory that the guest kernel has freed, as its own KASAN sees it (kernel/opt/kasan/kasan.c): one
// byte of shadow for 8 bytes of RAM. For rules of devices such as "no DMA to freed memory".
import { readElf } from '../emulator/index.ts';

/** The part of RamPort that is read here. */
interface Memory {
  has(pa: number, bytes: number): boolean;
  read8(pa: number): number;
  read64(pa: number): bigint;
}

const SCALE = 8;
const FREE_PAGE = 0xff;
const FREE_OBJECT = 0xfb;
/** Longest range that is looked at; a longer one is judged by its start. */
const BYTES_MAX = 1 << 16;
/** Virtual addresses of RAM are physical ones plus this (kernel/include/memlayout.h). */
const LINEAR_BASE = 0xffff_ffff_0000_0000n;
const physical = (va: bigint): number => Number(va & 0xffff_ffffn);

/** A function for MachineOptions; undefined when the kernel has no KASAN. */
export function freedMemory(
  kernel: Uint8Array,
): ((ram: Memory, address: number, bytes: number) => boolean) | undefined {
  const { symbols } = readElf(kernel, 'kernel');
  const at = (name: string) => symbols.find(symbol => symbol.name === name)?.value;
  const [base, covered] = [at('shadow_base'), at('bytes_covered')];
  if (base === undefined || covered === undefined) return undefined;
  return (ram, address, bytes) => {
    if (ram.read64(physical(covered)) === 0n) return false; // too early
    const shadow = ram.read64(physical(base));
    for (let pa = address; pa < address + Math.min(bytes, BYTES_MAX); pa += SCALE) {
      const byte = physical(shadow + (LINEAR_BASE + BigInt(pa)) / BigInt(SCALE));
      const value = ram.has(byte, 1) ? ram.read8(byte) : 0;
      if (value === FREE_PAGE || value === FREE_OBJECT) return true;
    }
    return false;
  };
}
