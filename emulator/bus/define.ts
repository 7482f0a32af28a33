// A device in one file: what `defineDevice` takes. The definition is data and pure handlers; all
// that a device remembers is in its registers and in `state`, which devices/defined.ts saves and
// loads. So a snapshot is complete by construction.

import type { Access } from './regmap.ts';

/**
 * Numbers, texts and booleans, with their defaults; the user's `depth=8` replaces one and keeps its
 * type.
 */
export type Params = Readonly<Record<string, number | string | boolean>>;

/** The contents of `state`: plain data, as JSON has it. Numbers are finite. */
export type Plain = number | string | boolean | null | Plain[] | { [key: string]: Plain };

export interface FieldSpec {
  /** One bit, or the lowest and the highest. */
  readonly bits: number | readonly [number, number];
  readonly doc: string;
  /** Names of values; they become constants of the C header. */
  readonly values?: Readonly<Record<string, number>>;
}

export interface RegisterSpec {
  /** Offset in bytes. */
  readonly at: number;
  /** Default 4. Of 8 bytes, handlers see two 32-bit words. */
  readonly bytes?: 1 | 2 | 4 | 8;
  readonly access: Access;
  readonly doc: string;
  /** Value after reset. Default 0. */
  readonly reset?: number;
  /** Bits that writing 1 clears. */
  readonly w1c?: number;
  readonly count?: number;
  readonly stride?: number;
  readonly fields?: Readonly<Record<string, FieldSpec>>;
}

/** The whole world of a handler. `R` names the registers, `P` and `S` are parameters and state. */
export interface DeviceContext<R extends string = string, P = Params, S = Record<string, Plain>> {
  readonly param: Readonly<P>;
  /** Only the declared names; plain data. */
  readonly state: S;
  /** Stored values of the registers, element 0 of arrays, unsigned. Assigning runs no handler. */
  readonly reg: Record<R, number>;
  /** The interrupt line: level-triggered. */
  readonly irq: { raise(): void; lower(): void; set(level: boolean): void };
  /** Guest RAM by physical address. */
  readonly dma: {
    /** Undefined when the range is not RAM. */
    read(address: number, bytes: number): Uint8Array | undefined;
    /** False when the range is not RAM; then nothing is written. */
    write(address: number, bytes: ArrayLike<number>): boolean;
  };
  readonly clock: {
    /** Nanoseconds of virtual time. */
    readonly now: number;
    /** Calls `onAlarm[name]` once, so many nanoseconds from now; arming again replaces the time. */
    after(name: string, ns: number): void;
    cancel(name: string): void;
  };
  /** 32 random bits from the seed of the run. */
  random(): number;
  /** A line for the person in front of the machine; the guest does not see it. */
  log(text: string): void;
}

/** A rule of the device's protocol that its driver has to keep. */
export interface RuleSpec<R extends string = string, C = DeviceContext> {
  /** The violation, for the report: "a command while the device is busy". */
  readonly doc: string;
  /**
   * By register, asked when a value is about to be stored: true when this write violates the rule.
   * It must not change anything.
   */
  readonly write?: Partial<Record<R, (dev: C, value: number, index: number, word: number) => boolean>>;
  /** The same for a DMA transfer that the device begins. */
  readonly dma?: (dev: C, transfer: Transfer) => boolean;
}

export interface Transfer {
  readonly address: number;
  readonly bytes: number;
  readonly toMemory: boolean;
  /** A byte of it belongs to memory that the kernel has freed; only kernels with KASAN know. */
  readonly isFreed: boolean;
}

/** A rule was violated. */
export interface Violation {
  readonly device: string;
  readonly rule: string;
  readonly doc: string;
  /** The driver's instruction that made the access; undefined when the device acted by itself. */
  readonly pc: bigint | undefined;
}

type ReadHandler<C> = (dev: C, index: number, word: number) => number;
type WriteHandler<C> = (dev: C, value: number, index: number, word: number) => void;

export interface DeviceDefinition<
  R extends string = string,
  P extends Params = Params,
  S extends Record<string, Plain> = Record<string, Plain>,
> {
  /** A C identifier in lower case: of the header, the node and the options. */
  readonly name: string;
  /** The `compatible` string of the device tree. */
  readonly compatible: string;
  readonly doc: string;
  /** Bytes of address space, a power of two from 4096 to 65536. Default 4096. */
  readonly size?: number;
  readonly params?: P;
  readonly registers: Readonly<Record<R, RegisterSpec>>;
  /** Initial values. */
  readonly state?: S;
  /** After power-on and reset, when registers and state have their initial values. */
  readonly onReset?: (dev: DeviceContext<R, P, S>) => void;
  /** Absent: a read answers with the stored value. */
  readonly onRead?: Partial<Record<R, ReadHandler<DeviceContext<R, P, S>>>>;
  /** Called when the value has been stored. */
  readonly onWrite?: Partial<Record<R, WriteHandler<DeviceContext<R, P, S>>>>;
  readonly onAlarm?: Readonly<Record<string, (dev: DeviceContext<R, P, S>) => void>>;
  /** By name; a violation is reported when it happens, with the driver's line. */
  readonly rules?: Readonly<Record<string, RuleSpec<R, DeviceContext<R, P, S>>>>;
}

/** Why a value is not plain data, as a path ("queue[3].at is a function"); undefined when it is. */
export function notPlain(value: unknown, path: string, depth = 0): string | undefined {
  if (depth > 16) return `${path} is nested too deeply`;
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined;
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : `${path} is ${value}`;
  if (typeof value !== 'object') return `${path} is a ${typeof value}`;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const why = notPlain(value[i], `${path}[${i}]`, depth + 1);
      if (why) return why;
    }
    return undefined;
  }
  // By its shape, because a device's objects come from a realm of their own.
  const proto: unknown = Object.getPrototypeOf(value);
  if (proto !== null && Object.getPrototypeOf(proto) !== null) return `${path} is not a plain object`;
  if (Object.prototype.toString.call(value) !== '[object Object]') return `${path} is not a plain object`;
  for (const [key, inner] of Object.entries(value)) {
    const why = notPlain(inner, `${path}.${key}`, depth + 1);
    if (why) return why;
  }
  return undefined;
}
