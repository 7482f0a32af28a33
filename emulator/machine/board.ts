// The device tree of the board, from the memory map and the devices' own nodes. Names, order of
// properties and phandle use follow QEMU's virt board, because guests find nodes by them.

import { TICK } from '../../devices/clint.ts';
import type { Device, FdtNode, Placement } from '../bus/device.ts';
import { CACHE_BLOCK_BYTES, type Extensions, isaExtensions, isaString } from '../isa/index.ts';
import { cells64 } from './fdt.ts';
import { RAM_BASE } from './memory-map.ts';

/** Virtual time is 1 GHz. */
const TIMEBASE = 1_000_000_000 / TICK;
const IRQ_M_SOFT = 3;
const IRQ_M_TIMER = 7;
const IRQ_M_EXT = 11;
const IRQ_S_EXT = 9;

export interface BoardTree {
  harts: number;
  extensions: Extensions;
  ramBytes: number;
  /** Devices with their places, in the order of their nodes. */
  devices: readonly { device: Device; base: number; size: number; irq: number }[];
  bootargs: string;
  stdout: string;
  rngSeed: Uint8Array;
  initrd?: { start: number; end: number };
}

export function boardTree(board: BoardTree): FdtNode {
  const plic = board.harts + 1;
  const test = board.harts + 2;
  return {
    name: '',
    props: {
      '#address-cells': [2],
      '#size-cells': [2],
      compatible: 'riscv-virtio',
      model: 'riscv-virtio,kcovbox',
    },
    children: [
      chosen(board),
      power('poweroff', 0x5555, test),
      power('reboot', 0x7777, test),
      {
        name: `memory@${RAM_BASE.toString(16)}`,
        props: { device_type: 'memory', reg: [...cells64(RAM_BASE), ...cells64(board.ramBytes)] },
      },
      cpus(board),
      {
        name: 'soc',
        props: { '#address-cells': [2], '#size-cells': [2], compatible: 'simple-bus', ranges: true },
        children: deviceNodes(board, plic, test),
      },
    ],
  };
}

function chosen(board: BoardTree): FdtNode {
  const props: FdtNode['props'] = { 'rng-seed': board.rngSeed, 'stdout-path': board.stdout };
  if (board.bootargs !== '') props['bootargs'] = board.bootargs;
  if (board.initrd) {
    props['linux,initrd-start'] = cells64(board.initrd.start);
    props['linux,initrd-end'] = cells64(board.initrd.end);
  }
  return { name: 'chosen', props };
}

function power(name: string, value: number, test: number): FdtNode {
  return { name, props: { value: [value], offset: [0], regmap: [test], compatible: `syscon-${name}` } };
}

function cpus({ harts, extensions }: BoardTree): FdtNode {
  const children: FdtNode[] = [];
  for (let h = 0; h < harts; h++) {
    children.push({
      name: `cpu@${h.toString(16)}`,
      props: {
        device_type: 'cpu',
        reg: [h],
        status: 'okay',
        compatible: 'riscv',
        ...isaProperties(extensions),
        'mmu-type': 'riscv,sv48',
      },
      children: [
        {
          name: 'interrupt-controller',
          props: {
            '#interrupt-cells': [1],
            'interrupt-controller': true,
            compatible: 'riscv,cpu-intc',
            phandle: [1 + h],
          },
        },
      ],
    });
  }
  return {
    name: 'cpus',
    props: { '#address-cells': [1], '#size-cells': [0], 'timebase-frequency': [TIMEBASE] },
    children,
  };
}

/** The old property and the two that replace it, as QEMU's board has them. */
function isaProperties(extensions: Extensions): FdtNode['props'] {
  return {
    'riscv,isa': isaString(extensions),
    'riscv,isa-base': 'rv64i',
    'riscv,isa-extensions': isaExtensions(extensions),
    ...blockSizes(extensions),
  };
}

function blockSizes(extensions: Extensions): FdtNode['props'] {
  const kinds = (['zicbom', 'zicbop', 'zicboz'] as const).filter(name => extensions.has(name));
  return Object.fromEntries(kinds.map(name => [`riscv,${name.slice(2)}-block-size`, [CACHE_BLOCK_BYTES]]));
}

function deviceNodes(board: BoardTree, plic: number, test: number): FdtNode[] {
  const nodes: FdtNode[] = [];
  for (const { device, base, size, irq } of board.devices) {
    const place: Placement = { base, size, irq, intc: plic };
    const node = device.fdtNode?.(place);
    if (!node) continue;
    // Properties that only the board knows: the wiring to harts.
    if (device.name === 'clint')
      node.props['interrupts-extended'] = wires(board.harts, IRQ_M_SOFT, IRQ_M_TIMER);
    if (device.name === 'plic') {
      node.props['interrupts-extended'] = wires(board.harts, IRQ_M_EXT, IRQ_S_EXT);
      node.props['phandle'] = [plic];
    }
    if (device.name === 'finisher') node.props['phandle'] = [test];
    nodes.push(node);
  }
  return nodes;
}

function wires(harts: number, first: number, second: number): number[] {
  return Array.from({ length: harts }, (_, h) => [1 + h, first, 1 + h, second]).flat();
}
