// The canaries of historical bugs (kernel/include/bugs.h): an array in the kernel's data, which the
// host reads by its symbol. The guest does nothing for it.
import { type Machine, readElf } from '../../emulator/index.ts';

/** struct bug: name and switch, then the two counters. */
const NAME_BYTES = 39;
const REACHED = 40;
const TRIGGERED = 48;
const ROW_BYTES = 88;

export interface Canary {
  readonly id: string;
  readonly on: boolean;
  /** Times that the faulty code was executed. */
  readonly reached: number;
  /** Times that the condition of the bug held then. */
  readonly triggered: number;
}

/** Where a kernel keeps its canaries; undefined: it has none. */
export interface CanaryTable {
  readonly pa: number;
  readonly rows: number;
}

/** `kernel`: the image with its symbols. Virtual addresses are physical ones plus 2^64 - 2^32. */
export function findCanaries(kernel: Uint8Array): CanaryTable | undefined {
  const symbol = readElf(kernel, 'kernel').symbols.find(({ name }) => name === 'bug_table');
  if (!symbol) return undefined;
  return { pa: Number(symbol.value & 0xffff_ffffn), rows: Number(symbol.size) / ROW_BYTES };
}

export function readCanaries({ ram }: Pick<Machine, 'ram'>, { pa, rows }: CanaryTable): Canary[] {
  const u64 = (at: number): number => ram.read32(at) + ram.read32(at + 4) * 2 ** 32;
  return Array.from({ length: rows }, (_, i) => {
    const at = pa + i * ROW_BYTES;
    const bytes = Array.from({ length: NAME_BYTES }, (_, n) => ram.read8(at + n));
    const end = bytes.indexOf(0);
    return {
      id: String.fromCharCode(...bytes.slice(0, end < 0 ? NAME_BYTES : end)),
      on: ram.read8(at + NAME_BYTES) !== 0,
      reached: u64(at + REACHED),
      triggered: u64(at + TRIGGERED),
    };
  });
}
