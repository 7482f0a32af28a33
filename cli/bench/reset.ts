// `kcovbox bench --reset`: the cost of going back to a snapshot, which a fuzzer pays for each
// input. A booted kernel is set back again and again after stores to so many pages, and after so
// many instructions of its own. The stores are part of the time.
import { join } from 'node:path';
import { createMachine, type Machine, RAM_BASE, type Snapshot } from '../../emulator/index.ts';
import { prepareGuest } from '../../host/guest.ts';
import { imageOptions } from '../../host/machine.ts';
import { packageRoot } from '../../toolchain/index.ts';

export interface ResetRow {
  readonly what: string;
  /** Pages that had to be restored at each reset, on average. */
  readonly pages: number;
  readonly resets: number;
  /** Microseconds of processor time per reset, stores included. */
  readonly micros: number;
}

export interface ResetReport {
  readonly rows: readonly ResetRow[];
  /**
   * Resident memory in bytes after the first tenth of the resets with MEMORY_PAGES, and at the end.
   */
  readonly memory: readonly [tenth: number, end: number];
  readonly resets: number;
}

/** Units after which hello's kernel is in the middle of its boot. */
const BOOTED = 1_200_000;
const PAGES = [0, 8, 64, 256, 1024];
/** The line for which the number of resets is chosen, and memory is watched. */
const MEMORY_PAGES = 64;
/** Resets of the other lines. */
const SOME = 5000;
const INSTRUCTIONS = [1_000, 10_000, 100_000];
const FIRST_PAGE = RAM_BASE + 0x200_0000;
const micros = (): number => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

/** `resets`: with MEMORY_PAGES pages. */
export async function runResets(resets: number, memory: number): Promise<ResetReport> {
  const machine = await booted(memory);
  const base = machine.snapshot();
  const rows: ResetRow[] = [];
  const sizes: number[] = [];
  const measure = (what: string, pages: number, work: () => void, count: number): void => {
    for (let i = 0; i < 200; i++) round(machine, base, work);
    const before = machine.snapshots.restoredPages;
    const start = micros();
    for (let i = 0; i < count; i++) {
      round(machine, base, work);
      if (pages === MEMORY_PAGES && i % Math.ceil(resets / 10) === 0) sizes.push(process.memoryUsage.rss());
    }
    const spent = micros() - start;
    const restored = (machine.snapshots.restoredPages - before) / count;
    rows.push({ what, pages: Math.max(pages, restored), resets: count, micros: spent / count });
  };
  for (const units of INSTRUCTIONS)
    measure(`${units.toLocaleString('en-US')} instructions`, 0, () => void machine.run(units), SOME);
  for (const pages of PAGES)
    measure(
      `${pages} pages stored to`,
      pages,
      () => {
        for (let page = 0; page < pages; page++) machine.ram.write8(FIRST_PAGE + page * 4096 + 8, page & 255);
      },
      pages === MEMORY_PAGES ? resets : SOME,
    );
  return { rows, memory: [sizes[1] ?? 0, sizes.at(-1) ?? 0], resets };
}

function round(machine: Machine, base: Snapshot, work: () => void): void {
  work();
  machine.restore(base);
}

async function booted(memory: number): Promise<Machine> {
  const program = join(packageRoot(), 'examples', 'hello.c');
  const guest = await prepareGuest(program, [], { dialect: 'openbsd', kcov: 'device' });
  const machine = createMachine({
    ...imageOptions(guest),
    ramBytes: memory,
  });
  machine.run(BOOTED);
  return machine;
}

export function resetTable({ rows, memory, resets }: ResetReport): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const mib = (bytes: number): string => (bytes / 2 ** 20).toFixed(0);
  return [
    line(['before each reset', 'pages restored', 'us', 'resets per CPU second']),
    line(['---', '---', '---', '---']),
    ...rows.map(({ what, pages, micros }) =>
      line([what, pages.toFixed(0), micros.toFixed(1), Math.round(1e6 / micros).toLocaleString('en-US')]),
    ),
    '',
    `resident memory: ${mib(memory[0])} MiB after a tenth of ${resets.toLocaleString('en-US')} resets, ` +
      `${mib(memory[1])} MiB at the end`,
  ].join('\n');
}
