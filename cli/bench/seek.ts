// `kcovbox bench --seek`: how long a debugger waits in a long run: to go to a place, and to learn
// who stored last. Wall time, because a person waits.
import { join } from 'node:path';
import { createMachine, RAM_BASE, Timeline } from '../../emulator/index.ts';
import { prepareGuest } from '../../host/guest.ts';
import { imageOptions } from '../../host/machine.ts';
import { packageRoot } from '../../toolchain/index.ts';

/** Of examples/overrun.c: seven instructions each. */
const ROUNDS = 43_000_000;
const SEEKS = 300;
const WRITES = 30;
const PAGE = 4096;
const PERCENTILES = [50, 95, 100];

interface Row {
  readonly what: string;
  /** Milliseconds, sorted. */
  readonly times: readonly number[];
}

const ms = (): number => Number(process.hrtime.bigint()) / 1e6;

export async function benchSeek(memory: number): Promise<string> {
  const program = join(packageRoot(), 'examples', 'overrun.c');
  const guest = await prepareGuest(program, [String(ROUNDS)], { dialect: 'openbsd', kcov: 'device' });
  const options = { ...imageOptions(guest), ramBytes: memory };
  const plain = createMachine(options);
  const start = ms();
  plain.run();
  const alone = ms() - start;
  const timeline = new Timeline(createMachine(options));
  const before = ms();
  timeline.end();
  const recorded = ms() - before;
  const units = timeline.position;
  let seed = 12_345;
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
  const measure = (what: string, count: number, work: () => void): Row => {
    const times = Array.from({ length: count }, () => {
      const from = ms();
      work();
      return ms() - from;
    });
    return { what, times: times.sort((a, b) => a - b) };
  };
  const rows = [
    measure('seek to a place of the run', SEEKS, () => void timeline.seek(random(units))),
    measure('one unit back', SEEKS / 10, () => void timeline.seek(timeline.position - 1)),
  ];
  timeline.seek(units);
  const pages = [...timeline.rungs.at(-1)!.pages.keys()];
  const write = (): void => {
    timeline.lastWrite(RAM_BASE + pages[random(pages.length)]! * PAGE + 8 * random(PAGE / 8), 8);
  };
  rows.push(measure('last store to a word', WRITES, write));
  const { snapshots, bytes } = timeline.kept;
  return [
    `${units.toLocaleString('en-US')} units; ${snapshots} snapshots with ${(bytes / 2 ** 20).toFixed(0)} MiB of pages; ` +
      `the first pass took ${(recorded / 1000).toFixed(1)} s, ${(alone / 1000).toFixed(1)} s without snapshots`,
    '',
    '| what | median, ms | 95 %, ms | most, ms |',
    '| --- | --- | --- | --- |',
    ...rows.map(
      ({ what, times }) =>
        `| ${what} | ${PERCENTILES.map(p => times[Math.ceil((p / 100) * times.length) - 1]!.toFixed(1)).join(' | ')} |`,
    ),
  ].join('\n');
}
