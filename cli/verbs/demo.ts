// `kcovbox demo`, the main job: boot the instrumented kernel, run the OpenBSD example, and show the
// kernel functions and source lines that one read(2) executed. All of it is computed from the
// program counters in the program's mapped buffer.
import { basename, join } from 'node:path';
import type { Command } from 'commander';
import colors from 'picocolors';
import { addrOf, CallSites, cleanPath, Elf, type Frame, Symbolizer } from '../../coverage/index.ts';
import type { GuestImages } from '../../host/guest.ts';
import { imageOptions } from '../../host/machine.ts';
import { packageRoot, tell } from '../../toolchain/index.ts';
import { GuestConsole } from '../io/console.ts';
import { UserError } from '../io/fail.ts';
import { prepareGuest } from '../run/guest.ts';
import { explain, runSession } from '../run/session.ts';

/** Colours are for terminals; a CI variable does not make one. */
const pc = colors.createColors(process.stdout.isTTY === true);

interface Row {
  readonly function: string;
  readonly place: string;
  readonly lines: number[];
  points: number;
}

/** Functions in the order in which the call entered them; inlined ones have their own rows. */
function table(images: GuestImages, pcs: readonly bigint[]): Row[] {
  const elf = new Elf(images.kernel, 'kernel');
  const sites = new CallSites(elf);
  const symbolizer = new Symbolizer(elf);
  const rows = new Map<string, Row>();
  for (const value of pcs) {
    const site = sites.find(addrOf(value));
    if (site < 0) throw new UserError(`the guest reported ${sites.explainMissing(addrOf(value))}`);
    for (const frame of symbolizer.frames(sites.call[site]!).reverse()) addFrame(rows, frame);
  }
  return [...rows.values()];
}

function addFrame(rows: Map<string, Row>, frame: Frame): void {
  const file = cleanPath(frame.declFile || frame.file);
  const key = `${frame.function} ${file}`;
  const row = rows.get(key) ?? {
    function: frame.function,
    place: `${file}:${frame.declLine || frame.line}`,
    lines: [],
    points: 0,
  };
  rows.set(key, row);
  if (frame.line > 0 && cleanPath(frame.file) === file && !row.lines.includes(frame.line))
    row.lines.push(frame.line);
  row.points++;
}

/** "12-14 17" */
function ranges(lines: readonly number[]): string {
  const sorted = [...lines].sort((a, b) => a - b);
  const parts: string[] = [];
  for (let i = 0; i < sorted.length; i++) {
    const from = sorted[i]!;
    while (sorted[i + 1] === sorted[i]! + 1) i++;
    parts.push(sorted[i] === from ? `${from}` : `${from}-${sorted[i]}`);
  }
  return parts.join(' ');
}

function print(rows: readonly Row[]): void {
  const width = (pick: (row: Row) => string, title: string): number =>
    Math.max(title.length, ...rows.map(row => pick(row).length));
  const name = width(row => row.function, 'function');
  const place = width(row => row.place, 'declared at');
  console.log(pc.bold(`${'function'.padEnd(name)}  ${'declared at'.padEnd(place)}  lines that ran`));
  for (const row of rows)
    console.log(
      `${pc.green(row.function.padEnd(name))}  ${pc.dim(row.place.padEnd(place))}  ${ranges(row.lines)}`,
    );
}

export async function demo(): Promise<number> {
  const program = join(packageRoot(), 'guest-programs', 'openbsd-kcov.c');
  const images = await prepareGuest(program, [], {
    dialect: 'openbsd',
    kcov: 'device',
    tty: 'tty=stream', // the same run at a terminal and without one
  });
  const console_ = new GuestConsole({ keep: true, silent: true });
  const end = await runSession({
    machine: {
      ...imageOptions(images),
      ramBytes: 64 * 2 ** 20,
    },
    console: console_,
    maxInsns: 2_000_000_000,
  });
  const why = explain(end);
  if (why || end.status !== 0) {
    tell(console_.text);
    throw new UserError(why ?? `${basename(program)} ended with status ${end.status}; its output is above`);
  }
  const pcs = [...console_.text.matchAll(/0x([0-9a-f]{16})\b/g)].map(match => BigInt(`0x${match[1]}`));
  if (pcs.length === 0) throw new UserError('the example printed no program counters');
  console.log(
    `read(-1, NULL, 0) ran ${pcs.length} instrumented points of the kernel, in this order of first entry:\n`,
  );
  print(table(images, pcs));
  const seconds = end.wallSeconds.toFixed(2);
  console.log(
    `\n${end.machine.instret.toLocaleString('en-US')} guest instructions from power-on to power-off in ${seconds} s, ` +
      'the same every time.\nNext: kcovbox run YOUR.c, kcovbox run --help',
  );
  return 0;
}

export function register(program: Command): void {
  program
    .command('demo')
    .description('boot the kernel and show the lines that one read(2) covered')
    .action(async () => {
      process.exitCode = await demo();
    });
}
