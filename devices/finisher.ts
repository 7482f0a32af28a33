// SiFive test finisher, as on QEMU's virt board: the guest ends the run with it.
// Specification: QEMU hw/misc/sifive_test.c and the syscon bindings of Linux; there is no other
// document.
//   0 FINISH (write): low half 0x5555 pass, 0x3333 fail with the code in the high half, 0x7777
//   reset
// Divergence: 0x4d4b marks a moment for the host, with a number in the high half; QEMU ignores it.

import type { Device, FdtNode, Placement } from '../emulator/bus/device.ts';
import { regmap } from '../emulator/bus/regmap.ts';

export const FINISHER_MAP = regmap({ title: 'finisher', spec: 'QEMU sifive_test', size: 0x1000 }, [
  {
    id: 'finish',
    at: 0,
    bytes: 4,
    access: 'w',
    doc: '0x5555 pass; 0x3333 | code << 16 fail; 0x7777 reset; 0x4d4b | n << 16 marks a moment for the host',
  },
]);

export const FINISH_PASS = 0x5555;
export const FINISH_FAIL = 0x3333;
export const FINISH_RESET = 0x7777;
export const FINISH_MARK = 0x4d4b;

/** The machine's reaction to a write. */
export interface FinishPort {
  exit(status: number): void;
  reset(): void;
  /** A moment that the guest announces. */
  mark(number: number): void;
}

export class Finisher implements Device {
  readonly name = 'finisher';
  readonly widths = [2, 4] as const;
  readonly #port: FinishPort;

  constructor(port: FinishPort) {
    this.#port = port;
  }

  read(): number {
    return 0;
  }

  write(offset: number, _bytes: number, value: number): void {
    if (offset !== 0) return;
    const command = value & 0xffff;
    if (command === FINISH_PASS) this.#port.exit(0);
    else if (command === FINISH_FAIL) this.#port.exit(value >>> 16);
    else if (command === FINISH_RESET) this.#port.reset();
    else if (command === FINISH_MARK) this.#port.mark(value >>> 16);
  }

  peek(): number {
    return 0;
  }

  reset(): void {}

  save(): unknown {
    return null;
  }

  load(): void {}

  fdtNode({ base, size }: Placement): FdtNode {
    return {
      name: `test@${base.toString(16)}`,
      props: {
        reg: [0, base, 0, size],
        compatible: ['sifive,test1', 'sifive,test0', 'syscon'],
      },
    };
  }
}
