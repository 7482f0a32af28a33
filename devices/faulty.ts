// Faults of any device, without its help: a layer between the device and the bus, its interrupt
// line, its alarms and memory. Each layer counts events and does at the n-th what its faults say;
// the rows are emulator/bus/fault-kinds.ts. A hostile layer (emulator/bus/hostile.ts) also draws
// faults by itself. The state of a layer is saved with the device, for snapshots and replays.

import type {
  Alarm,
  ClockPort,
  Device,
  FdtNode,
  IrqLine,
  Placement,
  RamPort,
  StateCheck,
  Width,
} from '../emulator/bus/device.ts';
import {
  FAULT_KINDS,
  type Fault,
  type FaultEvent,
  type FaultKind,
  faultRow,
} from '../emulator/bus/fault-kinds.ts';
import {
  drawFault,
  drawTime,
  drawValue,
  type Hostile,
  type Temper,
  temperOf,
} from '../emulator/bus/hostile.ts';

interface State {
  counts: Partial<Record<FaultEvent, number>>;
  /** Faults that happened, as positions in the list. */
  fired: number[];
  isRemoved: boolean;
  isStuckHigh: boolean;
  /** The line as the device drives it. */
  isHigh: boolean;
  /** The present level was swallowed. */
  isDropped: boolean;
  /** A second interrupt follows when the line falls. */
  isDoubled: boolean;
  /** Registers that answer the same from now on: offset and value. */
  stuck: [number, number][];
  /** Words that decide which bit flips. */
  random: number;
  /** Of a hostile twin; null: it makes the listed faults only. */
  temper: Temper | null;
}

const PAGE = 4096;
/** How long an interrupt without a cause lasts that no fault describes. */
const PULSE_NS = 1000;

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

const copy = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

export class FaultLayer {
  #faults: readonly Fault[];
  readonly #clock: ClockPort;
  readonly #name: string;
  readonly #seed: number;
  #line: IrqLine | undefined;
  /** Ends a spurious interrupt, or delivers a late one. */
  #pulse: Alarm | undefined;
  #late: Alarm | undefined;
  /** The next interrupt of a hostile twin that has no event before it. */
  #wild: Alarm | undefined;
  #hostile: Hostile | undefined;
  #isLoading = false;
  /** Nanoseconds of the faults that the last event has, by kind. */
  #times: Partial<Record<FaultKind, number>> = {};
  #s: State;
  /** Is told of each event, and the how many-th of its kind it is. The guest cannot see it. */
  observer: ((event: FaultEvent, n: number) => void) | undefined;

  constructor(name: string, faults: readonly Fault[], clock: ClockPort, seed: bigint, hostile?: Hostile) {
    this.#hostile = hostile;
    this.#faults = faults.filter(f => f.device === name);
    this.#clock = clock;
    this.#name = name;
    this.#seed = Number(BigInt.asUintN(32, seed)) | 1;
    this.#s = this.#initial();
  }

  #initial(): State {
    const flags = { isRemoved: false, isStuckHigh: false, isHigh: false, isDropped: false, isDoubled: false };
    const state = { counts: {}, fired: [], stuck: [], random: this.#seed, temper: null, ...flags };
    return this.#hostile ? { ...state, ...tempered(this.#hostile) } : state;
  }

  /**
   * Other faults from now on, for a machine that goes back to a snapshot without any: events that
   * were before are over.
   */
  arm(faults: readonly Fault[]): void {
    this.#faults = faults.filter(f => f.device === this.#name);
  }

  /** Events count from now on: the next one is the first. */
  restart(): void {
    this.#s.counts = {};
    this.#s.fired = [];
  }

