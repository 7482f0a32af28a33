// PLIC: routes device interrupts to harts.
// Specification: RISC-V Platform-Level Interrupt Controller 1.0.0. Layout and sizes as QEMU's virt
// board: context 2h is M-mode and 2h + 1 S-mode of hart h; priorities have 3 bits.
//   0x000000 + 4i PRIORITY   0x001000 PENDING bits   0x002000 + 0x80c ENABLE bits of context c
//   0x200000 + 0x1000c THRESHOLD   0x200004 + 0x1000c CLAIM/COMPLETE
// Ties between equal priorities go to the lowest source (section 1.4.1 of the specification). A
// gateway forwards one request and then waits for its completion; a request once pending stays so
// until it is claimed, even when the line falls (section 1.4). Gateways may differ by source, and
// the UART's is QEMU's: whenever the device drives the line, the pending bit takes its level, also
// in service; completion does not look at the line. xv6 never ends the THRE request, so a gateway
// that looks again would interrupt it forever.

import type { Device, FdtNode, HartLines, IrqLine, Placement } from '../emulator/bus/device.ts';
import { regmap } from '../emulator/bus/regmap.ts';

/** Sources 1..PLIC_SOURCES; 0 means "none". */
export const PLIC_SOURCES = 96;
/** Words of source bits, and the space for them in the enable block of a context. */
const WORDS = 4;
const ENABLE_WORDS = 32;
const MAX_PRIORITY = 7;
const MAX_CONTEXTS = 16;

export const PLIC_MAP = regmap({ title: 'plic', spec: 'RISC-V PLIC 1.0.0', size: 0x60_0000 }, [
  {
    id: 'priority',
    at: 0,
    bytes: 4,
    access: 'rw',
    count: PLIC_SOURCES + 1,
    doc: 'priority of source n, 0 = never',
  },
  {
    id: 'pending',
    at: 0x1000,
    bytes: 4,
    access: 'r',
    count: WORDS,
    doc: 'pending bits of sources 32n..32n+31',
  },
  {
    id: 'enable',
    at: 0x2000,
    bytes: 4,
    access: 'rw',
    count: ENABLE_WORDS * MAX_CONTEXTS,
    doc: 'enable bits of 32 sources; context n / 32, word n % 32',
  },
  {
    id: 'threshold',
    at: 0x20_0000,
    bytes: 4,
    access: 'rw',
    count: MAX_CONTEXTS,
    stride: 0x1000,
    doc: 'only priorities above it interrupt context n',
  },
  {
    id: 'claim',
    at: 0x20_0004,
    bytes: 4,
    access: 'rw',
    count: MAX_CONTEXTS,
    stride: 0x1000,
    doc: 'read: claim the best source; write: complete it',
  },
]);

type Reg = (typeof PLIC_MAP.rows)[number]['id'];

interface State {
  priority: number[];
  /**
   * One bit per source: level of the line, forwarded and not yet claimed, claimed and not yet
   * completed.
   */
  level: number[];
  pending: number[];
  inService: number[];
  /** WORDS words per context. */
  enable: number[];
  threshold: number[];
}

// Not structuredClone, which takes microseconds: a fuzzer restores this a million times.
const copyOf = (s: State): State => ({
  priority: [...s.priority],
  level: [...s.level],
  pending: [...s.pending],
  inService: [...s.inService],
  enable: [...s.enable],
  threshold: [...s.threshold],
});

/** The bits of an enable word that stand for a source: not source 0 and none after the last. */
const SOURCE_BITS = [0xffff_fffe, 0xffff_ffff, 0xffff_ffff, 1];

const bit = (words: number[], i: number): boolean => ((words[i >>> 5]! >>> (i & 31)) & 1) === 1;
const setBit = (words: number[], i: number, on: boolean): void => {
  const mask = 1 << (i & 31);
  words[i >>> 5] = (on ? words[i >>> 5]! | mask : words[i >>> 5]! & ~mask) >>> 0;
};

export class Plic implements Device {
  readonly name = 'plic';
  readonly widths = [4] as const;
  readonly #lines: HartLines;
  readonly #contexts: number;
  /** Sources whose pending bit takes the level each time that the line is driven. */
  readonly #driven = new Set<number>();
  #s: State;

  constructor(harts: number, lines: HartLines) {
    this.#lines = lines;
    this.#contexts = 2 * harts;
    this.#s = this.#initial();
  }

