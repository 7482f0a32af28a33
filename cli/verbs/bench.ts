// `kcovbox bench`: how fast this is on this machine, against QEMU on the same binaries in the same
// run.
import { basename } from 'node:path';
import { SingleBar } from 'cli-progress';
import type { Command } from 'commander';
import { missingForPairs, type PairedRow, pairsTable, runPairs } from '../../bench/against.ts';
import { type Report, runBench } from '../../bench/bench.ts';
import { ENGINES } from '../../bench/engines.ts';
import { reportSvg, reportTable } from '../../bench/report.ts';
import { systems, WORKLOADS, type Workload, workloadOf } from '../../bench/workloads.ts';
import { visible } from '../../emulator/base/words.ts';
import { compileProgram } from '../../host/guest.ts';
import { readInput, readText } from '../../host/input.ts';
import { checkProgram } from '../../host/program.ts';
import { standardError, tell } from '../../toolchain/index.ts';
import { benchCold } from '../bench/cold.ts';
import { curvesTable, runCurves } from '../bench/curves.ts';
import { parseReport } from '../bench/report-file.ts';
import { resetTable, runResets } from '../bench/reset.ts';
import { benchSeek } from '../bench/seek.ts';
import { UserError } from '../io/fail.ts';
import { checkOutput, writeTo } from '../io/output.ts';
import { type EndingSignal, SIGNAL_STATUS, whileSignals } from '../io/signals.ts';
import { parseCount } from '../io/values.ts';

/** Bytes; a report with every workload has some tens of thousands. */
const REPORT_MAX = 16 * 2 ** 20;

/** Of the machine whose resets are measured: as much as a fuzzer gives to a small kernel. */
const BENCH_RAM = 64 * 2 ** 20;

interface BenchFlags {
  rounds: number;
  engines?: string;
  json?: string;
  svg?: string;
  cold?: boolean;
  curves?: boolean;
  reset?: boolean;
  seek?: boolean;
  against?: string;
  resets: number;
  scale: number;
  program?: string;
  from?: string;
}

const SYSTEMS = WORKLOADS.filter(w => w.system);
const PROGRAMS = WORKLOADS.filter(w => !w.system);

/** The workloads that are named; programs on the bare machine, if none is. */
function workloadsOf(words: readonly string[], scale: number): readonly Workload[] {
  const names = chosen(
    words.flatMap(name => (name === 'system' ? SYSTEMS.map(w => w.name) : [name])),
    WORKLOADS.map(w => w.name),
    'workload',
  );
  if (names.length === 0) return PROGRAMS;
  return [...PROGRAMS, ...systems(scale)].filter(w => names.includes(w.name));
}

/** A row for a program of the user's. Errors: one that the guest could not run. */
async function ownWorkload(program: string, args: readonly string[]): Promise<Workload> {
  const name = basename(program);
  if (/\.c$/i.test(program)) {
    const { path } = await compileProgram(program, { dialect: 'linux' });
    return workloadOf({ name, path, args });
  }
  checkProgram(program, readInput(program, 'program'));
  return workloadOf({ name, path: program, args });
}

const listed = (workloads: readonly Workload[]): string =>
  workloads.map(w => `  ${w.name.padEnd(16)}${w.title}`).join('\n');

function chosen(given: readonly string[], known: readonly string[], what: string): readonly string[] {
  const wrong = given.find(name => !known.includes(name));
  if (wrong !== undefined) throw new UserError(`no ${what} "${wrong}"; there are ${known.join(', ')}`);
  return given;
}

/**
 * A bar on a terminal; else a line on standard error for each step, so that a log shows where a
 * long run is.
 */
function progressBar(): { progress: (done: number, total: number, what: string) => void; stop: () => void } {
  if (!standardError().isTTY)
    return {
      progress: (done, total, what) => tell(`${done}/${total} ${what}\n`),
      stop: () => {},
    };
  const format = '{bar} {value}/{total} {what}';
  const bar = new SingleBar({ format, clearOnComplete: true, stream: standardError() });
  bar.start(1, 0, { what: '' });
  return {
    progress: (done, total, what) => {
      bar.setTotal(total);
      bar.update(done, { what });
    },
    stop: () => bar.stop(),
  };
}

/**
 * A measurement that a signal may end: then `partial` shows the results so far, and the command
 * ends with the status of the signal.
 */
async function interruptible<T>(work: Promise<T>, partial: () => void): Promise<T> {
  const onSignal = (signal: EndingSignal): void => {
    partial();
    tell('kcovbox: bench: interrupted; the results above are those so far\n');
    process.exit(SIGNAL_STATUS[signal]);
  };
  return whileSignals(onSignal, () => work);
}

/** A measurement that has no results before its end: a signal ends the command with its status. */
const untilSignal = <T>(work: () => Promise<T>): Promise<T> =>
  whileSignals(signal => process.exit(SIGNAL_STATUS[signal]), work);

/** Writes the outputs of a measurement; the table, where none of them is standard output. */
function show(table: string, flags: BenchFlags, texts: { json?: object; svg?: () => string }): void {
  const { json, svg } = flags;
  if (json !== undefined && texts.json) writeTo(json, `${JSON.stringify(texts.json, null, 2)}\n`);
  if (svg !== undefined && texts.svg) writeTo(svg, texts.svg());
  const isTaken = (json === '-' && texts.json) || (svg === '-' && texts.svg);
  if (!isTaken) writeTo('-', `${table}\n`);
}

