/**
 * Size: ten million records through the stored form and the exporters, and (with KCOVBOX_VMLINUX)
 * the debug information of a whole Linux kernel. Prints what it measured as processor time of this
 * process; docs/coverage-formats.md quotes it.
 */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Dwarf } from '../../coverage/dwarf/dwarf.ts';
import { allLineTables } from '../../coverage/dwarf/line.ts';
import {
  Coverage,
  Elf,
  exportCoverage,
  type Format,
  Program,
  readTrace,
  TraceBuilder,
  writeTrace,
} from '../../coverage/index.ts';
import { fixture, missing } from './support.ts';

const RECORDS = 10_000_000;
const reason = missing('coverage at scale', 'clang-19', 'ld.lld-19');

/** Processor seconds of `work`, printed with its name. */
function measured<T>(what: string, work: () => T): T {
  const before = process.cpuUsage();
  const result = work();
  const { user, system } = process.cpuUsage(before);
  const mib = Math.round(process.memoryUsage().rss / 2 ** 20);
  console.info(`${what.padEnd(34)} ${((user + system) / 1e6).toFixed(2).padStart(7)} s  resident ${mib} MiB`);
  return result;
}

function sizeOf(chunks: Iterable<Uint8Array>): number {
  let size = 0;
  for (const chunk of chunks) size += chunk.length;
  return size;
}

/** Records at pseudo-random points of the program, in runs of a thousand from four threads. */
function manyRecords(program: Program, image: string) {
  const builder = new TraceBuilder({ dialect: 'linux', image });
  const sources = [0, 1, 2, 3].map(i =>
    builder.source({ test: `test ${i}`, thread: i, syscall: i, call: i + 1 }),
  );
  const rets = Array.from(program.points, site => program.sites.ret[site]!);
  let seed = 1;
  for (let i = 0; i < RECORDS; i++) {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    const ret = rets[(seed >>> 8) % rets.length]!;
    builder.pcHalves(sources[(i >> 10) & 3]!, ret >>> 0, Math.floor(ret / 2 ** 32));
  }
  return builder.finish();
}

describe.skipIf(reason)('coverage at scale', () => {
  it('writes, reads and exports ten million records in seconds with bounded memory', () => {
    const elf = fixture();
    const program = new Program(elf);
    const trace = measured('build 10 M records', () => manyRecords(program, elf.imageId));
    const parts: Uint8Array[] = [];
    measured('write .kcov', () => parts.push(...writeTrace(trace)));
    const bytes = new Uint8Array(Buffer.concat(parts));
    expect(bytes.length).toBeLessThan(3 * RECORDS);
    const back = measured('read .kcov', () => readTrace(bytes));
    expect(back.records.length).toBe(RECORDS);
    const coverage = measured('count', () => new Coverage(back, program));
    for (const format of [
      'raw',
      'rawcover',
      'lcov',
      'drcov',
      'json',
      'csv',
      'html',
    ] as const satisfies Format[]) {
      const options = { kind: 'pc' } as const;
      const size = measured(`export ${format}`, () => sizeOf(exportCoverage(format, coverage, options)));
      expect(size).toBeGreaterThan(0);
    }
    expect(process.memoryUsage().rss).toBeLessThan(1.5 * 2 ** 30);
  });

  const vmlinux = process.env['KCOVBOX_VMLINUX'];
  it.skipIf(!vmlinux || !existsSync(vmlinux))('reads a Linux kernel (KCOVBOX_VMLINUX)', () => {
    const bytes = readFileSync(vmlinux!);
    console.info(`${vmlinux}: ${(bytes.length / 1e6).toFixed(0)} MB`);
    const elf = new Elf(bytes, 'vmlinux');
    const dwarf = measured('open (unit roots)', () => new Dwarf(elf));
    let rows = 0;
    measured('all line tables', () => {
      for (const { table } of allLineTables(dwarf.sections)) rows += table.rows.count;
    });
    let functions = 0;
    measured('all functions and inlined calls', () => {
      for (const unit of dwarf.units) functions += dwarf.functions(unit).length;
    });
    const program = measured('whole program map', () => new Program(elf));
    console.info(`${rows} rows, ${functions} functions, ${program.count} points`);
    expect(rows).toBeGreaterThan(100_000);
  });
});
