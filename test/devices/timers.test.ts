// The small devices: CLINT, real-time clock, finisher and the teaching device, on a clock moved by
// hand.
import { describe, expect, it } from 'vitest';
import { Clint } from '../../devices/clint.ts';
import { Edu, factorial } from '../../devices/edu.ts';
import { Finisher } from '../../devices/finisher.ts';
import { RTC_EPOCH, Rtc } from '../../devices/rtc.ts';
import { HandClock, Line, Lines, RAM, ram } from './ports.ts';

const MTIMECMP = 0x4000;
const MTIME = 0xbff8;

describe('clint', () => {
  const setup = () => {
    const clock = new HandClock();
    const lines = new Lines();
    return { clock, lines, clint: new Clint(2, clock, lines) };
  };

  it('counts one tick per hundred instructions', () => {
    const { clint, clock } = setup();
    clock.time = 12_345;
    expect(clint.read(MTIME, 4)).toBe(123);
    expect(clint.read(MTIME + 4, 4)).toBe(0);
  });

  it.each([1, 3, 10])(
    'with -icount shift=%i an instruction takes so many nanoseconds, at the exact unit',
    shift => {
      const clock = new HandClock(2 ** shift);
      const lines = new Lines();
      const clint = new Clint(1, clock, lines);
      const rtc = new Rtc(clock, new Line());
      for (const ticks of [1, 17, 123_457, 2 ** 40 + 1]) {
        const at = Math.ceil((ticks * 100) / 2 ** shift);
        clint.write(MTIMECMP, 4, ticks >>> 0);
        clint.write(MTIMECMP + 4, 4, Math.floor(ticks / 2 ** 32));
        clock.advance(at - 1 - clock.time);
        expect([clint.ticks() < ticks, lines.get('mtip0')]).toEqual([true, false]);
        clock.advance(1);
        expect([clint.ticks() >= ticks, lines.get('mtip0')]).toEqual([true, true]);
        expect(clint.mtime()).toBe((BigInt(at) << BigInt(shift)) / 100n);
        expect(rtc.time() - RTC_EPOCH).toBe(BigInt(clock.time) << BigInt(shift));
      }
    },
  );

  it('shows both words of a time beyond 2^32 ticks, also after mtime was moved', () => {
    const { clint, clock } = setup();
    const ticks = 5 * 2 ** 32 + 0xfedc_ba98;
    clock.time = ticks * 100 + 99;
    expect([clint.read(MTIME, 4), clint.read(MTIME + 4, 4)]).toEqual([0xfedc_ba98, 5]);
    clint.write(MTIME + 4, 4, 7);
    expect([clint.read(MTIME, 4), clint.read(MTIME + 4, 4)]).toEqual([0xfedc_ba98, 7]);
  });

  it('raises MTIP exactly when mtime reaches mtimecmp and lowers it when mtimecmp moves on', () => {
    const { clint, clock, lines } = setup();
    clint.write(MTIMECMP + 8, 4, 5);
    clint.write(MTIMECMP + 12, 4, 0);
    clock.advance(499);
    expect(lines.get('mtip1')).toBe(false);
    clock.advance(1);
    expect(lines.get('mtip1')).toBe(true);
    expect(lines.get('mtip0')).toBe(false);
    clint.write(MTIMECMP + 8, 4, 6);
    expect(lines.get('mtip1')).toBe(false);
    clock.advance(100);
    expect(lines.get('mtip1')).toBe(true);
  });

  it('moves mtime when it is written and keeps deadlines relative to it', () => {
    const { clint, clock, lines } = setup();
    clint.write(MTIMECMP, 4, 1010);
    clint.write(MTIMECMP + 4, 4, 0);
    clint.write(MTIME, 4, 1000);
    clock.advance(999);
    expect(lines.get('mtip0')).toBe(false);
    clock.advance(1);
    expect(lines.get('mtip0')).toBe(true);
  });

  it.each([
    // mtime, mtimecmp, ticks until MTIP rises, and until it falls again
    [2n ** 64n - 1n, 0x1000_0000n, undefined, 1],
    [2n ** 64n - 5n, 3n, 8, 5],
    [2n ** 64n - 5n, 2n ** 64n - 2n, 3, 5],
    [2n ** 63n, 2n ** 63n + 7n, 7, undefined],
    [2n ** 53n + 1n, 2n ** 53n + 2n, 1, undefined],
  ])('compares mtime %d with mtimecmp %d, also where it wraps', (mtime, mtimecmp, rise, fall) => {
    const { clint, clock, lines } = setup();
    const write = (at: number, value: bigint): void => {
      clint.write(at, 4, Number(value & 0xffff_ffffn));
      clint.write(at + 4, 4, Number(value >> 32n));
    };
    write(MTIMECMP, mtimecmp);
    write(MTIME, mtime);
    let level = mtime >= mtimecmp;
    for (let tick = 0; tick <= 10; tick++) {
      if (tick === rise) level = true;
      if (tick === fall) level = false;
      expect(lines.get('mtip0'), `tick ${tick}`).toBe(level);
      clock.advance(99);
      expect(lines.get('mtip0'), `before tick ${tick + 1}`).toBe(level);
      clock.advance(1);
    }
  });

  it('a comparison after the wrap is a deadline in the future', () => {
    const { clint, clock, lines } = setup();
    clint.write(MTIME, 4, 0xffff_ffff);
    clint.write(MTIME + 4, 4, 0xffff_ffff);
    clock.advance(1000);
    clint.write(MTIMECMP, 4, 12);
    clint.write(MTIMECMP + 4, 4, 0);
    expect(clock.next()).toBe(1300);
    clock.advance(299);
    expect(lines.get('mtip0')).toBe(false);
    clock.advance(1);
    expect(lines.get('mtip0')).toBe(true);
  });

  it('drives MSIP from bit 0', () => {
    const { clint, lines } = setup();
    clint.write(4, 4, 0xffff_ffff);
    expect(clint.read(4, 4)).toBe(1);
    expect(lines.get('msip1')).toBe(true);
    clint.write(4, 4, 0);
    expect(lines.get('msip1')).toBe(false);
  });

  it('keeps its deadlines across save and load', () => {
    const { clint, clock } = setup();
    clint.write(MTIMECMP + 4, 4, 0);
    clint.write(MTIMECMP, 4, 7);
    const other = setup();
    other.clint.load(clint.save());
    other.clock.load(clock.save());
    other.clock.advance(700);
    expect(other.lines.get('mtip0')).toBe(true);
  });
});

