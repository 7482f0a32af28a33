// The machine as users of the library see it.
import {
  aBigint,
  aFunction,
  aString,
  aWhole,
  is,
  isBytes,
  optional,
  optionsOf,
} from '../../emulator/base/arguments.ts';
import { KcovboxError } from '../../emulator/base/errors.ts';
import {
  createMachine,
  type Hart,
  type Machine as Inner,
  Timeline as InnerTimeline,
  Once,
  RAM_BASE,
  readMemory,
  stateHash,
  writeMemory,
} from '../../emulator/index.ts';
import {
  ADDRESS,
  BYTES_OF_INPUT,
  check,
  checkedDevice,
  HART,
  INPUT,
  MACHINE,
  PORT,
  SNAPSHOT,
  TIMELINE,
  TRACE,
  UNITS,
} from './checks.ts';
import type { KcovRecord } from './kcov.ts';
import {
  type InputEvent,
  type InputPort,
  imageFile,
  innerOptions,
  type MachineOptions,
  type TimelineOptions,
  type TraceOptions,
} from './options.ts';
import { type Registers, readNamed, registersOf, writeNamed } from './registers.ts';
import { restore, type Snapshot, save } from './snapshot.ts';
import type { StopReason } from './stop.ts';
import { Timeline } from './timeline.ts';
import { record, type TraceRecording } from './trace.ts';

export interface UntilOptions {
  /** At most so many instructions and exceptions. Default: no limit. */
  readonly units?: number;
  /** Units between two questions. The run ends at a multiple of them. Default: 100,000. */
  readonly every?: number;
}

/** How often instructions retired. */
export interface InstructionCounts {
  /** Virtual address of the first half-word. */
  readonly low: bigint;
  /** By half-word from `low` on. */
  readonly counts: BigUint64Array;
}

/** Output that nobody took is kept up to so many bytes; older ones go first. */
const OUTPUT_MAX = 16 * 2 ** 20;
const EVERY = 100_000;
const COUNT = aWhole(0, 2 ** 32 - 1);

const DATA = is('a Uint8Array', isBytes);
const UNTIL = optionsOf<UntilOptions>({ units: optional(UNITS), every: optional(aWhole(1)) });

const refused = (why: string): KcovboxError => new KcovboxError('machine', why);

/** A machine that is powered on and stands before its first instruction. */
export class Machine {
  readonly #inner: Inner;
  /** A timeline repeats output. */
  readonly #once: Once;
  readonly #kernel: Uint8Array | undefined;
  readonly #options: MachineOptions;
  #output = new Uint8Array(4096);
  #printed = 0;
  #listener: 'none' | 'records' | 'trace' = 'none';

