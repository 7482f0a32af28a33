// `kcovbox bugs`: historical bugs of BSD and Linux kernels, re-created in the guest kernel: a list,
// the page of one, a run that shows it, and the score of a corpus of programs.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, Option } from 'commander';
import { visible } from '../../emulator/base/words.ts';
import type { BugOutcome } from '../../run/bugs/outcome.ts';
import { BUG_CLASSES, type Bug } from '../../run/bugs/row.ts';
import type { BugListFile, BugRunFile, BugScoreFile } from '../../run/bugs/schema.ts';
import { isBad, judge } from '../../run/many/outcome.ts';
import { campaignRuns } from '../bugs/campaign.ts';
import { guardsOf } from '../bugs/guards.ts';
import { BUG_CONF, type BugRun, runProgram } from '../bugs/guest.ts';
import { findBug, readBugs, triggerOf } from '../bugs/rows.ts';
import { type Runs, type Score, type Shown, scoreCorpus } from '../bugs/score.ts';
import { bugPage, bugTable, columns, enableCommand } from '../bugs/text.ts';
import { isCampaign } from '../fuzz/folder.ts';
import { UserError } from '../io/fail.ts';
import { printJson, writeTo } from '../io/output.ts';
import { progressLine } from '../io/progress.ts';
import { parseCount, parseHarts, parseSeed } from '../io/values.ts';

interface KernelOptions {
  conf: string;
  engine: 'jit' | 'interp';
  smp?: number;
  schedSeed?: bigint;
  maxInsns: number;
}

/** Of a trigger; the longest needs a fifth of it. */
const INSNS_MAX = 2_000_000_000;

function addKernelOptions(command: Command): Command {
  return command
    .addOption(new Option('--conf <name>', 'kernel configuration; it must contain bugs').default(BUG_CONF))
    .addOption(new Option('--engine <name>', 'execution engine').choices(['jit', 'interp']).default('jit'))
    .option('--smp <harts>', 'number of harts, 1 to 8', parseHarts)
    .option('--sched-seed <hex>', 'seed of the order in which harts take turns', parseSeed)
    .addOption(
      new Option('--max-insns <n>', 'instructions and exceptions after which a run hangs')
        .argParser(parseCount)
        .default(INSNS_MAX),
    );
}

const howTo = (options: KernelOptions, bug?: Bug): BugRun => ({
  conf: options.conf,
  engine: options.engine,
  harts: options.smp ?? bug?.harts ?? 1,
  schedSeed: options.schedSeed ?? (bug?.schedSeed === undefined ? undefined : BigInt(bug.schedSeed)),
  maxInsns: options.maxInsns,
});

interface JsonOption {
  json?: true;
}

const withJson = (command: Command): Command => command.option('--json', 'print JSON');

function list({ class: wanted, json }: JsonOption & { class?: string }): void {
  const bugs = readBugs().filter(bug => wanted === undefined || bug.class === wanted);
  if (json) printJson({ format: 'kcovbox bugs', version: 1, bugs } satisfies BugListFile);
  else writeTo('-', bugTable(bugs));
}

function show(id: string): void {
  const bug = findBug(id);
  const code = readFileSync(triggerOf(id), 'utf8');
  writeTo('-', `${bugPage(bug, guardsOf(id))}\n${code}\n${enableCommand([bug])}\n`);
}

function outcomeText({ reached, triggered, detected, line, status }: BugRunFile): string {
  const times = (n: number): string => `${n.toLocaleString('en-US')} time${n === 1 ? '' : 's'}`;
  const said = visible(line.replace(/^(panic|wrong): /, ''));
  return columns([
    ['reached', times(reached)],
    ['triggered', times(triggered)],
    ['detected', detected === null ? 'no' : `${detected}: ${said}`],
    ['status', String(status)],
  ]);
}

async function runOne(id: string, options: KernelOptions & JsonOption & { off?: true }): Promise<number> {
  const bug = findBug(id);
  const { conf, off, json } = options;
  const outcome = await runProgram(triggerOf(id), off ? [] : [id], howTo(options, bug));
  const canary = outcome.canaries.find(one => one.id === id);
  if (!canary) throw new UserError(`the kernel of ${conf} has no canary of ${id}`);
  const { reached, triggered } = canary;
  const { detected = null, line, status } = outcome;
  const found: BugRunFile = {
    format: 'kcovbox bug run',
    version: 1,
    bug: id,
    on: !off,
    conf,
    reached,
    triggered,
    detected,
    line,
    status,
  };
  if (json) printJson(found);
  else writeTo('-', outcomeText(found));
  const isClean = detected === null && status === 0 && reached === 0;
  const isShown = detected !== null && triggered > 0;
  return (off ? isClean : isShown) ? 0 : 1;
}

/** The C programs of a corpus: a file, or those in a folder. */
function programsIn(path: string): string[] {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return [path];
  const names = readdirSync(path).filter(name => name.endsWith('.c'));
  if (names.length === 0) throw new UserError(`${path}: there is no C program in this folder`);
  return names.sort().map(name => join(path, name));
}

