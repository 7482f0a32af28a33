// One run of a program in the guest, for `run` and `replay`: boots the images, and writes the
// outputs that were asked for.

import type { Elf, Trace } from '../../coverage/index.ts';
import { counted, RUN_HASH_INTERVAL } from '../../emulator/index.ts';
import { bootKey, dropBooted, findBooted, keepBooted } from '../../host/booted.ts';
import type { GuestImages } from '../../host/guest.ts';
import { kernelTitle } from '../../host/kernels.ts';
import { type MachineChoice, machineOptions } from '../../host/machine.ts';
import { CONSOLE_KEPT, INPUT_MAX, type RunDescription, type RunOutcome } from '../../run/index.ts';
import { outcomeOf } from '../../run/outcome.ts';
import { RunningSha256, tell } from '../../toolchain/index.ts';
import { type CoverFormat, chooseFormat, isOfCounts } from '../cov/formats.ts';
import { GuestConsole } from '../io/console.ts';
import type { ConsoleLog } from '../io/console-log.ts';
import { UserError } from '../io/fail.ts';
import { checkOutput, writeEach, writeTo } from '../io/output.ts';
import { isTerminal } from '../io/terminal.ts';
import type { GdbOptions } from './gdb-options.ts';
import type { Moment } from './moment.ts';
import type { Start } from './moments.ts';
import { isReportLine } from './report-patterns.ts';
import { explain, type Replay, runSession, type SessionEnd, type SessionOptions } from './session.ts';
import { Violations } from './violations.ts';

/** The machine, and how input reaches it. */
export interface RunChoice extends MachineChoice {
  /** Input is delivered as it comes, also from a pipe. */
  readonly interactive: boolean;
}

/** Where results go; `-` is standard output. */
export interface Outputs {
  readonly cover?: string;
  readonly format?: CoverFormat;
  readonly result?: string;
  /** False: print reports of the kernel without source lines. */
  readonly symbolize?: boolean;
  readonly record?: string;
  /** Record hashes in place of images. */
  readonly thin?: boolean;
  readonly testName?: string;
  /** Records that found the buffer full are coverage too. */
  readonly keepLost?: boolean;
  /** Count retired instructions instead of records. */
  readonly exact?: boolean;
  /** Where the run is saved, at the moment `snapshotAt`. */
  readonly snapshot?: string;
  readonly snapshotAt?: Moment;
  /** Boots also where the state behind the boot is kept. */
  readonly cold?: boolean;
  /** A snapshot of this run from which it goes on. */
  readonly from?: string;
  /** A debugger may attach. */
  readonly gdb?: GdbOptions | undefined;
}

export interface Executed {
  readonly end: SessionEnd;
  /** The executed images; only if an output or a comparison needs them. */
  readonly run: RunDescription | undefined;
  readonly outcome: RunOutcome | undefined;
  readonly log: ConsoleLog | undefined;
}

const PATHS = ['cover', 'result', 'record', 'snapshot'] as const;

/** Refuses outputs that cannot be written, before the work. */
export function checkOutputs(outputs: Outputs): void {
  for (const name of PATHS) checkOutput(outputs[name]);
  if (outputs.snapshot === '-') throw new UserError('--snapshot -: a snapshot is a file; give its name');
  if (outputs.snapshotAt !== undefined && outputs.snapshot === undefined)
    throw new UserError('--snapshot-at without --snapshot: add --snapshot FILE');
  if (outputs.format !== undefined && outputs.cover === undefined)
    throw new UserError(
      `--format ${outputs.format} without --cover: add --cover FILE, or - for standard output`,
    );
  if (outputs.testName !== undefined && outputs.cover === undefined)
    throw new UserError('--test-name without --cover: it names the test in a coverage file');
  if (outputs.exact && outputs.cover === undefined)
    throw new UserError('--exact without --cover: add --cover FILE, or - for standard output');
  if (outputs.thin && outputs.record === undefined)
    throw new UserError('--thin without --record: it leaves the images out of the capsule');
  checkGdb(outputs);
}

/** A debugger may go back, or change the guest: what records while the guest runs cannot follow. */
function checkGdb(outputs: Outputs): void {
  if (!outputs.gdb) return;
  for (const name of ['cover', 'record', 'snapshot'] as const)
    if (outputs[name] !== undefined)
      throw new UserError(`--gdb with --${name}: a debugger can change the guest, and go back`);
}

export interface Recorded {
  /** Of the earlier run: it is the description of this one too. */
  readonly run: RunDescription;
  readonly replay: Replay;
}

/** Several tests in one run, as the console tells. */
export interface Tests {
  /** Takes each line that the guest prints. */
  line(text: string): void;
  /** The test that runs now, or ''. */
  name(): string;
  /** Has one begun? */
  hasBegun(): boolean;
}

