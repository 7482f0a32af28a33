// A device without a machine: for tests of a definition, and to look at its registers. Time passes
// when the bench says so, and memory is a small RAM of its own.

import { checkDefinition, DefinedDevice, paramsOf } from '../../devices/defined.ts';
import {
  type Argument,
  aString,
  aUint64,
  aWhole,
  checkArguments,
  hasParts,
  is,
  oneOf,
  optional,
  optionsOf,
  recordOf,
} from '../base/arguments.ts';
import type { DeviceDefinition } from '../bus/define.ts';
import { panelOf } from '../bus/define-text.ts';
import type { RamPort } from '../bus/device.ts';
import { Ram } from '../bus/ram.ts';
import { Clock } from './clock.ts';
import { RAM_BASE } from './memory-map.ts';

export interface BenchOptions {
  /** As on the command line; absent ones have their defaults. */
  readonly params?: Readonly<Record<string, string>>;
  /** Of `dev.random()`. Default: 0n. */
  readonly seed?: bigint;
}

export { defineDevice } from '../../devices/defined.ts';

const OPTIONS = optionsOf<BenchOptions>({ params: optional(recordOf(aString)), seed: optional(aUint64) });
const OFFSET = aWhole(0);
const BYTES = oneOf(1, 2, 4, 8);
const VALUE = is('a number', value => typeof value === 'number');
const WIDE_VALUE = is(
  'a whole number or a bigint',
  value => typeof value === 'bigint' || Number.isInteger(value),
);
const NS = is(
  'nanoseconds: a number from 0 on',
  value => typeof value === 'number' && value >= 0 && value < Infinity,
);
const SAVED = is('what DeviceBench.save returned', value => hasParts(value, 'device', 'clock', 'now', 'irq'));

const check = (where: string, ...args: readonly Argument[]): void => checkArguments('machine', where, args);

/** Of 8 bytes as the bus reads them: two times 4, the low half first. */
function wide(
  read: (offset: number, bytes: number) => number,
  offset: number,
  bytes: number,
): number | bigint {
  if (bytes < 8) return read(offset, bytes);
  return BigInt(read(offset, 4)) | (BigInt(read(offset + 4, 4)) << 32n);
}

/**
 * One device after reset, its registers, its interrupt line, and 64 KiB of memory. The definition's
 * handlers run as they do in a machine.
 */
export class DeviceBench {
  readonly #device: DefinedDevice;
  /** 64 KiB, from `ram.base` on. */
  readonly ram: RamPort;
  /** Level of the interrupt line. */
  irq = false;
  /** Lines of `dev.log`. */
  readonly logged: string[] = [];
  readonly #clock = new Clock();
  #now = 0;

  /** Errors: KcovboxError for a definition or a parameter that cannot be. */
  constructor(definition: DeviceDefinition, options: BenchOptions = {}) {
    check('new DeviceBench', ['options', options, OPTIONS]);
    checkDefinition(definition);
    const { params = {}, seed = 0n } = options;
    this.#clock.source = () => this.#now;
    this.ram = new Ram(new WebAssembly.Memory({ initial: 1, maximum: 1 }), 0, RAM_BASE, 65536);
    this.#device = new DefinedDevice(definition, paramsOf(definition, params), {
      clock: this.#clock,
      irq: {
        raise: () => {
          this.irq = true;
        },
        lower: () => {
          this.irq = false;
        },
      },
      ram: this.ram,
      work: { spend: () => {} },
      seed,
      log: line => this.logged.push(line),
    });
    this.#device.reset();
  }

  /** A driver's read access at this offset; handlers run. One of 8 bytes is a bigint. */
  read(offset: number, bytes: 8): bigint;
  read(offset: number, bytes?: number): number;
  read(offset: number, bytes = 4): number | bigint {
    check('DeviceBench.read', ['offset', offset, OFFSET], ['bytes', bytes, BYTES]);
    return wide((at, width) => this.#device.read(at, width), offset, bytes);
  }

  /** The stored value; no handler runs. One of 8 bytes is a bigint. */
  peek(offset: number, bytes: 8): bigint;
  peek(offset: number, bytes?: number): number;
  peek(offset: number, bytes = 4): number | bigint {
    check('DeviceBench.peek', ['offset', offset, OFFSET], ['bytes', bytes, BYTES]);
    return wide((at, width) => this.#device.peek(at, width), offset, bytes);
  }

  /** A driver's write access; `value` may be a bigint for 8 bytes. */
  write(offset: number, value: number | bigint, bytes: 8): void;
  write(offset: number, value: number, bytes?: number): void;
  write(offset: number, value: number | bigint, bytes = 4): void {
    const right = bytes === 8 ? WIDE_VALUE : VALUE;
    check('DeviceBench.write', ['offset', offset, OFFSET], ['value', value, right], ['bytes', bytes, BYTES]);
    if (bytes < 8) {
      this.#device.write(offset, bytes, Number(value));
      return;
    }
    const all = BigInt.asUintN(64, BigInt(value));
    this.#device.write(offset, 4, Number(all & 0xffff_ffffn));
    this.#device.write(offset + 4, 4, Number(all >> 32n));
  }

  /** Lets nanoseconds pass; alarms fire at their times. */
  advance(ns: number): void {
    check('DeviceBench.advance', ['ns', ns, NS]);
    const end = this.#now + ns;
    while (this.#clock.next() <= end) {
      this.#now = this.#clock.next();
      this.#clock.fireDue(this.#now);
    }
    this.#now = end;
  }

  /** Everything that is remembered, as plain data. */
  save(): unknown {
    return { device: this.#device.save(), clock: this.#clock.save(), now: this.#now, irq: this.irq };
  }

  /** Goes back to what `save` returned. */
  load(saved: unknown): void {
    check('DeviceBench.load', ['saved', saved, SAVED]);
    const { device, clock, now, irq } = saved as Record<string, unknown>;
    this.#now = now as number;
    this.#clock.load(clock);
    this.#device.load(device);
    this.irq = irq as boolean;
  }
}

/** The register panel of a device after reset. */
export function deviceRegisters(device: {
  readonly definition: DeviceDefinition;
  readonly params: Readonly<Record<string, string>>;
}): string {
  const bench = new DeviceBench(device.definition, { params: device.params });
  return panelOf(device.definition, (offset, bytes) => bench.peek(offset, bytes));
}
