// Builds the devices of the board and puts them on the bus.

import { Clint } from '../../devices/clint.ts';
import { Edu } from '../../devices/edu.ts';
import { Finisher, type FinishPort } from '../../devices/finisher.ts';
import { KcovDevice, type KcovPorts } from '../../devices/kcov.ts';
import { Plic } from '../../devices/plic.ts';
import { Rom } from '../../devices/rom.ts';
import { Rtc } from '../../devices/rtc.ts';
import { Uart16550 } from '../../devices/uart16550.ts';
import { VirtioBlk } from '../../devices/virtio-blk.ts';
import { VirtioConsole } from '../../devices/virtio-console.ts';
import { type VirtioBackend, VirtioMmio } from '../../devices/virtio-mmio.ts';
import { VirtioRng } from '../../devices/virtio-rng.ts';
import type { Bus } from '../bus/bus.ts';
import type { ClockPort, Device, HartLines, RamPort, Sink, WorkPort } from '../bus/device.ts';
import { addDevices } from './added-devices.ts';
import { MAP, type Region, VIRTIO_SLOTS, virtioSlot } from './memory-map.ts';
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
}

export function buildBoard(o: Complete, ports: BoardPorts, romBytes: Uint8Array): Board {
  const { clock, ram, lines, work } = ports;
  const plic = new Plic(o.harts, lines);
  const clint = new Clint(o.harts, clock, lines);
  const uart = new Uart16550(plic.line(MAP.uart.irq), ports.console);
  const rtc = new Rtc(clock, plic.line(MAP.rtc.irq), o.rtcBase);
  const kcov = o.kcov === 'device' ? new KcovDevice(ports.kcov) : undefined;
  const placed: Placed[] = [
    { device: rtc, ...MAP.rtc },
    { device: uart, ...MAP.uart },
    { device: new Finisher(ports.finish), ...MAP.finisher },
  ];
  if (kcov) placed.push({ device: kcov, ...MAP.kcov });
  placed.push({ device: new Edu(clock, plic.line(MAP.edu.irq), ram), ...MAP.edu });

  const disks: VirtioBlk[] = [];
  let virtioConsole: VirtioConsole | undefined;
  const backend = (option: VirtioOption): VirtioBackend => {
    if (option.kind === 'rng') return new VirtioRng(o.seed);
    if (option.kind === 'console') return (virtioConsole = new VirtioConsole(ports.console, option.size));
    const disk = new VirtioBlk(option.image ?? new Uint8Array(0), option.readOnly);
    disks.push(disk);
    return disk;
  };
  const slots = virtioSlots(o.virtio);
  // QEMU lists the slots from the last to the first; the order determines Linux's names of the
  // disks.
  for (let n = VIRTIO_SLOTS - 1; n >= 0; n--) {
    const place = virtioSlot(n);
    const option = slots.get(n);
    const slot = { irq: plic.line(place.irq), ram, clock, work };
    const device = new VirtioMmio(n, slot, o.virtioLegacy, option && backend(option));
    placed.push({ device, ...place });
  }
  placed.push(...addDevices(o.devices ?? [], placed, { clock, ram, work, line: n => plic.line(n) }));
  placed.push({ device: plic, ...MAP.plic }, { device: clint, ...MAP.clint });
  placed.push({ device: new Rom(romBytes), ...MAP.rom });
  for (const p of placed) ports.bus.add(p.device, p.base, p.size);
  return { placed, clint, plic, uart, rtc, kcov, virtioConsole, disks };
}
