// Builds the devices of the board and puts them on the bus.

import { Clint } from '../../devices/clint.ts';
import { DefinedDevice, paramsOf } from '../../devices/defined.ts';
import { Edu } from '../../devices/edu.ts';
import { FaultLayer, FaultyDevice } from '../../devices/faulty.ts';
import { Finisher, type FinishPort } from '../../devices/finisher.ts';
import { FwCfg } from '../../devices/fw-cfg.ts';
import { KcovDevice, type KcovPorts } from '../../devices/kcov.ts';
import { Plic } from '../../devices/plic.ts';
import { Rom } from '../../devices/rom.ts';
import { Rtc } from '../../devices/rtc.ts';
import { Uart16550 } from '../../devices/uart16550.ts';
import { VirtioBlk } from '../../devices/virtio-blk.ts';
import { VirtioConsole } from '../../devices/virtio-console.ts';
import { type VirtioBackend, VirtioMmio } from '../../devices/virtio-mmio.ts';
import { VirtioRng } from '../../devices/virtio-rng.ts';
import { HostError } from '../base/errors.ts';
import type { Bus } from '../bus/bus.ts';
import type { ClockPort, Device, HartLines, IrqLine, RamPort, Sink, WorkPort } from '../bus/device.ts';
import { addDevices } from './added-devices.ts';
import { MAP, type Region, USER_SLOTS, userSlot, VIRTIO_SLOTS, virtioSlot } from './memory-map.ts';
import { type Complete, type VirtioOption, virtioSlots } from './options.ts';

export interface BoardPorts {
  bus: Bus;
  ram: RamPort;
  clock: ClockPort;
  lines: HartLines;
  console: Sink;
  finish: FinishPort;
  kcov: KcovPorts;
  work: WorkPort;
  /** The guest stores to a register of fw_cfg. */
  fwCfgAccessed: () => void;
  /** Takes the lines that devices of the user log. */
  log?: (line: string) => void;
  /** The instruction that makes the current access; undefined while none runs. */
  pc?: () => bigint | undefined;
}

export interface Placed extends Region {
  device: Device;
}

export interface Board {
  /** In the order of their nodes in the device tree. */
  placed: Placed[];
  clint: Clint;
  plic: Plic;
  uart: Uart16550;
  rtc: Rtc;
  /** Absent unless the option says `device`. */
  kcov: KcovDevice | undefined;
  virtioConsole: VirtioConsole | undefined;
  disks: VirtioBlk[];
  /** The layers of devices that have faults, by name. */
  faults: ReadonlyMap<string, FaultLayer>;
}

/** The connections of a device. With faults, each connection goes through their layer. */
interface Wires {
  irq: IrqLine;
  ram: RamPort;
  clock: ClockPort;
}

/** Of the devices that have a layer for faults. */
const namesOf = ({ faults = [], hostile = [], faultable = [] }: Complete): string[] => [
  ...[...faults, ...hostile].map(({ device }) => device),
  ...faultable,
];

class Wiring {
  readonly layers = new Map<string, FaultLayer>();
  readonly #options: Complete;
  readonly #ports: BoardPorts;

  constructor(options: Complete, ports: BoardPorts) {
    this.#options = options;
    this.#ports = ports;
  }

