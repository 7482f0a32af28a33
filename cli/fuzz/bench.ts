// `kcovbox fuzz bench`: the cost of an execution, and whether two executions of one program are the
// same, to the record.
import { type EngineKind, type FaultChoice, MIB, parseFaultChoice } from '../../emulator/index.ts';
import {
  Choice,
  changeFaults,
  type Executor,
  Generator,
  HALVES,
  type Program,
  programText,
  Random,
} from '../../fuzz/index.ts';
import { loadDescriptions } from '../../host/fuzz/descriptions.ts';
import { openTarget } from '../../host/fuzz/target.ts';
import type { FuzzBench } from '../../run/fuzz/schema.ts';
import { printJson, writeTo } from '../io/output.ts';
import { progressLine } from '../io/progress.ts';
import { type GuestChoice, prepareChosen, textsFor } from './choose.ts';

export interface BenchOptions extends GuestChoice {
  rounds: number;
  fault?: string[];
  engine: Exclude<EngineKind, 'lockstep'>;
  json?: true;
}

const PROGRAMS = 64;
const CALLS = 5;
const SEED = 0x5n;
/** Executions of each program before the measured ones: code that is compiled by then. */
const WARM = 300;
/** Calls that return at once, as most do. */
const USUAL = [
  'openat*',
  'read',
  'write',
  'pread64',
  'pwrite64',
  'lseek',
  'close',
  'dup*',
  'pipe2',
  'fcntl$getfl',
  'fstat',
  'newfstatat',
  'mkdirat',
  'unlinkat',
  'ftruncate',
  'mmap',
  'munmap',
  'mprotect',
  'socketpair',
  'eventfd2',
  'epoll_create1',
  'getpid',
  'clock_gettime',
  'renameat',
  'getdents64',
];

/** The same of xv6, which has no others. */
const USUAL_XV6 = [
  'open*',
  'read',
  'write',
  'write$pipe',
  'close',
  'dup',
  'pipe',
  'fstat',
  'mkdir',
  'unlink',
  'getpid',
];

type Row = FuzzBench['rows'][number];
type What = Row['what'];

/** Usual calls, and those that the user describes. */
function programs(options: BenchOptions, faults: readonly FaultChoice[]): Program[] {
  const random = new Random(SEED);
  const { describe = [], ...rest } = options;
  const own = loadDescriptions(textsFor(rest));
  const all = describe.length === 0 ? own : loadDescriptions(textsFor(options));
  const more = all.calls.map(({ name }) => name).filter(name => !own.byName.has(name));
  const usual = options.xv6 === undefined ? USUAL : USUAL_XV6;
  const generator = new Generator(random, new Choice(all, [...usual, ...more]), []);
  const found: Program[] = [];
  while (found.length < PROGRAMS) {
    const program = generator.program();
    if (faults.length > 0) changeFaults(program, faults, random);
    if (program.calls.length === CALLS) found.push(program);
  }
  return found;
}

const micros = (): number => {
  const { user, system } = process.cpuUsage();
  return user + system;
};
const nanos = (): number => Number(process.hrtime.bigint());

function modesOf(what: What): readonly ('pc' | 'cmp')[] {
  return what === 'both' ? ['pc', 'cmp'] : [what === 'points' ? 'pc' : 'cmp'];
}

function measure(executor: Executor, all: readonly Program[], what: What, rounds: number): Row {
  const modes = modesOf(what);
  const { snapshots } = executor.machine;
  let [target, reset, units, records] = [0, 0, 0, 0];
  const pages = snapshots.restoredPages;
  const cpu = micros();
  for (let round = 0; round < rounds; round++)
    for (const program of all)
      for (const mode of modes) {
        const start = nanos();
        const execution = executor.execute(program, mode);
        const done = nanos();
        executor.goBack();
        reset += nanos() - done;
        target += done - start;
        units += execution.units;
        records += execution.calls.reduce((sum, { begin, end }) => sum + end - begin, 0);
      }
  const spent = micros() - cpu;
  const count = rounds * all.length;
  // The clock on the wall divides the time of the processor.
  const share = spent / (target + reset) / count;
  const per = (n: number): number => n / count;
  const restored = per(snapshots.restoredPages - pages) / modes.length;
  const times = { target: target * share, reset: reset * share, rate: (1e6 * count) / spent };
  const resident = process.memoryUsage.rss() / MIB;
  return { what, ...times, resident, pages: restored, units: per(units), records: per(records) };
}