  /** Makes the device hostile from now on, as if it had been from its first event on. */
  provoke(hostile: Hostile): void {
    Object.assign(this.#s, tempered(hostile));
  }

  /** Other draws from now on. The temper of a hostile twin stays: it is of the run. */
  reseed(seed: number): void {
    this.#s.random = seed;
  }

  /** So many events of each kind there were. */
  get counts(): Readonly<Partial<Record<FaultEvent, number>>> {
    return this.#s.counts;
  }

  /** Of the layer's faults those that happened. */
  get fired(): readonly Fault[] {
    return this.#s.fired.map(i => this.#faults[i]!);
  }

  get isRemoved(): boolean {
    return this.#s.isRemoved;
  }

  reset(): void {
    this.#s = this.#initial();
    this.#pulse?.clear();
    this.#late?.clear();
    this.#wild?.clear();
  }

  save(): unknown {
    return copy(this.#s);
  }

  /** Of a record from a file. The lists grow with what happened; the temper is of the run. */
  checkState(saved: unknown, { same, refuse }: StateCheck): void {
    const { counts, fired, stuck, temper, ...rest } = Object(saved) as Partial<State>;
    const { counts: _counts, fired: _fired, stuck: _stuck, temper: mine, ...others } = this.#s;
    same('faults', others, rest);
    const events: readonly string[] = Object.values(FAULT_KINDS).map(({ event }) => event);
    const areCounts = (record: object): boolean =>
      Object.entries(record).every(([event, n]) => events.includes(event) && isCount(n));
    if (!counts || typeof counts !== 'object' || isList(counts) || !areCounts(counts))
      refuse('faults: its numbers of events');
    if (!isList(fired) || !fired.every(i => isCount(i) && i < this.#faults.length))
      refuse('faults: those that happened');
    if (!isList(stuck) || !stuck.every(pair => isList(pair) && pair.length === 2 && pair.every(isCount)))
      refuse('faults: its registers that are stuck');
    const withoutPulses = (each: Temper): string => JSON.stringify({ ...each, pulses: 0 });
    const isOwn = mine ? temper && withoutPulses(temper) === withoutPulses(mine) : temper === null;
    if (!isOwn || (temper && !isCount(temper.pulses))) refuse('faults: the temper of its twin');
  }

  /** `device` loads what is below; what it does to its line meanwhile is no event. */
  load(state: unknown, device: () => void): void {
    this.#isLoading = true;
    device();
    this.#isLoading = false;
    this.#s = copy(state as State);
    this.#settle();
  }

  /** Counts an event; the kinds of fault that it has. */
  event(event: FaultEvent): FaultKind[] {
    const n = (this.#s.counts[event] ?? 0) + 1;
    this.#s.counts[event] = n;
    this.observer?.(event, n);
    const kinds: FaultKind[] = [];
    this.#times = {};
    this.#faults.forEach((fault, i) => {
      if (faultRow(fault.kind).event !== event || fault.at !== n) return;
      this.#s.fired.push(i);
      kinds.push(fault.kind);
      this.#times[fault.kind] = fault.time;
      if (fault.seed !== undefined) this.#s.random = spread(fault.seed);
    });
    const { temper } = this.#s;
    if (temper === null) return kinds;
    if (temper.pulses > 0 && this.#wild?.at === Infinity) this.#wild.set(this.#after(drawTime(this.below)));
    const drawn = drawFault(event, temper, this.below);
    return drawn === undefined ? kinds : [...kinds, drawn];
  }

  #after(ns: number): number {
    return this.#clock.now() + Math.max(1, Math.ceil(ns / this.#clock.nsPerUnit));
  }

  #timeOf(kind: FaultKind): number {
    return this.#after(this.#times[kind] ?? (this.#s.temper ? drawTime(this.below) : 0));
  }

  /** A number below n, the same in each run. */
  readonly below = (n: number): number => {
    const { value, next } = below(this.#s.random, n);
    this.#s.random = next;
    return value;
  };

  // ---- Interrupt line ----

  line(inner: IrqLine): IrqLine {
    this.#line = inner;
    this.#pulse = this.#clock.alarm(`fault.${this.#name}.pulse`, () => this.#settle());
    this.#late = this.#clock.alarm(`fault.${this.#name}.late`, () => {
      this.#s.isDropped = false;
      this.#settle();
    });
    this.#wild = this.#clock.alarm(`fault.${this.#name}.wild`, () => {
      const { temper } = this.#s;
      if (temper === null || temper.pulses === 0) return;
      temper.pulses--;
      this.spurious();
      if (temper.pulses > 0) this.#wild!.set(this.#after(drawTime(this.below)));
    });
    return { raise: () => this.#raise(), lower: () => this.#lower() };
  }

  #raise(): void {
    const s = this.#s;
    if (s.isHigh || this.#isLoading) return;
    s.isHigh = true;
    s.isStuckHigh = false;
    for (const kind of this.event('irq')) {
      if (kind === 'irq-drop' || kind === 'irq-late') s.isDropped = true;
      if (kind === 'irq-late') this.#late!.set(this.#timeOf(kind));
      if (kind === 'irq-double') s.isDoubled = true;
      if (kind === 'irq-stuck') s.isStuckHigh = true;
    }
    this.#settle();
  }

  #lower(): void {
    const s = this.#s;
    if (!s.isHigh || this.#isLoading) return;
    s.isHigh = s.isDropped = false;
    this.#late!.clear();
    if (s.isDoubled) {
      s.isDoubled = false;
      this.spurious();
    } else this.#settle();
  }

