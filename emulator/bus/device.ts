// The interfaces between the bus, the machine and a device. A device knows neither its own address
// nor the machine: it receives offsets and, in its constructor, only the ports below that it needs.
// All state of a device is in its `save()` record (plain data that JSON can hold) or in guest RAM,
// so that a snapshot is complete. Alarms are saved by the clock, levels of interrupt lines by the
// PLIC; devices save neither.

/** Widths of accesses that a device accepts; any other width is an access fault for the guest. */
export type Width = 1 | 2 | 4 | 8;

/**
 * Value of a device tree property: text, list of texts, 32-bit cells, raw bytes, or `true` for an
 * empty property.
 */
export type FdtValue = string | readonly string[] | readonly number[] | Uint8Array | true;

export interface FdtNode {
  /** Name with its unit address, e.g. `serial@10000000`; '' for the root. */
  name: string;
  props: Record<string, FdtValue>;
  children?: FdtNode[];
}

/**
 * The place of a device on the board; a parameter of `fdtNode`, because a device does not know it.
 */
export interface Placement {
  base: number;
  size: number;
  /** PLIC source, 0 = none. */
  irq: number;
  /** phandle of the PLIC. */
  intc: number;
}

export interface Device {
  /** Short name for messages: `uart`, `virtio0`. */
  readonly name: string;
  /** Accepted widths; default 1, 2, 4 and 8. */
  readonly widths?: readonly Width[];
  /**
   * Reads 1, 2 or 4 bytes at an aligned offset; the result is unsigned. May have side effects,
   * stores to RAM included.
   */
  read(offset: number, bytes: number): number;
  /** Writes 1, 2 or 4 bytes at an aligned offset; `value` is unsigned and within `bytes`. */
  write(offset: number, bytes: number, value: number): void;
  /**
   * 8-byte accesses; a device that accepts width 8 without these sees two 4-byte accesses, low half
   * first.
   */
  read64?(offset: number): bigint;
  /** The same for stores; `value` is unsigned. */
  write64?(offset: number, value: bigint): void;
  /** Like `read` but without side effects, for debuggers; absent = cannot be read this way. */
  peek?(offset: number, bytes: number): number;
  /**
   * Asked before each guest access; true makes it an access fault. For injected faults
   * (devices/faulty.ts); real devices do without.
   */
  refuses?(): boolean;
  /** Values that the register at an offset can have by its declared fields; for injected faults. */
  values?(offset: number): readonly number[];
  /**
   * Back to the state after power-on, its interrupt line low. The clock disarms its alarms itself.
   */
  reset(): void;
  /** Changes with the form of the state; absent = 1. */
  readonly stateVersion?: number;
  /** A copy of the whole state; later changes of the device do not show in it. */
  save(): unknown;
  /**
   * The state for the state hash; default `save()`. It is the same, with a hash in place of large
   * contents. Equal digests mean equal states.
   */
  digest?(): unknown;
  /** Loads a record that `save()` of the same version made. */
  load(state: unknown): void;
  /**
   * Checks a record of a file that anybody may have made, before it is loaded; `own` is one of this
   * device. Default: it has the keys and types of `own`.
   */
  checkState?(state: unknown, own: unknown, check: StateCheck): void;
  /** Random values follow from another seed from now on: 32 bits, not 0. */
  reseed?(seed: number): void;
  /** The device tree node of this device, absent = it is not in the tree. */
  fdtNode?(place: Placement): FdtNode;
}

export interface StateCheck {
  /** The part of the state has the keys and types of `own`. Errors: HostError. */
  same(part: string, own: unknown, value: unknown): void;
  /** Errors: HostError, always. */
  refuse(why: string): never;
}

/** A level-triggered interrupt line. Both calls may be repeated; only changes matter. */
export interface IrqLine {
  /** Level high: the interrupt is asked for. */
  raise(): void;
  /** Level low. */
  lower(): void;
}