  /**
   * @throws KcovboxError of kind `machine` for options or images that no machine can be built from.
   */
  constructor(options: MachineOptions) {
    check('new Machine', ['options', options, MACHINE]);
    const { onConsole = (byte: number) => this.#keep(byte), devices = [] } = options;
    this.#options = { ...options };
    const own = { ...options, devices: devices.map(checkedDevice) };
    this.#once = new Once(onConsole);
    this.#inner = createMachine(innerOptions(own, byte => this.#once.put(byte)));
    this.#kernel = options.kernel && imageFile(options.kernel, 'kernel').bytes;
  }

  /**
   * Runs the guest until something ends it. The call is synchronous; to stay responsive, run in
   * pieces. Where a run is cut into pieces makes no difference to the guest. Also returns `budget`
   * when the guest has made the devices do very much work, so that no call takes unbounded time.
   *
   * @param units - at most so many instructions and exceptions, of all harts together. Default: no
   *   limit.
   * @param duration - at most so much virtual time in units, which an idle guest passes without
   *   instructions.
   * @throws KcovboxError of kind `machine` if a number is not whole, or the engines of `lockstep`
   *   differ.
   */
  run(units = Infinity, duration = Infinity): StopReason {
    check('Machine.run', ['units', units, UNITS], ['duration', duration, UNITS]);
    return this.#inner.run(units, duration);
  }

  /**
   * Runs until `isDone` answers true; it is asked before the first instruction and after every
   * `every` units, at the same places in each run.
   *
   * @returns `{ kind: 'until' }` when it answered true; else why the run ended before.
   */
  runUntil(
    isDone: (machine: Machine) => boolean,
    options: UntilOptions = {},
  ): StopReason | { readonly kind: 'until' } {
    check('Machine.runUntil', ['isDone', isDone, aFunction], ['options', options, UNTIL]);
    const { units = Infinity, every = EVERY } = options;
    const limit = this.#inner.spent + units;
    for (;;) {
      if (isDone(this)) return { kind: 'until' };
      const { spent, time } = this.#inner;
      const end = Math.min(limit, (Math.floor(spent / every) + 1) * every);
      const reason = this.#inner.run(end - spent, Math.max(every, end - spent));
      const isOver = this.#inner.spent >= limit || (this.#inner.spent === spent && this.#inner.time === time);
      if (reason.kind !== 'budget' || isOver) return isDone(this) ? { kind: 'until' } : reason;
    }
  }

  /** Power-on again, from the same images. */
  reset(): void {
    this.#once.reset();
    this.#inner.reset();
  }

  /**
   * Input for the guest; it arrives before the next instruction.
   *
   * @param data - bytes, or text that is sent as UTF-8.
   */
  input(data: string | Iterable<number>, port: InputPort = 'uart'): void {
    check('Machine.input', ['data', data, INPUT], ['port', port, PORT]);
    const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : [...data];
    check('Machine.input', ['data', bytes, BYTES_OF_INPUT]);
    this.#inner.input(bytes, port);
  }

  /**
   * The guest's output since the last call; at most its last 16 MiB. Always empty with the option
   * `onConsole`. A terminal driver of the guest ends lines with CR LF.
   */
  takeOutput(): Uint8Array {
    const taken = this.#output.slice(0, this.#printed);
    this.#printed = 0;
    return taken;
  }

  /** All input so far, for the option `replay` of another machine. */
  get inputs(): readonly InputEvent[] {
    return this.#inner.journal.entries;
  }

  /** Instructions retired by all harts since power-on. */
  get instructions(): number {
    return this.#inner.instret;
  }

  /**
   * Virtual time since power-on: one unit for each instruction or exception, and what idle guests
   * pass.
   */
  get time(): number {
    return this.#inner.time;
  }

  /** Records of the kcov device since power-on, lost ones included. */
  get kcovRecords(): number {
    return this.#inner.kcovRecords;
  }

  /** Number of harts. */
  get harts(): number {
    return this.#inner.harts.length;
  }

  /** First physical address of RAM, and its bytes. */
  get ram(): { readonly base: number; readonly bytes: number } {
    return { base: RAM_BASE, bytes: this.#inner.ram.bytes };
  }

  /** Virtual address of a symbol of the kernel; undefined if there is none of this name. */
  symbol(name: string): bigint | undefined {
    check('Machine.symbol', ['name', name, aString]);
    return this.#inner.booted.kernel?.symbols.find(symbol => symbol.name === name)?.value;
  }

  /**
   * Bytes of RAM, copied.
   *
   * @param address - physical.
   * @throws KcovboxError of kind `machine` if the range is not in RAM.
   */
  readPhysical(address: bigint | number, bytes: number): Uint8Array {
    check('Machine.readPhysical', ['address', address, ADDRESS], ['bytes', bytes, COUNT]);
    return this.#inner.ram.read(this.#inRam(address, bytes), bytes).slice();
  }

  /** Stores to RAM at a physical address. Errors: as of `readPhysical`. */
  writePhysical(address: bigint | number, data: Uint8Array): void {
    check('Machine.writePhysical', ['address', address, ADDRESS], ['data', data, DATA]);
    this.#inner.ram.write(this.#inRam(address, data.length), data);
  }

  /**
   * Bytes of memory as a hart sees it through its page tables, with supervisor rights, copied.
   * Reads RAM, and registers of devices that can be read without side effects.
   *
   * @param address - virtual, signed or unsigned.
   * @throws KcovboxError of kind `machine` if a byte of the range is not mapped.
   */
  readVirtual(address: bigint | number, bytes: number, hart = 0): Uint8Array {
    check('Machine.readVirtual', ['address', address, ADDRESS], ['bytes', bytes, COUNT]);
    if (bytes === 0) return new Uint8Array(0);
    const found = readMemory(this.#inner, this.#hart(hart), BigInt(address), bytes);
    if (found?.length === bytes) return found;
    throw refused(
      `hart ${hart} has no ${bytes} bytes at 0x${BigInt.asUintN(64, BigInt(address)).toString(16)}`,
    );
  }

  /** Stores to RAM at a virtual address, all or nothing. Errors: as of `readVirtual`. */
  writeVirtual(address: bigint | number, data: Uint8Array, hart = 0): void {
    check('Machine.writeVirtual', ['address', address, ADDRESS], ['data', data, DATA]);
    if (writeMemory(this.#inner, this.#hart(hart), BigInt(address), data)) return;
    throw refused(
      `hart ${hart} has no ram of ${data.length} bytes at 0x${BigInt.asUintN(64, BigInt(address)).toString(16)}`,
    );
  }

  /** The registers of a hart. @throws KcovboxError of kind `machine` if there is no such hart. */
  registers(hart = 0): Registers {
    return registersOf(this.#hart(hart));
  }

  /**
   * One register.
   *
   * @param name - `pc`, `x10`, `a0`, `f10`, `fa0`, or the name of a CSR such as `satp`.
   * @returns 64 bits, unsigned.
   * @throws KcovboxError of kind `machine` if there is none of this name.
   */
  register(name: string, hart = 0): bigint {
    check('Machine.register', ['name', name, aString]);
    return readNamed(this.#hart(hart), name);
  }

  /**
   * Sets a register to the low 64 bits of `value`. A CSR takes what its rules allow. Errors: as of
   * `register`.
   */
  setRegister(name: string, value: bigint, hart = 0): void {
    check('Machine.setRegister', ['name', name, aString], ['value', value, aBigint]);
    writeNamed(this.#hart(hart), name, value);
  }

  /** All guest-visible state. */
  snapshot(): Snapshot {
    return save(this.#inner);
  }

  /**
   * Puts the machine into the state of a snapshot, of this machine or of one with the same options.
   * Costs what has changed. Output that nobody took stays.
   *
   * @throws KcovboxError of kind `machine` if it was taken from a machine of another make.
   */
  restore(snapshot: Snapshot): void {
    check('Machine.restore', ['snapshot', snapshot, SNAPSHOT]);
    this.#once.reset();
    restore(this.#inner, snapshot);
  }

  /**
   * Another machine with the same options in the same state, which goes on by itself. It has RAM
   * of its own: for many short runs from one state, `restore` is cheaper.
   *
   * @param onConsole - output of the new machine; without it, its `takeOutput` has it.
   */
  fork(onConsole?: (byte: number) => void): Machine {
    check('Machine.fork', ['onConsole', onConsole, optional(aFunction)]);
    const { onConsole: _, ...options } = this.#options;
    const machine = new Machine(onConsole ? { ...options, onConsole } : options);
    machine.restore(this.snapshot());
    return machine;
  }

  /**
   * A run that goes both ways, from here on: places, last stores, moments of an instruction. All
   * input has to be in the option `replay`. Output comes once, when the run first comes to it.
   */
  timeline(options: TimelineOptions = {}): Timeline {
    check('Machine.timeline', ['options', options, TIMELINE]);
    return new Timeline(new InnerTimeline(this.#inner, { ...options, companions: [this.#once] }));
  }

  /** 16 hexadecimal digits; machines with equal ones have the same guest-visible state. */
  stateHash(): string {
    return stateHash(this.#inner);
  }

  /**
   * Calls `listener` with each record of the kcov device while the guest runs; undefined ends it.
   * Guests with a listener run slower. There is one at a time, and none while a trace is recorded.
   *
   * @throws KcovboxError of kind `machine` if there is no kcov device, or a trace is being
   *   recorded.
   */
  onKcov(listener: ((record: KcovRecord) => void) | undefined): void {
    check('Machine.onKcov', ['listener', listener, optional(aFunction)]);
    this.#listen(listener ? 'records' : 'none');
    this.#inner.board.kcov?.onRecord(listener);
  }

  /**
   * Records what the kcov device sees from now on.
   *
   * @throws KcovboxError of kind `machine` if there is no kcov device, another trace or listener,
   *   or no kernel in ELF.
   */
  recordTrace(options: TraceOptions = {}): TraceRecording {
    check('Machine.recordTrace', ['options', options, TRACE]);
    if (this.#listener !== 'none') throw refused('the records of this machine have a listener already');
    if (!this.#kernel) throw refused('a trace needs the kernel, to name its image');
    this.#listen('trace');
    return record(this.#inner, this.#kernel, options, () => {
      this.#listener = 'none';
    });
  }

  /**
   * How often instructions retired since power-on; undefined without the option
   * `countInstructions`.
   */
  get instructionCounts(): InstructionCounts | undefined {
    const { retired } = this.#inner;
    return retired && { low: retired.place.low, counts: retired.read() };
  }

  #listen(to: 'none' | 'records' | 'trace'): void {
    if (!this.#inner.board.kcov) throw refused('this machine has no kcov device');
    if (this.#listener === 'trace') throw refused('a trace of this machine is being recorded');
    this.#listener = to;
  }

  #hart(number: number): Hart {
    check('Machine', ['hart', number, HART]);
    const hart = this.#inner.harts[number];
    if (!hart) throw refused(`hart ${number}: there are 0 to ${this.#inner.harts.length - 1}`);
    return hart;
  }

  #inRam(address: bigint | number, bytes: number): number {
    const at = Number(address);
    if (this.#inner.ram.has(at, bytes)) return at;
    throw refused(`${bytes} bytes at 0x${at.toString(16)} are not in ram`);
  }

  #keep(byte: number): void {
    if (this.#printed === OUTPUT_MAX) {
      this.#output.copyWithin(0, OUTPUT_MAX / 2);
      this.#printed = OUTPUT_MAX / 2;
    } else if (this.#printed === this.#output.length) {
      const wider = new Uint8Array(2 * this.#printed);
      wider.set(this.#output);
      this.#output = wider;
    }
    this.#output[this.#printed++] = byte;
  }
}
