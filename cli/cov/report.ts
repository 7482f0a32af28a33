// `kcovbox cov report`, `cov stats`, `cov diff`, `cov explain` and `cov export`: they turn traces
// into text, pages and files.
import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  addrOf,
  annotateCoverage,
  annotatedText,
  Coverage,
  diffCoverage,
  diffReport,
  type Elf,
  type ExportOptions,
  explainPc,
  exportCoverage,
  exportTrace,
  FILTERED,
  type Format,
  filteredNote,
  functionReport,
  hooksOfBoth,
  KINDS,
  mergeTraces,
  type NamedTrace,
  type Palette,
  PLAIN,
  Program,
  pairTraces,
  pcOf,
  percent,
  type RecordKind,
  SelectedPoints,
  type Share,
  type Trace,
  takesTrace,
  treeReport,
} from '../../coverage/index.ts';
import { visible } from '../../emulator/base/words.ts';
import { programOf, wholeProgramOf } from '../../host/analysed.ts';
import { type SourceOptions, syscallName } from '../../host/sources.ts';
import { tell } from '../../toolchain/index.ts';
import { Disassembler } from '../disasm/instructions.ts';
import { namingOf } from '../disasm/naming.ts';
import { UserError } from '../io/fail.ts';
import { checkOutput, printJson, writeChunks } from '../io/output.ts';
import { warnIfUnproven } from './cover.ts';
import {
  addImageOption,
  addSelectOptions,
  addSourceOption,
  checkSameImage,
  checkSelected,
  describeSelection,
  type ImageOptions,
  imageOf,
  MissingImage,
  openElf,
  openSources,
  openTrace,
  palette,
  printLines,
  type SelectOptions,
  selection,
  TRACES,
  tellUnproven,
  traceName,
  withProgress,
} from './files.ts';
import { COVER_FORMATS, type CoverFormat, chooseFormat } from './formats.ts';

type Common = ImageOptions & SelectOptions & SourceOptions;

/** One trace as it is; several merged under the names of their files. */
function together(paths: readonly string[]): Trace {
  const parts = paths.map(path => ({ trace: openTrace(path), name: traceName(path), path }));
  checkSameImage(parts);
  if (parts.length === 1) return parts[0]!.trace;
  tellUnproven(parts);
  return mergeTraces(parts);
}

function countedOf(paths: readonly string[], options: Common, trace = together(paths)): Coverage {
  const elf = imageOf([trace], options);
  const coverage = Coverage.of(trace, elf, { keep: selection(options) }, wholeProgramOf(elf));
  checkSelected(coverage.program.count, options);
  return coverage;
}

/** A threshold of 0 to 100 percent. */
function parsePercentage(text: string): number {
  const value = /^\d{1,3}(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= 0 && value <= 100)) throw new InvalidArgumentError('expected a percentage from 0 to 100');
  return value;
}

/**
 * The exit status of a threshold: 0 if it was met, else 1 and a message. Errors: UserError for a
 * trace of which the lines have no share.
 */
function judge(coverage: Coverage, least: number | undefined): number {
  if (least === undefined) return 0;
  if (!coverage.hasShare)
    throw new UserError(
      '--fail-under: the trace does not show which lines did not run; give a trace of pc records, not filtered',
    );
  const { lines } = coverage.totals();
  if (Number(percent(lines)) >= least) return 0;
  tell(
    `kcovbox: ${percent(lines)}% of the lines are covered (${lines.covered} of ${lines.total}), ` +
      `--fail-under wants ${least}%\n`,
  );
  return 1;
}

/** Text for a terminal, or a page for a browser: by --format, or else the suffix of -o. */
function reportFormat(output: string, format: 'text' | 'html' | undefined): 'text' | 'html' {
  if (format !== undefined) return format;
  if (output === '-' || /\.txt$/.test(output)) return 'text';
  if (/\.html?$/.test(output)) return 'html';
  throw new UserError(
    `-o ${output}: reports are .html and .txt; for other formats use cov export, or add --format`,
  );
}

/**
 * Errors: UserError for an option that the format does not use. `uses`: the formats that use each
 * option, by commander's name for it.
 */