describe('rtc', () => {
  it('starts at a fixed moment and advances a nanosecond per instruction', () => {
    const clock = new HandClock();
    const rtc = new Rtc(clock, new Line());
    clock.time = 1_500_000_000;
    const low = rtc.read(0, 4);
    clock.time += 2 ** 32;
    expect((BigInt(rtc.read(4, 4)) << 32n) | BigInt(low)).toBe(RTC_EPOCH + 1_500_000_000n);
  });

  it('rings its alarm at the exact instruction and is silenced by clearInterrupt', () => {
    const clock = new HandClock();
    const irq = new Line();
    const rtc = new Rtc(clock, irq);
    const due = RTC_EPOCH + 1000n;
    rtc.write(0x10, 4, 1);
    rtc.write(0x0c, 4, Number(due >> 32n));
    rtc.write(0x08, 4, Number(due & 0xffff_ffffn));
    expect(rtc.read(0x18, 4)).toBe(1);
    clock.advance(999);
    expect(irq.level).toBe(false);
    clock.advance(1);
    expect(irq.level).toBe(true);
    rtc.write(0x1c, 4, 1);
    expect(irq.level).toBe(false);
    expect(rtc.read(0x18, 4)).toBe(0);
  });
});

describe('rtc around its wrap', () => {
  it('an alarm after the clock was set close to 2^64 and wrapped is in the future', () => {
    const clock = new HandClock();
    const irq = new Line();
    const rtc = new Rtc(clock, irq);
    rtc.write(0x10, 4, 1);
    rtc.write(0x04, 4, 0xffff_ffff);
    rtc.write(0x00, 4, 0xffff_ff00);
    clock.advance(0x200);
    rtc.write(0x0c, 4, 0);
    rtc.write(0x08, 4, 0x110);
    expect(irq.level).toBe(false);
    clock.advance(0xf);
    expect(irq.level).toBe(false);
    clock.advance(1);
    expect(irq.level).toBe(true);
  });
});

