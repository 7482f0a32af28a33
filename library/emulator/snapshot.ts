// The one place of the library that knows how the emulator saves and restores a machine.
import type { Snapshot as InnerSnapshot, Machine } from '../../emulator/index.ts';

/**
 * All guest-visible state of a machine between two runs: RAM, registers, devices, time. Immutable;
 * snapshots of one machine share the pages that did not change between them. `structuredClone` and
 * `postMessage` copy one. Its other fields may change with any version.
 */
export interface Snapshot {
  /** Bytes of RAM of the machine. */
  readonly ramBytes: number;
  /** `stateHash` of the machine at that moment. */
  readonly hash: string;
}

/** @internal */
export const save = (machine: Machine): Snapshot => machine.snapshot();

/** @internal */
export const restore = (machine: Machine, snapshot: Snapshot): void =>
  machine.restore(snapshot as InnerSnapshot);
