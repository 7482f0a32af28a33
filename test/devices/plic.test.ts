// The interrupt controller: priorities, thresholds, claim and complete, per context.
import { describe, expect, it } from 'vitest';
import { Plic } from '../../devices/plic.ts';
import { Uart16550 } from '../../devices/uart16550.ts';
import { Lines, Output } from './ports.ts';

const PENDING = 0x1000;
const enable = (context: number) => 0x2000 + 0x80 * context;
const threshold = (context: number) => 0x20_0000 + 0x1000 * context;
const claim = (context: number) => threshold(context) + 4;
const S0 = 1;

function setup(harts = 2) {
  const lines = new Lines();
  return { lines, plic: new Plic(harts, lines) };
}

describe('plic', () => {
  it('interrupts the context that enabled the source, once its priority beats the threshold', () => {
    const { plic, lines } = setup();
    plic.write(4 * 10, 4, 2);
    plic.write(enable(S0), 4, 1 << 10);
    plic.write(threshold(S0), 4, 2);
    plic.line(10).raise();
    expect(plic.read(PENDING, 4)).toBe(1 << 10);
    expect(lines.get('seip0')).toBe(false);
    plic.write(threshold(S0), 4, 1);
    expect(lines.get('seip0')).toBe(true);
    expect(lines.get('meip0')).toBe(false);
    expect(lines.get('seip1')).toBe(false);
  });

  it('breaks ties toward the lowest source and prefers higher priority', () => {
    const { plic } = setup();
    for (const [source, priority] of [
      [40, 3],
      [7, 3],
      [3, 1],
    ] as const) {
      plic.write(4 * source, 4, priority);
      plic.line(source).raise();
    }
    plic.write(enable(S0), 4, (1 << 7) | (1 << 3));
    plic.write(enable(S0) + 4, 4, 1 << 8);
    expect([plic.read(claim(S0), 4), plic.read(claim(S0), 4), plic.read(claim(S0), 4)]).toEqual([7, 40, 3]);
    expect(plic.read(claim(S0), 4)).toBe(0);
  });

  it('forwards a level that is still high again after completion, not before', () => {
    const { plic, lines } = setup();
    plic.write(4, 4, 1);
    plic.write(enable(S0), 4, 2);
    const line = plic.line(1);
    line.raise();
    expect(plic.read(claim(S0), 4)).toBe(1);
    expect(lines.get('seip0')).toBe(false);
    plic.write(claim(S0), 4, 1);
    expect(lines.get('seip0')).toBe(true);
    plic.read(claim(S0), 4);
    line.lower();
    plic.write(claim(S0), 4, 1);
    expect(lines.get('seip0')).toBe(false);
  });

  // As QEMU's, so no request is lost that is made in service, and none repeats that nobody ended.
  it("takes the UART's line whenever it is driven, and not at completion", () => {
    const { plic, lines } = setup();
    const uart = new Uart16550(plic.drivenLine(10), new Output());
    plic.write(4 * 10, 4, 1);
    plic.write(enable(S0), 4, 1 << 10);
    const isAsked = () => lines.get('seip0');
    uart.write(1, 1, 2); // IER: THRE
    expect([isAsked(), plic.read(claim(S0), 4), uart.read(2) & 0xf]).toEqual([true, 10, 2]);
    uart.write(0, 1, 65);
    uart.read(5);
    expect([isAsked(), plic.read(claim(S0), 4)]).toEqual([false, 0]); // in service
    plic.write(claim(S0), 4, 10);
    // The next handler ends nothing, as xv6's.
    expect([isAsked(), plic.read(claim(S0), 4), uart.read(5)]).toEqual([true, 10, 0x60]);
    plic.write(claim(S0), 4, 10);
    expect(isAsked()).toBe(false);
    const copy = setup();
    const other = new Uart16550(copy.plic.drivenLine(10), new Output());
    copy.plic.load(plic.save());
    other.load(uart.save());
    expect(copy.plic.save()).toEqual(plic.save());
    other.write(0, 1, 66);
    expect(copy.lines.get('seip0')).toBe(true);
    other.read(2);
    expect(copy.plic.read(PENDING, 4)).toBe(0);
  });

  it('ignores completion of a source that the context has not enabled', () => {
    const { plic, lines } = setup();
    plic.write(4, 4, 1);
    plic.write(enable(S0), 4, 2);
    plic.line(1).raise();
    plic.read(claim(S0), 4);
    plic.write(claim(0), 4, 1);
    expect(lines.get('seip0')).toBe(false);
    plic.write(claim(S0), 4, 0xffff_ffff);
  });

  it('never forwards source 0 and keeps reserved bits zero', () => {
    const { plic } = setup();
    plic.write(0, 4, 7);
    plic.write(enable(S0), 4, 0xffff_ffff);
    plic.write(enable(S0) + 12, 4, 0xffff_ffff);
    expect([plic.read(0, 4), plic.read(enable(S0), 4), plic.read(enable(S0) + 12, 4)]).toEqual([
      0, 0xffff_fffe, 1,
    ]);
    plic.write(enable(9), 4, 0xffff_ffff);
    expect(plic.read(enable(9), 4)).toBe(0);
  });

  it('restores what was in service', () => {
    const a = setup();
    a.plic.write(4, 4, 1);
    a.plic.write(enable(S0), 4, 2);
    a.plic.line(1).raise();
    a.plic.read(claim(S0), 4);
    const b = setup();
    b.plic.load(JSON.parse(JSON.stringify(a.plic.save())));
    expect(b.lines.get('seip0')).toBe(false);
    b.plic.write(claim(S0), 4, 1);
    expect(b.lines.get('seip0')).toBe(true);
  });
});
