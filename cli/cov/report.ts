// `kcovbox cov report`, `cov stats`, `cov diff`, `cov explain` and `cov export`: traces in, something to look at out.
import { type Command, Option } from 'commander';
import {
  addrOf,
  annotateCoverage,
  Coverage,
  diffCoverage,
  diffReport,
  type ExportOptions,
  explainPc,
  exportCoverage,
  exportTrace,
  FORMATS,
  type Format,
  functionReport,
  KINDS,
  mergeTraces,
  Program,
  percent,
  type Share,
  type Trace,
  treeReport,
} from '../../coverage/index.ts';
import { decode, disassemble } from '../../emulator/index.ts';
import { UserError } from '../io/fail.ts';
import { writeChunks } from '../io/output.ts';
import {
  addImageOption,
  addSelectOptions,
  addSourceOption,
  type ImageOptions,
  imageOf,
  openElf,
  openTrace,
  palette,
  printLines,
  type SelectOptions,
  type SourceOptions,
  selection,
  sourceReader,
  syscallName,
  traceName,
  withProgress,
} from './files.ts';

type Common = ImageOptions & SelectOptions & SourceOptions;

/** One trace as it is; several merged under the names of their files. */
function together(paths: readonly string[]): Trace {
  const parts = paths.map(path => ({ trace: openTrace(path), name: traceName(path) }));
  for (const { trace } of parts) {
    const image = parts[0]!.trace.header.image;
    if (trace.header.image && image && trace.header.image !== image) {
      throw new UserError(`${paths.join(' and ')} were recorded on different images`);
    }
  }
  return parts.length === 1 ? parts[0]!.trace : mergeTraces(parts);
}

function countedOf(paths: readonly string[], options: Common): Coverage {
  const trace = together(paths);
  return Coverage.of(trace, imageOf([trace], options), { keep: selection(options) });
}

export function addReport(cov: Command): void {
  const command = cov
    .command('report')
    .description('what was covered: a tree of files with bars, a table of functions, or annotated source')
    .argument('<trace...>')
    .addOption(new Option('--by <what>').choices(['file', 'function', 'source']).default('file'))
    .option('--fail-under <percent>', 'exit with status 1 if less than this share of the lines is covered');
  addSourceOption(addSelectOptions(addImageOption(command))).action(
    (paths: string[], options: Common & { by: string; failUnder?: string }) => {
      const coverage = countedOf(paths, options);
      const colours = palette();
      if (options.by === 'function') printLines(functionReport(coverage, colours));
      else if (options.by === 'source')
        printLines(annotateCoverage(coverage, sourceReader(options), colours));
      else printLines(treeReport(coverage, colours));
      if (options.failUnder === undefined) return;
      const least = Number(options.failUnder);
      if (!Number.isFinite(least)) throw new UserError(`"${options.failUnder}" is no percentage`);
      if (Number(percent(coverage.totals().lines)) < least) process.exitCode = 1;
    },
  );
}

