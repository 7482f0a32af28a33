// `kcovbox grade`: all submissions of a lab, judged by the lab's own tests.
import { type Dirent, readdirSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { z } from 'zod';
import { visible } from '../../emulator/base/words.ts';
import { counted } from '../../emulator/index.ts';
import { type Classroom, classroom50, csv, gradescope, junit, summary } from '../../grade/formats.ts';
import type { Submission } from '../../grade/judge/lab.ts';
import { classPage } from '../../grade/page.ts';
import type { LabScore } from '../../grade/schema.ts';
import type { Likeness } from '../../grade/similarity.ts';
import { readText } from '../../host/input.ts';
import { type Lab, openLab, readSubmission } from '../../host/lab/lab.ts';
import { unpackSubmission } from '../../host/lab/packed.ts';
import { solutionOf } from '../../host/lab/workshop.ts';
import { makeFolders, tell } from '../../toolchain/index.ts';
import type { Alike } from '../grade/alike.ts';
import { endApart } from '../grade/apart.ts';
import { endWorkers, judgeClass } from '../grade/class.ts';
import { type Results, resultsIn } from '../grade/results.ts';
import { inSandbox } from '../grade/sandboxed.ts';
import { isWorker, serveTasks } from '../grade/workers.ts';
import { UserError } from '../io/fail.ts';
import { jobsOption } from '../io/jobs.ts';
import { writeFile, writeTo } from '../io/output.ts';
import { type EndingSignal, SIGNAL_STATUS, whileSignals } from '../io/signals.ts';
import { parseWithin } from '../io/values.ts';

interface GradeOptions {
  lab: string;
  output?: string;
  teacher?: string;
  alike: number;
  classroom?: string;
  capsules: boolean;
  unsafe?: true;
  jobs?: number;
}

/** Pairs in the table; the page has all. */
const ALIKE_SHOWN = 20;

/** Bytes of the facts. */
const CLASSROOM_MAX = 1 << 20;

const say = (line: string): void => tell(`${line}\n`);

const isArchive = (entry: Dirent): boolean => entry.isFile() && /\.zip$/i.test(entry.name);

/** Says which files the teacher may take for submissions, and are not. */
function tellOthers(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (!entry.name.startsWith('.') && !entry.isDirectory() && !isArchive(entry))
      say(`kcovbox: ${visible(entry.name)} is not judged: it is neither a folder nor a .zip of lab submit`);
}

/** Folders and archives, by name; anything else in the folder is no submission. */
function submissionsIn(lab: Lab, folder: string): Submission[] {
  const submissions = readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap(entry => {
      const path = join(folder, entry.name);
      if (entry.name.startsWith('.')) return [];
      if (entry.isDirectory()) return [readSubmission(lab, path, entry.name)];
      return isArchive(entry) ? [unpackOrEmpty(lab, path, entry.name.slice(0, -4))] : [];
    });
  if (submissions.length === 0)
    throw new UserError(`${folder} has no submissions: one folder or one .zip of lab submit for each`);
  const double = submissions.find(({ name }, i) => submissions.findIndex(other => other.name === name) !== i);
  if (double)
    throw new UserError(
      `${folder} has two submissions named ${visible(double.name)}: a folder and an archive`,
    );
  return submissions;
}

/** An archive that is damaged is a submission without files, not the end of the whole class. */
function unpackOrEmpty(lab: Lab, path: string, name: string): Submission {
  try {
    return unpackSubmission(lab, path, name);
  } catch (error) {
    say(`kcovbox: ${visible((error as Error).message)}`);
    const missing = lab.manifest.files.map(file => file.name);
    return { name, files: new Map(), sha256: '0'.repeat(64), missing, ignored: [] };
  }
}

const classroomFacts = z.strictObject({
  classroom: z.string().min(1),
  assignment: z.string().min(1).optional(),
  owner: z.string().min(1).optional(),
  submission: z.string().regex(/^submit\//),
  commit: z.string().min(1),
  release: z.string().min(1),
  review: z.string().min(1),
  datetime: z.string().regex(/^\d{4}-\d{2}-\d{2}T([01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/),
});

/** The facts of Classroom 50 about the submission, which its runner knows. */
function readClassroom(path: string): Omit<Classroom, 'owner'> & { owner?: string | undefined } {
  const text = readText(path, 'facts', CLASSROOM_MAX);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UserError(`--classroom ${path} is not JSON: ${(error as Error).message}`);
  }
  const parsed = classroomFacts.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new UserError(`--classroom ${path}: ${issue?.path.join('.')}: ${issue?.message}`);
}

/** Pairs in a few lines. */
function alikeText(what: string, pairs: readonly Likeness[]): string {
  const rows = pairs
    .slice(0, ALIKE_SHOWN)
    .map(({ a, b, percent }) => `${what}: ${visible(a)} and ${visible(b)}, ${percent} %\n`);
  const more = pairs.length - rows.length;
  if (more > 0) rows.push(`${what}: ${more} more pairs; -o DIR writes all of them to class.html\n`);
  return rows.join('');
}

function table(scores: readonly LabScore[], { code, coverage }: Alike): string {
  const width = Math.max(10, ...scores.map(({ submission }) => visible(submission.name).length));
  const rows = scores.map(({ submission, points, of, status, checks }) => {
    const first = checks.find(check => check.status === status && status !== 'pass');
    const why = first ? `${first.id}: ${first.why}` : 'all checks passed';
    const grade = `${points}/${of}`.padStart(7);
    return `${visible(submission.name).padEnd(width)} ${grade}  ${status.padEnd(7)} ${visible(why)}\n`;
  });
  const { mean, median } = summary(scores);
  const pairs = alikeText('alike', code) + alikeText('alike in coverage', coverage);
  return `${rows.join('')}${pairs}${counted(scores.length, 'submission')}, mean ${mean}, median ${median}\n`;
}

async function grade(folder: string, options: GradeOptions): Promise<number> {
  const lab = openLab(options.lab);
  if (options.teacher !== undefined && solutionOf(lab, options.teacher) === undefined)
    throw new UserError(`grade: --teacher ${options.teacher}: it has no folder solution/`);
  // Before the results: a folder for these would be made inside one that is not there.
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new UserError(`${folder} is not a folder of submissions`);
  const results = options.output === undefined ? undefined : resultsIn(options.output, folder);
  try {
    return (
      (await inSandbox(lab, folder, options, results)) ?? (await gradeHere(lab, folder, options, results))
    );
  } catch (error) {
    results?.discard();
    throw error;
  }
}

async function gradeHere(
  lab: Lab,
  folder: string,
  options: GradeOptions,
  results: Results | undefined,
): Promise<number> {
  const { classroom } = options;
  const facts = classroom === undefined ? undefined : readClassroom(classroom);
  if (facts && !results) throw new UserError('--classroom without -o: add -o DIR for its result.json');
  const submissions = submissionsIn(lab, folder);
  tellOthers(folder);
  const onSignal = async (signal: EndingSignal): Promise<void> => {
    await Promise.all([endApart(), endWorkers()]);
    results?.discard();
    process.exit(SIGNAL_STATUS[signal]);
  };
  const { scores, pairs } = await whileSignals(onSignal, async () => {
    const judged = await judgeClass(lab, submissions, {
      teacher: options.teacher,
      solution: solutionOf(lab, options.teacher),
      output: results?.folder,
      records: results !== undefined && options.capsules,
      jobs: options.jobs ?? availableParallelism(),
      least: options.alike,
    });
    if (results) writeResults(results.folder, lab, judged.scores, judged.pairs, facts);
    results?.commit();
    return judged;
  });
  writeTo('-', table(scores, pairs));
  return scores.some(({ status }) => status === 'error') ? 1 : 0;
}

function writeResults(
  output: string,
  lab: Lab,
  scores: readonly LabScore[],
  pairs: Alike,
  facts: ReturnType<typeof readClassroom> | undefined,
): void {
  const write = (path: string, value: string | object): void =>
    writeFile(join(output, path), typeof value === 'string' ? value : `${JSON.stringify(value, null, 2)}\n`);
  for (const score of scores) {
    const { name } = score.submission;
    makeFolders(join(output, name));
    write(join(name, 'score.json'), score);
    write(join(name, 'results.json'), gradescope(score));
    if (facts) write(join(name, 'result.json'), classroom50(score, { ...facts, owner: facts.owner ?? name }));
  }
  write('class.html', classPage(`${lab.name}: ${lab.manifest.title}`, scores, pairs));
  write('junit.xml', junit(scores));
  write('scores.csv', csv(scores));
}

export function register(program: Command): void {
  program
    .command('grade')
    .description('judge the submissions of a lab: the same points and hashes on every machine')
    .argument('<dir>', 'one folder, or one archive of lab submit, for each submission')
    .requiredOption('--lab <lab>', 'number, name or folder of the lab')
    .option(
      '-o, --output <dir>',
      'a new folder for class.html, junit.xml, scores.csv and a folder for each submission',
    )
    .option(
      '--teacher <dir>',
      "the teacher's folder of the lab, for checks with mutants (default: LAB/teacher)",
    )
    .option('--alike <percent>', 'report pairs that have so much in common', parseWithin(1, 100), 80)
    .option('--classroom <file>', 'facts of Classroom 50 as JSON: writes result.json for it too')
    .option('--no-capsules', 'do not record the runs that failed')
    .option('--unsafe', 'without a sandbox of the system: where this machine is a container of its own')
    .addOption(jobsOption('processes'))
    .addHelpText(
      'after',
      "\nOnly the files that the lab names are read from a submission; tests are the lab's own. The exit status is\n" +
        '0 when all were judged, 1 when kcovbox could not judge one of them.\n' +
        'Examples:\n  kcovbox grade submissions --lab 1\n  kcovbox grade submissions --lab 1 -o graded',
    )
    .action(async (folder: string, options: GradeOptions) => {
      process.exitCode = isWorker() ? await serveTasks() : await grade(folder, options);
    });
}
