// A machine with a device of your own, and snapshots. Runs in Node and, unchanged, in a page.
import { Machine } from 'kcovbox/emulator';

// Prints the text at its end, reads the device, and ends with the value as status.
const program = Uint32Array.of(
  0x10000437, // lui   s0, 0x10000    the serial port
  0x00000497, // auipc s1, 0
  0x04048493, // addi  s1, s1, 64     the text
  0x0004c503, // lbu   a0, 0(s1)
  0x00050863, // beqz  a0, +16
  0x00a40023, // sb    a0, 0(s0)
  0x00148493, // addi  s1, s1, 1
  0xff1ff06f, // j     -16
  0x05000937, // lui   s2, 0x5000     our device
  0x00092583, // lw    a1, 0(s2)
  0x01059593, // slli  a1, a1, 16
  0x000032b7, // lui   t0, 3
  0x33328293, // addi  t0, t0, 0x333
  0x0055e5b3, // or    a1, a1, t0
  0x00100337, // lui   t1, 0x100      the board's finisher
  0x00b32023, // sw    a1, 0(t1)
  0x0000006f, // j     .
);
const text = new TextEncoder().encode('hello, world\n\0');
const kernel = new Uint8Array([...new Uint8Array(program.buffer), ...text]);

/**
 * A device with one register that counts how often it was read. Its whole state is what `save`
 * returns.
 */
class Counter {
  name = 'counter';
  #reads = 0;
  read() {
    this.#reads += 1;
    return this.#reads;
  }
  write() {}
  reset() {
    this.#reads = 0;
  }
  save() {
    return { reads: this.#reads };
  }
  load(state) {
    this.#reads = state.reads;
  }
}

const machine = new Machine({
  kernel,
  bios: 'none',
  memory: 2 ** 21,
  devices: [{ base: 0x500_0000, size: 0x1000, create: () => new Counter() }],
});

// Until the first characters are out; the machine is asked at the same places in every run.
const printed = [];
machine.runUntil(
  () => {
    printed.push(...machine.takeOutput());
    return printed.length >= 5;
  },
  { every: 1 },
);
const middle = machine.snapshot();
console.log(`after ${machine.instructions} instructions: ${String.fromCharCode(...printed)}`);

// The rest of the run, twice from the same state.
const ends = new Set();
for (let i = 0; i < 2; i++) {
  machine.restore(middle);
  const { kind, status } = machine.run();
  const rest = new TextDecoder().decode(machine.takeOutput()).trim();
  console.log(`${kind} ${status} after "${rest}", a1 = ${machine.register('a1')}`);
  ends.add(machine.stateHash());
}
console.log(ends.size === 1 ? 'the same state twice' : 'two states');
