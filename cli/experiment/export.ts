// `kcovbox experiment export` and `reproduce`.
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { reportPage } from '../../experiment/html/page.ts';
import { imagesOf, trialId } from '../../experiment/plan.ts';
import { reportOf } from '../../experiment/report/data.ts';
import { makeFolders, tell } from '../../toolchain/index.ts';
import { UserError } from '../io/fail.ts';
import { checkOutput, fillFolder, writeBytesTo, writeTo } from '../io/output.ts';
import { repeated } from '../io/repeated.ts';
import { pathWord } from '../io/shell-word.ts';
import { parseWithin } from '../io/values.ts';
import { CSV, checkCrate, crateFiles, METADATA } from './crate.ts';
import { differenceOf, Folder, PLAN, SOURCE } from './folder.ts';
import { openResults } from './open.ts';
import { PAGE, resultsOf } from './report.ts';
import { runAll } from './run.ts';
import { csvBytes, parquetBytes } from './table-files.ts';

interface ExportOptions {
  dir?: string;
  format: 'csv' | 'parquet' | 'crate';
  output: string;
  date?: string;
  author?: string[];
  license?: string;
}

function parseDay(text: string): string {
  const isDay = /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));
  if (!isDay || new Date(text).toISOString().slice(0, text.length) !== text)
    throw new InvalidArgumentError('expected a day: 2026-11-24');
  return text;
}

function writeAll(path: string, files: ReadonlyMap<string, Uint8Array>): void {
  for (const [name, bytes] of files) {
    makeFolders(join(path, dirname(name)));
    writeFileSync(join(path, name), bytes);
  }
}

function runExport(path: string, { dir, format, output, date, author, license }: ExportOptions): void {
  const isCrate = format === 'crate';
  if (!isCrate && (date ?? author ?? license) !== undefined)
    throw new UserError(`--date, --author and --license are of a crate, and the format is ${format}`);
  if (isCrate && date === undefined)
    throw new UserError('a crate has a day of publication: give --date YYYY-MM-DD');
  if (!isCrate) checkOutput(output);
  const folder = openResults(path, dir);
  if (isCrate) {
    const files = crateFiles(folder, { date: date!, authors: author ?? [], license });
    fillFolder(output, 'export', () => writeAll(output, files));
    return;
  }
  const results = resultsOf(folder);
  writeBytesTo(output, format === 'csv' ? csvBytes(results) : parquetBytes(results));
}

export function addExport(command: Command): void {
  command
    .description('write the measurements for other programs, or everything as a research object')
    .argument('<experiment>', 'file of the experiment, or its folder')
    .option('--dir <dir>', 'folder of the results (default: FILE.experiment)')
    .addOption(
      new Option('--format <format>', "csv or parquet with FuzzBench's columns; crate: an RO-Crate 1.1")
        .choices(['csv', 'parquet', 'crate'])
        .default('csv'),
    )
    .requiredOption('-o, --output <file>', 'where; of a crate a new folder; - is standard output')
    .option('--date <day>', 'of a crate: the day of its publication, YYYY-MM-DD', parseDay)
    .option('--author <name>', 'of a crate (repeatable)', repeated)
    .option('--license <url>', 'of a crate')
    .addHelpText(
      'after',
      '\nA crate holds the file, the plan, sources, images, trials, capsules, measurements and the report, each with\n' +
        'its SHA-256: all that an artifact evaluation needs. kcovbox experiment reproduce repeats it.\n' +
        'Examples:\n  kcovbox experiment export -o data.csv lost.experiment\n' +
        '  kcovbox experiment export --format crate --date 2026-11-24 -o lost.crate lost.experiment',
    )
    .action((path: string, options: ExportOptions) => runExport(path, options));
}

/**
 * Repeats the experiment of a crate in a folder, new or begun. `differences`: one line each;
 * `before`: trials that were in the folder, so did not run, of `count`.
 */
async function reproduce(
  crate: string,
  output: string,
  jobs: number,
): Promise<{ differences: string[]; before: number; count: number }> {
  checkCrate(crate);
  const old = Folder.open(crate);
  if (old.plan.budget['cpu-seconds'] !== undefined)
    throw new UserError(`crate ${crate}: its budget is CPU time, which gives other results on each machine`);
  const hashes = new Set(old.plan.variants.flatMap(imagesOf));
  const images = new Map([...hashes].map(hash => [hash, old.image(hash)]));
  const source = readFileSync(join(crate, SOURCE), 'utf8');
  const now = Folder.create(output, { plan: old.plan, images, sources: new Map() }, source);
  const count = old.plan.trials.length;
  const before = count - now.pending(old.plan.trials).length;
  await runAll(now, jobs, `kcovbox experiment reproduce ${pathWord(crate)} -o ${pathWord(output)}`);
  const differences = old.plan.trials.flatMap(trial => {
    const difference = differenceOf(old.files(trial), now.files(trial));
    return difference === undefined ? [] : [`trial ${trialId(trial)}: ${difference}`];
  });
  const results = resultsOf(now);
  const made: readonly [string, Uint8Array][] = [
    [CSV, csvBytes(results)],
    [PAGE, new TextEncoder().encode(reportPage(reportOf(results)))],
  ];
  for (const [name, bytes] of made) {
    writeBytesTo(join(output, name), bytes);
    if (Buffer.compare(bytes, readFileSync(join(crate, name))) !== 0) differences.push(`${name} differs`);
  }
  return { differences, before, count };
}

export function addReproduce(command: Command): void {
  command
    .description('repeat the experiment of an RO-Crate from the crate alone, and compare every byte')
    .argument('<crate>', `folder with ${METADATA} and ${PLAN}`)
    .requiredOption('-o, --output <dir>', 'a new folder for the repeated results')
    .addOption(
      new Option('-j, --jobs <n>', 'worker processes (default: one for each processor)').argParser(
        parseWithin(1, 256),
      ),
    )
    .addHelpText(
      'after',
      '\nThe files of the crate are compared with their hashes first. The exit status is 1 if a trial, the\n' +
        'measurements or the report differ. Run it again to resume: trials that are there\n' +
        'are compared, and do not run.\n' +
        'Example:\n  kcovbox experiment reproduce -o again lost.crate',
    )
    .action(async (crate: string, { output, jobs }: { output: string; jobs?: number }) => {
      const { differences, before, count } = await reproduce(crate, output, jobs ?? availableParallelism());
      for (const line of differences) tell(`kcovbox: ${line}\n`);
      const equal =
        before === 0
          ? 'reproduced: every byte is equal'
          : `every byte is equal; ${before} of ${count} trials were in ${output} before`;
      writeTo('-', `${differences.length === 0 ? equal : `${differences.length} differ`}\n`);
      process.exitCode = differences.length === 0 ? 0 : 1;
    });
}