function checkFormatOptions(
  options: object,
  format: string,
  uses: Readonly<Record<string, readonly string[]>>,
): void {
  for (const [name, formats] of Object.entries(uses)) {
    const isGiven = (options as Record<string, unknown>)[name] !== undefined;
    if (!isGiven || formats.includes(format)) continue;
    const flag = name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`);
    throw new UserError(
      `--${flag} is for ${formats.join(' and ')}, and the output is ${format}: ` +
        'leave it out, or choose another --format',
    );
  }
}

interface ReportOptions extends Common {
  by?: 'file' | 'function' | 'source';
  output: string;
  format?: 'text' | 'html';
  title?: string;
  failUnder?: number;
}

/** The source of functions that ran, and of those that -f names. */
function* sourceText(coverage: Coverage, options: ReportOptions, colours: Palette): Generator<string> {
  const read = openSources(options, coverage.program.elf.bytes);
  const named = options.function === undefined ? undefined : new RegExp(options.function);
  let isEmpty = true;
  for (const line of annotateCoverage(coverage, read, colours, ({ name }) => named?.test(name) ?? false)) {
    isEmpty = false;
    yield line;
  }
  if (coverage.trace.header.filtered) yield colours.warn(`filtered: ${filteredNote(coverage.trace)}`);
  if (!isEmpty) return;
  const asked = describeSelection(options);
  const remedy = named ? '' : '; -f NAME shows one all the same';
  yield `no function ${asked === '' ? '' : `of ${asked} `}is covered${remedy}`;
}

function textOf(coverage: Coverage, options: ReportOptions): Iterable<string> {
  const colours = options.output === '-' ? palette() : PLAIN;
  if (options.by === 'function') return functionReport(coverage, colours);
  if (options.by === 'source') return sourceText(coverage, options, colours);
  return treeReport(coverage, colours);
}

function* encoded(lines: Iterable<string>): Generator<Uint8Array> {
  const encoder = new TextEncoder();
  for (const line of lines) yield encoder.encode(`${line}\n`);
}

export function addReport(cov: Command): void {
  const command = cov
    .command('report')
    .description(
      'show coverage as a tree of files with bars, a table of functions, annotated source, or a page',
    )
    .argument('<trace...>', TRACES)
    .addOption(
      new Option(
        '--by <what>',
        'text: a tree of files (the default), a table of functions, or annotated source',
      ).choices(['file', 'function', 'source']),
    )
    .option('-o, --output <file>', 'where to write: .html or .txt; - for standard output', '-')
    .addOption(
      new Option('--format <format>', 'output format; overrides the suffix of -o').choices(['text', 'html']),
    )
    .option('--title <text>', 'title of the page (html)')
    .option(
      '--fail-under <percent>',
      'exit with status 1 if fewer lines than this percentage are covered',
      parsePercentage,
    )
    .addHelpText(
      'after',
      '\nExamples:\n  kcovbox cov report a.kcov                     a tree of files\n' +
        "  kcovbox cov report --by source -F 'kernel/fs/*.c' a.kcov    functions that ran\n" +
        "  kcovbox cov report --by source -f '^sys_read$' a.kcov       this one, also if it did not\n" +
        '  kcovbox cov report -o a.html a.kcov           one self-contained page\n' +
        '  kcovbox cov report --fail-under 80 a.kcov     for scripts',
    );
  addSourceOption(addSelectOptions(addImageOption(command))).action(
    async (paths: string[], options: ReportOptions) => {
      checkOutput(options.output);
      const format = reportFormat(options.output, options.format);
      checkFormatOptions(options, format, { by: ['text'], title: ['html'] });
      const coverage = countedOf(paths, options);
      if (format === 'html') await writeChunks(options.output, exportCounted('html', coverage, options));
      else if (options.output === '-') printLines(textOf(coverage, options));
      else await writeChunks(options.output, encoded(textOf(coverage, options)));
      process.exitCode = judge(coverage, options.failUnder);
    },
  );
}

const exportCounted = (
  format: Format,
  coverage: Coverage,
  options: Common & ExportOptions,
): Iterable<Uint8Array> => exportCoverage(format, coverage, exportOptions(options, coverage.program.elf));

/** The command line's options for exporters. `elf`: the image, whose sources are read. */
function exportOptions(options: Common & ExportOptions, elf?: Elf): ExportOptions {
  return {
    ...options,
    keep: selection(options),
    epoch: Number(process.env['SOURCE_DATE_EPOCH'] ?? 0) || 0,
    readSource: openSources(options, elf?.bytes),
    syscallName,
  };
}

export function addStats(cov: Command): void {
  const command = cov
    .command('stats')
    .description('print facts of a trace and, with its image, the totals of coverage')
    .argument('<trace...>', TRACES)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  kcovbox cov stats --json a.kcov');
  addSelectOptions(addImageOption(command)).action(
    (paths: string[], options: Common & { json?: boolean }) => {
      const trace = together(paths);
      const facts = factsOf(trace);
      let coverage: Coverage | undefined;
      let missing: string | undefined;
      try {
        coverage = countedOf(paths, options);
      } catch (error) {
        // Facts of the trace do not need the image; a wrong image or a bad PC still is an error.
        if (!(error instanceof MissingImage)) throw error;
        missing = error.message;
      }
      const totals = coverage?.totals();
      if (options.json) {
        printJson({ ...facts, totals: totals ?? null });
        return;
      }
      const rows: [string, string][] = Object.entries(facts)
        .filter(([, value]) => value !== false)
        .map(([key, value]) => [
          key.replaceAll('_', ' '),
          visible(Array.isArray(value) ? value.join(', ') : value === true ? FILTERED : String(value)),
        ]);
      const share = (s: Share) => `${s.covered} of ${s.total} (${percent(s)}%)`;
      if (coverage && totals) {
        const { lines, functions } = totals;
        const proven = (s: Share) => (coverage.hasShare ? share(s) : `${s.covered} surely ran`);
        rows.push(
          ['lines', coverage.program.hooks === 'cmp' ? 'not recorded' : proven(lines)],
          ['unknown lines', String(lines.unknown)],
          ['functions', proven(functions)],
          ['unknown functions', String(functions.unknown)],
          ['points', share(totals.points)],
        );
      }
      printLines(rows.map(([key, value]) => `${key.padEnd(18)} ${value}`));
      if (missing) tell(`kcovbox: no totals: ${missing}\n`);
    },
  );
}

function factsOf(trace: Trace) {
  const hits = trace.hits();
  let hottest = 0;
  for (const count of hits) hottest = Math.max(hottest, count);
  return {
    dialect: trace.header.dialect,
    image: trace.header.image,
    records: trace.records.length,
    ...Object.fromEntries(KINDS.map((kind, i) => [`${kind}_records`, trace.countOf(i)])),
    distinct: trace.pointPc.length,
    most_hits_of_a_pc: hottest,
    sources: trace.sources.length,
    // Every run of a merged trace has a process 1 of its own.
    threads: new Set(trace.sources.map(s => `${s.process} ${s.thread} ${s.test}`)).size,
    remote_sources: trace.sources.filter(s => s.context === 'remote').length,
    lost: trace.lostTotal,
    filtered: trace.header.filtered === true,
    tests: trace.tests.filter(name => name !== ''),
    findings: trace.findings,
  } as Record<string, string | number | boolean | string[]>;
}

interface DiffOptions extends Common {
  output: string;
  format?: 'text' | 'html';
  json?: boolean;
  exitCode?: boolean;
}

/** Different names of the two: their files', or else their paths, or else their places. */
function distinctNames(pathA: string, pathB: string): [string, string] {
  const [a, b] = [traceName(pathA), traceName(pathB)];
  if (a !== b) return [a, b];
  return pathA === pathB ? [`A: ${a}`, `B: ${b}`] : [pathA, pathB];
}

/** A page of both traces that opens with their comparison. */
function diffPage(
  a: NamedTrace,
  b: NamedTrace,
  program: Program,
  options: DiffOptions,
): Iterable<Uint8Array> {
  const pair = pairTraces(a, b);
  const title = `${pair.names[0]} and ${pair.names[1]}`;
  const { format: _, ...rest } = options;
  return exportCoverage('html', new Coverage(pair.trace, program), {
    ...exportOptions(rest, program.elf),
    title,
    compare: pair.names,
  });
}

export function addDiff(cov: Command): void {
  const command = cov
    .command('diff')
    .description('list points that only A or only B covered')
    .argument('<A>', 'a .kcov file')
    .argument('<B>', 'another one, of the same image')
    .option('-o, --output <file>', 'where to write: .html or .txt; - for standard output', '-')
    .addOption(
      new Option('--format <format>', 'output format; overrides the suffix of -o').choices(['text', 'html']),
    )
    .option('--json', 'print JSON')
    .option('--exit-code', 'exit with status 1 if A covers something that B does not')
    .addHelpText(
      'after',
      '\nExamples:\n  kcovbox cov diff --exit-code new.kcov old.kcov\n' +
        '  kcovbox cov diff -o changes.html new.kcov old.kcov    side by side, line by line',
    );
  addSourceOption(addSelectOptions(addImageOption(command))).action(
    async (pathA: string, pathB: string, options: DiffOptions) => {
      const { output } = options;
      checkOutput(output);
      const format = reportFormat(output, options.format);
      if (options.json && format === 'html')
        throw new UserError('cov diff: --json prints text; leave out --json or the page');
      const [a, b] = [openTrace(pathA), openTrace(pathB)];
      checkSameImage([
        { trace: a, path: pathA },
        { trace: b, path: pathB },
      ]);
      const [nameA, nameB] = distinctNames(pathA, pathB);
      const [elf, hooks, keep] = [imageOf([a, b], options), hooksOfBoth(a, b), selection(options)];
      const program = keep ? new Program(elf, { hooks, keep }) : programOf(elf, hooks);
      checkSelected(program.count, options);
      const diff = diffCoverage(new Coverage(a, program), new Coverage(b, program));
      if (options.json) printJson(diff);
      else if (format === 'html') {
        const page = diffPage({ trace: a, name: nameA }, { trace: b, name: nameB }, program, options);
        await writeChunks(output, page);
      } else if (output !== '-') await writeChunks(output, encoded(diffReport(diff, nameA, nameB)));
      else printLines(diffReport(diff, nameA, nameB, palette()));
      if (options.exitCode && diff.points.onlyA > 0) process.exitCode = 1;
    },
  );
}

export function addExplain(cov: Command): void {
  const command = cov
    .command('explain')
    .description('explain a PC: function, lines, inlined calls, surrounding code, tests that cover it')
    .argument('<pc>', 'as kcov recorded it, in hexadecimal')
    .option('-t, --trace <trace>', 'also list the tests in this trace that cover it')
    .addHelpText(
      'after',
      '\nExample:\n  kcovbox cov explain -t a.kcov $(kcovbox cov export --format rawcover a.kcov | head -n 1)',
    );
  addImageOption(command).action(async (text: string, options: ImageOptions & { trace?: string }) => {
    if (!/^0x[0-9a-f]{1,16}$/i.test(text))
      throw new UserError(`"${text}" is not a PC: write it as 0x and hexadecimal digits`);
    const trace = options.trace ? openTrace(options.trace) : undefined;
    if (!options.kernel && !trace)
      throw new UserError('explain needs the image (--kernel) or a trace of it (--trace)');
    const elf = trace ? imageOf([trace], options) : openElf(options.kernel!);
    const pc = addrOf(BigInt(text));
    const disassembler = await Disassembler.open(namingOf(elf));
    const disassemble = (bytes: Uint8Array, addr: number): string =>
      disassembler.text(bytes, pcOf(addr)).replaceAll('\t', ' ');
    printLines(explainPc(elf, pc, { trace, disassemble, palette: palette(), syscallName }));
    if (!elf.isExecutable(pc)) process.exitCode = 1;
  });
}

interface ExportCommand extends Common, ExportOptions {
  format?: CoverFormat;
  output: string;
}

const EXPORT_OPTIONS: Readonly<Record<string, readonly CoverFormat[]>> = {
  sourceRoot: ['lcov', 'cobertura'],
  module: ['drcov', 'modoff'],
  title: ['html'],
  inOrder: ['rawcover'],
  table: ['csv'],
  kind: ['raw'],
  source: ['html', 'source'],
};

/** Formats that hold the note themselves. */
const WITH_NOTES: readonly CoverFormat[] = ['kcov', 'json', 'html', 'source'];

/** The requested format, or the one of the suffix. Errors: neither exists. */
function exportFormat({ format, output }: ExportCommand): CoverFormat {
  if (format) return format;
  if (output === '-')
    throw new UserError(`standard output has no suffix: add --format, one of ${COVER_FORMATS.join(', ')}`);
  const chosen = chooseFormat(output, undefined, '-o');
  if (chosen === 'source')
    throw new UserError(`-o ${output}: add --format, one of ${COVER_FORMATS.join(', ')}`);
  return chosen;
}

/** The text of `run --cover -`. */
function* sourceChunks(coverage: Coverage, options: ExportCommand): Generator<Uint8Array> {
  const read = openSources(options, coverage.program.elf.bytes);
  yield new TextEncoder().encode(annotatedText(coverage, read));
}

/**
 * The records that the options select. Errors: UserError for options that select nothing of the
 * image.
 */
function selectedPart(trace: Trace, options: Common): Trace {
  const keep = selection(options);
  if (!keep) return trace;
  const selected = new SelectedPoints(imageOf([trace], options), keep);
  checkSelected(selected.isEmpty ? 0 : 1, options);
  return selected.of(trace);
}

/** Errors: UserError for a kind that none of the selected records has. */
function checkKind({ kind, ...options }: ExportCommand, selected: Trace): void {
  const asked = describeSelection(options);
  if (kind === undefined || asked === '' || selected.records.length === 0) return;
  const has = (name: RecordKind): boolean => selected.countOf(KINDS.indexOf(name)) > 0;
  if (!has(kind))
    throw new UserError(
      `${asked} selects ${KINDS.filter(has).join(' and ')} records and none of kind ${kind}: ` +
        'choose another (--kind)',
    );
}

/** One of the exporters' formats. */
function exported(
  format: Format,
  whole: Trace,
  paths: readonly string[],
  options: ExportCommand,
): Iterable<Uint8Array> {
  const trace = takesTrace(format, options) ? selectedPart(whole, options) : whole;
  if (trace.records.length === 0 && whole.records.length > 0)
    tell(`kcovbox: no record matches ${describeSelection(options)}; the result is empty\n`);
  checkKind(options, trace);
  const { format: _, ...rest } = options;
  const more = { ...exportOptions(rest), keep: undefined };
  const isBare =
    format === 'kcov' ||
    format === 'raw' ||
    (format === 'csv' && !options.kernel && trace.header.image === '');
  if (isBare) return exportTrace(format, trace, undefined, more);
  if (takesTrace(format, options)) return exportTrace(format, trace, imageOf([trace], options), more);
  return exportCounted(format, countedOf(paths, options, trace), options);
}

export function addExport(cov: Command): void {
  const command = cov
    .command('export')
    .description('write a trace in the format of another tool')
    .argument('<trace...>', TRACES)
    .option(
      '-o, --output <file>',
      'where to write; the format follows from the suffix; - for standard output',
      '-',
    )
    .addOption(
      new Option('--format <format>', 'output format; overrides the suffix of -o').choices(COVER_FORMATS),
    )
    .option('--source-root <dir>', 'prefix of relative source paths (lcov, cobertura)')
    .option('--module <name>', 'name of the image (drcov, modoff)')
    .option('--title <text>', 'title of the page (html)')
    .option('--in-order', 'rawcover: as recorded, not sorted and unique')
    .addOption(
      new Option('--table <table>', 'csv: which table').choices(['records', 'files', 'functions', 'pcs']),
    )
    .addOption(new Option('--kind <kind>', 'raw: which records').choices(['pc', 'cmp', 'edge']))
    .addHelpText(
      'after',
      '\nExamples:\n  kcovbox cov export -o out.info a.kcov         lcov\n' +
        '  kcovbox cov export -o cov.xml a.kcov          Cobertura\n' +
        '  kcovbox cov export --format csv --table functions a.kcov | sort -t, -k4n',
    );
  addSourceOption(addSelectOptions(addImageOption(command))).action(
    async (paths: string[], options: ExportCommand) => {
      checkOutput(options.output);
      const format = exportFormat(options);
      checkFormatOptions(options, format, EXPORT_OPTIONS);
      const whole = together(paths);
      const chunks =
        format === 'source'
          ? sourceChunks(countedOf(paths, options, whole), options)
          : exported(format, whole, paths, options);
      if (whole.header.filtered && !WITH_NOTES.includes(format))
        tell(`kcovbox: the trace is filtered: ${filteredNote(whole)}\n`);
      warnIfUnproven(whole, options.output, format);
      await writeChunks(options.output, withProgress(`writing ${format}`, chunks));
    },
  );
}
