// Devices that are not part of the board: the host program adds them at free addresses, with free
// interrupts.

import { PLIC_SOURCES } from '../../devices/plic.ts';
import { hex } from '../base/bits.ts';
import { HostError } from '../base/errors.ts';
import type { AddedDevice, Device, DevicePorts, IrqLine } from '../bus/device.ts';
import { MAP, RAM_BASE, type Region } from './memory-map.ts';

interface Placed extends Region {
  device: Device;
}

interface Ports extends Omit<DevicePorts, 'irq'> {
  line(source: number): IrqLine;
}

/**
 * As in a page table: a window that ends within a page would share its protection with what
 * follows.
 */
const PAGE = 4096;
const NOWHERE: IrqLine = { raise: () => {}, lower: () => {} };

/** Regions of the board whose devices are placed after these. */
const BEHIND: readonly (Region & { name: string })[] = [
  { name: 'plic', ...MAP.plic },
  { name: 'clint', ...MAP.clint },
  { name: 'rom', ...MAP.rom },
];

/** Makes the devices. Errors: HostError for a place or an interrupt that cannot be, or is taken. */
export function addDevices(added: readonly AddedDevice[], board: readonly Placed[], ports: Ports): Placed[] {
  const all: Placed[] = [];
  for (const { base, size, irq = 0, create } of added) {
    const { line, ...rest } = ports;
    checkPlace(base, size, irq);
    const device = create({ irq: irq === 0 ? NOWHERE : line(irq), ...rest });
    const taken = [...board.map(({ device, ...p }) => ({ name: device.name, ...p })), ...BEHIND];
    taken.push(...all.map(({ device, ...p }) => ({ name: device.name, ...p })));
    const what = `device ${device.name} at ${hex(base)}`;
    const over = taken.find(t => base < t.base + t.size && t.base < base + size);
    if (over) throw new HostError(`${what}: overlaps ${over.name} at ${hex(over.base)}`);
    if (taken.some(t => t.name === device.name))
      throw new HostError(`${what}: there is another device of this name, by which snapshots know it`);
    const shares = irq === 0 ? undefined : taken.find(t => t.irq === irq);
    if (shares) throw new HostError(`${what}: interrupt ${irq} is that of ${shares.name}`);
    all.push({ device, base, size, irq });
  }
  return all;
}

function checkPlace(base: number, size: number, irq: number): void {
  const what = `device at ${hex(base)}`;
  if (!(base >= 0 && size > 0 && base % PAGE === 0 && size % PAGE === 0))
    throw new HostError(`${what}: its place and its ${size} bytes are not multiples of ${PAGE}`);
  if (base + size > RAM_BASE)
    throw new HostError(`${what}: it ends behind ${hex(RAM_BASE)}, where ram begins`);
  if (!(Number.isInteger(irq) && irq >= 0 && irq <= PLIC_SOURCES))
    throw new HostError(`${what}: interrupt ${irq}: 1 to ${PLIC_SOURCES} are possible`);
}
