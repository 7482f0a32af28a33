// 16550A UART, as on QEMU's virt board: one byte per register, no register shift.
// Specification: National Semiconductor PC16550D data sheet, section 8.
//   0 RBR/THR (DLAB: DLL)   1 IER (DLAB: DLM)   2 IIR/FCR   3 LCR   4 MCR   5 LSR   6 MSR   7 SCR
// Divergences, visible only to a guest that tests for them: sending a byte takes no time, so THR is
// always empty again before the next instruction; baud rate, parity and framing have no effect; the
// character time-out interrupt fires at once when the receive FIFO holds less than its trigger
// level, because bytes arrive in bursts from the host. Received bytes wait on the "wire" without
// limit until the FIFO has space, so the host never loses input. A break is received as a NUL; LSR
// marks it while it is the next character to be read.

import type { Device, FdtNode, IrqLine, Placement, Sink } from '../emulator/bus/device.ts';
import { regmap } from '../emulator/bus/regmap.ts';

export const UART_MAP = regmap({ title: 'uart16550', spec: 'PC16550D data sheet, section 8', size: 0x100 }, [
  { id: 'rbr', at: 0, bytes: 1, access: 'r', bank: '', doc: 'receiver buffer' },
  { id: 'thr', at: 0, bytes: 1, access: 'w', bank: '', doc: 'transmitter holding' },
  { id: 'dll', at: 0, bytes: 1, access: 'rw', bank: 'dlab', doc: 'divisor latch, low; kept, without effect' },
  { id: 'ier', at: 1, bytes: 1, access: 'rw', bank: '', doc: 'interrupt enable: RX, THRE, line, modem' },
  {
    id: 'dlm',
    at: 1,
    bytes: 1,
    access: 'rw',
    bank: 'dlab',
    doc: 'divisor latch, high; kept, without effect',
  },
  { id: 'iir', at: 2, bytes: 1, access: 'r', doc: 'interrupt identification; reading clears THRE' },
  { id: 'fcr', at: 2, bytes: 1, access: 'w', doc: 'FIFO control: enable, reset, trigger level' },
  { id: 'lcr', at: 3, bytes: 1, access: 'rw', doc: 'line control; bit 7 = DLAB' },
  { id: 'mcr', at: 4, bytes: 1, access: 'rw', doc: 'modem control; bit 4 = loopback' },
  { id: 'lsr', at: 5, bytes: 1, access: 'r', doc: 'line status; reading clears overrun and break' },
  { id: 'msr', at: 6, bytes: 1, access: 'r', doc: 'modem status; reading clears the deltas' },
  { id: 'scr', at: 7, bytes: 1, access: 'rw', doc: 'scratch' },
]);

const IER_RX = 1;
const IER_THRE = 2;
const IER_LINE = 4;
const IER_MODEM = 8;
const IIR_NONE = 1;
const IIR_MODEM = 0;
const IIR_THRE = 2;
const IIR_RX = 4;
const IIR_LINE = 6;
const IIR_TIMEOUT = 12;
const IIR_FIFO = 0xc0;
const FCR_ENABLE = 1;
const FCR_CLEAR_RX = 2;
const LCR_DLAB = 0x80;
const MCR_LOOP = 0x10;
/** Offset of the line status. */
const LSR = 5;
const LSR_DATA = 1;
const LSR_OVERRUN = 2;
const LSR_BREAK = 0x10;
const LSR_EMPTY = 0x60;
/** Among received characters: a break. */
const BREAK = 0x100;
/** Carrier, data set ready, clear to send: a terminal is always connected. */
const MSR_CONNECTED = 0xb0;
const TRIGGER = [1, 4, 8, 14] as const;
const FIFO_BYTES = 16;

interface State {
  ier: number;
  fcr: number;
  lcr: number;
  mcr: number;
  scr: number;
  dll: number;
  dlm: number;
  overrun: boolean;
  threPending: boolean;
  modemDelta: number;
  fifo: number[];
  wire: number[];
}

const initial = (): State => ({
  ier: 0,
  fcr: 0,
  lcr: 0,
  mcr: 0,
  scr: 0,
  dll: 0x0c,
  dlm: 0,
  overrun: false,
  threPending: false,
  modemDelta: 0,
  fifo: [],
  wire: [],
});

type Reg = (typeof UART_MAP.rows)[number]['id'];

