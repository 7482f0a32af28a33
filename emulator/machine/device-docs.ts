// Writes docs/devices.md from the memory map and the declared register maps, so that it cannot
// differ from the code.

import { CLINT_MAP } from '../../devices/clint.ts';
import { EDU_MAP } from '../../devices/edu.ts';
import { FINISHER_MAP } from '../../devices/finisher.ts';
import { FW_CFG_MAP } from '../../devices/fw-cfg.ts';
import { KCOV_MAP } from '../../devices/kcov.ts';
import { PLIC_MAP } from '../../devices/plic.ts';
import { RTC_MAP } from '../../devices/rtc.ts';
import { UART_MAP } from '../../devices/uart16550.ts';
import { VIRTIO_MAP } from '../../devices/virtio-mmio.ts';
import { hex } from '../base/bits.ts';
import type { RegMap, RegRow } from '../bus/regmap.ts';
import { MAP, RAM_BASE, USER_SLOTS, VIRTIO_SLOTS } from './memory-map.ts';

const MAPS: Partial<Record<keyof typeof MAP, RegMap<string>>> = {
  finisher: FINISHER_MAP,
  rtc: RTC_MAP,
  clint: CLINT_MAP,
  kcov: KCOV_MAP,
  edu: EDU_MAP,
  plic: PLIC_MAP,
  uart: UART_MAP,
  virtio: VIRTIO_MAP,
  fwCfg: FW_CFG_MAP,
};

/** Regions that repeat. */
const SLOTS: Readonly<Record<string, number>> = { virtio: VIRTIO_SLOTS, user: USER_SLOTS };

const ACCESS = { r: 'read', w: 'write', rw: 'read, write' } as const;

const HEAD = `# Devices and their registers

Generated from the register maps in \`devices/\` and \`emulator/machine/memory-map.ts\`; do not edit.
To renew it:
\`UPDATE_DOCS=1 npx vitest run --project unit test/machine/device-docs.test.ts\`

An access is an access fault for the guest if the device refuses its width, if it is misaligned, or
if no device is at its address. A read of a hole gives 0, a write has no effect. Each device's file
lists its differences from the specification.
`;

export function deviceDocs(): string {
  const parts = [HEAD, overview()];
  for (const [name, region] of Object.entries(MAP)) {
    const map = MAPS[name as keyof typeof MAP];
    if (map) parts.push(section(map, region.base));
  }
  return `${parts.join('\n')}`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return `${[line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')}\n`;
}

function overview(): string {
  const rows = Object.entries(MAP)
    .sort(([, a], [, b]) => a.base - b.base)
    .map(([name, { base, size, irq }]) => {
      const count = SLOTS[name];
      const slots = count ? `, ${count} slots ${hex(size)} apart` : '';
      const irqs = count ? `${irq}..${irq + count - 1}` : irq === 0 ? '' : String(irq);
      return [hex(base), hex(size), irqs, `${name}${slots}`];
    });
  rows.push([hex(RAM_BASE), 'as asked', '', 'RAM']);
  return table(['address', 'bytes', 'interrupt', 'device'], rows);
}

function section(map: RegMap<string>, base: number): string {
  const rows = map.rows.map(row => [
    offset(row),
    String(row.bytes),
    `\`${row.id}\``,
    ACCESS[row.access],
    note(row),
  ]);
  const head = `## ${map.title}\n\nAt ${hex(base)}. Specification: ${map.spec}.\n`;
  return `${head}\n${table(['offset', 'bytes', 'register', 'access', 'meaning'], rows)}`;
}

function offset(row: RegRow<string>): string {
  if ((row.count ?? 1) === 1) return hex(row.at);
  return `${hex(row.at)} + ${hex(row.stride ?? row.bytes)} n, n < ${row.count}`;
}

function note(row: RegRow<string>): string {
  const bank = row.bank === undefined ? '' : row.bank === '' ? '' : ` (while ${row.bank} is set)`;
  return row.doc.replaceAll('|', '\\|') + bank;
}