/** The difference between `run`, `replay` and `ktest`. */
export interface Purpose {
  /** Its input arrives instead of ours. */
  readonly recorded?: Recorded;
  /** Coverage is attributed to each of them. */
  readonly tests?: Tests;
  /** The reason and the remedy if kcov recorded nothing. */
  readonly whyEmpty: string;
  /** One more output, which is written behind the others. */
  readonly write?: (executed: Executed) => void;
}

/** Boots and runs `images`, and writes the outputs. */
export async function execute(
  images: GuestImages,
  choice: RunChoice,
  outputs: Outputs,
  { recorded, tests, whyEmpty, write }: Purpose,
): Promise<Executed> {
  const { cover, result, record } = outputs;
  const { snapshot, from } = outputs;
  const wantsFacts = [result, record, recorded, snapshot].some(wanted => wanted !== undefined);
  const format = cover === undefined ? undefined : chooseFormat(cover, outputs.format, '--cover');
  const kernelName = kernelTitle(choice.conf, images.kernelPath);
  // Modules that only some runs need are loaded by those: a small program takes no longer than
  // loading them.
  const exact = outputs.exact ? await exactWindow(cover!, format!, images.kernel, kernelName) : undefined;
  const elf =
    cover === undefined || exact
      ? undefined
      : new (await import('../../coverage/index.ts')).Elf(
          images.kernel,
          kernelName,
          () => new RunningSha256(),
        );
  const recorder =
    elf &&
    new (await import('../../run/trace-recorder.ts')).TraceRecorder(
      choice.dialect,
      elf,
      tests?.name ?? outputs.testName ?? images.name,
      {
        keepLost: outputs.keepLost,
        countsOnly: isOfCounts(format!),
        withoutCalls: format === 'raw',
        foldsCalls: format === 'html',
      },
    );
  const log = wantsFacts ? new (await import('../io/console-log.ts')).ConsoleLog(CONSOLE_KEPT) : undefined;
  const isTaken = (cover === '-' && format !== 'source') || result === '-' || record === '-';
  const moments = snapshot === undefined && from === undefined ? undefined : await import('./moments.ts');
  const now = moments && (await import('../../host/describe.ts')).describe(images, choice, [], false);
  const start = from === undefined ? undefined : moments!.startFrom(from, now!);
  if (start) goOn(start, log, cover, exact !== undefined);
  const lines = async () => {
    if (images.kernelPath === '') return undefined; // a replay prints what was recorded
    return (await import('./report-lines.ts')).reportLines(images.kernel);
  };
  const notes = outputs.symbolize === false ? undefined : { needs: isReportLine, load: lines };
  const console = new GuestConsole({
    silent: isTaken,
    hasFiles: PATHS.some(name => outputs[name] !== undefined),
    log,
    line: tests?.line,
    hasCr: start?.hasCr,
    notes,
  });
  const hasRules = choice.devices?.some(({ definition }) => definition.rules) === true;
  const symbols = hasRules && outputs.symbolize !== false ? await lines() : undefined;
  const violations = new Violations(symbols, line => console.note(line));
  const saving =
    snapshot === undefined
      ? undefined
      : moments!.saveAt(snapshot, outputs.snapshotAt ?? 'first-instruction', now!, console, log!);
  const boot = recorded ? undefined : bootFor(images, choice, outputs);
  const end = await runSession({
    machine: {
      ...machineOptions(images, choice),
      ...(exact && { retired: exact.retired }),
      onViolation: violation => violations.add(violation),
      // With a chain stores are tracked, which makes the first snapshot cheap.
      ...((wantsFacts || (boot && !boot.booted)) && { runHash: RUN_HASH_INTERVAL }),
    },
    console,
    input: true,
    isInteractive: choice.interactive,
    isCold: outputs.cold === true,
    maxInput: record === undefined ? undefined : INPUT_MAX,
    endOfInput: 'break',
    endsInOrder: wantsFacts || cover !== undefined,
    prepare: machine => recorder?.attach(machine),
    ...(boot && { boot }),
    ...(start && { from: start.from }),
    ...(saving && { stop: saving }),
    ...(choice.maxInsns === undefined ? {} : { maxInsns: choice.maxInsns }),
    ...(recorded && { replay: recorded.replay }),
    ...(outputs.gdb && { gdb: outputs.gdb }),
  });
  const why = explain(end);
  if (why) tell(`kcovbox: ${why}\n`);
  const title = outputs.testName ?? images.name;
  const facts = log && (await factsOf(end, log, images, choice, recorded, violations));
  const executed: Executed = { end, run: facts?.run, outcome: facts?.outcome, log };
  await writeEach([
    () => saving?.check(end.machine.spent),
    async () => {
      if (!exact || format === undefined) return;
      const { writeExact } = await import('../cov/cover.ts');
      const counts = { low: exact.retired.low, counts: end.machine.retired!.read() };
      await writeExact(cover!, format, counts, exact.elf, title);
    },
    async () => {
      if (!recorder || format === undefined) return;
      const { warnIfEmpty, writeCoverage } = await import('../cov/cover.ts');
      const trace = recorder.finish();
      warnIfEmpty(
        trace,
        cover!,
        whyNoRecords(end, trace, recorder.wasOn && (tests?.hasBegun() ?? true), whyEmpty),
      );
      await writeCoverage(cover!, format, trace, elf!, title);
    },
    async () => {
      if (result === undefined || !facts) return;
      const { resultOf } = await import('../../host/describe.ts');
      writeTo(
        result,
        `${JSON.stringify(await resultOf(facts.run, facts.outcome, choice.engine), null, 2)}\n`,
      );
    },
    () => write?.(executed),
    () => console.check(),
  ]);
  return executed;
}

