// The virtio MMIO transport: registers, queues and the pace of work. A `VirtioBackend` is the
// device-specific part.
// Specification: Virtio 1.2, section 4.2 (version 2) and 4.2.4 (legacy, version 1). The version of
// a slot is fixed at power-on, as in QEMU (`-global virtio-mmio.force-legacy=`). A slot without a
// backend reads device id 0. Divergences: no shared memory, no event index.
//
// Pace: requests are served inside the write to QUEUE_NOTIFY as long as the device has credit. The
// credit is at most BURST units of work (virtio-queue.ts counts them, about one per byte) and grows
// by one per unit of virtual time, which is 1 GB/s; an alarm continues the rest. So one access of
// the guest, or one alarm, costs at most about BURST units, whatever the rings contain.

import type {
  Alarm,
  ClockPort,
  Device,
  FdtNode,
  IrqLine,
  Placement,
  RamPort,
  WorkPort,
} from '../emulator/bus/device.ts';
import { regmap } from '../emulator/bus/regmap.ts';
import { type Chain, type Progress, QUEUE_MAX, type QueueState, VirtQueue } from './virtio-queue.ts';

export const VIRTIO_MAP = regmap({ title: 'virtio-mmio', spec: 'Virtio 1.2, section 4.2.2', size: 0x200 }, [
  { id: 'magic', at: 0x00, bytes: 4, access: 'r', doc: '"virt"' },
  { id: 'version', at: 0x04, bytes: 4, access: 'r', doc: '1 = legacy, 2 = modern' },
  { id: 'deviceId', at: 0x08, bytes: 4, access: 'r', doc: '0 = nothing here' },
  { id: 'vendorId', at: 0x0c, bytes: 4, access: 'r', doc: 'as QEMU' },
  {
    id: 'deviceFeatures',
    at: 0x10,
    bytes: 4,
    access: 'r',
    doc: 'the selected 32 feature bits of the device',
  },
  { id: 'deviceFeaturesSel', at: 0x14, bytes: 4, access: 'w', doc: 'which 32 bits' },
  {
    id: 'driverFeatures',
    at: 0x20,
    bytes: 4,
    access: 'w',
    doc: 'the selected 32 feature bits of the driver',
  },
  { id: 'driverFeaturesSel', at: 0x24, bytes: 4, access: 'w', doc: 'which 32 bits' },
  { id: 'guestPageSize', at: 0x28, bytes: 4, access: 'w', doc: 'legacy: bytes of a page' },
  { id: 'queueSel', at: 0x30, bytes: 4, access: 'w', doc: 'queue that the next registers are about' },
  { id: 'queueNumMax', at: 0x34, bytes: 4, access: 'r', doc: 'largest size, 0 = no such queue' },
  { id: 'queueNum', at: 0x38, bytes: 4, access: 'w', doc: 'size chosen by the driver' },
  { id: 'queueAlign', at: 0x3c, bytes: 4, access: 'w', doc: 'legacy: alignment of the used ring' },
  { id: 'queuePfn', at: 0x40, bytes: 4, access: 'rw', doc: 'legacy: page number of the queue, 0 = stop' },
  { id: 'queueReady', at: 0x44, bytes: 4, access: 'rw', doc: '1 = the queue may be used' },
  { id: 'queueNotify', at: 0x50, bytes: 4, access: 'w', doc: 'number of a queue that has new requests' },
  {
    id: 'interruptStatus',
    at: 0x60,
    bytes: 4,
    access: 'r',
    doc: 'bit 0 = used buffers, bit 1 = configuration',
  },
  { id: 'interruptAck', at: 0x64, bytes: 4, access: 'w', doc: 'clears bits of interruptStatus' },
  { id: 'status', at: 0x70, bytes: 4, access: 'rw', doc: 'device status; 0 resets' },
  { id: 'queueDescLow', at: 0x80, bytes: 4, access: 'w', doc: 'descriptor table, low half' },
  { id: 'queueDescHigh', at: 0x84, bytes: 4, access: 'w', doc: 'descriptor table, high half' },
  { id: 'queueDriverLow', at: 0x90, bytes: 4, access: 'w', doc: 'available ring, low half' },
  { id: 'queueDriverHigh', at: 0x94, bytes: 4, access: 'w', doc: 'available ring, high half' },
  { id: 'queueDeviceLow', at: 0xa0, bytes: 4, access: 'w', doc: 'used ring, low half' },
  { id: 'queueDeviceHigh', at: 0xa4, bytes: 4, access: 'w', doc: 'used ring, high half' },
  {
    id: 'configGeneration',
    at: 0xfc,
    bytes: 4,
    access: 'r',
    doc: 'changes with the configuration',
  },
]);