export class Uart16550 implements Device {
  readonly name = 'uart';
  readonly widths = [1, 2, 4] as const;
  readonly #irq: IrqLine;
  readonly #out: Sink;
  #s = initial();
  /**
   * The line status while no character waits and nothing overran, so that a read clears nothing;
   * else -1. A number, because V8 tests one sooner than a boolean, of which it knows no type.
   */
  #quietStatus = LSR_EMPTY;
  /**
   * Reads of the line status that found no data. A poll changes only this counter; a second one
   * made a polling guest 10 % slower.
   */
  #polls = 0;
  /** `#polls` when the guest last sent or received a byte. */
  #pollsAtByte = 0;
  /** Accesses that are not in `#polls`. */
  #otherAccesses = 0;
  /** Characters of `wire` that have gone into the FIFO already. */
  #sent = 0;

  constructor(irq: IrqLine, out: Sink) {
    this.#irq = irq;
    this.#out = out;
  }

  /** Bytes from the host. They enter the FIFO as the guest empties it. */
  receive(bytes: Iterable<number>): void {
    for (const byte of bytes) this.#s.wire.push(byte & 0xff);
    this.#update();
  }

  /** The host holds the line low for longer than a character. */
  receiveBreak(): void {
    this.#s.wire.push(BREAK);
    this.#update();
  }

  /** Characters on the wire. */
  get waiting(): number {
    return this.#s.wire.length - this.#sent;
  }

  /** Accesses of the guest, for hosts with input. */
  get accesses(): number {
    return this.#polls + this.#otherAccesses;
  }

  /** Reads of the line status that found no data since the guest last sent or received a byte. */
  get emptyPolls(): number {
    return this.#polls - this.#pollsAtByte;
  }

  /** For a host that goes on from a snapshot, which does not have it. */
  set emptyPolls(polls: number) {
    this.#pollsAtByte = this.#polls - polls;
  }

  read(offset: number): number {
    // Every driver polls this register, whatever the bank.
    if (offset === LSR && this.#quietStatus >= 0) {
      this.#polls++;
      return this.#quietStatus;
    }
    const { fifo, overrun } = this.#s;
    if (offset === LSR && fifo.length === 0) this.#polls++;
    else this.#countOther(offset);
    // Without an overrun or a break there is nothing to clear or to update.
    if (offset === LSR && fifo.length > 0 && !overrun && fifo[0] !== BREAK) return LSR_EMPTY | LSR_DATA;
    return UART_MAP.read(offset, 1, this.#get, this.#bank());
  }

  write(offset: number, _bytes: number, value: number): void {
    this.#countOther(offset);
    UART_MAP.write(offset, 1, value & 0xff, this.#set, this.#get, this.#bank());
    this.#update();
  }

  peek(offset: number): number {
    const before = structuredClone(this.#s);
    const value = UART_MAP.read(offset, 1, id => this.#value(id), this.#bank());
    this.#s = before;
    return value;
  }

  reset(): void {
    // Input that the chip has not received yet is not part of its state.
    this.#s = { ...initial(), wire: this.#wire() };
    this.#sent = 0;
    this.#lookIfQuiet();
    this.#irq.lower();
  }

  save(): unknown {
    return { ...this.#s, fifo: [...this.#s.fifo], wire: [...this.#wire()] };
  }

  load(state: unknown): void {
    const s = state as State;
    // Drives no line: what the PLIC has made of it is part of the PLIC's state.
    this.#s = { ...s, fifo: [...s.fifo], wire: [...s.wire] };
    this.#sent = 0;
    this.#lookIfQuiet();
  }

  fdtNode({ base, size, irq, intc }: Placement): FdtNode {
    return {
      name: `serial@${base.toString(16)}`,
      props: {
        interrupts: [irq],
        'interrupt-parent': [intc],
        'clock-frequency': [3_686_400],
        reg: [0, base, 0, size],
        compatible: 'ns16550a',
      },
    };
  }

  #countOther(offset: number): void {
    this.#otherAccesses++;
    if (offset === 0) this.#pollsAtByte = this.#polls;
  }

  #bank(): string {
    return this.#s.lcr & LCR_DLAB ? 'dlab' : '';
  }

  readonly #get = (id: Reg): number => {
    const value = this.#value(id);
    if (id === 'rbr' || id === 'iir' || id === 'lsr' || id === 'msr') {
      if (id === 'rbr') this.#s.fifo.shift();
      else if (id === 'lsr') this.#seen();
      else if (id === 'msr') this.#s.modemDelta = 0;
      else if ((value & 0xf) === IIR_THRE) this.#s.threPending = false;
      this.#update();
    }
    return value;
  };

  /** The value that a read returns, without its side effects. */
  #value(id: Reg): number {
    const s = this.#s;
    switch (id) {
      case 'rbr':
        return (s.fifo[0] ?? 0) & 0xff;
      case 'iir':
        return this.#cause() | (s.fcr & FCR_ENABLE ? IIR_FIFO : 0);
      case 'lsr':
        return (
          LSR_EMPTY |
          (s.fifo.length > 0 ? LSR_DATA : 0) |
          (s.overrun ? LSR_OVERRUN : 0) |
          (this.#hasBreak() ? LSR_BREAK : 0)
        );
      case 'msr':
        return this.#modemInputs() | s.modemDelta;
      case 'thr':
      case 'fcr':
        return 0;
      default:
        return s[id];
    }
  }

  readonly #set = (id: Reg, value: number): void => {
    const s = this.#s;
    switch (id) {
      case 'thr':
        this.#transmit(value);
        break;
      case 'ier':
        // Enabling THRE with an empty transmitter interrupts at once (data sheet 8.6.1).
        if (value & ~s.ier & IER_THRE) s.threPending = true;
        s.ier = value & 0x0f;
        break;
      case 'fcr':
        if (value & FCR_CLEAR_RX || (value ^ s.fcr) & FCR_ENABLE) s.fifo = [];
        s.fcr = value & FCR_ENABLE ? value & 0xc9 : 0;
        break;
      case 'mcr': {
        const before = this.#modemInputs();
        s.mcr = value & 0x1f;
        s.modemDelta |= (before ^ this.#modemInputs()) >>> 4;
        break;
      }
      case 'lcr':
      case 'scr':
      case 'dll':
      case 'dlm':
        s[id] = value;
        break;
    }
  };

  #transmit(byte: number): void {
    const s = this.#s;
    if (s.mcr & MCR_LOOP) {
      if (s.fifo.length < this.#depth()) s.fifo.push(byte);
      else s.overrun = true;
    } else {
      this.#out.write(byte);
    }
    s.threPending = true;
  }

  /**
   * Input not received yet. Removing characters from the front of a long array one by one would be
   * quadratic.
   */
  #wire(): number[] {
    return this.#s.wire.slice(this.#sent);
  }

  #hasBreak(): boolean {
    return this.#s.fifo[0] === BREAK;
  }