  /** The input of a source. Its gateway looks at the line again at completion. */
  line(source: number): IrqLine {
    return { raise: () => this.#input(source, true), lower: () => this.#input(source, false) };
  }

  /** The input of a source with QEMU's gateway (above). */
  drivenLine(source: number): IrqLine {
    this.#driven.add(source);
    return { raise: () => this.#drive(source, true), lower: () => this.#drive(source, false) };
  }

  read(offset: number, bytes: number): number {
    return PLIC_MAP.read(offset, bytes, this.#get);
  }

  write(offset: number, bytes: number, value: number): void {
    PLIC_MAP.write(offset, bytes, value, this.#set, this.#get);
  }

  peek(offset: number, bytes: number): number {
    return PLIC_MAP.read(offset, bytes, (id, index) =>
      id === 'claim' ? this.#best(index) : this.#get(id, index),
    );
  }

  reset(): void {
    this.#s = { ...this.#initial(), level: this.#s.level };
    this.#update();
  }

  save(): unknown {
    return copyOf(this.#s);
  }

  load(state: unknown): void {
    this.#s = copyOf(state as State);
    this.#update();
  }

  fdtNode({ base, size }: Placement): FdtNode {
    // `phandle` and `interrupts-extended` are added by the machine.
    return {
      name: `plic@${base.toString(16)}`,
      props: {
        'riscv,ndev': [PLIC_SOURCES],
        reg: [0, base, 0, size],
        'interrupt-controller': true,
        compatible: ['sifive,plic-1.0.0', 'riscv,plic0'],
        '#address-cells': [0],
        '#interrupt-cells': [1],
      },
    };
  }

  /** Drives all lines again, after the reset of a hart. */
  drive(): void {
    this.#update();
  }

  #initial(): State {
    return {
      priority: Array(PLIC_SOURCES + 1).fill(0),
      level: Array(WORDS).fill(0),
      pending: Array(WORDS).fill(0),
      inService: Array(WORDS).fill(0),
      enable: Array(WORDS * this.#contexts).fill(0),
      threshold: Array(this.#contexts).fill(0),
    };
  }

  #input(source: number, level: boolean): void {
    if (bit(this.#s.level, source) === level) return;
    setBit(this.#s.level, source, level);
    if (level && this.#forward(source)) this.#update();
  }

  #drive(source: number, level: boolean): void {
    const { level: levels, pending } = this.#s;
    if (bit(levels, source) === level && bit(pending, source) === level) return;
    setBit(levels, source, level);
    setBit(pending, source, level);
    this.#update();
  }

  /** The gateway: a high line becomes a request unless one is already pending or in service. */
  #forward(source: number): boolean {
    const s = this.#s;
    if (!bit(s.level, source) || bit(s.pending, source) || bit(s.inService, source)) return false;
    setBit(s.pending, source, true);
    return true;
  }

  readonly #get = (id: Reg, index: number): number => {
    const s = this.#s;
    switch (id) {
      case 'priority':
        return s.priority[index]!;
      case 'pending':
        return s.pending[index]!;
      case 'enable':
        return s.enable[this.#enableSlot(index)] ?? 0;
      case 'threshold':
        return s.threshold[index] ?? 0;
      case 'claim':
        return index < this.#contexts ? this.#claim(index) : 0;
    }
  };

  readonly #set = (id: Reg, value: number, index: number): void => {
    const s = this.#s;
    if (id === 'priority') {
      if (index > 0) s.priority[index] = value & MAX_PRIORITY;
    } else if (id === 'enable') {
      const slot = this.#enableSlot(index);
      if (slot < s.enable.length) s.enable[slot] = (value & SOURCE_BITS[index % ENABLE_WORDS]!) >>> 0;
    } else if (index >= this.#contexts) {
      return;
    } else if (id === 'threshold') {
      s.threshold[index] = value & MAX_PRIORITY;
    } else if (id === 'claim') {
      this.#complete(index, value);
    }
    this.#update();
  };

  /**
   * Index in `state.enable` of a word of the enable block; beyond its end for words that have no
   * sources.
   */
  #enableSlot(index: number): number {
    const word = index % ENABLE_WORDS;
    return word < WORDS ? WORDS * Math.floor(index / ENABLE_WORDS) + word : Infinity;
  }

  #claim(context: number): number {
    const source = this.#best(context);
    if (source === 0) return 0;
    setBit(this.#s.pending, source, false);
    setBit(this.#s.inService, source, true);
    this.#update();
    return source;
  }

  /** Completion is ignored for a source that is not enabled for the context (section 1.9). */
  #complete(context: number, source: number): void {
    const s = this.#s;
    if (source < 1 || source > PLIC_SOURCES || !this.#enabled(context, source)) return;
    setBit(s.inService, source, false);
    if (!this.#driven.has(source)) this.#forward(source);
  }

  #enabled(context: number, source: number): boolean {
    return ((this.#s.enable[WORDS * context + (source >>> 5)]! >>> (source & 31)) & 1) === 1;
  }

  /**
   * The enabled source of highest priority that is pending and not in service, the lowest number of
   * equals; 0 = none. Ignores the threshold.
   */
  #best(context: number): number {
    const s = this.#s;
    if (context >= this.#contexts) return 0;
    let best = 0;
    for (let w = 0; w < WORDS; w++) {
      let ready = (s.pending[w]! & ~s.inService[w]! & s.enable[WORDS * context + w]!) >>> 0;
      while (ready !== 0) {
        const i = 31 - Math.clz32(ready & -ready);
        ready &= ready - 1;
        const source = 32 * w + i;
        if (s.priority[source]! > (best === 0 ? 0 : s.priority[best]!)) best = source;
      }
    }
    return best;
  }

  #update(): void {
    for (let c = 0; c < this.#contexts; c++) {
      const best = this.#best(c);
      const level = best !== 0 && this.#s.priority[best]! > this.#s.threshold[c]!;
      this.#lines.set(c >>> 1, c & 1 ? 'seip' : 'meip', level);
    }
  }
}
