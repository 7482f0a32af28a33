// CLINT: software interrupts and the machine timer.
// Specification: SiFive FU540-C000 manual, chapter 9; RISC-V ACLINT 1.0-rc4 (MTIMER, MSWI) for the
// layout.
//   0x0000 + 4h MSIP of hart h   0x4000 + 8h MTIMECMP of hart h   0xbff8 MTIME
// mtime counts at 10 MHz of virtual time: one tick is 100 retired instructions, or fewer with
// -icount (docs/architecture.md, "Time"). mtime wraps at 2^64, and MTIP follows the comparison when
// it does: it falls at the wrap.
// Divergence: a write to MTIME moves an offset, virtual time itself cannot be set.

import type { ClockPort, Device, FdtNode, HartLines, Placement } from '../emulator/bus/device.ts';
import { regmap } from '../emulator/bus/regmap.ts';

/** The number of harts for which the layout has space. */
export const CLINT_HARTS = 8;
/** Nanoseconds per tick of mtime. */
export const TICK = 100;
const WORD = 2 ** 32;
const TIMER_OFF = 0xffff_ffff_ffff_ffffn;
const WRAP = 1n << 64n;

export const CLINT_MAP = regmap({ title: 'clint', spec: 'FU540-C000 manual, chapter 9', size: 0x1_0000 }, [
  { id: 'msip', at: 0, bytes: 4, access: 'rw', count: CLINT_HARTS, doc: 'bit 0 drives mip.MSIP of hart n' },
  {
    id: 'mtimecmp',
    at: 0x4000,
    bytes: 8,
    access: 'rw',
    count: CLINT_HARTS,
    doc: 'mip.MTIP = mtime >= mtimecmp',
  },
  { id: 'mtime', at: 0xbff8, bytes: 8, access: 'rw', doc: 'ticks of 10 MHz' },
]);

/** A timer that compares mtime with its own deadline. */
export interface Comparator {
  /** Call after a change of the deadline: drives the level and arms the next change. */
  update(): void;
}

type Reg = (typeof CLINT_MAP.rows)[number]['id'];

export class Clint implements Device {
  readonly name = 'clint';
  readonly widths = [4, 8] as const;
  readonly #clock: ClockPort;
  readonly #lines: HartLines;
  readonly #harts: number;
  /** Called behind each store to mtime. */
  onSet: () => void = () => {};
  /**
   * Clock units per tick; may be fractional: 12.5 with a shift of 3. Quotients by it are exact
   * below 2^44 units.
   */
  readonly #tick: number;
  /** All comparators of mtime: first those of mtimecmp, one per hart. */
  readonly #comparators: Comparator[] = [];
  #msip: number[] = [];
  #mtimecmp: bigint[] = [];
  #offset = 0n;
  /** Of the state that was loaded last. */
  #numbers:
    | { readonly of: unknown; readonly mtimecmp: readonly bigint[]; readonly offset: bigint }
    | undefined;

  constructor(harts: number, clock: ClockPort, lines: HartLines) {
    this.#harts = harts;
    this.#clock = clock;
    this.#tick = TICK / clock.nsPerUnit;
    this.#lines = lines;
    this.#clear();
    for (let h = 0; h < harts; h++) {
      this.comparator(
        `clint${h}`,
        () => this.#mtimecmp[h],
        high => lines.set(h, 'mtip', high),
      );
    }
  }

