// A device without a machine: for tests of a definition, and to look at its registers. Time passes
// when the bench says so, and memory is a small RAM of its own.

import { DefinedDevice, paramsOf } from '../../devices/defined.ts';
import type { DeviceDefinition } from '../bus/define.ts';
import { panelOf } from '../bus/define-text.ts';
import { Ram } from '../bus/ram.ts';
import { Clock } from './clock.ts';
import { RAM_BASE } from './memory-map.ts';

export interface BenchOptions {
  readonly params?: Readonly<Record<string, string>>;
  readonly seed?: bigint;
}

export class DeviceBench {
  readonly device: DefinedDevice;
  /** 64 KiB at RAM_BASE. */
  readonly ram: Ram;
  /** Level of the interrupt line. */
  irq = false;
  readonly logged: string[] = [];
  readonly #clock = new Clock();
  #now = 0;

  constructor(definition: DeviceDefinition, { params = {}, seed = 0n }: BenchOptions = {}) {
    this.#clock.source = () => this.#now;
    this.ram = new Ram(new WebAssembly.Memory({ initial: 1, maximum: 1 }), 0, RAM_BASE, 65536);
    this.device = new DefinedDevice(definition, paramsOf(definition, params), {
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
    this.device.reset();
  }

  read(offset: number, bytes = 4): number {
    return this.device.read(offset, bytes);
  }

  write(offset: number, value: number, bytes = 4): void {
    this.device.write(offset, bytes, value);
  }

  /** Lets nanoseconds pass; alarms fire at their times. */
  advance(ns: number): void {
    const end = this.#now + ns;
    while (this.#clock.next() <= end) {
      this.#now = this.#clock.next();
      this.#clock.fireDue(this.#now);
    }
    this.#now = end;
  }

  /** Everything that is remembered, as plain data. */
  save(): unknown {
    return { device: this.device.save(), clock: this.#clock.save(), now: this.#now, irq: this.irq };
  }

  load(saved: unknown): void {
    const { device, clock, now, irq } = saved as Record<string, unknown>;
    this.#now = now as number;
    this.#clock.load(clock);
    this.device.load(device);
    this.irq = irq as boolean;
  }
}

/** The register panel of a device after reset. */
export function deviceRegisters(device: {
  readonly definition: DeviceDefinition;
  readonly params: Readonly<Record<string, string>>;
}): string {
  const bench = new DeviceBench(device.definition, { params: device.params });
  return panelOf(device.definition, (offset, bytes) => bench.device.peek(offset, bytes));
}
