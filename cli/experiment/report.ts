// `kcovbox experiment report` and `status`.
import { join } from 'node:path';
import { type Command, Option } from 'commander';
import { reportPage } from '../../experiment/html/page.ts';
import { codeOf, trialId } from '../../experiment/plan.ts';
import { type Results, reportOf, summaryText } from '../../experiment/report/data.ts';
import { Places } from '../../experiment/report/places.ts';
import { UserError } from '../io/fail.ts';
import { checkOutput, writeTo } from '../io/output.ts';
import { pathWord } from '../io/shell-word.ts';
import type { Folder } from './folder.ts';
import { openResults } from './open.ts';
import { codeTitle } from './prepare.ts';
import { durationText } from './words.ts';

/** The finished trials. Errors: UserError if there is none, or a file is damaged. */
export function resultsOf(folder: Folder): Results {
  const { plan } = folder;
  const trials = plan.trials.filter(trial => folder.isDone(trial)).map(trial => folder.read(trial));
  if (trials.length === 0)
    throw new UserError(
      `${folder.path} has no finished trial; kcovbox experiment resume ${pathWord(folder.path)} runs them`,
    );
  const known = new Map<string, Places>();
  const places = (code: string): Places => {
    let found = known.get(code);
    if (!found) {
      const variant = plan.variants.find(of => codeOf(of) === code)!;
      known.set(code, (found = new Places(folder.image(code), codeTitle(variant))));
    }
    return found;
  };
  return { plan, trials, places };
}

export const PAGE = 'report.html';

/** Writes the page, and prints the numbers; with `-` the page. Errors: those of `resultsOf`. */
export function writeReport(folder: Folder, output = join(folder.path, PAGE)): void {
  const report = reportOf(resultsOf(folder));
  writeTo(output, reportPage(report));
  if (output !== '-') writeTo('-', summaryText(report));
}

export function addReport(command: Command): void {
  command
    .description('write the report: one HTML file, and its numbers on standard output')
    .argument('<experiment>', 'file of the experiment, or its folder')
    .option('--dir <dir>', 'folder of the results (default: FILE.experiment)')
    .option('-o, --output <file>', `the page (default: ${PAGE} in the folder); - prints it`)
    .addHelpText(
      'after',
      '\nA report of unfinished trials says so, and may be made while others run.\n' +
        'Example:\n  kcovbox experiment report lost.experiment',
    )
    .action((path: string, { dir, output }: { dir?: string; output?: string }) => {
      if (output !== undefined) checkOutput(output);
      writeReport(openResults(path, dir), output);
    });
}

/** Seconds in which the last trials were finished, or undefined. */
function paceOf(folder: Folder): { seconds: number; trials: number } | undefined {
  const times = folder.plan.trials.flatMap(trial => folder.finishedAt(trial) ?? []).sort((a, b) => a - b);
  const recent = times.slice(-RECENT);
  if (recent.length < 2) return undefined;
  return { seconds: (recent.at(-1)! - recent[0]!) / 1000, trials: recent.length - 1 };
}

const RECENT = 50;

function statusText(folder: Folder): string {
  const { plan } = folder;
  const pending = folder.pending(plan.trials).length;
  const lines = plan.variants.map(({ name }) => {
    const own = plan.trials.filter(({ variant }) => variant === name);
    const done = own.length - folder.pending(own).length;
    return `  ${name}: ${done} of ${own.length}`;
  });
  const pace = pending > 0 ? paceOf(folder) : undefined;
  const left = pace
    ? `, about ${durationText((pace.seconds / pace.trials) * pending)} left at the present rate`
    : '';
  const done = plan.trials.length - pending;
  return `${plan.name}: ${done} of ${plan.trials.length} trials finished${left}\n${lines.join('\n')}\nplan ${folder.hash}\n`;
}

function statusJson(folder: Folder): string {
  const { plan, hash } = folder;
  const pending = folder.pending(plan.trials).map(trialId);
  return `${JSON.stringify({ name: plan.name, plan: hash, trials: plan.trials.length, pending }, null, 2)}\n`;
}

export function addStatus(command: Command): void {
  command
    .description('show which trials are finished, and when the others will be')
    .argument('<experiment>', 'file of the experiment, or its folder')
    .option('--dir <dir>', 'folder of the results (default: FILE.experiment)')
    .addOption(new Option('--format <format>', 'text or json').choices(['text', 'json']).default('text'))
    .addHelpText('after', '\nExample:\n  kcovbox experiment status lost.experiment')
    .action((path: string, { dir, format }: { dir?: string; format: string }) => {
      const folder = openResults(path, dir);
      writeTo('-', format === 'json' ? statusJson(folder) : statusText(folder));
    });
}
