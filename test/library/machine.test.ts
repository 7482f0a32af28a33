// The machine of kcovbox/emulator: what its class adds to the emulator, and what it refuses.
import { describe, expect, test } from 'vitest';
import { type AddedDevice, type Device, KcovboxError, Machine } from '../../library/emulator.ts';

const DEVICE = 0x500_0000;
const RAM = 0x8000_0000;

/** Code for M-mode at the start of RAM. */
const code = (...words: number[]): Uint8Array => new Uint8Array(Uint32Array.from(words).buffer);
const SPIN = 0x0000_006f; // j .
/** Counts in a0: addi a0, a0, 1; j -4. */
const COUNT = code(0x0015_0513, 0xffdf_f06f);

const machineOf = (kernel: Uint8Array, more: object = {}): Machine =>
  new Machine({ kernel, bios: 'none', memory: 2 ** 21, ...more });

/** A register that holds what was stored, and raises its interrupt for an odd value. */
const latch = (more: Partial<AddedDevice> = {}, name = 'latch'): AddedDevice => ({
  base: DEVICE,
  size: 4096,
  create: ({ irq }): Device => {
    let value = 0;
    return {
      name,
      read: () => value,
      write: (_offset, _bytes, stored) => {
        value = stored;
        if (stored & 1) irq.raise();
        else irq.lower();
      },
      reset: () => {
        value = 0;
        irq.lower();
      },
      save: () => value,
      load: state => {
        value = state as number;
      },
    };
  },
  ...more,
});

const refusal = (body: () => unknown): string => {
  try {
    body();
  } catch (error) {
    expect(error).toBeInstanceOf(KcovboxError);
    expect((error as KcovboxError).kind).toBe('machine');
    expect((error as Error).message).toMatch(/^\P{Cc}+$/u);
    return (error as Error).message;
  }
  return 'nothing was thrown';
};

describe('a run', () => {
  test('is the same in pieces, on both engines, and after a snapshot', () => {
    const whole = machineOf(COUNT);
    expect(whole.run(10_000)).toEqual({ kind: 'budget' });
    const pieces = machineOf(COUNT, { engine: 'interp' });
    for (let i = 0; i < 10; i++) pieces.run(700);
    const middle = pieces.snapshot();
    pieces.run(5000);
    pieces.restore(structuredClone(middle));
    pieces.run(3000);
    expect(pieces.stateHash()).toBe(whole.stateHash());
    expect(whole.register('a0')).toBe(5000n);
    expect({ instructions: whole.instructions, time: whole.time }).toEqual({
      instructions: 10_000,
      time: 10_000,
    });
  });

  test('until something is asked at the same places, and never beyond its units', () => {
    const machine = machineOf(COUNT);
    const seen: number[] = [];
    const reason = machine.runUntil(
      one => {
        seen.push(one.time);
        return one.register('a0') >= 100n;
      },
      { every: 64 },
    );
    expect(reason).toEqual({ kind: 'until' });
    expect(seen).toEqual([0, 64, 128, 192, 256]);
    expect(machine.runUntil(() => false, { units: 1000 })).toEqual({ kind: 'budget' });
    expect(machine.time).toBe(1256);
    expect(refusal(() => machine.runUntil(() => false, { every: 0 }))).toMatch('every is 0');
    expect(refusal(() => machine.run(0.5))).toMatch('expected a whole number');
  });

  test('with input again gives the same machine', () => {
    const first = machineOf(code(SPIN));
    first.run(10);
    first.input('hello');
    first.run(10);
    const second = machineOf(code(SPIN), { replay: first.inputs });
    second.run(20);
    expect(second.stateHash()).toBe(first.stateHash());
    expect(second.inputs.map(({ at, port }) => ({ at, port }))).toEqual([{ at: 10, port: 'uart' }]);
  });
});

describe('a device of the caller', () => {
  // lui s2, 0x5000; li a1, 7; sw a1, 0(s2); lw a2, 0(s2); j .
  const STORE = code(0x0500_0937, 0x0070_0593, 0x00b9_2023, 0x0009_2603, SPIN);

  test.each(['jit', 'interp', 'lockstep'] as const)('is read, written and saved with %s', engine => {
    const machine = machineOf(STORE, { engine, devices: [latch({ irq: 40 })] });
    machine.run(4);
    expect(machine.register('a2')).toBe(7n);
    const saved = machine.snapshot();
    machine.reset();
    expect(machine.register('a2')).not.toBe(7n);
    machine.run(4);
    expect(machine.stateHash()).toBe(saved.hash);
    machine.restore(saved);
    expect(machine.stateHash()).toBe(saved.hash);
    // Level 40 of the PLIC's pending bits: byte 5 of 0xc001000.
    expect(machine.readVirtual(0xc00_1004, 4)).toEqual(Uint8Array.of(0, 1, 0, 0));
  });

  test.each([
    [{ base: 0x500_0100 }, 'multiples of 4096'],
    [{ size: 0 }, 'multiples of 4096'],
    [{ base: RAM }, 'where ram begins'],
    [{ base: 0x1000_0000 }, 'overlaps uart'],
    [{ base: 0xc00_0000 }, 'overlaps plic'],
    [{ irq: 10 }, 'interrupt 10 is that of uart'],
    [{ irq: 97 }, '1 to 96 are possible'],
  ])('cannot be placed with %j', (more, message) =>
    expect(refusal(() => machineOf(STORE, { devices: [latch(more)] }))).toMatch(message),
  );

  test('has a name and a place of its own', () => {
    const twice = (more: object, name: string) => [latch(), latch(more, name)];
    expect(refusal(() => machineOf(STORE, { devices: twice({}, 'b') }))).toMatch('overlaps latch');
    const same = twice({ base: DEVICE + 4096 }, 'latch');
    expect(refusal(() => machineOf(STORE, { devices: same }))).toMatch('another device of this name');
  });
});

