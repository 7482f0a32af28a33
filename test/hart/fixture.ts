// A hart with RAM and an empty bus, and short names for the operations of tests.

import { Bus } from '../../emulator/bus/bus.ts';
import { Ram } from '../../emulator/bus/ram.ts';
import { Hart } from '../../emulator/hart/hart.ts';
import * as L from '../../emulator/hart/layout.ts';
import { type HartPorts, NO_CODE } from '../../emulator/hart/ports.ts';
import { homeOf } from '../../emulator/hart/state.ts';
import { DEFAULT_EXTENSIONS, type Extensions } from '../../emulator/isa/index.ts';

export const RAM = 0x8000_0000;

export interface Bench {
  hart: Hart;
  ram: Ram;
  bus: Bus;
  ports: HartPorts & { now: number };
}

export function bench(
  harts = 1,
  ramBytes = 0x40_0000,
  extensions: Extensions = DEFAULT_EXTENSIONS,
): Bench & { harts: Hart[] } {
  const ramHost = homeOf(harts);
  const memory = new WebAssembly.Memory({ initial: (ramHost + ramBytes) / 0x1_0000 });
  const ram = new Ram(memory, ramHost, RAM, ramBytes);
  const bus = new Bus();
  const ports = { memory, ram, bus, extensions, now: 0, time: () => ports.now, code: NO_CODE };
  const all = Array.from({ length: harts }, (_, id) => new Hart(id, ports));
  const hart = all[0]!;
  hart.activate();
  hart.reset(BigInt(RAM));
  return { hart, harts: all, ram, bus, ports };
}

const XR = (r: number): number => L.X + 8 * r;

/** csrrw x1, csr, x2: true = no trap. */
export function writeCsr(hart: Hart, csr: number, value: bigint): boolean {
  hart.state.set64(XR(2), BigInt.asUintN(64, value));
  return runs(hart, (csr << 20) | (2 << 15) | (1 << 12) | (1 << 7) | 0x73);
}

/** csrrs x1, csr, x0. */
export function readCsr(hart: Hart, csr: number): bigint | undefined {
  return runs(hart, (csr << 20) | (2 << 12) | (1 << 7) | 0x73) ? hart.state.getX(1) : undefined;
}

/** Executes a system instruction; false = it trapped. */
export function runs(hart: Hart, word: number): boolean {
  const exceptions = hart.state.get64(L.EXCEPTIONS);
  hart.system(word);
  return hart.state.get64(L.EXCEPTIONS) === exceptions;
}

/** Loads with the funct3 of a load instruction; undefined = trap. */
export function load(hart: Hart, va: bigint, funct3 = 3): bigint | undefined {
  hart.state.set64(L.SLOW_ARG, BigInt.asUintN(64, va));
  return hart.access.load(funct3) === 0 ? hart.state.get64(L.SLOW_VALUE) : undefined;
}

export function store(hart: Hart, va: bigint, value: bigint, log2 = 3): boolean {
  hart.state.set64(L.SLOW_ARG, BigInt.asUintN(64, va));
  hart.state.set64(L.SLOW_VALUE, BigInt.asUintN(64, value));
  return hart.access.store(log2) === 0;
}

export function fetch(hart: Hart, va: bigint): boolean {
  hart.state.set64(L.SLOW_ARG, BigInt.asUintN(64, va));
  return hart.access.fetch() === 0;
}

/** Cause of the trap that the last slow access recorded. */
export const trapCause = (hart: Hart): number => hart.state.get(L.TRAP_CAUSE);
export const trapTval = (hart: Hart): bigint => hart.state.get64(L.TRAP_TVAL);

export const PTE = { V: 1n, R: 2n, W: 4n, X: 8n, U: 16n, G: 32n, A: 64n, D: 128n } as const;

/** A PTE for a physical address. */
export const pte = (pa: number, bits: bigint): bigint => ((BigInt(pa) >> 12n) << 10n) | bits;
