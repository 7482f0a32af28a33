// `kcovbox fuzz repro`: the C program of each crash, compiled and run by `kcovbox run` on the
// campaign's kind of kernel. Where it shows the same title, its run is recorded as a capsule.
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { visible } from '../../emulator/base/words.ts';
import type { Machine } from '../../emulator/index.ts';
import { BOOT_MAX, type Program, parseProgram, titleOf, violationTitle } from '../../fuzz/index.ts';
import { otherInitrd, xv6Disk, xv6Words } from '../../host/fuzz/target.ts';
import { OTHER_RAM_BYTES } from '../../host/fuzz/target-machine.ts';
import { readText } from '../../host/input.ts';
import { findCanaries, readCanaries } from '../../run/bugs/canaries.ts';
import { runWithCanaries } from '../../run/bugs/outcome.ts';
import type { CampaignManifest } from '../../run/fuzz/schema.ts';
import type { Ended } from '../../run/many/outcome.ts';
import { EXIT_BUDGET, EXIT_KCOVBOX, HALTED, verdict } from '../../run/verdict.ts';
import { bugWords } from '../bugs/guest.ts';
import { UserError } from '../io/fail.ts';
import { writeTo } from '../io/output.ts';
import { progressLine } from '../io/progress.ts';
import { pathWord, printedWord } from '../io/shell-word.ts';
import { boardOf, faultWords, findEvents, prepareRun } from './c-run.ts';
import { BUGS, readFolder, type Stored } from './folder.ts';
import { findOrder } from './race.ts';

/** The title of a hang, before the name of the call. */
const HUNG = 'INFO: task hung in sys_';
/** Of a title or a program. */
const TEXT_MAX = 1 << 20;
const EXIT_PANIC = 126;
const EXIT_COMPILE = 123;
const CONSOLE_MAX = 16 * 2 ** 20;

interface Ran {
  readonly outcome: 'panic' | 'hang' | 'done';
  readonly console: string;
  /** Lines about rules of devices. */
  readonly violations: readonly string[];
}

/** As `kcovbox run` prints it, and a guest notes it. */
const VIOLATION = /^PROTOCOL: (\w+): ([\w-]+): /;

function titleOfViolation(line: string): string | undefined {
  const [, device, rule] = VIOLATION.exec(line) ?? [];
  return device === undefined ? undefined : violationTitle(device, rule!);
}

/** Runs this command with other words. */
function kcovbox(words: readonly string[]): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const options = { maxBuffer: CONSOLE_MAX, encoding: 'latin1' as const };
    const child = execFile(
      process.execPath,
      [process.argv[1]!, ...words],
      options,
      (error, console, said) => {
        const status = error ? error.code : 0;
        const isHalted = status === EXIT_KCOVBOX && said.includes(HALTED);
        if (typeof status !== 'number') reject(error as Error);
        else if (status === EXIT_COMPILE || (status === EXIT_KCOVBOX && !isHalted))
          reject(new UserError(`fuzz repro: ${said.trim().split('\n').at(-1)?.replace('kcovbox: ', '')}`));
        else
          resolve({
            outcome: isHalted ? 'hang' : outcomeOf(status),
            console: console.replaceAll('\r\n', '\n'),
            violations: said.split('\n').filter(line => VIOLATION.test(line)),
          });
      },
    );
    // Otherwise a guest in which everything sleeps waits for input. boot would type a Ctrl-D.
    if (words[0] === 'run') child.stdin?.end();
  });
}

const outcomeOf = (status: number): Ran['outcome'] =>
  status === EXIT_PANIC ? 'panic' : status === EXIT_BUDGET ? 'hang' : 'done';

function programIn(dir: string, { descriptions }: Stored): Program {
  const file = join(dir, 'program.txt');
  return parseProgram(readText(file, 'program', TEXT_MAX), descriptions, file);
}

/** The instructions of the C program: the limit of each call, and the start. */
const budgetOf = ({ calls }: Program, { config }: CampaignManifest): number =>
  config.budget * (calls.length + 1);

type Shows = (ended: Ended, machine: Machine) => boolean;

/**
 * The words of `kcovbox run` for the C program in `dir`, with the events and the order with which
 * it `shows` the find, where there are some. undefined: no order does.
 */
async function wordsFor(dir: string, stored: Stored, append: string, shows: Shows) {
  const path = join(dir, 'repro.c');
  const program = programIn(dir, stored);
  const maxInsns = budgetOf(program, stored.manifest);
  const order = program.schedule?.order;
  const board = await boardOf(stored);
  const run = { path, board, append, smp: order === undefined ? 1 : 2 };
  const faults = await findEvents(program, run, maxInsns, order === undefined ? shows : undefined);
  const harts = order === undefined ? [] : await findOrder({ ...run, faults, order, maxInsns }, shows);
  const words = [
    ...board.words,
    ...(append === '' ? [] : ['--append', append]),
    ...['--max-insns', String(maxInsns)],
    ...faultWords(faults ?? []),
  ];
  return { path, words, harts, run: { ...run, faults }, maxInsns };
}

/** Does the C program trigger the historical bug alone? Records its capsule. */
async function reproduceBug(dir: string, bug: string, stored: Stored): Promise<boolean> {
  const { canaries: table } = stored.manifest;
  const isTriggered: Shows = (_, machine) =>
    table !== undefined &&
    readCanaries(machine, table).some(({ id, triggered }) => id === bug && triggered > 0);
  const { path, words, harts, run, maxInsns } = await wordsFor(dir, stored, bugWords([bug]), isTriggered);
  if (!harts) return false;
  if (harts.length === 0) {
    const { machine, kernel } = await prepareRun(run);
    const own = findCanaries(kernel);
    const { canaries } = await runWithCanaries(machine, own!, maxInsns);
    if (!canaries.some(({ id, triggered }) => id === bug && triggered > 0)) return false;
  }
  const capsule = join(dir, 'repro.kcapsule');
  await kcovbox(['run', '--no-symbolize', ...words, ...harts, '--record', capsule, path]);
  return true;
}