  /** The value of mtime and of the `time` CSR now. */
  mtime(): bigint {
    return BigInt.asUintN(64, BigInt(Math.floor(this.#clock.now() / this.#tick)) + this.#offset);
  }

  /** Units of virtual time for one tick, if mtime counts those since power-on; else 0. */
  get unitsPerTick(): number {
    return this.#offset === 0n && Number.isInteger(this.#tick) ? this.#tick : 0;
  }

  /** The same as a number, for the `time` CSR; exact below 2^53. */
  ticks(): number {
    return this.#offset === 0n ? Math.floor(this.#clock.now() / this.#tick) : Number(this.mtime());
  }

  /**
   * A comparator with the level `mtime >= due()`. It drives the level at every `update`, at a write
   * of mtime, and at the alarm; the level is low while `due` is undefined. The clock saves the
   * alarm under `name`; the caller saves `due`.
   */
  comparator(name: string, due: () => bigint | undefined, drive: (high: boolean) => void): Comparator {
    const alarm = this.#clock.alarm(name, () => comparator.update());
    const comparator = {
      update: (): void => {
        const ticks = due();
        const mtime = this.mtime();
        const high = ticks !== undefined && mtime >= ticks;
        drive(high);
        // The next change: up at `due`, or down when mtime wraps.
        const at = ticks === undefined ? Infinity : this.#after(Number((high ? WRAP : ticks) - mtime));
        if (at > Number.MAX_SAFE_INTEGER) alarm.clear();
        else alarm.set(at);
      },
    };
    this.#comparators.push(comparator);
    return comparator;
  }

  /** Drives the lines of a hart again, after its reset. */
  drive(hart: number): void {
    this.#lines.set(hart, 'msip', this.#msip[hart] === 1);
    this.#comparators[hart]!.update();
  }

  read(offset: number, bytes: number): number {
    return CLINT_MAP.read(offset, bytes, this.#get);
  }

  write(offset: number, bytes: number, value: number): void {
    CLINT_MAP.write(offset, bytes, value, this.#set, this.#get);
  }

  peek(offset: number, bytes: number): number {
    return this.read(offset, bytes);
  }

  reset(): void {
    this.#clear();
    for (let h = 0; h < this.#harts; h++) {
      this.#lines.set(h, 'msip', false);
      this.#comparators[h]!.update();
    }
  }

  save(): unknown {
    return { msip: [...this.#msip], mtimecmp: this.#mtimecmp.map(String), offset: String(this.#offset) };
  }

  load(state: unknown): void {
    const s = state as { msip: number[]; mtimecmp: string[]; offset: string };
    this.#msip = [...s.msip];
    // Mostly it is the one as before: a fuzzer goes back to one state a million times.
    if (this.#numbers?.of !== state)
      this.#numbers = { of: state, mtimecmp: s.mtimecmp.map(BigInt), offset: BigInt(s.offset) };
    const { mtimecmp, offset } = this.#numbers!;
    this.#mtimecmp = [...mtimecmp];
    this.#offset = offset;
  }

  fdtNode({ base, size }: Placement): FdtNode {
    // The machine adds `interrupts-extended`: only it knows the harts' interrupt controllers.
    return {
      name: `clint@${base.toString(16)}`,
      props: { reg: [0, base, 0, size], compatible: ['sifive,clint0', 'riscv,clint0'] },
    };
  }

  #clear(): void {
    this.#msip = Array(this.#harts).fill(0);
    this.#mtimecmp = Array(this.#harts).fill(TIMER_OFF);
    this.#offset = 0n;
  }

  readonly #get = (id: Reg, index: number, word: number): number => {
    if (id === 'msip') return this.#msip[index] ?? 0;
    if (id === 'mtime' && this.#offset === 0n) {
      const ticks = this.ticks();
      return word === 0 ? ticks >>> 0 : Math.floor(ticks / WORD);
    }
    const value = id === 'mtime' ? this.mtime() : (this.#mtimecmp[index] ?? 0n);
    return Number((value >> BigInt(32 * word)) & 0xffff_ffffn);
  };

  readonly #set = (id: Reg, value: number, index: number, word: number): void => {
    if (id === 'mtime') {
      this.#offset += replaceWord(this.mtime(), word, value) - this.mtime();
      this.onSet();
      for (const comparator of this.#comparators) comparator.update();
    } else if (index < this.#harts) {
      if (id === 'msip') {
        this.#msip[index] = value & 1;
        this.#lines.set(index, 'msip', (value & 1) === 1);
      } else {
        this.#mtimecmp[index] = replaceWord(this.#mtimecmp[index]!, word, value);
        this.#comparators[index]!.update();
      }
    }
  };

  /**
   * The virtual time at which mtime will have ticked `count` times, count > 0; always after now.
   */
  #after(count: number): number {
    return Math.ceil((Math.floor(this.#clock.now() / this.#tick) + count) * this.#tick);
  }
}

function replaceWord(value: bigint, word: number, part: number): bigint {
  const shift = BigInt(32 * word);
  return (value & ~(0xffff_ffffn << shift)) | (BigInt(part >>> 0) << shift);
}
