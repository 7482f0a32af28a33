/**
 * drcov version 2 with the seven-column module table that Lighthouse, Cartographer and LibAFL all
 * read.
 *
 * The blocks are derived: a covered hook represents the straight-line code around it
 * (callsites.ts). Offsets count from the lowest loaded address and must fit 32 bits, sizes 16 bits;
 * a longer block is split.
 */
import { CoverageError, hex } from '../base/bytes.ts';
import type { Coverage } from '../model/coverage.ts';
import type { ExportOptions } from './common.ts';
import { moduleBase, moduleName } from './plain.ts';

const MAX_SIZE = 0xffff;

export function* exportDrcov(coverage: Coverage, options: ExportOptions): Generator<Uint8Array> {
  const { program } = coverage;
  const { elf, sites } = program;
  const base = moduleBase(elf);
  const end = elf.sections.reduce((top, s) => (s.flags & 2 ? Math.max(top, s.addr + s.size) : top), base);
  const blocks: { start: number; size: number }[] = [];
  for (const point of coverage.covered()) {
    const site = program.points[point]!;
    let low = sites.blockLow[site]! - base;
    const high = sites.blockHigh[site]! - base;
    if (high > 0xffff_ffff)
      throw new CoverageError(`drcov cannot hold offset 0x${high.toString(16)}: more than 32 bits`);
    for (; low < high; low += MAX_SIZE) blocks.push({ start: low, size: Math.min(high - low, MAX_SIZE) });
  }
  const head =
    'DRCOV VERSION: 2\nDRCOV FLAVOR: kcovbox\nModule Table: version 2, count 1\n' +
    'Columns: id, base, end, entry, checksum, timestamp, path\n' +
    `0, ${hex(base)}, ${hex(end)}, ${hex(elf.entry)}, 0x0, 0x0, ${moduleName(elf, options)}\n` +
    `BB Table: ${blocks.length} bbs\n`;
  yield new TextEncoder().encode(head);
  const table = new Uint8Array(blocks.length * 8);
  const view = new DataView(table.buffer);
  for (const [i, { start, size }] of blocks.entries()) {
    view.setUint32(8 * i, start, true);
    view.setUint16(8 * i + 4, size, true);
  }
  if (table.length > 0) yield table;
}
