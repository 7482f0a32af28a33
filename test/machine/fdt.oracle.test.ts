// The device tree compared with QEMU's for the same board, both read by dtc.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Machine } from '../../emulator/index.ts';
import { QEMU_NEW } from '../support/oracle/qemu-new.ts';
import { findProgram, missing, runProgram, withScratch } from '../support/tools.ts';

const DTC = findProgram('dtc');
const QEMU = findProgram('qemu-system-riscv64');

function ourBlob(harts: number, cpu = 'rv64'): Uint8Array {
  const bytes = new Uint8Array(64);
  bytes.set(new TextEncoder().encode('raw'));
  const machine = Machine.create({
    kernel: { name: 'k.bin', bytes },
    bios: 'none',
    engine: 'interp',
    harts,
    cpu,
    append: 'console=ttyS0 quiet',
  });
  return machine.booted.fdt;
}

/** Path of every node -> its properties, phandles replaced by the path of the node they mean. */
function tree(dts: string): Map<string, Map<string, string>> {
  const nodes = new Map<string, Map<string, string>>();
  const path: string[] = [];
  for (const line of dts.split('\n').map(l => l.trim())) {
    const open = /^(\S+) \{$/.exec(line);
    const property = /^([^\s=;]+)(?: = (.*))?;$/.exec(line);
    if (open) {
      path.push(open[1]!);
      nodes.set(path.join('/'), new Map());
    } else if (line === '};') path.pop();
    else if (property && path.length > 0) nodes.get(path.join('/'))!.set(property[1]!, property[2] ?? '');
  }
  const byPhandle = new Map([...nodes].map(([name, p]) => [p.get('phandle')?.slice(1, -1), name]));
  for (const properties of nodes.values()) {
    const resolve = (cell: string): string => byPhandle.get(cell) ?? cell;
    for (const name of ['interrupt-parent', 'regmap']) {
      const value = properties.get(name);
      if (value) properties.set(name, resolve(value.slice(1, -1)));
    }
    const wires = properties.get('interrupts-extended');
    if (wires) {
      const cells = wires.slice(1, -1).split(' ');
      properties.set('interrupts-extended', cells.map((c, i) => (i % 2 ? c : resolve(c))).join(' '));
    }
    properties.delete('phandle');
  }
  return nodes;
}

const dts = (blob: string): string => runProgram(DTC!, ['-I', 'dtb', '-O', 'dts', '-q', blob]);

describe.skipIf(missing('dtc', DTC) || missing('qemu-system-riscv64', QEMU))('device tree', () => {
  // What QEMU's board has and ours does not, or the other way round.
  const ONLY_QEMU = /pmu|fw-cfg|flash|pci|platform-bus|cpu-map/;
  const ONLY_OURS = /kcov|edu/;
  const DIFFERENT = /model|riscv,isa|riscv,cbo|rng-seed|bootargs/;

  it.each([1, 2, 4, 8])('agrees with QEMU for %i harts, node by node', harts => {
    withScratch(dir => {
      const [ours, theirs] = [join(dir, 'a.dtb'), join(dir, 'b.dtb')];
      writeFileSync(ours, ourBlob(harts));
      runProgram(QEMU!, ['-M', `virt,dumpdtb=${theirs}`, '-smp', String(harts), '-m', '128', '-nographic']);
      const strip = (nodes: ReturnType<typeof tree>, skip: RegExp) =>
        [...nodes]
          .filter(([name]) => !skip.test(name))
          .map(([name, p]) => [name, [...p].filter(([k]) => !DIFFERENT.test(k)).sort()])
          .sort((a, b) => (String(a[0]) < String(b[0]) ? -1 : 1));
      expect(strip(tree(dts(ours)), ONLY_OURS)).toEqual(strip(tree(dts(theirs)), ONLY_QEMU));
    });
  });

  it('is accepted by dtc without a warning about its structure', () => {
    withScratch(dir => {
      const [blob, again] = [join(dir, 'a.dtb'), join(dir, 'b.dtb')];
      writeFileSync(blob, ourBlob(2));
      runProgram(DTC!, ['-I', 'dtb', '-O', 'dtb', '-q', '-o', again, blob]);
      expect(readFileSync(again).length).toBeGreaterThan(1000);
      expect(dts(blob)).toContain('bootargs = "console=ttyS0 quiet"');
    });
  });
});

/**
 * Names of QEMU 10's models that the hart lacks, and names of ours that QEMU's model lacks
 * (docs/isa.md).
 */
const MODELS = [
  // H and what follows from it; two extensions without a new instruction of the profile.
  { cpu: 'rv64', only: /^(h|sh\w+|zawrs|svvptc)$/, ours: ['svinval', 'svnapot', 'svpbmt'] },
  // B stands for Zba, Zbb and Zbs, which are named.
  { cpu: 'rva22s64', only: /^(b|sh\w+)$/, ours: ['zihintntl'] },
];

describe.skipIf(missing('dtc', DTC) || QEMU_NEW === undefined)('the ISA strings of QEMU 10', () => {
  const cpuNode = (blob: string): Map<string, string> => {
    const nodes = tree(dts(blob));
    return nodes.get([...nodes.keys()].find(name => /\/cpu@0$/.test(name))!)!;
  };
  const names = (list: string): string[] => list.slice(1, -1).split('\\0');

  it.each(MODELS)('-cpu $cpu', ({ cpu, only, ours }) => {
    withScratch(dir => {
      const [a, b] = [join(dir, 'a.dtb'), join(dir, 'b.dtb')];
      writeFileSync(a, ourBlob(1, cpu));
      runProgram(QEMU_NEW!, ['-M', `virt,dumpdtb=${b}`, '-cpu', cpu, '-m', '128', '-nographic']);
      const [here, there] = [cpuNode(a), cpuNode(b)];
      const [mine, theirs] = [here, there].map(node => names(node.get('riscv,isa-extensions')!)) as [
        string[],
        string[],
      ];
      expect(mine.filter(name => !theirs.includes(name))).toEqual(ours);
      // The same names in the same order.
      expect(mine.filter(name => !ours.includes(name))).toEqual(theirs.filter(name => !only.test(name)));
      for (const node of [here, there]) {
        const [base, ...rest] = node.get('riscv,isa')!.slice(1, -1).split('_');
        expect([...base!.slice(4), ...rest]).toEqual(names(node.get('riscv,isa-extensions')!));
      }
      for (const name of [
        'riscv,isa-base',
        'riscv,cbom-block-size',
        'riscv,cbop-block-size',
        'riscv,cboz-block-size',
      ])
        expect(here.get(name), name).toBe(there.get(name));
    });
  });
});
