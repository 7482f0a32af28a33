// Goldfish real-time clock, as on QEMU's virt board. Its time is virtual: it starts at a fixed
// moment and advances one nanosecond per retired instruction (more with -icount), so it is the same
// on every run and every host.
// Specification: Android "goldfish" RTC, as in QEMU hw/rtc/goldfish_rtc.c and Linux
// drivers/rtc/rtc-goldfish.c.
//   0x00 TIME_LOW (latches the high half)  0x04 TIME_HIGH  0x08 ALARM_LOW (arms)  0x0c ALARM_HIGH
//   0x10 IRQ_ENABLED  0x14 CLEAR_ALARM  0x18 ALARM_STATUS  0x1c CLEAR_INTERRUPT

import type { Alarm, ClockPort, Device, FdtNode, IrqLine, Placement } from '../emulator/bus/device.ts';
import { regmap } from '../emulator/bus/regmap.ts';

export const RTC_MAP = regmap({ title: 'rtc', spec: 'goldfish RTC', size: 0x1000 }, [
  {
    id: 'timeLow',
    at: 0x00,
    bytes: 4,
    access: 'rw',
    doc: 'nanoseconds since 1970, low half; reading latches the high',
  },
  { id: 'timeHigh', at: 0x04, bytes: 4, access: 'rw', doc: 'the latched high half' },
  { id: 'alarmLow', at: 0x08, bytes: 4, access: 'rw', doc: 'alarm time, low half; writing arms the alarm' },
  { id: 'alarmHigh', at: 0x0c, bytes: 4, access: 'rw', doc: 'alarm time, high half' },
  { id: 'irqEnabled', at: 0x10, bytes: 4, access: 'rw', doc: 'bit 0 = the alarm interrupts' },
  { id: 'clearAlarm', at: 0x14, bytes: 4, access: 'w', doc: 'disarms the alarm' },
  { id: 'alarmStatus', at: 0x18, bytes: 4, access: 'r', doc: '1 = armed' },
  { id: 'clearInterrupt', at: 0x1c, bytes: 4, access: 'w', doc: 'lowers the interrupt' },
]);

/** 2026-01-01T00:00:00Z, in nanoseconds: a date that certificates and build systems accept. */
export const RTC_EPOCH = 1_767_225_600_000_000_000n;

type Reg = (typeof RTC_MAP.rows)[number]['id'];

interface State {
  /** Guest time minus virtual time. */
  offset: string;
  latchedHigh: number;
  alarmLow: number;
  alarmHigh: number;
  enabled: number;
  pending: boolean;
}

const low = (v: bigint): number => Number(v & 0xffff_ffffn);
const high = (v: bigint): number => Number((v >> 32n) & 0xffff_ffffn);

export class Rtc implements Device {
  readonly name = 'rtc';
  readonly widths = [4] as const;
  readonly #clock: ClockPort;
  readonly #irq: IrqLine;
  readonly #alarm: Alarm;
  readonly #epoch: bigint;
  #s: State;

  constructor(clock: ClockPort, irq: IrqLine, epoch = RTC_EPOCH) {
    this.#clock = clock;
    this.#irq = irq;
    this.#epoch = epoch;
    this.#alarm = clock.alarm('rtc', () => {
      this.#s.pending = true;
      this.#update();
    });
    this.#s = this.#initial();
  }

  /** Nanoseconds since 1970, as the guest sees it. */
  time(): bigint {
    return BigInt.asUintN(64, BigInt(this.#s.offset) + this.#elapsed());
  }

  read(offset: number, bytes: number): number {
    return RTC_MAP.read(offset, bytes, this.#get);
  }

  write(offset: number, bytes: number, value: number): void {
    RTC_MAP.write(offset, bytes, value, this.#set, this.#get);
    this.#update();
  }

  peek(offset: number, bytes: number): number {
    const { latchedHigh } = this.#s;
    const value = this.read(offset, bytes);
    this.#s.latchedHigh = latchedHigh;
    return value;
  }

  reset(): void {
    this.#s = this.#initial();
    this.#alarm.clear();
    this.#irq.lower();
  }

  save(): unknown {
    return { ...this.#s };
  }

  load(state: unknown): void {
    this.#s = { ...(state as State) };
    this.#update();
  }

  fdtNode({ base, size, irq, intc }: Placement): FdtNode {
    return {
      name: `rtc@${base.toString(16)}`,
      props: {
        interrupts: [irq],
        'interrupt-parent': [intc],
        reg: [0, base, 0, size],
        compatible: 'google,goldfish-rtc',
      },
    };
  }

  /** Nanoseconds since power-on. */
  #elapsed(): bigint {
    return BigInt(this.#clock.now()) * BigInt(this.#clock.nsPerUnit);
  }

  #initial(): State {
    return {
      offset: String(this.#epoch),
      latchedHigh: 0,
      alarmLow: 0,
      alarmHigh: 0,
      enabled: 0,
      pending: false,
    };
  }

  readonly #get = (id: Reg): number => {
    const s = this.#s;
    switch (id) {
      case 'timeLow': {
        const now = this.time();
        s.latchedHigh = high(now);
        return low(now);
      }
      case 'timeHigh':
        return s.latchedHigh;
      case 'alarmLow':
        return s.alarmLow;
      case 'alarmHigh':
        return s.alarmHigh;
      case 'irqEnabled':
        return s.enabled;
      case 'alarmStatus':
        return this.#alarm.at === Infinity ? 0 : 1;
      default:
        return 0;
    }
  };

  readonly #set = (id: Reg, value: number): void => {
    const s = this.#s;
    switch (id) {
      case 'timeLow':
        this.#setTime((BigInt(high(this.time())) << 32n) | BigInt(value));
        break;
      case 'timeHigh':
        this.#setTime((BigInt(value) << 32n) | BigInt(low(this.time())));
        break;
      case 'alarmLow':
        s.alarmLow = value;
        this.#arm();
        break;
      case 'alarmHigh':
        s.alarmHigh = value;
        break;
      case 'irqEnabled':
        s.enabled = value & 1;
        break;
      case 'clearAlarm':
        this.#alarm.clear();
        break;
      case 'clearInterrupt':
        s.pending = false;
        break;
    }
  };

  #setTime(time: bigint): void {
    this.#s.offset = String(time - this.#elapsed());
  }

  #arm(): void {
    const s = this.#s;
    const due = (BigInt(s.alarmHigh) << 32n) | BigInt(s.alarmLow);
    // The distance, not an absolute time: the guest may have set a clock that wraps meanwhile.
    const wait = Number(due - this.time());
    if (wait <= 0) {
      // An alarm in the past fires at once.
      this.#alarm.clear();
      s.pending = true;
    } else {
      const units = Math.ceil(wait / this.#clock.nsPerUnit);
      this.#alarm.set(Math.min(this.#clock.now() + units, Number.MAX_SAFE_INTEGER));
    }
  }

  #update(): void {
    if (this.#s.pending && this.#s.enabled) this.#irq.raise();
    else this.#irq.lower();
  }
}