describe('finisher', () => {
  it('tells pass, fail with its code, and reset apart', () => {
    const seen: string[] = [];
    const finisher = new Finisher({
      exit: s => seen.push(`exit ${s}`),
      reset: () => seen.push('reset'),
      mark: () => {},
    });
    finisher.write(0, 4, 0x5555);
    finisher.write(0, 4, (7 << 16) | 0x3333);
    finisher.write(0, 4, 0x7777);
    finisher.write(0, 4, 0x1234);
    finisher.write(4, 4, 0x5555);
    expect(seen).toEqual(['exit 0', 'exit 7', 'reset']);
  });
});

describe('edu', () => {
  const setup = () => {
    const clock = new HandClock();
    const irq = new Line();
    const memory = ram();
    return { clock, irq, memory, edu: new Edu(clock, irq, memory) };
  };

  it('inverts liveness', () => {
    const { edu } = setup();
    edu.write(4, 4, 0x0f0f_0f0f);
    expect(edu.read(4, 4) >>> 0).toBe(0xf0f0_f0f0);
  });

  it('is busy for an exact time, then interrupts until acknowledged', () => {
    const { edu, clock, irq } = setup();
    edu.write(0x20, 4, 0x80);
    edu.write(8, 4, 12);
    expect(edu.read(0x20, 4)).toBe(0x81);
    clock.advance(119);
    expect(irq.level).toBe(false);
    clock.advance(1);
    expect(irq.level).toBe(true);
    expect(edu.read(8, 4)).toBe(479_001_600);
    edu.write(0x64, 4, edu.read(0x24, 4));
    expect(irq.level).toBe(false);
  });

  it('refuses a second order while busy', () => {
    const { edu, clock } = setup();
    edu.write(8, 4, 3);
    edu.write(8, 4, 4);
    expect(edu.read(0x20, 4)).toBe(3);
    clock.advance(1000);
    expect(edu.read(8, 4)).toBe(6);
    edu.write(0x20, 4, 2);
    expect(edu.read(0x20, 4)).toBe(0);
  });

  it('copies between memory and its buffer by DMA', () => {
    const { edu, clock, memory } = setup();
    const dma = (source: number, target: number, count: number, command: number): void => {
      for (const [at, value] of [
        [0x80, source],
        [0x88, target],
        [0x90, count],
        [0x98, command],
      ] as const) {
        edu.write(at, 4, value);
      }
      clock.advance(5000);
    };
    memory.write(RAM, Uint8Array.of(1, 2, 3, 4));
    dma(RAM, 0x4_0010, 4, 1);
    dma(0x4_0010, RAM + 100, 4, 3);
    expect([...memory.read(RAM + 100, 4)]).toEqual([1, 2, 3, 4]);
    expect(edu.read(0x20, 4)).toBe(0);
  });

  it.each([
    ['memory below ram', 0x1000, 0x4_0000, 4],
    ['a count over the buffer', RAM, 0x4_0000, 4097],
    ['an end after ram', RAM + 0xffff, 0x4_0000, 2],
    ['a target before the buffer', RAM, 0x3_ffff, 4],
  ])('reports an error for %s and moves nothing', (_, source, target, count) => {
    const { edu, clock } = setup();
    edu.write(0x80, 4, source);
    edu.write(0x88, 4, target);
    edu.write(0x90, 4, count);
    edu.write(0x98, 4, 1);
    clock.advance(5000);
    expect(edu.read(0x20, 4)).toBe(2);
  });

  it('knows factorials modulo 2^32', () => {
    expect([0, 1, 5, 13, 33, 34, 1e9].map(factorial)).toEqual([
      1, 1, 120, 1_932_053_504, 2_147_483_648, 0, 0,
    ]);
  });
});