/** An alarm that can be armed repeatedly. Times are instruction counts of the machine. */
export interface Alarm {
  /**
   * Arms the alarm to fire when the machine has retired `at` instructions in all. A time at or
   * before the present means the next unit.
   */
  set(at: number): void;
  /** Disarms it. */
  clear(): void;
  /** The armed time, or Infinity. */
  readonly at: number;
}

/**
 * Virtual time, in units of one retired instruction or exception. Alarms that fall on the same
 * instruction fire in the order in which they were set. Names are unique in the machine: they
 * identify alarms in snapshots.
 */
export interface ClockPort {
  /**
   * Instructions retired by all harts since reset; exact also in the middle of a quantum. Below
   * 2^53.
   */
  now(): number;
  /**
   * Nanoseconds that the guest's clocks advance per unit: a power of two, 1 by default (QEMU's
   * -icount shift).
   */
  readonly nsPerUnit: number;
  /** Makes an alarm, not armed yet; `fire` is called in front of an instruction. */
  alarm(name: string, fire: () => void): Alarm;
}

/** Receives bytes that leave the machine (console output). */
export interface Sink {
  write(byte: number): void;
}

/**
 * Counts host work of a guest access beyond a constant: a byte moved, or a step of a loop whose
 * length the guest chose, is one unit. The guest cannot see it; the machine returns from `run` when
 * a call has caused too much (docs/threat-model.md).
 */
export interface WorkPort {
  /** Adds to the account; one unit is a byte moved or a step of a loop. */
  spend(units: number): void;
}

/** The hart that makes the current access. */
export interface HartPort {
  readonly current: number;
  readonly count: number;
}

/** The interrupt inputs of the harts: bits of `mip` that are wires, not software bits. */
export interface HartLines {
  set(hart: number, line: HartLine, level: boolean): void;
}
export type HartLine = 'msip' | 'mtip' | 'meip' | 'seip';

/**
 * Guest RAM as devices see it. Addresses are physical. For a range that is not entirely in RAM,
 * `has` returns false and the other methods throw, so call `has` first: the guest chooses addresses
 * and is hostile.
 */
export interface RamPort {
  readonly base: number;
  readonly bytes: number;
  /** Is the whole range in RAM? */
  has(pa: number, bytes: number): boolean;
  /** Unsigned. */
  read8(pa: number): number;
  /** Unsigned, little-endian; the address need not be aligned. So are those below. */
  read16(pa: number): number;
  /** Unsigned. */
  read32(pa: number): number;
  /** Unsigned. */
  read64(pa: number): bigint;
  /** The low 8 bits of `value`. */
  write8(pa: number, value: number): void;
  /** The low 16 bits of `value`. */
  write16(pa: number, value: number): void;
  /** The low 32 bits of `value`. */
  write32(pa: number, value: number): void;
  /** The low 64 bits of `value`. */
  write64(pa: number, value: bigint): void;
  /** Copies out. */
  read(pa: number, bytes: number): Uint8Array;
  /** Copies in. */
  write(pa: number, data: Uint8Array): void;
  /** Offset of a physical address in the WebAssembly memory. */
  host(pa: number): number;
}

/** The ports for a device that is added to the board. */
export interface DevicePorts {
  /** Its interrupt line; without a source, a line that leads nowhere. */
  readonly irq: IrqLine;
  readonly clock: ClockPort;
  /** DMA: stores made here are seen by all harts. */
  readonly ram: RamPort;
  readonly work: WorkPort;
}

/** A device added to the board, and where. */
export interface AddedDevice {
  /**
   * First physical address of its registers: a multiple of 4096, below RAM, where no other device
   * is.
   */
  readonly base: number;
  /** Bytes of registers: a multiple of 4096. */
  readonly size: number;
  /**
   * PLIC source, 1 to 96, that nothing else on the board uses; absent: the device has no interrupt.
   */
  readonly irq?: number;
  /** Makes the device. Called once for each machine; engine `lockstep` has several. */
  readonly create: (ports: DevicePorts) => Device;
}
