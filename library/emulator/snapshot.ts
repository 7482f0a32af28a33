// The one place of the library that knows how the emulator saves and restores a machine.
import {
  type Snapshot as InnerSnapshot,
  loadSnapshot,
  type Machine,
  saveSnapshot,
} from '../../emulator/index.ts';

/**
 * All guest-visible state of a machine between two runs: RAM, registers, devices, time. A value to
 * keep and to restore; its other fields may change with any version. `structuredClone` and
 * `postMessage` copy it.
 */
export interface Snapshot {
  /** Of its layout. */
  readonly version: number;
  /** Bytes of RAM of the machine. */
  readonly ramBytes: number;
}

/** @internal */
export const save = (machine: Machine): Snapshot => saveSnapshot(machine);

/** @internal */
export const restore = (machine: Machine, snapshot: Snapshot): void =>
  loadSnapshot(machine, snapshot as InnerSnapshot);