  /** The line is high for a while; the driver cannot acknowledge what has no cause. */
  spurious(ns = PULSE_NS): void {
    if (!this.#line || this.#s.isRemoved) return;
    this.#line.lower();
    this.#line.raise();
    this.#pulse!.set(this.#after(ns));
  }

  /** The access that was the last event has a spurious interrupt. */
  pulse(): void {
    this.spurious(this.#times['irq-spurious']);
  }

  #settle(): void {
    const s = this.#s;
    if (!s.isRemoved && ((s.isHigh && !s.isDropped) || s.isStuckHigh)) this.#line?.raise();
    else this.#line?.lower();
  }

  remove(): void {
    this.#s.isRemoved = true;
    this.#settle();
  }

  // ---- Registers ----

  /** The answer that a stuck register gives, or what it is from now on. */
  stuckValue(offset: number): number | undefined {
    return this.#s.stuck.find(([at]) => at === offset)?.[1];
  }

  stick(offset: number, value: number): void {
    this.#s.stuck.push([offset, value]);
  }

  // ---- What the device does by itself ----

  clock(): ClockPort {
    const inner = this.#clock;
    const layer = this;
    return {
      now: () => inner.now(),
      nsPerUnit: inner.nsPerUnit,
      alarm(name, fire) {
        const alarm = inner.alarm(name, () => {
          if (!layer.isRemoved) fire();
        });
        return {
          set: at => {
            const kinds = layer.event('alarm');
            if (kinds.includes('never')) alarm.clear();
            else alarm.set(kinds.includes('late') ? Math.max(at, layer.#timeOf('late')) : at);
          },
          clear: () => alarm.clear(),
          get at() {
            return alarm.at;
          },
        };
      },
    };
  }

  // ---- Memory ----

  ram(inner: RamPort): RamPort {
    const words = { 1: 'write8', 2: 'write16', 4: 'write32' } as const;
    const store = (pa: number, data: Uint8Array): void => this.#dmaWrite(inner, pa, data);
    const bytesOf = (value: bigint, n: number): Uint8Array =>
      Uint8Array.from({ length: n }, (_, i) => Number((value >> BigInt(8 * i)) & 0xffn));
    const load = (pa: number, n: number): bigint =>
      this.#dmaRead(inner, pa, n).reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n);
    const narrow = (n: keyof typeof words) => (pa: number, value: number) =>
      store(pa, bytesOf(BigInt(value >>> 0), n));
    return {
      base: inner.base,
      bytes: inner.bytes,
      has: (pa, n) => inner.has(pa, n),
      host: pa => inner.host(pa),
      read: (pa, n) => this.#dmaRead(inner, pa, n),
      read8: pa => Number(load(pa, 1)),
      read16: pa => Number(load(pa, 2)),
      read32: pa => Number(load(pa, 4)),
      read64: pa => load(pa, 8),
      write: store,
      write8: narrow(1),
      write16: narrow(2),
      write32: narrow(4),
      write64: (pa, value) => store(pa, bytesOf(BigInt.asUintN(64, value), 8)),
    };
  }

  #dmaRead(ram: RamPort, pa: number, bytes: number): Uint8Array {
    const kinds = this.event('dma-read');
    const data = ram.read(pa, bytes);
    if (this.isRemoved || kinds.includes('dma-read-zero')) data.fill(0);
    if (kinds.includes('dma-read-flip')) this.#flip(data);
    return data;
  }

  #dmaWrite(ram: RamPort, pa: number, data: Uint8Array): void {
    const kinds = this.event('dma-write');
    if (this.isRemoved || kinds.includes('dma-drop')) return;
    let at = pa;
    let bytes = data;
    if (kinds.length > 0) bytes = Uint8Array.from(data);
    if (kinds.includes('dma-flip')) this.#flip(bytes);
    if (kinds.includes('dma-ones')) bytes.fill(0xff);
    if (kinds.includes('dma-any')) this.#scramble(bytes);
    if (kinds.includes('dma-short')) bytes = bytes.subarray(0, bytes.length >> 1);
    if (kinds.includes('dma-misdirect') && ram.has(pa + PAGE, bytes.length)) at = pa + PAGE;
    if (bytes.length > 0) ram.write(at, bytes);
  }

  /** A few aligned numbers of 1, 2 or 4 bytes. */
  #scramble(data: Uint8Array): void {
    for (let left = 1 + this.below(4); left > 0 && data.length > 0; left--) {
      const bytes = 2 ** this.below(3);
      const at = bytes * this.below(Math.max(1, Math.floor(data.length / bytes)));
      const right = data.subarray(at, at + bytes).reduceRight((sum, byte) => sum * 256 + byte, 0);
      const value = drawValue(bytes, right, [], this.below);
      for (let i = 0; i < bytes && at + i < data.length; i++) data[at + i] = Math.floor(value / 2 ** (8 * i));
    }
  }