  /** The effect of a read of LSR. */
  #seen(): void {
    this.#s.overrun = false;
    if (this.#hasBreak()) this.#s.fifo[0] = 0;
  }

  #lookIfQuiet(): void {
    const { fifo, overrun } = this.#s;
    this.#quietStatus = fifo.length === 0 && !overrun ? LSR_EMPTY : -1;
  }

  #depth(): number {
    return this.#s.fcr & FCR_ENABLE ? FIFO_BYTES : 1;
  }

  /**
   * In loopback the outputs of MCR drive the inputs of MSR: DTR, RTS, OUT1, OUT2 -> DSR, CTS, RI,
   * DCD.
   */
  #modemInputs(): number {
    const { mcr } = this.#s;
    if (!(mcr & MCR_LOOP)) return MSR_CONNECTED;
    return ((mcr & 1) << 5) | ((mcr & 2) << 3) | ((mcr & 4) << 4) | ((mcr & 8) << 4);
  }

  /** The highest pending and enabled cause (data sheet table 4). */
  #cause(): number {
    const s = this.#s;
    if (s.ier & IER_LINE && (s.overrun || this.#hasBreak())) return IIR_LINE;
    if (s.ier & IER_RX && s.fifo.length > 0) {
      const trigger = s.fcr & FCR_ENABLE ? TRIGGER[(s.fcr >>> 6) & 3]! : 1;
      return s.fifo.length >= trigger ? IIR_RX : IIR_TIMEOUT;
    }
    if (s.ier & IER_THRE && s.threPending) return IIR_THRE;
    if (s.ier & IER_MODEM && s.modemDelta) return IIR_MODEM;
    return IIR_NONE;
  }

  #update(): void {
    const s = this.#s;
    if (!(s.mcr & MCR_LOOP)) {
      while (this.#sent < s.wire.length && s.fifo.length < this.#depth()) s.fifo.push(s.wire[this.#sent++]!);
      if (this.#sent > 0 && (this.#sent === s.wire.length || this.#sent > 4096)) {
        s.wire = this.#wire();
        this.#sent = 0;
      }
    }
    this.#lookIfQuiet();
    if (this.#cause() === IIR_NONE) this.#irq.lower();
    else this.#irq.raise();
  }
}
