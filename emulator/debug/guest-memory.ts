// Guest memory as a debugger sees it: virtual addresses in the view of one hart, RAM, and device
// registers that can be read without side effects. Debuggers often read code while the hart
// executes elsewhere (a kernel address in U-mode). So if the current view fails, a walk with
// supervisor rights follows, and then the place where the kernel image was loaded, which covers
// kernel addresses before the kernel has enabled paging.

import type { Hart } from '../hart/index.ts';
import type { Machine } from '../machine/machine.ts';

const LOAD = 0;
/** The view with access to pages of S and of U; see docs/architecture.md, "Views and TLBs". */
const SUM_VIEW = 2;
const PAGE = 4096;

/** Physical address of a virtual one, or undefined. */
export function translate(machine: Machine, hart: Hart, va: bigint): number | undefined {
  const bits = BigInt.asUintN(64, va);
  const lo = Number(bits & 0xffff_ffffn) | 0;
  const hi = Number(bits >> 32n) | 0;
  const pa = hart.mmu.peek(lo, hi, LOAD);
  if (pa >= 0) return pa;
  const other = hart.mmu.peek(lo, hi, LOAD, SUM_VIEW);
  if (other >= 0) return other;
  const loaded = machine.booted.kernel?.physical(bits) ?? Number(bits);
  return machine.ram.has(loaded, 1) ? loaded : undefined;
}

/** At most `bytes` bytes, fewer at the end of memory; undefined if there is none at `va`. */
export function readMemory(machine: Machine, hart: Hart, va: bigint, bytes: number): Uint8Array | undefined {
  const out: number[] = [];
  while (out.length < bytes) {
    const at = va + BigInt(out.length);
    const pa = translate(machine, hart, at);
    if (pa === undefined) break;
    const room = Math.min(bytes - out.length, PAGE - (pa % PAGE));
    if (machine.ram.has(pa, room)) {
      out.push(...machine.ram.read(pa, room));
      continue;
    }
    const byte = machine.bus.peek(pa, 1);
    if (byte === undefined) break;
    out.push(byte);
  }
  return out.length > 0 ? Uint8Array.from(out) : undefined;
}

/** Writes RAM only: all or nothing. */
export function writeMemory(machine: Machine, hart: Hart, va: bigint, data: Uint8Array): boolean {
  const parts: [pa: number, from: number, to: number][] = [];
  for (let from = 0; from < data.length; ) {
    const pa = translate(machine, hart, va + BigInt(from));
    if (pa === undefined) return false;
    const to = Math.min(data.length, from + PAGE - (pa % PAGE));
    if (!machine.ram.has(pa, to - from)) return false;
    parts.push([pa, from, to]);
    from = to;
  }
  for (const [pa, from, to] of parts) machine.ram.write(pa, data.subarray(from, to));
  return true;
}
