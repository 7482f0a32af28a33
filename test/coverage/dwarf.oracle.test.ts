/**
 * The ELF and DWARF readers against llvm-symbolizer and llvm-dwarfdump. `KCOVBOX_VMLINUX` adds a
 * Linux image of your own.
 */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { hex } from '../../coverage/base/bytes.ts';
import { Dwarf } from '../../coverage/dwarf/dwarf.ts';
import { allLineTables, type LineRow } from '../../coverage/dwarf/line.ts';
import { type Frame, Symbolizer } from '../../coverage/dwarf/symbolize.ts';
import { Elf } from '../../coverage/elf/elf.ts';
import { buildFixture, buildStatic, missing, run } from './support.ts';

const reason = missing('DWARF oracle', 'clang-19', 'ld.lld-19', 'llvm-symbolizer-19', 'llvm-dwarfdump-19');

interface OracleFrame {
  FunctionName: string;
  FileName: string;
  Line: number;
  Column: number;
}

function oracleFrames(path: string, addresses: string[]): OracleFrame[][] {
  const text = run('llvm-symbolizer-19', ['--output-style=JSON', '--inlines', `--obj=${path}`], {
    input: `${addresses.join('\n')}\n`,
  });
  return text
    .trim()
    .split('\n')
    .map(line => (JSON.parse(line) as { Symbol: OracleFrame[] }).Symbol);
}

const show = (f: { FunctionName: string; FileName: string; Line: number; Column: number }) =>
  `${f.FunctionName} ${f.FileName}:${f.Line}:${f.Column}`;
const showOurs = (f: Frame) => `${f.function} ${f.file}:${f.line}:${f.column}`;

/** Compare every `step`-th half-word of the executable sections. */
function compareFrames(path: string, step: number): number {
  const elf = new Elf(readFileSync(path), path);
  const symbolizer = new Symbolizer(elf, { symbolsWin: true });
  const addresses: number[] = [];
  for (const section of elf.executableSections()) {
    for (let at = 0; at < section.size; at += step) addresses.push(section.addr + at);
  }
  const expected = oracleFrames(path, addresses.map(hex));
  expect(expected.length).toBe(addresses.length);
  for (const [i, address] of addresses.entries()) {
    const ours = symbolizer.frames(address).map(showOurs).join(' <- ');
    const theirs = expected[i]!.map(show).join(' <- ');
    if (ours !== theirs) expect(`${hex(address)} ${ours}`).toBe(`${hex(address)} ${theirs}`);
  }
  return addresses.length;
}

const FLAGS: [number, string][] = [
  [1, 'is_stmt'],
  [2, 'basic_block'],
  [8, 'prologue_end'],
  [16, 'epilogue_begin'],
  [4, 'end_sequence'],
];

function showRow(row: LineRow): string {
  const flags = FLAGS.filter(([bit]) => row.flags & bit).map(([, name]) => name);
  const address = `0x${BigInt.asUintN(64, BigInt(row.address)).toString(16).padStart(16, '0')}`;
  return [address, row.line, row.column, row.file, row.isa, row.discriminator, 0, ...flags].join(' ');
}

/**
 * Rows as llvm-dwarfdump prints them: address line column file isa discriminator op-index flags.
 */
function compareRows(path: string): number {
  const elf = new Elf(readFileSync(path), path);
  const theirs = run('llvm-dwarfdump-19', ['--debug-line', path])
    .split('\n')
    .filter(line => /^0x[0-9a-f]{16}\s+\d+\s+\d+\s+\d+/.test(line))
    .map(line => line.trim().split(/\s+/).join(' '));
  const ours: string[] = [];
  for (const { table } of allLineTables(new Dwarf(elf).sections)) {
    for (let i = 0; i < table.rows.count; i++) ours.push(showRow(table.row(i)));
  }
  expect(ours.length).toBe(theirs.length);
  const different = ours.findIndex((row, i) => row !== theirs[i]);
  if (different >= 0) expect(ours[different]).toBe(theirs[different]);
  return ours.length;
}

describe.skipIf(reason)('DWARF reader', () => {
  for (const dwarf of [4, 5] as const) {
    for (const relax of [false, true]) {
      it(`agrees with llvm on every address of an instrumented image, DWARF ${dwarf}, ${relax ? 'relaxed' : 'not relaxed'}`, () => {
        const path = buildFixture({ dwarf, relax });
        expect(compareRows(path)).toBeGreaterThan(100);
        expect(compareFrames(path, 2)).toBeGreaterThan(200);
      });
    }
  }

  it('agrees with llvm on a static glibc program', () => {
    const path = buildStatic();
    expect(compareRows(path)).toBeGreaterThan(5);
    expect(compareFrames(path, 38)).toBeGreaterThan(1000);
  });

  const vmlinux = process.env['KCOVBOX_VMLINUX'];
  const absent = !vmlinux || !existsSync(vmlinux);
  if (absent) console.warn('skipped: DWARF of a Linux kernel: KCOVBOX_VMLINUX names no image');
  it.skipIf(absent)('agrees with llvm on a Linux kernel (KCOVBOX_VMLINUX)', () => {
    expect(compareFrames(vmlinux!, 1022)).toBeGreaterThan(1000);
    expect(compareRows(vmlinux!)).toBeGreaterThan(100_000);
  });
});