  #flip(data: Uint8Array): void {
    if (data.length > 0) data[this.below(data.length)]! ^= 1 << this.below(8);
  }
}

/** A step of xorshift (Marsaglia 2003) from a state that is not 0. */
function below(random: number, n: number): { value: number; next: number } {
  let x = random;
  x ^= x << 13;
  x ^= x >>> 17;
  x ^= x << 5;
  return { value: (x >>> 0) % n, next: x >>> 0 };
}

/** Neighbouring seeds get states that have nothing in common. */
function spread(seed: number): number {
  const random = Math.imul(seed ^ 0x9e37_79b9, 0x85eb_ca6b);
  return Math.imul(random ^ (random >>> 13), 0xc2b2_ae35) >>> 0 || 1;
}

/** The part of the state that a seed decides. */
function tempered(hostile: Hostile): Pick<State, 'random' | 'temper'> {
  let random = spread(hostile.seed);
  const draw = (n: number): number => {
    const step = below(random, n);
    random = step.next;
    return step.value;
  };
  const temper = temperOf(hostile, draw);
  return { temper, random };
}

const ones = (bytes: number): number => (bytes === 4 ? 0xffff_ffff : 2 ** (8 * bytes) - 1);

interface Saved {
  device: unknown;
  faults: unknown;
}

/** The device as the bus sees it. */
export class FaultyDevice implements Device {
  readonly name: string;
  readonly widths: readonly Width[];
  readonly #inner: Device;
  readonly #layer: FaultLayer;

  constructor(inner: Device, layer: FaultLayer) {
    this.name = inner.name;
    // 8 bytes are two accesses of 4, as for a device without 64-bit operations.
    this.widths = inner.widths ?? [1, 2, 4, 8];
    this.#inner = inner;
    this.#layer = layer;
  }

  get stateVersion(): number {
    return this.#inner.stateVersion ?? 1;
  }

  /** Asked by the bus before each access: is it an access fault? */
  refuses(): boolean {
    const kinds = this.#layer.event('access');
    if (kinds.includes('remove')) this.#layer.remove();
    if (kinds.includes('reset')) this.#inner.reset();
    if (kinds.includes('irq-spurious')) this.#layer.pulse();
    return kinds.includes('bus-error');
  }

  read(offset: number, bytes: number): number {
    const kinds = this.#layer.event('read');
    if (this.#layer.isRemoved || kinds.includes('read-ones')) return ones(bytes);
    if (kinds.includes('read-zero')) return 0;
    const stuck = this.#layer.stuckValue(offset);
    if (stuck !== undefined) return stuck;
    const value = this.#inner.read(offset, bytes) >>> 0;
    if (kinds.includes('read-stuck')) this.#layer.stick(offset, value);
    if (kinds.includes('read-any'))
      return drawValue(bytes, value, this.#inner.values?.(offset) ?? [], this.#layer.below);
    return kinds.includes('read-flip') ? (value ^ (1 << this.#layer.below(8 * bytes))) >>> 0 : value;
  }

  write(offset: number, bytes: number, value: number): void {
    const kinds = this.#layer.event('write');
    if (this.#layer.isRemoved || kinds.includes('write-drop')) return;
    this.#inner.write(offset, bytes, value);
    if (kinds.includes('write-twice')) this.#inner.write(offset, bytes, value);
  }

  peek(offset: number, bytes: number): number {
    return this.#inner.peek?.(offset, bytes) ?? 0;
  }

  reset(): void {
    this.#layer.reset();
    this.#inner.reset();
  }

  save(): unknown {
    return { device: this.#inner.save(), faults: this.#layer.save() };
  }

  digest(): unknown {
    return { device: this.#inner.digest?.() ?? this.#inner.save(), faults: this.#layer.save() };
  }

  checkState(saved: unknown, own: unknown, check: StateCheck): void {
    const inner = this.#inner;
    const { device, faults, ...rest } = Object(saved) as Partial<Saved>;
    const { device: its } = own as Saved;
    check.same('layer', {}, rest);
    this.#layer.checkState(faults, check);
    if (inner.checkState) inner.checkState(device, its, check);
    else check.same('device', its, device);
  }

  load(state: unknown): void {
    const { device, faults } = state as Saved;
    this.#layer.load(faults, () => this.#inner.load(device));
  }

  reseed(seed: number): void {
    this.#layer.reseed(seed);
    this.#inner.reseed?.(seed);
  }

  fdtNode(place: Placement): FdtNode {
    return this.#inner.fdtNode!(place);
  }
}