describe('memory and registers', () => {
  test('are read and written, and what is not there is refused', () => {
    const machine = machineOf(COUNT);
    expect(machine.ram).toEqual({ base: RAM, bytes: 2 ** 21 });
    expect(machine.readPhysical(RAM, 8)).toEqual(COUNT);
    machine.run(101);
    machine.writePhysical(BigInt(RAM) + 4n, code(SPIN)); // compiled code follows stores of the host
    machine.run(100);
    expect(machine.register('a0')).toBe(51n);
    machine.setRegister('t0', -1n);
    expect(machine.register('x5')).toBe(2n ** 64n - 1n);
    expect(machine.register('mhartid')).toBe(0n);
    const { x, f, privilege } = machine.registers();
    expect([x.length, f.length, x[10], privilege]).toEqual([32, 32, 51n, 'machine']);
    expect(refusal(() => machine.register('a99'))).toMatch('no register a99');
    expect(refusal(() => machine.registers(1))).toBe('hart 1: there are 0 to 0');
    expect(refusal(() => machine.readPhysical(RAM - 1, 1))).toMatch('are not in ram');
    expect(refusal(() => machine.readPhysical(RAM, -1))).toMatch('bytes is -1');
    expect(refusal(() => machine.readVirtual(0n, 4))).toMatch('has no 4 bytes at 0x0');
    expect(refusal(() => machine.writeVirtual(-1n, code(1)))).toMatch('0xffffffffffffffff');
  });

  test('a fork goes on from here by itself', () => {
    // Reads the serial port: lui s0, 0x10000; lbu a1, 5(s0); andi a1, a1, 1; beqz a1, -8;
    // lbu a0, 0(s0); sb a0, 0(s0); j -20.
    const echo = code(
      0x1000_0437, 0x0054_4583, 0x0015_f593, 0xfe05_8ce3, 0x0004_4503, 0x00a4_0023, 0xfedf_f06f,
    ); // biome-ignore format: instructions
    const text = (machine: Machine): string => new TextDecoder().decode(machine.takeOutput());
    const own = { harts: 2, schedSeed: 5n, devices: [latch()], memory: 2 ** 22 };
    const one = machineOf(echo, own);
    one.input('ab');
    one.run(100_003);
    expect(text(one)).toBe('ab');
    const state = one.stateHash();
    const printed: number[] = [];
    const [two, three] = [one.fork(), one.fork(byte => printed.push(byte))];
    expect([two.stateHash(), three.stateHash()]).toEqual([state, state]);
    expect(two.inputs).toEqual(one.inputs);
    for (const machine of [two, three]) machine.input('c');
    for (const machine of [two, three]) machine.run(50_001);
    expect(text(two)).toBe('c');
    expect(String.fromCharCode(...printed)).toBe('c');
    expect(three.stateHash()).toBe(two.stateHash());
    // The first one stands where it was, and goes the same way with the same input.
    expect([one.stateHash(), text(one)]).toEqual([state, '']);
    one.input('c');
    one.run(50_001);
    expect(one.stateHash()).toBe(two.stateHash());
    expect(two.fork().stateHash()).toBe(two.stateHash());
    expect(refusal(() => one.fork('x' as never))).toMatch(/^Machine\.fork: onConsole is "x", expected/);
  });

  test('a fork of a run that replays its input gets the rest of it', () => {
    const first = machineOf(COUNT);
    first.input('x');
    first.run(1000);
    first.input('y');
    first.run(1000);
    const second = machineOf(COUNT, { replay: first.inputs });
    second.run(500);
    const third = second.fork();
    for (const machine of [second, third]) machine.run(1500);
    expect([second.stateHash(), third.stateHash()]).toEqual([first.stateHash(), first.stateHash()]);
  });

  test('a snapshot of another make is refused', () => {
    const snapshot = machineOf(COUNT).snapshot();
    expect(refusal(() => machineOf(COUNT, { memory: 2 ** 22 }).restore(snapshot))).toMatch('does not fit');
    expect(refusal(() => machineOf(COUNT, { devices: [latch()] }).restore(snapshot))).toMatch('board');
  });
});

test('output that nobody takes is bounded, and the last of it stays', () => {
  // lui s0, 0x10000; addi a0, a0, 1; sb a0, 0(s0); j -8
  const machine = machineOf(code(0x1000_0437, 0x0015_0513, 0x00a4_0023, 0xff9f_f06f));
  machine.run(3 * 3000 + 1);
  const output = machine.takeOutput();
  expect(output.length).toBe(3000);
  expect(output.at(-1)).toBe(3000 & 255);
  expect(machine.takeOutput().length).toBe(0);
});

test('without a kcov device there is nothing to listen to', () => {
  const machine = machineOf(COUNT, { kcov: false });
  expect(refusal(() => machine.onKcov(() => {}))).toMatch('no kcov device');
  expect(refusal(() => machine.recordTrace())).toMatch('no kcov device');
});
