// The machines of targets, from bytes: nothing here needs Node.
import type { EngineKind, MachineOptions } from '../../emulator/index.ts';
import type { TargetKind } from '../../fuzz/executor/layout.ts';
import { imageOptions } from '../machine.ts';

/** Names of configurations in which allocations can fail. */
export const HAS_FAIL_NTH = /\+(fail-nth|debug)\b/;

/**
 * Enough for the kernel with all its checks. A call that touches all of it must not look like one
 * that hangs (BUDGET in fuzz/executor/executor.ts).
 */
const RAM_BYTES = 32 * 2 ** 20;
/** Of a user's program, which may allocate. */
const HARNESS_RAM_BYTES = 64 * 2 ** 20;
/** Another Linux needs more, and is built with what it needs for its tables. */
export const OTHER_RAM_BYTES = 128 * 2 ** 20;
/** The kernel of xv6 is compiled for this. */
export const XV6_RAM_BYTES = 128 * 2 ** 20;
/**
 * 2^N ns for each instruction: a tick of xv6's timer, 0.1 s, is then 780,000 of them, which is what
 * sleeping costs, because xv6's scheduler never stops looking for work.
 */
export const XV6_ICOUNT = 7;

export const SHAPES: Record<
  Exclude<TargetKind, 'xv6'>,
  (hasThreads: boolean) => Pick<MachineOptions, 'ramBytes' | 'harts'>
> = {
  own: hasThreads => ({ ramBytes: RAM_BYTES, harts: hasThreads ? 2 : 1 }),
  other: () => ({ ramBytes: OTHER_RAM_BYTES, harts: 1 }),
  harness: () => ({ ramBytes: HARNESS_RAM_BYTES, harts: 1 }),
};

export const faultOptions = (names: readonly string[] = []): Pick<MachineOptions, 'faultable'> =>
  names.length > 0 ? { faultable: names } : {};

/** The machine for a kernel and a disk of xv6, as its Makefile has it. */
export const xv6Machine = (kernel: Uint8Array, disk: Uint8Array): MachineOptions => ({
  kernel: { name: 'kernel', bytes: kernel },
  bios: 'none',
  ramBytes: XV6_RAM_BYTES,
  harts: 1,
  virtio: [{ kind: 'blk', slot: 0, image: disk }],
  virtioLegacy: false,
  kcov: 'off',
  icountShift: XV6_ICOUNT,
});

/** A target as files have kept it. */
export interface StoredTarget {
  readonly kernel: Uint8Array;
  /** Of xv6: the disk. */
  readonly initrd: Uint8Array;
  readonly append: string;
  readonly tail: string;
  readonly hasThreads: boolean;
  readonly kind: TargetKind;
  readonly faultable?: readonly string[] | undefined;
}

/** Its machine, without devices of the user's own. */
export function targetMachine(
  { kernel, initrd, append, tail, hasThreads, kind, faultable }: StoredTarget,
  engine: Exclude<EngineKind, 'lockstep'>,
): MachineOptions {
  if (kind === 'xv6') return { ...xv6Machine(kernel, initrd), engine };
  const images = { kernel, loaded: undefined, initrd, append, tail: tail === '' ? undefined : tail };
  return { ...imageOptions(images), ...SHAPES[kind](hasThreads), engine, ...faultOptions(faultable) };
}
