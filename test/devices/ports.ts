// Stubs for the ports of a device, so that a test needs no machine.

import type { HartLine, HartLines, IrqLine } from '../../emulator/bus/device.ts';
import { Ram } from '../../emulator/bus/ram.ts';
import { Clock } from '../../emulator/machine/clock.ts';

export class Line implements IrqLine {
  level = false;
  rises = 0;
  raise(): void {
    if (!this.level) this.rises++;
    this.level = true;
  }
  lower(): void {
    this.level = false;
  }
}

export class Lines implements HartLines {
  readonly levels = new Map<string, boolean>();
  set(hart: number, line: HartLine, level: boolean): void {
    this.levels.set(`${line}${hart}`, level);
  }
  get(name: string): boolean {
    return this.levels.get(name) ?? false;
  }
}

/** A clock that a test moves by hand. */
export class HandClock extends Clock {
  time = 0;
  constructor(nsPerUnit = 1) {
    super(nsPerUnit);
    this.source = () => this.time;
  }
  advance(insns: number): void {
    this.time += insns;
    this.fireDue(this.time);
  }
}

export class Output {
  text = '';
  write(byte: number): void {
    this.text += String.fromCharCode(byte);
  }
}

export const RAM = 0x8000_0000;
export function ram(bytes = 0x1_0000): Ram {
  return new Ram(new WebAssembly.Memory({ initial: bytes / 65536 + 1 }), 65536, RAM, bytes);
}