/**
 * The reason why a run recorded nothing. `wasOn`: kcov was on while something was to be recorded.
 * `otherwise`: the reason of a program that ended by itself and never recorded.
 */
function whyNoRecords(end: SessionEnd, trace: Trace, wasOn: boolean, otherwise: string): string {
  if (trace.lostTotal > 0) return `all ${trace.lostTotal} were lost, because the buffer was full`;
  if (wasOn) return 'kcov was on, but the program executed nothing that it records';
  if (!end.machine.board.kcov || end.outcome === 'exit') return otherwise;
  return 'the run ended before the program enabled kcov';
}

/** The description of a run that has ended, and its outcome. */
async function factsOf(
  end: SessionEnd,
  log: ConsoleLog,
  images: GuestImages,
  choice: RunChoice,
  recorded: Recorded | undefined,
  violations: Violations,
): Promise<{ readonly run: RunDescription; readonly outcome: RunOutcome }> {
  const { describe } = await import('../../host/describe.ts');
  const { entries } = end.machine.journal;
  const run = recorded?.run ?? describe(images, choice, entries, choice.interactive || isTerminal(0));
  const broken = violations.list();
  const outcome = { ...sessionOutcome(end, log), ...(broken.length > 0 && { violations: [...broken] }) };
  return { run, outcome };
}

/**
 * The kept state behind the boot, or how to keep it; undefined: the run boots. So do runs that look
 * at the boot itself, and `lockstep`, which is there to compare.
 */
function bootFor(images: GuestImages, choice: RunChoice, outputs: Outputs): SessionOptions['boot'] {
  const { cold, exact, from, gdb, snapshotAt } = outputs;
  if (cold || exact || gdb || from !== undefined || typeof snapshotAt === 'number') return undefined;
  const key = choice.engine === 'lockstep' ? undefined : bootKey(images, choice);
  if (key === undefined) return undefined;
  const warn = (line: string): void => tell(`kcovbox: ${line}\n`);
  const found = findBooted(key, warn);
  const { maxInsns = Number.POSITIVE_INFINITY } = choice;
  const booted = found && found.state.rest.spent < maxInsns ? found : undefined;
  if (found && !booted) return undefined;
  return {
    booted,
    keep: (before, now, console) => keepBooted(key, before, now, console),
    refused: why => {
      dropBooted(key);
      warn(`the saved boot is damaged (${why}); it is made again`);
    },
  };
}

/** Errors: UserError when an output would lack what happened before the snapshot. */
function goOn(
  { from, console }: Start,
  log: ConsoleLog | undefined,
  cover: string | undefined,
  isExact: boolean,
): void {
  if (isExact) throw new UserError('--from with --exact: what ran before the snapshot is not counted');
  const { records } = from.snapshot.observed;
  if (cover !== undefined && records > 0)
    throw new UserError(
      `--from with --cover: ${counted(records, 'record')} came before the snapshot; omit one of them`,
    );
  if (log === undefined) return;
  if (console === null)
    throw new UserError('--from with a result: the snapshot does not have what the guest printed before');
  log.update(console);
}

/** The machine option that counts all code of an image, and the image. */
export async function exactWindow(
  cover: string,
  format: CoverFormat,
  image: Uint8Array,
  name: string,
): Promise<{ retired: { low: bigint; high: bigint }; elf: Elf }> {
  const { checkExactFormat } = await import('../cov/cover.ts');
  const { codeWindow, Elf } = await import('../../coverage/index.ts');
  checkExactFormat(cover, format);
  const elf = new Elf(image, name);
  return { retired: codeWindow(elf), elf };
}

/** `log`: of everything that was printed. */
export const sessionOutcome = ({ outcome: end, status, machine }: SessionEnd, log: ConsoleLog): RunOutcome =>
  outcomeOf(machine, { end, status, consoleHash: log.sha256() });
