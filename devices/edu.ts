// A teaching device: the smallest one with everything that a driver must handle: registers, work
// that takes time, an interrupt to acknowledge, and DMA. Its registers are those of QEMU's PCI
// device of the same name, behind a plain MMIO window, so existing courses apply. Specification:
// QEMU docs/specs/edu.
//   0x00 ID   0x04 LIVENESS (reads back inverted)   0x08 FACTORIAL (write n, poll BUSY,
//   read n! mod 2^32)   0x20 STATUS   0x24 INTERRUPT_STATUS   0x60 RAISE   0x64 ACKNOWLEDGE
//   0x80 DMA_SOURCE   0x88 DMA_TARGET   0x90 DMA_COUNT   0x98 DMA_COMMAND
// Divergences from QEMU: work takes an exact number of instructions (10 per factor, 1 per DMA byte,
// at least 100); DMA addresses of memory are physical RAM addresses; a DMA range outside RAM or
// outside the buffer sets bit 1 of STATUS and moves nothing; writing FACTORIAL or DMA_COMMAND while
// BUSY is ignored and sets bit 1 as well.

import type {
  Alarm,
  ClockPort,
  Device,
  FdtNode,
  IrqLine,
  Placement,
  RamPort,
} from '../emulator/bus/device.ts';
import { regmap } from '../emulator/bus/regmap.ts';

export const EDU_MAP = regmap({ title: 'edu', spec: 'QEMU docs/specs/edu', size: 0x1000 }, [
  { id: 'id', at: 0x00, bytes: 4, access: 'r', doc: '0x010000ed: version 1.0 of the device' },
  { id: 'liveness', at: 0x04, bytes: 4, access: 'rw', doc: 'reads back the inverted value' },
  {
    id: 'factorial',
    at: 0x08,
    bytes: 4,
    access: 'rw',
    doc: 'write n to start, read n! mod 2^32 when not busy',
  },
  {
    id: 'status',
    at: 0x20,
    bytes: 4,
    access: 'rw',
    doc: 'bit 0 busy, bit 1 error (write 1 clears), bit 7 interrupt when done',
  },
  {
    id: 'interruptStatus',
    at: 0x24,
    bytes: 4,
    access: 'r',
    doc: 'pending bits: 1 factorial, 0x100 DMA, others raised',
  },
  { id: 'raise', at: 0x60, bytes: 4, access: 'w', doc: 'sets bits of interruptStatus' },
  { id: 'acknowledge', at: 0x64, bytes: 4, access: 'w', doc: 'clears bits of interruptStatus' },
  { id: 'dmaSource', at: 0x80, bytes: 8, access: 'rw', doc: 'source address' },
  { id: 'dmaTarget', at: 0x88, bytes: 8, access: 'rw', doc: 'target address' },
  { id: 'dmaCount', at: 0x90, bytes: 8, access: 'rw', doc: 'bytes' },
  {
    id: 'dmaCommand',
    at: 0x98,
    bytes: 8,
    access: 'rw',
    doc: 'bit 0 start/busy, bit 1 device to RAM, bit 2 interrupt when done',
  },
]);

const ID = 0x0100_00ed;
const STATUS_BUSY = 1;
const STATUS_ERROR = 2;
const STATUS_IRQ = 0x80;
const INT_FACTORIAL = 1;
const INT_DMA = 0x100;
const DMA_START = 1;
const DMA_TO_RAM = 2;
const DMA_IRQ = 4;
/** The device's own buffer, at the same device address as in QEMU. */
export const EDU_BUFFER = 0x4_0000;
export const EDU_BUFFER_BYTES = 4096;
const INSNS_PER_FACTOR = 10;
const INSNS_MIN = 100;

type Reg = (typeof EDU_MAP.rows)[number]['id'];

interface State {
  liveness: number;
  factorial: number;
  /** Bits 1 and 7; busy is derived. */
  status: number;
  interrupt: number;
  work: 'none' | 'factorial' | 'dma';
  /** Source, target, count as low and high words, so that halves can be written alone. */
  dma: number[];
  command: number;
}

const initial = (): State => ({
  liveness: 0,
  factorial: 0,
  status: 0,
  interrupt: 0,
  work: 'none',
  dma: [0, 0, 0, 0, 0, 0],
  command: 0,
});

const DMA_WORD: Partial<Record<Reg, number>> = { dmaSource: 0, dmaTarget: 2, dmaCount: 4 };

export class Edu implements Device {
  readonly name = 'edu';
  readonly widths = [4, 8] as const;
  readonly #clock: ClockPort;
  readonly #irq: IrqLine;
  readonly #ram: RamPort;
  readonly #alarm: Alarm;
  readonly #buffer = new Uint8Array(EDU_BUFFER_BYTES);
  #s = initial();

  constructor(clock: ClockPort, irq: IrqLine, ram: RamPort) {
    this.#clock = clock;
    this.#irq = irq;
    this.#ram = ram;
    this.#alarm = clock.alarm('edu', () => this.#finish());
  }

