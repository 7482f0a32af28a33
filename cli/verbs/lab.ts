// `kcovbox lab`: coursework on a student's machine, and the kit for labs of one's own.
import { writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { visible } from '../../emulator/base/words.ts';
import { SOURCE } from '../../grade/judge/judge.ts';
import { labNames, openLab, readSubmission } from '../../host/lab/lab.ts';
import { packSubmission } from '../../host/lab/packed.ts';
import { prove } from '../../host/lab/prove.ts';
import { newLab } from '../../host/lab/template.ts';
import { checkDevices } from '../../host/lab/trust.ts';
import { judgeHere } from '../../host/lab/workshop.ts';
import { labOf, startLab } from '../../host/lab/workspace.ts';
import { makeFolders, tell } from '../../toolchain/index.ts';
import { UserError } from '../io/fail.ts';
import { checkOutput, fillFolder, printJson, writeBytesTo, writeTo } from '../io/output.ts';
import { repeated } from '../io/repeated.ts';
import { pathWord } from '../io/shell-word.ts';
import { checkText, totalText } from '../lab/show.ts';

/** Of recorded runs, in the student's folder. */
const FAILED = 'failed';
const say = (line: string): void => tell(`${line}\n`);

function ls(): void {
  const rows = labNames().map(name => {
    const { manifest } = openLab(name);
    return `${name.padEnd(20)} ${`${manifest.minutes} min`.padStart(8)}  ${manifest.title}\n`;
  });
  writeTo('-', rows.join(''));
}

function start(word: string, folder: string | undefined): void {
  const lab = openLab(word);
  const target = folder ?? lab.name;
  const remedy = `name another folder: kcovbox lab start ${lab.name} DIR`;
  fillFolder(target, 'lab start', () => startLab(lab, target), remedy);
  const { title, minutes } = lab.manifest;
  writeTo('-', `${title}, about ${minutes} minutes: read ${join(target, 'README.md')}\n`);
}

interface TestOptions {
  only?: string[];
  json?: true;
}

async function test(folder: string, options: TestOptions): Promise<number> {
  const lab = labOf(folder);
  checkDevices(lab);
  const ids = lab.manifest.checks.map(({ id }) => id);
  const unknown = options.only?.find(id => !ids.includes(id));
  if (unknown !== undefined)
    throw new UserError(`lab test: there is no check ${unknown}; there are ${ids.join(', ')}`);
  const submission = readSubmission(lab, folder);
  for (const path of submission.ignored)
    say(`kcovbox: your ${path} differs from the lab's and is not used: tests are the lab's own`);
  const capsules = join(folder, FAILED);
  const hasPlaces = lab.manifest.files.some(({ place }) => place !== undefined);
  const sources = [...(hasPlaces ? [join(folder, FAILED, SOURCE)] : []), folder];
  const score = await judgeHere(lab, submission, {
    capsules,
    only: options.only,
    explains: true,
    say,
    decided: (_, check) => {
      if (!options.json) writeTo('-', checkText(check, capsules, sources));
    },
  });
  if (options.json) printJson(score);
  else writeTo('-', totalText(score));
  return score.checks.some(({ status }) => status !== 'pass' && status !== 'skipped') ? 1 : 0;
}

function hint(id: string | undefined, { lab: folder }: { lab: string }): void {
  const { checks } = labOf(folder).manifest;
  const wanted = id === undefined ? checks : checks.filter(check => check.id === id);
  if (wanted.length === 0)
    throw new UserError(
      `lab hint: there is no check ${visible(id!)}; there are ${checks.map(c => c.id).join(', ')}`,
    );
  writeTo(
    '-',
    wanted
      .map(check => `${check.id}: ${check.says}\n  ${check.hint ?? 'there is no hint for this one'}\n`)
      .join(''),
  );
}

function submit(folder: string, { output: target }: { output: string }): void {
  if (target !== '-' && !/\.zip$/i.test(target))
    throw new UserError(
      `lab submit -o ${target}: the archive is a .zip, and grade reads no other; name it so`,
    );
  const lab = labOf(folder);
  const submission = readSubmission(lab, folder);
  if (submission.missing.length > 0)
    throw new UserError(`lab submit: ${submission.missing.join(', ')} is missing`);
  checkOutput(target);
  writeBytesTo(target, packSubmission(submission));
  if (target !== '-')
    writeTo(
      '-',
      `${target}: ${[...submission.files.keys()].join(', ')}\nhash of the files ${submission.sha256}\n`,
    );
}

function create(folder: string): void {
  const write = (): void => {
    for (const [path, text] of newLab(basename(resolve(folder)))) {
      makeFolders(dirname(join(folder, path)));
      writeFileSync(join(folder, path), text);
    }
  };
  fillFolder(folder, 'lab new', write, 'name another folder: kcovbox lab new DIR');
  writeTo(
    '-',
    `${folder}: edit lab.json and text.md, then KCOVBOX_TRUST=1 kcovbox lab check ${pathWord(folder)}\n`,
  );
}

async function check(words: readonly string[], options: { chooseMutants?: true }): Promise<number> {
  let failures = 0;
  for (const word of words.length > 0 ? words : labNames()) {
    const lab = openLab(word);
    writeTo('-', `${lab.name}\n`);
    await prove(lab, {
      chooses: options.chooseMutants === true,
      say,
      tell: ({ what, fault }) => {
        if (fault !== undefined) failures++;
        writeTo('-', fault === undefined ? `  ok ${what}\n` : `  not ok ${what}: ${visible(fault)}\n`);
      },
    });
  }
  return failures > 0 ? 1 : 0;
}

export function register(program: Command): void {
  const lab = program
    .command('lab')
    .description('coursework: start a lab, test it, hand it in; make labs of your own')
    .addHelpText(
      'after',
      '\nExamples:\n  kcovbox lab ls\n  kcovbox lab start 1 && cd 01-why-this-path && kcovbox lab test',
    );
  lab
    .command('ls')
    .description('list the labs')
    .addHelpText('after', '\nExample:\n  kcovbox lab ls')
    .action(ls);
  lab
    .command('start')
    .description('make a folder with the text, the starter and the tests of a lab')
    .argument('<lab>', 'number, name, or folder of a lab of your own')
    .argument('[dir]', 'a folder that does not exist, or is empty (default: the name of the lab)')
    .addHelpText('after', '\nExample:\n  kcovbox lab start 0')
    .action(start);
  lab
    .command('test')
    .description('judge the lab in a folder; each failure has its reason, its path and a recorded run')
    .argument('[dir]', 'the folder that start made', '.')
    .option('--only <check>', 'only this check (repeatable)', repeated)
    .option('--json', 'print the score as JSON')
    .addHelpText(
      'after',
      '\nThe exit status is 0 when all checks passed, else 1. Recorded runs are in failed/.\n' +
        'Examples:\n  kcovbox lab test\n  kcovbox lab test --only schedules\n  kcovbox lab test --json',
    )
    .action(async (folder: string, options: TestOptions) => {
      process.exitCode = await test(folder, options);
    });
  lab
    .command('hint')
    .description('print the hint for a check, or all hints')
    .argument('[check]', 'name of a check, as test prints it')
    .option('--lab <dir>', 'the folder that start made', '.')
    .addHelpText('after', '\nExample:\n  kcovbox lab hint branches')
    .action(hint);
  lab
    .command('submit')
    .description('write the files that count into one archive')
    .argument('[dir]', 'the folder that start made', '.')
    .requiredOption('-o, --output <file>', 'the archive, such as ada.zip; - for standard output')
    .addHelpText('after', '\nExample:\n  kcovbox lab submit -o ada.zip')
    .action(submit);
  lab
    .command('new')
    .description('make a lab of your own, which passes lab check as it is')
    .argument('<dir>', 'a folder that does not exist, or is empty')
    .addHelpText('after', '\nExample:\n  kcovbox lab new 10-my-lab')
    .action(create);
  lab
    .command('check')
    .description('prove labs: the solution passes, the starter fails, each mutant dies, the commands run')
    .argument('[labs...]', 'numbers, names or folders (default: all of the package)')
    .option('--choose-mutants', 'choose the mutants again, and write them to mutants.json')
    .addHelpText(
      'after',
      '\nThe exit status is 0 when all holds, else 1. The commands and devices of a lab\n' +
        'that is not of the package run with your rights: set KCOVBOX_TRUST=1 if you\n' +
        'trust it.\n' +
        'Examples:\n  kcovbox lab check 1 2\n  KCOVBOX_TRUST=1 kcovbox lab check --choose-mutants 10-my-lab',
    )
    .action(async (words: string[], options: { chooseMutants?: true }) => {
      process.exitCode = await check(words, options);
    });
}