  /** `make` builds the device called `name` on its wires. */
  device<D extends Device>(name: string, line: IrqLine, make: (wires: Wires) => D): Device {
    const { clock, ram } = this.#ports;
    const { faults = [], hostile = [], seed } = this.#options;
    if (!namesOf(this.#options).includes(name)) return make({ irq: line, ram, clock });
    const layer = new FaultLayer(
      name,
      faults,
      clock,
      seed,
      hostile.find(({ device }) => device === name),
    );
    this.layers.set(name, layer);
    const device = make({ irq: layer.line(line), ram: layer.ram(ram), clock: layer.clock() });
    return new FaultyDevice(device, layer);
  }

  /** Faults of devices that the board does not have are the user's mistake. */
  check(names: readonly string[]): void {
    const { hostile = [] } = this.#options;
    for (const device of namesOf(this.#options))
      if (!this.layers.has(device))
        throw new HostError(
          `${hostile.some(one => one.device === device) ? 'hostile' : 'fault of'} ${device}: devices that can have faults are ${names.join(', ')}`,
        );
  }
}

/** The devices of the user's own, in their slots. */
function userDevices(o: Complete, ports: BoardPorts, plic: Plic, wiring: Wiring): Placed[] {
  const devices = o.ownDevices ?? [];
  if (devices.length > USER_SLOTS)
    throw new HostError(`${devices.length} devices: ${USER_SLOTS} are possible`);
  return devices.map(({ definition, params = {} }, n) => {
    const place = userSlot(n);
    const values = paramsOf(definition, params);
    const device = wiring.device(
      definition.name,
      plic.line(place.irq),
      wires =>
        new DefinedDevice(definition, values, {
          ...wires,
          work: ports.work,
          seed: o.seed,
          log: ports.log ?? (() => {}),
          violated: (rule, doc) => o.onViolation?.({ device: definition.name, rule, doc, pc: ports.pc?.() }),
          isFreed: (address, bytes) => o.isFreed?.(ports.ram, address, bytes) ?? false,
        }),
    );
    return { device, ...place, size: definition.size ?? 0x1000 };
  });
}

export function buildBoard(o: Complete, ports: BoardPorts, romBytes: Uint8Array): Board {
  const { clock, lines, work } = ports;
  const plic = new Plic(o.harts, lines);
  const clint = new Clint(o.harts, clock, lines);
  const uart = new Uart16550(plic.drivenLine(MAP.uart.irq), ports.console);
  const rtc = new Rtc(clock, plic.line(MAP.rtc.irq), o.rtcBase);
  const kcov = o.kcov === 'device' ? new KcovDevice(ports.kcov) : undefined;
  const placed: Placed[] = [
    { device: rtc, ...MAP.rtc },
    { device: uart, ...MAP.uart },
    { device: new Finisher(ports.finish), ...MAP.finisher },
  ];
  if (kcov) placed.push({ device: kcov, ...MAP.kcov });
  const wiring = new Wiring(o, ports);
  const edu = wiring.device('edu', plic.line(MAP.edu.irq), w => new Edu(w.clock, w.irq, w.ram));
  placed.push({ device: edu, ...MAP.edu }, ...userDevices(o, ports, plic, wiring));

  const disks: VirtioBlk[] = [];
  let virtioConsole: VirtioConsole | undefined;
  const backend = (option: VirtioOption): VirtioBackend => {
    switch (option.kind) {
      case 'rng':
        return new VirtioRng(o.seed);
      case 'console':
        return (virtioConsole = new VirtioConsole(ports.console, option.size));
      case 'blk': {
        const disk = new VirtioBlk(option.image ?? new Uint8Array(0), option.readOnly);
        disks.push(disk);
        return disk;
      }
    }
  };
  const slots = virtioSlots(o.virtio);
  // QEMU lists the slots from the last to the first; the order determines Linux's names of the
  // disks.
  for (let n = VIRTIO_SLOTS - 1; n >= 0; n--) {
    const place = virtioSlot(n);
    const option = slots.get(n);
    const device = wiring.device(
      `virtio${n}`,
      plic.line(place.irq),
      wires => new VirtioMmio(n, { ...wires, work }, o.virtioLegacy, option && backend(option)),
    );
    placed.push({ device, ...place });
  }
  placed.push(
    ...addDevices(o.devices ?? [], placed, { clock, ram: ports.ram, work, line: n => plic.line(n) }),
  );
  if (o.fwCfg?.length)
    placed.push({
      device: new FwCfg(o.fwCfg, { ram: ports.ram, clock, work, accessed: ports.fwCfgAccessed }),
      ...MAP.fwCfg,
    });
  placed.push({ device: plic, ...MAP.plic }, { device: clint, ...MAP.clint });
  placed.push({ device: new Rom(romBytes), ...MAP.rom });
  const own = (o.ownDevices ?? []).map(({ definition }) => definition.name);
  const names = placed.map(({ device }) => device.name);
  for (const name of own)
    if (names.filter(other => other === name).length > 1)
      throw new HostError(`device ${name}: the board has another one of this name`);
  wiring.check(['edu', 'virtio0', `virtio${VIRTIO_SLOTS - 1}`, ...own]);
  for (const p of placed) ports.bus.add(p.device, p.base, p.size);
  return { placed, clint, plic, uart, rtc, kcov, virtioConsole, disks, faults: wiring.layers };
}