  read(offset: number, bytes: number): number {
    return EDU_MAP.read(offset, bytes, this.#get);
  }

  write(offset: number, bytes: number, value: number): void {
    EDU_MAP.write(offset, bytes, value, this.#set, this.#get);
    this.#update();
  }

  peek(offset: number, bytes: number): number {
    return this.read(offset, bytes);
  }

  reset(): void {
    this.#s = initial();
    this.#buffer.fill(0);
    this.#alarm.clear();
    this.#irq.lower();
  }

  /** The buffer without its trailing zeros. */
  save(): unknown {
    const bytes = this.#buffer.findLastIndex(byte => byte !== 0) + 1;
    return { ...this.#s, dma: [...this.#s.dma], buffer: [...this.#buffer.subarray(0, bytes)] };
  }

  load(state: unknown): void {
    const { buffer, ...s } = state as State & { buffer: number[] };
    this.#s = { ...s, dma: [...s.dma] };
    this.#buffer.fill(0);
    this.#buffer.set(buffer);
    this.#update();
  }

  fdtNode({ base, size, irq, intc }: Placement): FdtNode {
    return {
      name: `edu@${base.toString(16)}`,
      props: {
        interrupts: [irq],
        'interrupt-parent': [intc],
        reg: [0, base, 0, size],
        compatible: 'kcovbox,edu',
      },
    };
  }

  readonly #get = (id: Reg, _index: number, word: number): number => {
    const s = this.#s;
    switch (id) {
      case 'id':
        return ID;
      case 'liveness':
        return ~s.liveness;
      case 'factorial':
        return s.factorial;
      case 'status':
        return s.status | (s.work === 'none' ? 0 : STATUS_BUSY);
      case 'interruptStatus':
        return s.interrupt;
      case 'dmaCommand':
        return word === 0 ? (s.command & ~DMA_START) | (s.work === 'dma' ? DMA_START : 0) : 0;
      default:
        return s.dma[(DMA_WORD[id] ?? 0) + word] ?? 0;
    }
  };

  readonly #set = (id: Reg, value: number, _index: number, word: number): void => {
    const s = this.#s;
    switch (id) {
      case 'liveness':
        s.liveness = value;
        break;
      case 'factorial':
        if (this.#begin('factorial', INSNS_PER_FACTOR * Math.min(value, 1_000))) s.factorial = value;
        break;
      case 'status':
        s.status = (value & STATUS_IRQ) | (s.status & STATUS_ERROR & ~value);
        break;
      case 'raise':
        s.interrupt = (s.interrupt | value) >>> 0;
        break;
      case 'acknowledge':
        s.interrupt = (s.interrupt & ~value) >>> 0;
        break;
      case 'dmaSource':
      case 'dmaTarget':
      case 'dmaCount':
        s.dma[DMA_WORD[id]! + word] = value;
        break;
      case 'dmaCommand':
        if (word === 0 && value & DMA_START && this.#begin('dma', this.#address(4))) s.command = value;
        break;
    }
  };

  #begin(work: 'factorial' | 'dma', insns: number): boolean {
    if (this.#s.work !== 'none') {
      this.#s.status |= STATUS_ERROR;
      return false;
    }
    this.#s.work = work;
    this.#alarm.set(this.#clock.now() + Math.max(INSNS_MIN, Math.min(insns, EDU_BUFFER_BYTES)));
    return true;
  }

  #finish(): void {
    const s = this.#s;
    const work = s.work;
    s.work = 'none';
    if (work === 'factorial') {
      s.factorial = factorial(s.factorial);
      if (s.status & STATUS_IRQ) s.interrupt |= INT_FACTORIAL;
    } else if (work === 'dma') {
      if (!this.#move()) s.status |= STATUS_ERROR;
      if (s.command & DMA_IRQ) s.interrupt |= INT_DMA;
    }
    this.#update();
  }

  #address(word: number): number {
    return this.#s.dma[word]! + this.#s.dma[word + 1]! * 2 ** 32;
  }

  /** Transfers the bytes; false if a range is not entirely in RAM or in the buffer. */
  #move(): boolean {
    const s = this.#s;
    const toRam = (s.command & DMA_TO_RAM) !== 0;
    const count = this.#address(4);
    const memory = this.#address(toRam ? 2 : 0);
    const own = this.#address(toRam ? 0 : 2) - EDU_BUFFER;
    if (own < 0 || own + count > EDU_BUFFER_BYTES || !this.#ram.has(memory, count)) return false;
    if (toRam) {
      this.#ram.write(memory, this.#buffer.subarray(own, own + count));
    } else {
      this.#buffer.set(this.#ram.read(memory, count), own);
    }
    return true;
  }

  #update(): void {
    if (this.#s.interrupt) this.#irq.raise();
    else this.#irq.lower();
  }
}

/** n! modulo 2^32. From 34 on it is 0, because 2^32 divides it. */
export function factorial(n: number): number {
  if (n >= 34) return 0;
  let product = 1;
  for (let i = 2; i <= n; i++) product = Math.imul(product, i);
  return product >>> 0;
}
