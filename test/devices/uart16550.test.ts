// The UART as a 16550 driver sees it: FIFO, interrupt causes and their order, divisor latch,
// loopback.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Uart16550 } from '../../devices/uart16550.ts';
import { Line, Output } from './ports.ts';

const [RBR, IER, IIR, LCR, MCR, LSR, MSR, SCR] = [0, 1, 2, 3, 4, 5, 6, 7] as const;

function setup() {
  const irq = new Line();
  const out = new Output();
  return { irq, out, uart: new Uart16550(irq, out) };
}

describe('uart16550', () => {
  it('sends what is written to THR', () => {
    const { uart, out } = setup();
    for (const c of 'ok\n') uart.write(RBR, 1, c.charCodeAt(0));
    expect(out.text).toBe('ok\n');
    expect(uart.read(LSR)).toBe(0x60);
  });

  it('shows the divisor latch while DLAB is set and sends nothing then', () => {
    const { uart, out } = setup();
    uart.write(LCR, 1, 0x83);
    uart.write(RBR, 1, 0x34);
    uart.write(IER, 1, 0x12);
    expect([uart.read(RBR), uart.read(IER)]).toEqual([0x34, 0x12]);
    uart.write(LCR, 1, 3);
    expect(uart.read(IER)).toBe(0);
    expect(out.text).toBe('');
  });

  it('raises THRE when the interrupt is enabled, and clears it on IIR read while LSR keeps THRE', () => {
    const { uart, irq } = setup();
    uart.write(IER, 1, 2);
    expect(irq.level).toBe(true);
    expect(uart.read(IIR)).toBe(2);
    expect(irq.level).toBe(false);
    expect(uart.read(IIR)).toBe(1);
    expect(uart.read(LSR) & 0x20).toBe(0x20);
    uart.write(RBR, 1, 65);
    expect(irq.level).toBe(true);
  });

  it('marks a break among the characters until LSR is read, and keeps its place', () => {
    const { uart, irq } = setup();
    uart.write(IER, 1, 5);
    uart.write(IIR, 1, 1);
    uart.receive([65]);
    uart.receiveBreak();
    expect([uart.read(LSR), uart.read(RBR)]).toEqual([0x61, 65]);
    expect(uart.read(IIR) & 0xf).toBe(6);
    expect([uart.read(LSR), uart.read(LSR), uart.read(RBR)]).toEqual([0x71, 0x61, 0]);
    expect(irq.level).toBe(false);
  });

  it('takes long input apart in order, and saves what is left of it', () => {
    const { uart, irq, out } = setup();
    uart.write(IIR, 1, 1);
    uart.receive(Array.from({ length: 100_000 }, (_, i) => i & 255));
    for (let i = 0; i < 70_000; i++) expect(uart.read(RBR)).toBe(i & 255);
    const copy = new Uart16550(irq, out);
    copy.load(uart.save());
    for (let i = 70_000; i < 100_000; i++) if (copy.read(RBR) !== (i & 255)) throw new Error(`byte ${i}`);
    expect(copy.read(LSR) & 1).toBe(0);
  });

  it('keeps input on the wire until the FIFO has room and loses none', () => {
    const { uart, irq } = setup();
    uart.write(IIR, 1, 1);
    uart.write(IER, 1, 1);
    uart.receive(Array.from({ length: 40 }, (_, i) => i));
    expect(irq.level).toBe(true);
    const got: number[] = [];
    while (uart.read(LSR) & 1) got.push(uart.read(RBR));
    expect(got).toEqual(Array.from({ length: 40 }, (_, i) => i));
    expect(irq.level).toBe(false);
  });

  it('identifies a receive FIFO below its trigger as a time-out', () => {
    const { uart } = setup();
    uart.write(IIR, 1, 0xc1);
    uart.write(IER, 1, 1);
    uart.receive([1]);
    expect(uart.read(IIR)).toBe(0xcc);
    uart.receive(Array(20).fill(2));
    expect(uart.read(IIR)).toBe(0xc4);
  });

  it('loops back bytes and modem outputs', () => {
    const { uart, out } = setup();
    uart.write(MCR, 1, 0x1f);
    expect(uart.read(MSR) & 0xf0).toBe(0xf0);
    uart.write(MCR, 1, 0x10);
    expect(uart.read(MSR) & 0xf0).toBe(0);
    uart.write(RBR, 1, 77);
    expect(uart.read(RBR)).toBe(77);
    expect(out.text).toBe('');
  });

  it('peeks without changing anything', () => {
    const { uart, irq } = setup();
    uart.write(IER, 1, 1);
    uart.receive([9]);
    expect(uart.peek(RBR)).toBe(9);
    expect(uart.peek(IIR)).toBe(4);
    expect(irq.level).toBe(true);
    expect(uart.read(RBR)).toBe(9);
  });

  it('counts every access, and the empty polls since the last byte', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('poll', 'byte', 'send', 'scratch', 'receive')), steps => {
        const { uart } = setup();
        let [accesses, polls, waiting] = [0, 0, 0];
        for (const step of steps) {
          if (step === 'receive') {
            uart.receive([7]);
            waiting++;
            continue;
          }
          accesses++;
          if (step === 'poll') {
            expect(uart.read(LSR) & 1).toBe(waiting > 0 ? 1 : 0);
            if (waiting === 0) polls++;
          } else if (step === 'scratch') uart.write(SCR, 1, 1);
          else {
            polls = 0;
            if (step === 'send') uart.write(RBR, 1, 65);
            else if (uart.read(RBR) === 7) waiting--;
          }
          expect([uart.accesses, uart.emptyPolls]).toEqual([accesses, polls]);
        }
      }),
    );
  });

  it('continues from a saved state', () => {
    const { uart } = setup();
    uart.write(SCR, 1, 0x5a);
    uart.receive([1, 2, 3]);
    uart.read(RBR);
    const other = setup();
    other.uart.load(JSON.parse(JSON.stringify(uart.save())));
    expect(other.uart.read(SCR)).toBe(0x5a);
    expect(other.uart.read(RBR)).toBe(2);
  });
});