/** Modes that do not write these files. */
const UNUSED = {
  cold: ['json', 'svg'],
  reset: ['json', 'svg'],
  seek: ['json', 'svg'],
  curves: ['svg'],
  against: ['svg'],
  from: ['json'],
} as const;

/** Errors: UserError for a file that would not be written. */
function refuseUnused(flags: BenchFlags): void {
  for (const [mode, files] of Object.entries(UNUSED))
    for (const file of files)
      if (flags[mode as keyof typeof UNUSED] && flags[file] !== undefined)
        throw new UserError(`bench --${mode}: --${file} does not apply to it; leave it out`);
}

function showEarlier(path: string, options: BenchFlags): void {
  const report = parseReport(path, readText(path, 'report', REPORT_MAX));
  show(visible(reportTable(report), '\n'), options, { svg: () => reportSvg(report) });
}

export function register(program: Command): void {
  program
    .command('bench')
    .description('measure against QEMU: CPU seconds on the same binaries, alternated, medians')
    .argument('[workloads...]', 'workloads to run; all programs by default, "system" for all systems')
    .option('-r, --rounds <n>', 'measurements of each workload', parseCount, 3)
    .option('--engines <names>', 'engines to compare, separated by commas; all by default')
    .option(
      '--cold',
      "instead: a hello program, Node's start included, and Debian's Linux to its first program, beside QEMU",
    )
    .option('--curves', 'instead: CPU time against guest RAM, harts and processes')
    .option('--reset', 'instead: the cost of going back to a snapshot in memory')
    .option('--seek', 'instead: how long a debugger waits in a run of 300 million instructions')
    .option(
      '--against <checkout>',
      'instead: the JIT beside that of another checkout, in pairs on one processor',
    )
    .option('--scale <n>', 'so many times the work of each system', parseCount, 1)
    .option(
      '--program <file>',
      'a C source or static Linux program of yours as the workload; the words are its arguments',
    )
    .option('--resets <n>', 'with --reset: of 64 pages, while memory is watched', parseCount, 50_000)
    .option('--json <file>', 'write every sample, after each round; - for standard output, at the end')
    .option('--from <file>', 'do not measure; show the report of an earlier run with --json')
    .option('--svg <file>', 'draw the ratios; - for standard output')
    .addHelpText(
      'after',
      '\nOnly the CPU time of the engines counts, so other load makes the benchmark slower, not wrong.\n\n' +
        'Examples:\n  kcovbox bench -r 1 --engines "kcovbox jit,qemu" mix sieve\n' +
        '  kcovbox bench --json all.json; kcovbox bench --from all.json --svg all.svg\n' +
        '  kcovbox bench --engines "kcovbox jit,qemu" --program coremark.elf 0 0 0x66 60000\n\n' +
        `Programs on the bare machine:\n${listed(PROGRAMS)}\n\n` +
        `Systems (node setup/fetch-guests.mjs first, with --linux for linux):\n${listed(SYSTEMS)}`,
    )
    .action(async (words: string[], options: BenchFlags) => {
      const { json, svg, from } = options;
      for (const path of [json, svg]) checkOutput(path);
      refuseUnused(options);
      if (options.cold) {
        console.log(await untilSignal(() => benchCold(options.rounds)));
        return;
      }
      if (from !== undefined) {
        showEarlier(from, options);
        return;
      }
      if (options.reset) {
        console.log(resetTable(await runResets(options.resets, BENCH_RAM)));
        return;
      }
      if (options.seek) {
        console.log(await benchSeek(BENCH_RAM));
        return;
      }
      if (options.curves) {
        const { progress, stop } = progressBar();
        const curves = await untilSignal(() => runCurves(options.rounds, progress));
        stop();
        show(curvesTable(curves), options, { json: curves });
        return;
      }
      const { program: own, scale } = options;
      if (own !== undefined && scale !== 1)
        throw new UserError('bench --program: --scale does not apply to it; leave it out');
      const wanted = own === undefined ? workloadsOf(words, scale) : [await ownWorkload(own, words)];
      if (options.against !== undefined) {
        const reason = missingForPairs(options.against);
        if (reason !== undefined) throw new UserError(`bench --against: ${reason}`);
        const { progress, stop } = progressBar();
        let soFar: readonly PairedRow[] = [];
        const showPairs = (rows: readonly PairedRow[]): void => {
          stop();
          show(pairsTable(rows, options.rounds), options, { json: rows });
        };
        const onPair = (rows: readonly PairedRow[]): void => {
          soFar = rows;
        };
        const pairs = runPairs(options.against, wanted, options.rounds, { progress, onPair });
        showPairs(await interruptible(pairs, () => showPairs(soFar)));
        return;
      }
      const engines = chosen(
        options.engines?.split(',') ?? [],
        ENGINES.map(e => e.name),
        'engine',
      );
      const { progress, stop } = progressBar();
      let latest: Report | undefined;
      const showReport = (report: Report): void => {
        stop();
        show(reportTable(report), options, { json: report, svg: () => reportSvg(report) });
      };
      const measured = runBench({
        rounds: options.rounds,
        workloads: wanted,
        engines,
        onRound: soFar => {
          if (json !== undefined && json !== '-') writeTo(json, `${JSON.stringify(soFar, null, 2)}\n`);
        },
        onSample: soFar => {
          latest = soFar;
        },
        progress,
      });
      showReport(await interruptible(measured, () => latest && showReport(latest)));
    });
}