/** All records of a program's calls and the values that they returned. */
function observe(executor: Executor, program: Program, mode: 'pc' | 'cmp'): Uint32Array {
  const { calls, units, end } = executor.execute(program, mode);
  const last = calls.at(-1)?.end ?? 0;
  const values = calls.flatMap(({ value = 0n }) => [Number(value & 0xffff_ffffn), Number(value >> 32n)]);
  const records = executor.area.subarray(2, 2 + HALVES[mode] * last);
  return Uint32Array.from([...records, ...values, units, end.length]);
}

/** The first difference between two executions of each program, with others between them. */
function firstUnstable(executor: Executor, all: readonly Program[]): string | undefined {
  for (const mode of ['pc', 'cmp'] as const) {
    const first = all.map(program => observe(executor, program, mode));
    for (const [i, program] of [...all.entries()].reverse()) {
      const again = observe(executor, program, mode);
      const before = first[i]!;
      const at = before.findIndex((half, k) => half !== again[k]);
      if (at < 0 && before.length === again.length) continue;
      const index = at < 0 ? Math.min(before.length, again.length) : at;
      const hex = (half: number | undefined): string =>
        half === undefined ? 'nothing' : `0x${half.toString(16)}`;
      return (
        `record ${Math.floor(index / HALVES[mode])} (${mode}) of program ${i} was ${hex(before[index])}, ` +
        `then ${hex(again[index])}:\n${programText(program)}`
      );
    }
  }
  return undefined;
}

function table(rows: readonly Row[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`;
  const whole = (n: number): string => Math.round(n).toLocaleString('en-US');
  const means = ['records', 'target', 'reset', 'pages', 'instructions', 'records'];
  const heads = [...means, 'executions in CPU time', 'resident'];
  return (
    line(heads) +
    line(heads.map(() => '---')) +
    rows
      .map(({ what, target, reset, pages, units, records, rate, resident }) =>
        line([
          what,
          ...[target, reset].map(us => `${us.toFixed(1)} us`),
          ...[pages, units, records].map(whole),
          `${whole(rate)}/s`,
          `${whole(resident)} MiB`,
        ]),
      )
      .join('')
  );
}

/** The result for a person. */
function text({ rounds, unstable, rows }: FuzzBench): string {
  if (unstable !== null) return `stability: NOT 100 %: ${unstable}`;
  const count = (rows.length + 1) * rounds * PROGRAMS;
  return (
    `${PROGRAMS} programs of ${CALLS} calls, ${rounds} times each\n\n${table(rows)}\n` +
    `stability: 100 % of ${2 * PROGRAMS} programs; ` +
    `RAM and devices hashed at every 1,024th of ${count.toLocaleString('en-US')} resets\n`
  );
}

export async function bench(options: BenchOptions): Promise<number> {
  const { engine, rounds } = options;
  const faults = (options.fault ?? []).map(parseFaultChoice);
  const { target } = await prepareChosen(options, { engine, faultable: faults.map(({ device }) => device) });
  const executor = openTarget(target);
  const all = programs(options, faults);
  const progress = progressLine();
  progress.show('stability');
  const unstable = firstUnstable(executor, all) ?? null;
  let rows: Row[] = [];
  if (unstable === null) {
    progress.show('warming up');
    measure(executor, all, 'both', Math.min(WARM, rounds));
    rows = (['points', 'comparisons', 'both'] as const).map(what => {
      progress.show(what);
      return measure(executor, all, what, rounds);
    });
  }
  progress.clear();
  const format = 'kcovbox fuzz bench';
  const done: FuzzBench = { format, version: 1, programs: PROGRAMS, calls: CALLS, rounds, unstable, rows };
  if (options.json) printJson(done);
  else writeTo('-', text(done));
  return unstable === null ? 0 : 1;
}