/** The words of `kcovbox boot` that run the program of a crash on another Linux. */
async function otherWords(dir: string, stored: Stored, scratch: string): Promise<string[]> {
  const { path, manifest } = stored;
  const initrd = join(scratch, 'initrd.bin');
  writeFileSync(initrd, await otherInitrd(join(dir, 'repro.c')));
  const images = ['-kernel', join(path, 'kernel.bin'), '-initrd', initrd, '-append', manifest.append];
  const budget = String(BOOT_MAX + budgetOf(programIn(dir, stored), manifest));
  return ['boot', '-m', `${OTHER_RAM_BYTES / 2 ** 20}M`, '-no-reboot', ...images, '--max-insns', budget];
}

/** The same on xv6: the program is /repro of the campaign's disk. */
async function wordsOfXv6(dir: string, stored: Stored, scratch: string): Promise<string[]> {
  const { path, initrd, manifest } = stored;
  const disk = join(scratch, 'fs.img');
  writeFileSync(disk, await xv6Disk(join(dir, 'repro.c'), initrd, scratch));
  const budget = String(BOOT_MAX + budgetOf(programIn(dir, stored), manifest));
  return [...xv6Words(join(path, 'kernel.bin'), disk), '--max-insns', budget];
}

type Titled = (ran: Ran) => string | undefined;

/** The words of `kcovbox run` for the same on a kernel of the campaign's configuration. */
async function ownWords(dir: string, stored: Stored, titled: Titled): Promise<string[]> {
  const title = titleIn(dir);
  const shows: Shows = ({ result, text, violations }) => {
    const isHalted = verdict(result).outcome === 'halt';
    const outcome = isHalted ? 'hang' : outcomeOf(verdict(result).status);
    return titled({ outcome, console: text, violations }) === title;
  };
  const { path, words, harts } = await wordsFor(dir, stored, stored.manifest.words, shows);
  return ['run', '--no-symbolize', ...words, ...(harts ?? ['--smp', '2']), path];
}

function guestWords(dir: string, stored: Stored, scratch: string, titled: Titled): Promise<string[]> {
  if (stored.manifest.guest === 'xv6') return wordsOfXv6(dir, stored, scratch);
  if (stored.manifest.guest === 'other') return otherWords(dir, stored, scratch);
  return ownWords(dir, stored, titled);
}

const titleIn = (dir: string): string => readText(join(dir, 'title.txt'), 'title', TEXT_MAX).trim();

interface Shown {
  /** undefined: nothing went wrong. */
  readonly title: string | undefined;
  /** The words behind `kcovbox`, without those about the capsule. */
  readonly words: readonly string[];
}

/** The title that the C program shows; its run is recorded. */
async function shownTitle(dir: string, stored: Stored): Promise<Shown> {
  const title = titleIn(dir);
  // A hang is the campaign's word for a spent budget: its title names the call, which C does not.
  const titled: Titled = ({ outcome, console, violations }) =>
    titleOf(outcome, console, title.startsWith(HUNG) ? title.slice(HUNG.length) : undefined) ??
    violations.map(titleOfViolation).find(found => found === title);
  const scratch = mkdtempSync(join(tmpdir(), 'kcovbox-repro-'));
  try {
    const [verb = '', ...words] = await guestWords(dir, stored, scratch, titled);
    const ran = await kcovbox([verb, '--record', join(dir, 'repro.kcapsule'), ...words]);
    return { title: titled(ran), words: [verb, ...words] };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** The crashes and historical bugs of a campaign, by folder. */
export async function reproduce(path: string): Promise<number> {
  const stored = readFolder(path);
  if (stored.manifest.guest === 'harness')
    throw new UserError(
      `fuzz repro ${path}: a harness has no C program; run its crash with kcovbox fuzz exec --harness FILE ` +
        `${pathWord(join(path, 'crashes'))}/*/program.txt`,
    );
  const crashes = join(path, 'crashes');
  const names = existsSync(crashes) ? readdirSync(crashes).sort() : [];
  const bugs = existsSync(join(path, BUGS)) ? readdirSync(join(path, BUGS)).sort() : [];
  const line = progressLine();
  let [text, missed] = ['', 0];
  for (const [i, name] of names.entries()) {
    line.show(`${i} of ${names.length}`);
    const dir = join(crashes, name);
    const title = titleIn(dir);
    const { title: found, words } = await shownTitle(dir, stored);
    const isSame = found === title;
    if (!isSame) missed++;
    const other = isSame ? '' : `; the C program: ${visible(found ?? 'no crash')}`;
    text += `${isSame ? 'same' : 'other'}  ${visible(title)}${other}\n`;
    // Its events have other numbers than those in the program's text.
    if (isSame && words.includes('--fault')) text += `  kcovbox ${words.map(printedWord).join(' ')}\n`;
  }
  for (const [i, bug] of bugs.entries()) {
    line.show(`${names.length + i} of ${names.length + bugs.length}`);
    const isSame = await reproduceBug(join(path, BUGS, bug), bug, stored);
    if (!isSame) missed++;
    text += `${isSame ? 'same' : 'other'}  ${bug}${isSame ? '' : ': the C program does not trigger it'}\n`;
  }
  line.clear();
  writeTo('-', text === '' ? 'no crashes\n' : text);
  return missed > 0 ? 1 : 0;
}
