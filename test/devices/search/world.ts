// The board without harts: bus, RAM, clock and all devices, with ports that count what the host has
// to do. A program (program.ts) is a list of actions; each action has a budget of work, and going
// beyond it is an error like any exception.

import { LIMIT } from '../../../devices/kcov-layout.ts';
import { romContents } from '../../../devices/rom.ts';
import { BURST } from '../../../devices/virtio-mmio.ts';
import { DESC_WORK, PIECE, QUEUE_MAX, REQUEST_WORK } from '../../../devices/virtio-queue.ts';
import { Bus } from '../../../emulator/bus/bus.ts';
import type { Alarm } from '../../../emulator/bus/device.ts';
import { Ram } from '../../../emulator/bus/ram.ts';
import { Clock } from '../../../emulator/machine/clock.ts';
import { type Board, buildBoard } from '../../../emulator/machine/devices.ts';
import { MAP, RAM_BASE } from '../../../emulator/machine/memory-map.ts';
import { complete } from '../../../emulator/machine/options.ts';
import type { Action, Program } from './program.ts';

export const RAM_BYTES = 2 << 20;
const PAGE = 4096;
/** Of fw_cfg: one file is moved at once, one is not, and one is empty. */
const FILES = [100, 200_000, 0].map((length, i) => ({
  name: `opt/${i}`,
  bytes: Uint8Array.from({ length }, (_, at) => at * 7 + 1),
}));
const DISK = Uint8Array.from({ length: 96 * 1024 + 100 }, (_, i) => i * 13);

/** Most work of one step of a virtio device: a burst, the walk of one chain, one piece. */
const VIRTIO_STEP = BURST + REQUEST_WORK + DESC_WORK * (QUEUE_MAX + 2) + PIECE;
/** Most work of one hook. */
const KCOV_STEP = LIMIT.SWITCH_CASES + LIMIT.SEEN_STEPS;
/** Most work of one access or one alarm: both queues of a console may take a step. */
const STEP = Math.max(2 * VIRTIO_STEP, KCOV_STEP);
const VIRTIO_DEVICES = 4;
/** RAM accesses for one unit of work (a case of a switch, a node of a seen-set), and for none. */
const OPS_PER_UNIT = 40;
const OPS_FREE = 800;
/** Bytes moved for one unit of work, and for none (edu's buffer, a hook table). */
const BYTES_PER_UNIT = 4;
const BYTES_FREE = 8192;
/** Most bytes that a device copies at a time. */
const COPY_MAX = Math.max(PIECE, 4096);
/** Alarms that may fire at one moment: two of each hart's, one of each device. */
const ALARMS = 32;
/** Devices whose work is paid by virtual time. */
const isPaced = (device: string): boolean => device.startsWith('virtio');
/**
 * Most bytes of a device's saved state that do not come from the host's input or the guest's disk.
 */
const STATE_MAX = 16_384;

export class Overrun extends Error {
  override readonly name = 'Overrun';
}

/** RAM that counts accesses and bytes, and remembers which pages are not zero. */
class CountingRam extends Ram {
  ops = 0;
  moved = 0;
  opsMax = Infinity;
  movedMax = Infinity;
  readonly dirty = new Set<number>();

  override read8(pa: number): number {
    return this.#count(pa, 1, super.read8(pa));
  }
  override read16(pa: number): number {
    return this.#count(pa, 2, super.read16(pa));
  }
  override read32(pa: number): number {
    return this.#count(pa, 4, super.read32(pa));
  }
  override read64(pa: number): bigint {
    return this.#count(pa, 8, super.read64(pa));
  }
  override write8(pa: number, value: number): void {
    this.#count(pa, 1, super.write8(pa, value), true);
  }
  override write16(pa: number, value: number): void {
    this.#count(pa, 2, super.write16(pa, value), true);
  }
  override write32(pa: number, value: number): void {
    this.#count(pa, 4, super.write32(pa, value), true);
  }
  override write64(pa: number, value: bigint): void {
    this.#count(pa, 8, super.write64(pa, value), true);
  }
  override read(pa: number, bytes: number): Uint8Array {
    this.#copy(bytes);
    return this.#count(pa, bytes, super.read(pa, bytes));
  }
  override write(pa: number, data: Uint8Array): void {
    this.#copy(data.length);
    this.#count(pa, data.length, super.write(pa, data), true);
  }