function scoreText({ bugs }: BugScoreFile): string {
  const rows = bugs.filter(({ reached }) => reached.length > 0);
  const cell = (programs: readonly string[]): string => String(programs.length || '-');
  const first = ({ detected, triggered }: Score): string => visible(detected[0] ?? triggered[0] ?? '');
  const count = (of: keyof Score): number => bugs.filter(bug => bug[of].length > 0).length;
  const table = columns([
    ['bug', 'class', 'reached', 'triggered', 'detected', 'first program'],
    ...rows.map(bug => [
      bug.id,
      bug.class,
      cell(bug.reached),
      cell(bug.triggered),
      cell(bug.detected),
      first(bug),
    ]),
  ]);
  const totals = `${count('reached')} reached, ${count('triggered')} triggered, ${count('detected')} detected`;
  return `${table}\nof ${bugs.length} bugs: ${totals}\n`;
}

/** Of C programs: whole runs, from power-on. */
function programRuns(how: BugRun): Runs<Shown & Pick<BugOutcome, 'ended'>> {
  return {
    async with(program, on) {
      const { canaries, ended } = await runProgram(program, on, how);
      const those = (kind: 'reached' | 'triggered'): string[] =>
        canaries.filter(canary => canary[kind] > 0).map(({ id }) => id);
      return { reached: those('reached'), triggered: those('triggered'), ended };
    },
    isWorse(alone, without) {
      const { outcome } = judge(alone.ended, without.ended);
      return isBad(outcome) || outcome === 'error';
    },
  };
}

async function score(paths: readonly string[], options: KernelOptions & JsonOption): Promise<void> {
  const bugs = readBugs();
  const ids = bugs.map(({ id }) => id);
  const line = progressLine();
  const scoreOf = <R extends Shown>(
    programs: readonly string[],
    runs: Runs<R>,
  ): Promise<Map<string, Score>> =>
    scoreCorpus(programs, ids, runs, done => line.show(`${done} of ${programs.length} programs`, false));
  const campaign = paths.find(isCampaign);
  if (campaign !== undefined && paths.length > 1)
    throw new UserError(`bugs score: ${campaign} is a campaign, which is scored alone; give one folder`);
  let scores: Map<string, Score>;
  if (campaign === undefined) scores = await scoreOf(paths.flatMap(programsIn), programRuns(howTo(options)));
  else {
    const { programs, runs } = await campaignRuns(campaign);
    scores = await scoreOf(programs, runs);
  }
  line.clear();
  const scored: BugScoreFile = {
    format: 'kcovbox bug score',
    version: 1,
    bugs: bugs.map(bug => ({ id: bug.id, class: bug.class, ...scores.get(bug.id)! })),
  };
  if (options.json) printJson(scored);
  else writeTo('-', scoreText(scored));
}

export function register(program: Command): void {
  const bugs = program
    .command('bugs')
    .description('historical bugs of BSD and Linux kernels in the guest kernel, for comparing tools')
    .addHelpText(
      'after',
      '\nEach is off in every ordinary kernel, and in kernels of the fragment bugs until the word bugs=ID of\n' +
        'the command line names it. docs/bugs.md describes all of them.\n' +
        'Examples:\n  kcovbox bugs list\n  kcovbox bugs run fifo_open_unlocked',
    );
  withJson(bugs.command('list'))
    .description('list the bugs with their fixes upstream')
    .addOption(new Option('--class <class>', 'only those of one class').choices(BUG_CLASSES))
    .addHelpText('after', '\nExample:\n  kcovbox bugs list --class concurrency')
    .action(list);
  bugs
    .command('show')
    .description('print the page of a bug: its origin, its re-creation here, and its trigger')
    .argument('<bug>', 'name of a bug')
    .addHelpText('after', '\nExample:\n  kcovbox bugs show epoll_loop')
    .action(show);
  bugs
    .command('enable')
    .description('print the command line that runs a kernel with these bugs')
    .argument('<bugs...>', 'names of bugs; one alone is shown with its trigger')
    .addHelpText(
      'after',
      '\nThe line is one of kcovbox run; with --record FILE it makes a capsule.\n' +
        'Example:\n  kcovbox bugs enable mremap_zero_length epoll_loop',
    )
    .action((ids: string[]) => writeTo('-', `${enableCommand([...new Set(ids)].map(findBug))}\n`));
  withJson(addKernelOptions(bugs.command('run')))
    .description('run the trigger of a bug, and print whether it was reached, triggered and detected')
    .argument('<bug>', 'name of a bug')
    .option('--off', 'run the trigger on the same kernel without the bug')
    .addHelpText(
      'after',
      '\nReached: the faulty code was executed. Triggered: its condition held. Detected: a checker of the\n' +
        'kernel, a panic, a hang, or the trigger itself saw it. The exit status is 0 if the bug was\n' +
        'triggered and detected (with --off: if nothing was), and 1 otherwise.\n' +
        'Example:\n  kcovbox bugs run mremap_zero_length',
    )
    .action(async (id: string, options: KernelOptions & JsonOption & { off?: true }) => {
      process.exitCode = await runOne(id, options);
    });
  withJson(addKernelOptions(bugs.command('score')))
    .description('run programs on kernels with the bugs, and count the bugs that they show')
    .argument('<corpus...>', 'C programs, folders of them, or the folder of a campaign of fuzz run')
    .addHelpText(
      'after',
      '\nA program runs with all bugs, then again without those that it has triggered, until it triggers no\n' +
        'new one. A bug is detected if the program with that bug alone ends with a report of the kernel, a\n' +
        'panic, a hang, or another exit status than without bugs. The programs of a campaign run on its own\n' +
        'kernel, from its snapshot; there other values that calls return show a bug, too.\n' +
        'Examples:\n  kcovbox bugs score bugs/epoll_loop/trigger.c\n  kcovbox bugs score --json campaign',
    )
    .action(score);
}