const CONFIG = 0x100;
const MAGIC = 0x7472_6976;
const VENDOR = 0x554d_4551;
const STATUS_FEATURES_OK = 8;
const STATUS_NEEDS_RESET = 0x40;
const F_VERSION_1 = 1n << 32n;
const F_INDIRECT = 1n << 28n;
const INT_USED = 1;
const INT_CONFIG = 2;
/** Units of work that a device does in one burst. */
export const BURST = 0x1_0000;

/** The parts of the machine that a slot needs. */
export interface VirtioPorts {
  readonly irq: IrqLine;
  readonly ram: RamPort;
  readonly clock: ClockPort;
  readonly work?: WorkPort;
}

/** The services of the transport for a backend. */
export interface VirtioPort {
  readonly ram: RamPort;
  /** Tells the transport that the backend can serve requests of this queue. */
  kick(queue: number): void;
  features(): bigint;
  /** Tells the driver that the configuration space has changed. */
  configChanged(): void;
}

/** The device-specific half. */
export interface VirtioBackend {
  /** Virtio 1.2, section 5. */
  readonly deviceId: number;
  readonly features: bigint;
  readonly queues: number;
  /** The device configuration space. */
  readonly config: Uint8Array;
  attach(port: VirtioPort): void;
  /** Works on a request and moves at most about `limit` bytes; undefined = it must wait. */
  serve(queue: number, chain: Chain, limit: number): Progress | undefined;
  /** A write into the configuration space; default: ignored. */
  configWrite?(offset: number, bytes: number, value: number): void;
  reset(): void;
  /** As of a device (emulator/bus/device.ts), like the three below. */
  readonly stateVersion?: number;
  save(): unknown;
  digest?(): unknown;
  load(state: unknown): void;
  reseed?(seed: number): void;
}

interface State {
  status: number;
  interrupt: number;
  featuresSel: number;
  driverSel: number;
  driverFeatures: [number, number];
  queueSel: number;
  pageSize: number;
  align: number[];
  pfn: number[];
  generation: number;
  /** Bits of the queues that have, or may have, requests left to serve. */
  pending: number;
  /** Virtual time at which the credit is BURST again. */
  paid: number;
}

const copyOf = (s: State): State => ({
  ...s,
  driverFeatures: [...s.driverFeatures],
  align: [...s.align],
  pfn: [...s.pfn],
});

type Reg = (typeof VIRTIO_MAP.rows)[number]['id'];

const EMPTY: VirtioBackend = {
  deviceId: 0,
  features: 0n,
  queues: 0,
  config: new Uint8Array(0),
  attach() {},
  serve: () => undefined,
  reset() {},
  save: () => null,
  load() {},
};

export class VirtioMmio implements Device, VirtioPort {
  readonly name: string;
  readonly widths = [1, 2, 4] as const;
  readonly ram: RamPort;
  readonly #irq: IrqLine;
  readonly #clock: ClockPort;
  readonly #work: WorkPort | undefined;
  readonly #alarm: Alarm;
  readonly #backend: VirtioBackend;
  readonly #legacy: boolean;
  readonly #queues: VirtQueue[] = [];
  #s: State;
  /** The state that `load` took over last; undefined: the registers or queues may have changed. */
  #loaded: unknown;

  constructor(slot: number, ports: VirtioPorts, legacy: boolean, backend: VirtioBackend = EMPTY) {
    this.name = `virtio${slot}`;
    this.ram = ports.ram;
    this.#irq = ports.irq;
    this.#clock = ports.clock;
    this.#work = ports.work;
    this.#alarm = ports.clock.alarm(this.name, () => this.#serve());
    this.#backend = backend;
    this.#legacy = legacy;
    for (let i = 0; i < backend.queues; i++) this.#queues.push(new VirtQueue(this.ram));
    this.#s = this.#initial();
    backend.attach(this);
  }

  features(): bigint {
    const [lo, hi] = this.#s.driverFeatures;
    return (BigInt(hi) << 32n) | BigInt(lo);
  }