  /** The guest's own store, which costs nothing here. */
  poke(pa: number, bytes: number, value: bigint): void {
    for (let i = 0; i < bytes; i++) this.data[pa - this.base + i] = Number((value >> BigInt(8 * i)) & 0xffn);
    this.#mark(pa, bytes);
  }

  clear(): void {
    for (const page of this.dirty) this.data.fill(0, page * PAGE, (page + 1) * PAGE);
    this.dirty.clear();
  }

  #copy(bytes: number): void {
    if (bytes > COPY_MAX) throw new Overrun(`${bytes} bytes are copied at once`);
  }

  #count<T>(pa: number, bytes: number, result: T, isWrite = false): T {
    this.ops++;
    if (bytes > 8) this.moved += bytes;
    if (this.ops > this.opsMax) throw new Overrun(`more than ${this.opsMax} accesses to ram`);
    if (this.moved > this.movedMax) throw new Overrun(`more than ${this.movedMax} bytes are moved`);
    if (isWrite) this.#mark(pa, bytes);
    return result;
  }

  #mark(pa: number, bytes: number): void {
    const last = Math.floor((pa - this.base + bytes - 1) / PAGE);
    for (let page = Math.floor((pa - this.base) / PAGE); page <= last; page++) this.dirty.add(page);
  }
}

/** A clock whose alarms are counted by moment. */
class CountingClock extends Clock {
  time = 0;
  /** The device whose alarm fires. */
  firing = '';
  #fired = 0;
  #at = -1;

  constructor() {
    super();
    this.source = () => this.time;
  }

