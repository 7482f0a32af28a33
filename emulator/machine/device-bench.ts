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

const OPTIONS = optionsOf<BenchOptions>({ params: optional(recordOf(aString)), seed: optional(aUint64) });
const OFFSET = aWhole(0);
const BYTES = oneOf(1, 2, 4);
const VALUE = is('a number', value => typeof value === 'number');
const NS = is(
  'nanoseconds: a number from 0 on',
  value => typeof value === 'number' && value >= 0 && value < Infinity,
);
const SAVED = is('what DeviceBench.save returned', value => hasParts(value, 'device', 'clock', 'now', 'irq'));

const check = (where: string, ...args: readonly Argument[]): void => checkArguments('machine', where, args);

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

  /** A driver's read access at this offset; handlers run. */
  read(offset: number, bytes = 4): number {
    check('DeviceBench.read', ['offset', offset, OFFSET], ['bytes', bytes, BYTES]);
    return this.#device.read(offset, bytes);
  }

  /** The stored value; no handler runs. */
  peek(offset: number, bytes = 4): number {
    check('DeviceBench.peek', ['offset', offset, OFFSET], ['bytes', bytes, BYTES]);
    return this.#device.peek(offset, bytes);
  }

  /** A driver's write access. */
  write(offset: number, value: number, bytes = 4): void {
    check('DeviceBench.write', ['offset', offset, OFFSET], ['value', value, VALUE], ['bytes', bytes, BYTES]);
    this.#device.write(offset, bytes, value);
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
