// `kcovbox cov merge` and `cov filter`: traces in, a trace out.
import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  filterTrace,
  mergeTraces,
  type RecordFilter,
  SelectedPoints,
  type Trace,
  writeTrace,
} from '../../coverage/index.ts';
import { visible } from '../../emulator/base/words.ts';
import { tell } from '../../toolchain/index.ts';
import { UserError } from '../io/fail.ts';
import { checkOutput, writeChunks } from '../io/output.ts';
import { repeated } from '../io/repeated.ts';
import {
  addImageOption,
  addSelectOptions,
  checkSameImage,
  type ImageOptions,
  imageOf,
  openTrace,
  type SelectOptions,
  selection,
  TRACES,
  tellUnproven,
  traceName,
  withProgress,
} from './files.ts';
import { checkTraceName } from './formats.ts';

interface FilterOptions extends ImageOptions, SelectOptions {
  output: string;
  thread?: number;
  process?: number;
  syscall?: number;
  test?: string[];
  context?: string;
  kind?: string;
}

/** A whole number; -1 stands for "outside". */
function parseNumber(text: string): number {
  if (!/^-?\d{1,15}$/.test(text)) throw new InvalidArgumentError('expected a whole number');
  return Number(text);
}

function sourceFilter(options: FilterOptions): RecordFilter['source'] {
  const { thread, process, syscall } = options;
  return source =>
    (thread === undefined || source.thread === thread) &&
    (process === undefined || source.process === process) &&
    (syscall === undefined || source.syscall === syscall) &&
    (options.test === undefined || options.test.includes(source.test)) &&
    (options.context === undefined || source.context === options.context);
}

function pointFilter(trace: Trace, options: FilterOptions): RecordFilter['point'] {
  const keep = selection(options);
  const { kind } = options;
  if (!keep) return kind === undefined ? undefined : k => k === kind;
  const selected = new SelectedPoints(imageOf([trace], options), keep);
  return (k, pc) => (kind === undefined || k === kind) && selected.has(k, pc);
}

export function addMerge(cov: Command): void {
  cov
    .command('merge')
    .description('combine traces of one image; tests stay separate by name')
    .argument('<trace...>', TRACES)
    .requiredOption('-o, --output <file>', 'the merged trace, .kcov; - for standard output')
    .addHelpText('after', '\nExample:\n  kcovbox cov merge -o all.kcov a.kcov b.kcov')
    .action(async (paths: string[], options: { output: string }) => {
      checkTraceName(options.output, 'cov merge');
      checkOutput(options.output);
      const traces = paths.map(path => ({ path, trace: openTrace(path), name: traceName(path) }));
      checkSameImage(traces);
      tellUnproven(traces);
      await writeChunks(options.output, withProgress('merging', writeTrace(mergeTraces(traces))));
    });
}

export function addFilter(cov: Command): void {
  const command = cov
    .command('filter')
    .description('select records of a trace')
    .argument('<trace>', 'a .kcov file')
    .requiredOption('-o, --output <file>', 'the filtered trace, .kcov; - for standard output')
    .option('--thread <n>', 'records of this thread', parseNumber)
    .option('--process <n>', 'records of this process', parseNumber)
    .option('--syscall <n>', 'records of this system call; -1: outside of any', parseNumber)
    .option('--test <name>', 'records of this test (repeatable)', repeated)
    .addOption(
      new Option('--context <context>', 'records of tasks, or of remote sections').choices([
        'task',
        'remote',
      ]),
    )
    .addOption(new Option('--kind <kind>', 'records of this kind').choices(['pc', 'cmp', 'edge']))
    .addHelpText(
      'after',
      '\nExamples:\n  kcovbox cov filter --context remote -o remote.kcov all.kcov\n' +
        "  kcovbox cov filter -F 'kernel/fs/**' --syscall 63 -o reads.kcov all.kcov",
    );
  addSelectOptions(addImageOption(command)).action(async (path: string, options: FilterOptions) => {
    checkTraceName(options.output, 'cov filter');
    checkOutput(options.output);
    const trace = openTrace(path);
    for (const name of options.test ?? []) checkTest(path, trace, name);
    const kept = filterTrace(trace, {
      ...(sourceFilter(options) && { source: sourceFilter(options)! }),
      ...(pointFilterOf(trace, options) ?? {}),
    });
    if (kept.records.length === 0)
      tell(`kcovbox: no record of ${visible(path)} matches; the result is empty\n`);
    await writeChunks(options.output, withProgress('filtering', writeTrace(kept)));
  });
}

/** A name that the trace does not have would leave an empty trace. */
function checkTest(path: string, { tests }: Trace, name: string): void {
  if (tests.includes(name)) return;
  const names = tests.length === 0 ? 'it names no tests' : `there are ${listed(tests)}`;
  throw new UserError(`trace ${path} has no test ${JSON.stringify(name)}; ${names}`);
}

const LISTED = 8;
const listed = (names: readonly string[]): string => {
  const first = names.slice(0, LISTED).map(name => name || '""');
  return `${first.join(', ')}${names.length > LISTED ? ` and ${names.length - LISTED} more` : ''}`;
};

function pointFilterOf(trace: Trace, options: FilterOptions): RecordFilter | undefined {
  const point = pointFilter(trace, options);
  return point && { point };
}