  override alarm(name: string, fire: () => void): Alarm {
    return super.alarm(name, () => {
      if (this.time !== this.#at) this.#fired = 0;
      this.#at = this.time;
      if (++this.#fired > ALARMS) throw new Overrun(`alarm ${name} fires again and again at ${this.time}`);
      this.firing = name;
      fire();
      this.firing = '';
    });
  }
}

/** The surroundings of the first difference of two texts. */
function difference(a: string, b: string): string {
  let at = 0;
  while (a[at] === b[at]) at++;
  const part = (text: string): string => text.slice(Math.max(0, at - 60), at + 40);
  return `...${part(a)}... becomes ...${part(b)}...`;
}

export interface Costs {
  /** Largest number of each for one action or alarm. */
  work: number;
  ops: number;
  moved: number;
  sent: number;
}

export class World {
  readonly ram: CountingRam;
  readonly board: Board;
  readonly costs: Costs = { work: 0, ops: 0, moved: 0, sent: 0 };
  readonly #bus = new Bus();
  readonly #clock = new CountingClock();
  readonly #initial: [string, unknown][];
  #hart = 0;
  #work = 0;
  #sent = 0;
  /** Work of virtio devices in this program, which time must pay for. */
  #paced = 0;
  /** Work of the alarms of fw_cfg in this program, for which time must have passed. */
  #streamed = 0;
  /** Bytes of input in this program. */
  #input = 0;
  #isHeard = false;
  /** The device that an action is about. */
  #actor = '';
  /** Names of the devices that this program may have changed. */
  readonly #touched = new Set<string>();

  constructor(legacy: boolean) {
    const memory = new WebAssembly.Memory({ initial: 1 + RAM_BYTES / 0x1_0000 });
    this.ram = new CountingRam(memory, 0x1_0000, RAM_BASE, RAM_BYTES);
    const options = complete({
      kernel: { name: 'none', bytes: new Uint8Array(0) },
      ...{ bios: 'none', harts: 2, ramBytes: RAM_BYTES, virtioLegacy: legacy },
      virtio: [
        { kind: 'blk', image: DISK },
        { kind: 'console', size: { rows: 24, cols: 80 } },
        { kind: 'rng' },
        { kind: 'blk', image: DISK.subarray(0, 1000), readOnly: true },
      ],
      fwCfg: FILES,
    });
    const world = this;
    const console = {
      write: () => {
        if (++this.#sent > STEP) throw new Overrun(`${this.#sent} bytes are sent by one action`);
      },
    };
    const work = {
      spend: (units: number) => {
        this.#work += units;
        if (isPaced(this.#clock.firing || this.#actor)) this.#paced += units;
        if (this.#clock.firing === 'fwcfg') this.#streamed += units;
      },
    };
    const hart = {
      count: 2,
      get current() {
        return world.#hart;
      },
    };
    const ports = {
      ...{ bus: this.#bus, ram: this.ram, clock: this.#clock, console, work },
      lines: { set: () => {} },
      finish: { exit: () => {}, reset: () => {}, mark: () => {} },
      fwCfgAccessed: () => {},
      kcov: { ram: this.ram, hart, work },
    };
    this.board = buildBoard(options, ports, romContents(0x8020_0000));
    this.#initial = this.#devices();
  }

  /** Runs a program from power-on; returns everything that remains of it, as text. */
  run(program: Program, isHeard = false): string {
    this.reset(isHeard);
    for (const action of program.actions) this.act(action);
    return this.state();
  }

  reset(isHeard = false): void {
    this.ram.clear();
    this.#clock.reset();
    this.#clock.time = 0;
    this.#hart = 0;
    this.#input = 0;
    this.#paced = this.#streamed = 0;
    this.#isHeard = isHeard;
    this.#unlimited();
    for (const { device } of this.board.placed) device.reset();
    // Reset keeps what outlives a reboot: disks, generators, unread input.
    for (const [name, state] of this.#initial) if (this.#touched.has(name)) this.#find(name).load(state);
    this.#touched.clear();
    this.board.kcov!.onRecord(isHeard ? () => {} : undefined);
  }

  act(action: Action): void {
    switch (action.do) {
      case 'store': {
        const { at, bytes, value } = action;
        const device = this.#bus.find(at)?.device;
        if (device) this.#touched.add(device.name);
        this.#actor = device?.name ?? '';
        const isKcov = at >= MAP.kcov.base && at < MAP.kcov.base + MAP.kcov.size;
        const most = isKcov ? KCOV_STEP : STEP;
        this.#limited(most, () =>
          this.#bus.store(at, bytes, Number(value & 0xffff_ffffn), Number((value >> 32n) & 0xffff_ffffn)),
        );
        break;
      }
      case 'load':
        this.#limited(0, () => this.#bus.load(action.at, action.bytes));
        break;
      case 'peek':
        this.#limited(0, () => this.#bus.peek(action.at, action.bytes));
        break;
      case 'ram':
        if (this.ram.has(action.at, action.bytes)) this.ram.poke(action.at, action.bytes, action.value);
        break;
      case 'hart':
        this.#hart = action.hart;
        break;
      case 'input':
        this.#receive(action.port, action.bytes);
        break;
      case 'time':
        this.#pass(action.units);
        break;
      case 'again':
        this.#again();
        break;
    }
  }

  /** State of devices and clock, and a digest of RAM. */
  state(): string {
    let digest = 0;
    for (const page of [...this.ram.dirty].sort((a, b) => a - b)) {
      const words = new Int32Array(this.ram.data.buffer, this.ram.hostBase + page * PAGE, PAGE / 4);
      for (let i = 0; i < words.length; i++)
        if (words[i] !== 0) digest = (Math.imul(digest ^ words[i]!, 0x9e37_79b1) + page + i) | 0;
    }
    return JSON.stringify([digest, this.#clock.save(), this.#devices()]);
  }

  /** No device keeps more of what the guest does than its documented part. */
  checkSizes(): void {
    for (const [name, state] of this.#devices()) {
      if (name === 'virtio7' || name === 'virtio4') continue; // disks
      const bytes = JSON.stringify(state).length;
      const most = STATE_MAX + 4 * this.#input;
      if (bytes > most) throw new Overrun(`the state of ${name} has ${bytes} bytes, ${most} expected`);
    }
  }

  #receive(port: 'uart' | 'console' | 'break' | 'resize', count: number): void {
    const { uart, virtioConsole } = this.board;
    this.#input += count;
    this.#touched.add('uart').add('virtio6');
    this.#actor = port === 'console' || port === 'resize' ? 'virtio6' : 'uart';
    this.#limited(STEP, () => {
      if (port === 'uart') uart.receive(new Uint8Array(count).fill(65));
      else if (port === 'break') uart.receiveBreak();
      else if (port === 'console') virtioConsole!.receive(new Uint8Array(count).fill(66));
      else virtioConsole!.resize(count, count >> 1);
    });
  }

  /** Lets time pass, from alarm to alarm. */
  #pass(units: number): void {
    const end = this.#clock.time + units;
    // virtio devices fire once per burst, timers once or twice per store that armed them.
    let left = 64 + 8 * Math.ceil(units / BURST);
    for (let next = this.#clock.next(); next <= end; next = this.#clock.next()) {
      if (--left < 0) throw new Overrun(`too many alarms in ${units} units of time`);
      if (next < this.#clock.time) throw new Overrun(`an alarm at ${next} is in the past`);
      this.#clock.time = next;
      this.#limited(8 * STEP, () => this.#clock.fireDue(next), 8);
    }
    this.#clock.time = end;
  }

  /** Saves everything, turns the power off and on, loads it. */
  #again(): void {
    const before = this.state();
    const saved = JSON.parse(JSON.stringify([this.#clock.save(), this.#devices()]));
    for (const { device } of this.board.placed) device.reset();
    this.#unlimited();
    this.#clock.load(saved[0]);
    for (const [name, state] of saved[1]) this.#find(name).load(state);
    const after = this.state();
    if (after !== before) throw new Overrun(`a snapshot changes the state: ${difference(before, after)}`);
    this.board.kcov!.onRecord(this.#isHeard ? () => {} : undefined);
  }

  #find(name: string) {
    return this.board.placed.find(p => p.device.name === name)!.device;
  }

  #devices(): [string, unknown][] {
    return this.board.placed.map(({ device }) => [device.name, device.save()]);
  }

  #unlimited(): void {
    this.ram.opsMax = this.ram.movedMax = Infinity;
    this.#work = this.#sent = 0;
  }

  /**
   * Runs one action, or the alarms of `devices` at one moment, that may cost `most` units of work.
   */
  #limited(most: number, action: () => void, devices = 1): void {
    const { ram, costs } = this;
    this.#work = this.#sent = ram.ops = ram.moved = 0;
    ram.opsMax = devices * (OPS_FREE + OPS_PER_UNIT * STEP);
    ram.movedMax = devices * (BYTES_FREE + BYTES_PER_UNIT * STEP);
    action();
    const work = this.#work;
    if (work > most) throw new Overrun(`${work} units of work, ${most} allowed`);
    const paced = VIRTIO_DEVICES * (VIRTIO_STEP + this.#clock.time);
    if (this.#paced > paced)
      throw new Overrun(`virtio has done ${this.#paced} units of work in ${this.#clock.time} of time`);
    if (this.#streamed > this.#clock.time)
      throw new Overrun(`fw_cfg has moved ${this.#streamed} bytes in ${this.#clock.time} of time`);
    if (ram.ops > devices * OPS_FREE + OPS_PER_UNIT * work)
      throw new Overrun(`${ram.ops} accesses to ram for ${work} units of work`);
    if (ram.moved > devices * BYTES_FREE + BYTES_PER_UNIT * work)
      throw new Overrun(`${ram.moved} bytes are moved for ${work} units of work`);
    if (this.#sent > devices + work)
      throw new Overrun(`${this.#sent} bytes are sent for ${work} units of work`);
    costs.work = Math.max(costs.work, work);
    costs.ops = Math.max(costs.ops, ram.ops);
    costs.moved = Math.max(costs.moved, ram.moved);
    costs.sent = Math.max(costs.sent, this.#sent);
  }
}