export function addStats(cov: Command): void {
  const command = cov
    .command('stats')
    .description('facts of a trace, and with its image the totals of coverage')
    .argument('<trace...>')
    .option('--json', 'for programs');
  addSelectOptions(addImageOption(command)).action(
    (paths: string[], options: Common & { json?: boolean }) => {
      const trace = together(paths);
      const facts = factsOf(trace);
      let totals: ReturnType<Coverage['totals']> | undefined;
      let missing: string | undefined;
      try {
        totals = countedOf(paths, options).totals();
      } catch (error) {
        // Facts of the trace do not need the image; a wrong image or a bad PC still fails.
        if (options.kernel || !(error instanceof UserError)) throw error;
        missing = error.message;
      }
      if (options.json) {
        console.log(JSON.stringify({ ...facts, totals: totals ?? null }, null, 2));
        return;
      }
      const rows: [string, string | number][] = Object.entries(facts).map(([key, value]) => [
        key.replaceAll('_', ' '),
        Array.isArray(value) ? value.join(', ') : value,
      ]);
      const share = (s: Share) => `${s.covered} of ${s.total} (${percent(s)}%)`;
      if (totals) {
        rows.push(
          ['lines', share(totals.lines)],
          ['functions', share(totals.functions)],
          ['points', share(totals.points)],
        );
      }
      printLines(rows.map(([key, value]) => `${key.padEnd(18)} ${value}`));
      if (missing) process.stderr.write(`kcovbox: no totals: ${missing}\n`);
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
    threads: new Set(trace.sources.map(s => `${s.process} ${s.thread}`)).size,
    remote_sources: trace.sources.filter(s => s.context === 'remote').length,
    lost: trace.lostTotal,
    tests: trace.tests.filter(name => name !== ''),
    findings: trace.findings,
  } as Record<string, string | number | string[]>;
}

export function addDiff(cov: Command): void {
  const command = cov
    .command('diff')
    .description('what only A or only B covered')
    .argument('<A>')
    .argument('<B>')
    .option('--json', 'for programs')
    .option('--exit-code', 'exit with status 1 if A covers something that B does not');
  addSelectOptions(addImageOption(command)).action(
    (pathA: string, pathB: string, options: Common & { json?: boolean; exitCode?: boolean }) => {
      const [a, b] = [openTrace(pathA), openTrace(pathB)];
      const program = new Program(imageOf([a, b], options), { keep: selection(options) });
      const diff = diffCoverage(new Coverage(a, program), new Coverage(b, program));
      if (options.json) console.log(JSON.stringify(diff, null, 2));
      else printLines(diffReport(diff, traceName(pathA), traceName(pathB), palette()));
      if (options.exitCode && diff.points.onlyA > 0) process.exitCode = 1;
    },
  );
}

/** Text of one instruction; our own table knows what the guest may run. */
function instructionText(bytes: Uint8Array, addr: number): string {
  const word = bytes.reduce((value, byte, i) => value + byte * 2 ** (8 * i), 0);
  const insn = decode(word);
  return insn
    ? disassemble(insn, BigInt.asUintN(64, BigInt(addr)))
    : `.${bytes.length === 4 ? 'word' : 'half'} 0x${word.toString(16)}`;
}

export function addExplain(cov: Command): void {
  const command = cov
    .command('explain')
    .description('all that is known of a PC: function, lines, inlined calls, code around it, who covers it')
    .argument('<pc>', 'as kcov recorded it, in hexadecimal')
    .option('-t, --trace <trace>', 'tell who covers it');
  addImageOption(command).action((text: string, options: ImageOptions & { trace?: string }) => {
    if (!/^0x[0-9a-f]{1,16}$/i.test(text))
      throw new UserError(`"${text}" is no PC: write it as 0x and hexadecimal digits`);
    const trace = options.trace ? openTrace(options.trace) : undefined;
    if (!options.kernel && !trace)
      throw new UserError('explain needs the image (--kernel) or a trace of it (--trace)');
    const elf = trace ? imageOf([trace], options) : openElf(options.kernel!);
    const pc = addrOf(BigInt(text));
    printLines(explainPc(elf, pc, { trace, disassemble: instructionText, palette: palette(), syscallName }));
    if (!elf.isExecutable(pc)) process.exitCode = 1;
  });
}

export function addExport(cov: Command): void {
  const command = cov
    .command('export')
    .description('a trace in the format of another tool')
    .argument('<trace...>')
    .addOption(new Option('--format <format>').choices([...FORMATS]).makeOptionMandatory())
    .option('-o, --output <file>', 'where to write; - for standard output', '-')
    .option('--source-root <dir>', 'put before relative source paths (lcov, cobertura)')
    .option('--module <name>', 'name of the image (drcov, modoff)')
    .option('--title <text>', 'title of the page (html)')
    .option('--in-order', 'rawcover: as recorded, not sorted and unique')
    .addOption(new Option('--table <table>', 'csv').choices(['records', 'files', 'functions', 'pcs']))
    .addOption(new Option('--kind <kind>', 'raw: which records').choices(['pc', 'cmp', 'edge']));
  addSourceOption(addSelectOptions(addImageOption(command))).action(
    async (paths: string[], options: Common & ExportOptions & { format: Format; output: string }) => {
      const trace = together(paths);
      const epoch = Number(process.env['SOURCE_DATE_EPOCH'] ?? 0) || 0;
      const more: ExportOptions = {
        ...options,
        keep: selection(options),
        epoch,
        readSource: sourceReader(options),
        syscallName,
      };
      const { format } = options;
      const bare =
        format === 'kcov' ||
        format === 'raw' ||
        (format === 'csv' && !options.kernel && trace.header.image === '');
      const chunks = bare
        ? exportTrace(format, trace, undefined, more)
        : format === 'rawcover' || format === 'modoff'
          ? exportTrace(format, trace, imageOf([trace], options), more)
          : exportCoverage(format, countedOf(paths, options), more);
      await writeChunks(options.output, withProgress(`writing ${format}`, chunks));
    },
  );
}