  configChanged(): void {
    this.#loaded = undefined;
    this.#s.generation++;
    this.#s.interrupt |= INT_CONFIG;
    this.#update();
  }

  kick(index: number): void {
    if (index >= this.#queues.length) return;
    this.#s.pending |= 1 << index;
    this.#serve();
  }

  read(offset: number, bytes: number): number {
    if (offset >= CONFIG) return this.#configRead(offset - CONFIG, bytes);
    return VIRTIO_MAP.read(offset, bytes, this.#get);
  }

  write(offset: number, bytes: number, value: number): void {
    this.#loaded = undefined;
    if (offset >= CONFIG) this.#backend.configWrite?.(offset - CONFIG, bytes, value);
    else VIRTIO_MAP.write(offset, bytes, value, this.#set, this.#get);
  }

  peek(offset: number, bytes: number): number {
    return this.read(offset, bytes);
  }

  reset(): void {
    this.#loaded = undefined;
    this.#s = this.#initial();
    for (const q of this.#queues) q.reset();
    this.#backend.reset();
    this.#alarm.clear();
    this.#irq.lower();
  }

  get stateVersion(): number {
    return this.#backend.stateVersion ?? 1;
  }

  save(): unknown {
    return this.#stateWith(this.#backend.save());
  }

  reseed(seed: number): void {
    this.#backend.reseed?.(seed);
  }

  digest(): unknown {
    return this.#stateWith(this.#backend.digest?.() ?? this.#backend.save());
  }

  #stateWith(backend: unknown): unknown {
    const queues = this.#queues.map(q => ({ ...q.state }));
    return { registers: copyOf(this.#s), queues, backend };
  }

  load(state: unknown): void {
    const s = state as { registers: State; queues: QueueState[]; backend: unknown };
    // Most devices of a board are idle, and a fuzzer goes back to one state a million times.
    if (s !== this.#loaded) {
      this.#s = copyOf(s.registers);
      this.#queues.forEach((q, i) => {
        q.state = { ...s.queues[i]! };
      });
    }
    this.#loaded = s;
    this.#backend.load(s.backend);
    this.#update();
  }

  fdtNode({ base, size, irq, intc }: Placement): FdtNode {
    return {
      name: `virtio_mmio@${base.toString(16)}`,
      props: {
        interrupts: [irq],
        'interrupt-parent': [intc],
        reg: [0, base, 0, size],
        compatible: 'virtio,mmio',
      },
    };
  }

  #initial(): State {
    return {
      status: 0,
      interrupt: 0,
      featuresSel: 0,
      driverSel: 0,
      driverFeatures: [0, 0],
      queueSel: 0,
      pageSize: 4096,
      align: this.#queues.map(() => 4096),
      pfn: this.#queues.map(() => 0),
      generation: 0,
      pending: 0,
      paid: 0,
    };
  }

  #offered(): bigint {
    if (this.#backend.deviceId === 0) return 0n;
    return this.#backend.features | F_INDIRECT | (this.#legacy ? 0n : F_VERSION_1);
  }

  #configRead(offset: number, bytes: number): number {
    let value = 0;
    for (let i = bytes - 1; i >= 0; i--) value = value * 256 + (this.#backend.config[offset + i] ?? 0);
    return value;
  }

  readonly #get = (id: Reg): number => {
    const s = this.#s;
    const queue = this.#queues[s.queueSel];
    switch (id) {
      case 'magic':
        return MAGIC;
      case 'version':
        return this.#legacy ? 1 : 2;
      case 'deviceId':
        return this.#backend.deviceId;
      case 'vendorId':
        return VENDOR;
      case 'deviceFeatures':
        return s.featuresSel > 1 ? 0 : Number((this.#offered() >> BigInt(32 * s.featuresSel)) & 0xffff_ffffn);
      case 'queueNumMax':
        return queue ? QUEUE_MAX : 0;
      case 'queuePfn':
        return s.pfn[s.queueSel] ?? 0;
      case 'queueReady':
        return queue?.state.ready ? 1 : 0;
      case 'interruptStatus':
        return s.interrupt;
      case 'configGeneration':
        return s.generation;
      case 'status':
        return s.status | (this.#queues.some(q => q.isBroken) ? STATUS_NEEDS_RESET : 0);
      default:
        return 0;
    }
  };

  readonly #set = (id: Reg, value: number): void => {
    const s = this.#s;
    switch (id) {
      case 'deviceFeaturesSel':
        s.featuresSel = value;
        break;
      case 'driverFeaturesSel':
        s.driverSel = value;
        break;
      case 'driverFeatures':
        if (s.driverSel < 2 && !(s.status & STATUS_FEATURES_OK)) s.driverFeatures[s.driverSel] = value;
        break;
      case 'guestPageSize':
        if (value > 0) s.pageSize = value;
        break;
      case 'queueSel':
        s.queueSel = value;
        break;
      case 'queueNotify':
        this.kick(value);
        break;
      case 'interruptAck':
        s.interrupt &= ~value;
        this.#update();
        break;
      case 'status':
        this.#setStatus(value);
        break;
      default:
        this.#setQueue(id, value);
    }
  };

  #setQueue(id: Reg, value: number): void {
    const s = this.#s;
    const q = this.#queues[s.queueSel]?.state;
    if (!q) return;
    switch (id) {
      case 'queueNum':
        if (value > 0 && value <= QUEUE_MAX) q.size = value;
        break;
      case 'queueAlign':
        if (value > 0) s.align[s.queueSel] = value;
        break;
      case 'queuePfn':
        this.#setPfn(q, value);
        break;
      case 'queueReady':
        q.ready = (value & 1) === 1;
        break;
      case 'queueDescLow':
        q.desc = withLow(q.desc, value);
        break;
      case 'queueDescHigh':
        q.desc = withHigh(q.desc, value);
        break;
      case 'queueDriverLow':
        q.avail = withLow(q.avail, value);
        break;
      case 'queueDriverHigh':
        q.avail = withHigh(q.avail, value);
        break;
      case 'queueDeviceLow':
        q.used = withLow(q.used, value);
        break;
      case 'queueDeviceHigh':
        q.used = withHigh(q.used, value);
        break;
    }
  }

  /**
   * Legacy layout: descriptors, available ring, padding, used ring in one block (section 2.7.2).
   */
  #setPfn(q: QueueState, pfn: number): void {
    const s = this.#s;
    s.pfn[s.queueSel] = pfn;
    const align = s.align[s.queueSel]!;
    q.desc = pfn * s.pageSize;
    q.avail = q.desc + 16 * q.size;
    q.used = Math.ceil((q.avail + 6 + 2 * q.size) / align) * align;
    q.lastAvail = 0;
    q.ready = pfn !== 0;
  }

  #setStatus(value: number): void {
    if (value === 0) {
      // The credit is the host's: a driver cannot get more of it by resetting the device.
      const { paid } = this.#s;
      this.reset();
      this.#s.paid = paid;
      return;
    }
    let status = value & 0xff;
    // A modern driver reads FEATURES_OK back to learn whether its choice is acceptable (section
    // 3.1.1). Like QEMU, we accept a driver that forgets VIRTIO_F_VERSION_1; teaching kernels do.
    if (!this.#legacy && this.features() & ~this.#offered()) status &= ~STATUS_FEATURES_OK;
    this.#s.status = status;
  }

  /** Works on the queues that have requests, as far as the credit goes. */
  #serve(): void {
    this.#loaded = undefined;
    const s = this.#s;
    const now = this.#clock.now();
    this.#queues.forEach((queue, index) => {
      const credit = BURST - Math.max(0, s.paid - now);
      if (((s.pending >>> index) & 1) === 0 || credit <= 0) return;
      const { isBroken } = queue;
      const step = queue.serve(credit, (chain, limit) => this.#backend.serve(index, chain, limit));
      s.paid = Math.max(s.paid, now) + step.work;
      this.#work?.spend(step.work);
      if (!step.more) s.pending &= ~(1 << index);
      if (step.finished > 0 && queue.wantsInterrupt()) s.interrupt |= INT_USED;
      // DEVICE_NEEDS_RESET comes with a configuration interrupt (section 2.1.2).
      if (queue.isBroken && !isBroken) s.interrupt |= INT_CONFIG;
    });
    if (s.pending === 0) this.#alarm.clear();
    else this.#alarm.set(s.paid);
    this.#update();
  }

  #update(): void {
    if (this.#s.interrupt) this.#irq.raise();
    else this.#irq.lower();
  }
}

const withLow = (address: number, low: number): number => Math.floor(address / 2 ** 32) * 2 ** 32 + low;
const withHigh = (address: number, high: number): number => high * 2 ** 32 + (address % 2 ** 32);
