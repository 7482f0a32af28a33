// The kinds of check: each decides from runs, and says why in one line.
import {
  FAULT_KINDS,
  type FaultKind,
  faultText,
  KcovboxError,
  type KcovSink,
  parseSchedule,
} from '../../emulator/index.ts';
import { sweep } from '../../run/faults/sweep.ts';
import { Guest, type Moment } from '../../run/many/guest.ts';
import { isBad } from '../../run/many/outcome.ts';
import { CompileError } from '../../toolchain/errors.ts';
import { mutantsOf } from '../mutate.ts';
import type { CheckOf, CheckScore, CheckStatus, LabCheck } from '../schema.ts';
import { share } from '../score.ts';
import { styleFaults } from '../style.ts';
import { bytesOf, type Files, refused, textOf } from './lab.ts';
import { listFault } from './listed.ts';
import { describePlace, notReached, pathOf, type ReadSource } from './places.ts';
import { NeedsTeacher, type Prepared, type Ran, type RunSpec, type Runs } from './runs.ts';

/** The outcome of a check. */
export interface Decision {
  readonly status: CheckStatus;
  readonly points: number;
  readonly why: string;
  /** The run that failed: it can be recorded. */
  readonly failed?: Prepared;
  readonly path?: readonly string[];
  readonly try?: readonly string[];
}

/** The things that checks need besides runs of the submission. */
export interface Bench {
  readonly runs: Runs;
  /** The teacher's files; undefined: on a student's machine. */
  readonly solution: Files | undefined;
  /** Look for the path of a failure; costs a second run. */
  readonly explains: boolean;
}

const LINE_MAX = 200;
/** A console line in a message. */
const quote = (line: string): string => {
  const clean = line.replace(/[^\x20-\x7e]/g, '?').trim();
  return `"${clean.length > LINE_MAX ? `${clean.slice(0, LINE_MAX)}...` : clean}"`;
};

const million = (n: number): string => `${n / 1e6} million`;

/** Why a run did not end with `status`; undefined if it did. */
function endFault(ran: Ran, status: number, budget: number): string | undefined {
  if (ran.outcome === 'budget') return `it does not end within ${million(budget)} instructions`;
  if (ran.outcome === 'halt') return 'it waits for something that cannot come';
  if (ran.report !== undefined) return `the kernel reports ${quote(ran.report)}`;
  if (ran.outcome === 'panic') return 'the kernel panicked';
  if (ran.outcome === 'no-start') return 'the kernel could not start the program';
  if (ran.status === status) return undefined;
  const failed = /^not ok .*/m.exec(ran.text)?.[0];
  if (failed !== undefined) return quote(failed);
  const how = ran.status > 128 ? `signal ${ran.status - 128} ended it` : `it ended with status ${ran.status}`;
  return `${how}; ${status} was expected${lastLine(ran.text)}`;
}

function lastLine(text: string): string {
  const line = text.trimEnd().split('\n').at(-1) ?? '';
  return line === '' ? '' : `; its last line is ${quote(line)}`;
}

const failing = (ran: Ran): CheckStatus => (ran.outcome === 'budget' ? 'budget' : 'fail');

/** Text of the kernel's sources with the submission's in their places. */
const sourcesOf =
  (runs: Runs): ReadSource =>
  path => {
    const own = runs.placed().get(path);
    return own ? textOf(own) : runs.workshop.source(path);
  };

/** The files whose lines explain a failure: the student's own ones, and those that places name. */
function explained({ runs }: Bench, places: readonly string[]): string[] {
  const own = [...runs.placed().keys()].filter(path => path.endsWith('.c'));
  return [...new Set([...own, ...places.map(place => place.split(': ')[0]!)])];
}

async function explain(bench: Bench, prepared: Prepared, places: readonly string[]): Promise<string[]> {
  const files = explained(bench, places);
  if (!bench.explains || files.length === 0) return [];
  const { executed } = await bench.runs.run(prepared, true);
  return executed ? pathOf(executed, files, sourcesOf(bench.runs)) : [];
}

async function runCheck(bench: Bench, check: CheckOf<'run'>): Promise<Decision> {
  const { runs } = bench;
  const { status = 0, prints = [], reaches = [], lists } = check;
  const prepared = await runs.prepare(check);
  const ran = await runs.run(prepared, reaches.length > 0 || lists !== undefined);
  const fail = async (why: string): Promise<Decision> => ({
    status: failing(ran),
    points: 0,
    why,
    failed: prepared,
    path: await explain(bench, prepared, reaches),
  });
  const fault = endFault(ran, status, prepared.budget);
  if (fault !== undefined) return fail(fault);
  const words = prints.map(line => line.replaceAll('{seed}', `${runs.seed}`));
  const missing = words.find(line => !new RegExp(line, 'm').test(ran.text));
  if (missing !== undefined) return fail(`no line of its output matches /${missing}/${lastLine(ran.text)}`);
  const read = sourcesOf(runs);
  const [place] = ran.executed ? notReached(ran.executed, reaches, read) : [];
  if (place !== undefined) return fail(`the run did not execute ${describePlace(place, read)}`);
  const wrong = lists && listFault(ran.text, ran.exact!.elf, ran.exact!.counts, lists, read);
  if (wrong !== undefined) return fail(wrong);
  return { status: 'pass', points: check.points, why: 'as expected' };
}

async function coverCheck(bench: Bench, check: CheckOf<'cover'>): Promise<Decision> {
  const { runs } = bench;
  const { places, points } = check;
  const prepared = await runs.prepare(check);
  const ran = await runs.run(prepared, true);
  const fault = endFault(ran, 0, prepared.budget);
  const read = sourcesOf(runs);
  if (fault !== undefined)
    return {
      status: failing(ran),
      points: 0,
      why: fault,
      failed: prepared,
      path: await explain(bench, prepared, places),
    };
  const missed = notReached(ran.executed!, places, read);
  const done = places.length - missed.length;
  if (missed.length === 0) return { status: 'pass', points, why: `all ${places.length} places ran` };
  return {
    status: done > 0 ? 'part' : 'fail',
    points: share(points, done, places.length),
    why: `${done} of ${places.length} places ran; not ${describePlace(missed[0]!, read)}`,
    failed: prepared,
    path: bench.explains ? pathOf(ran.executed!, explained(bench, places), read) : [],
  };
}

interface Recorded {
  readonly pc: string;
  /** Number of the system call, -1 outside of one. */
  readonly call: number;
}

/** Records of the device for threads, since the program has last set the count to 0. */
class Records implements KcovSink {
  list: Recorded[] = [];
  readonly #call: number;
  readonly #isRemote: boolean;
  #index = 0;

  constructor(call: number, isRemote: boolean) {
    this.#call = call;
    this.#isRemote = isRemote;
  }

  record(...[origin, isEdge, words, , index]: Parameters<KcovSink['record']>): void {
    if ((origin.context !== 'task') !== this.#isRemote || isEdge || words.length > 2) return;
    // A section elsewhere has a buffer of its own, which is appended when the section ends.
    if (index <= this.#index && !this.#isRemote && !this.hasCall) this.list = [];
    this.#index = index;
    const pc = ((BigInt(words[1]!) << 32n) | BigInt(words[0]!)).toString(16);
    this.list.push({ pc, call: origin.syscall });
  }

  get hasCall(): boolean {
    if (this.#isRemote) return this.list.length > 0;
    return this.list.some(({ call }) => call === this.#call);
  }
}

async function kcovCheck(bench: Bench, check: CheckOf<'kcov'>): Promise<Decision> {
  const { runs } = bench;
  const call = check.calls[runs.seed % check.calls.length]!;
  const prepared = await runs.prepare(check, { dialect: check.dialect, call });
  const records = new Records(call, check.remote === true);
  const ran = await runs.run(prepared, false, guest => guest.machine.board.kcov?.observe(records));
  const why =
    endFault(ran, 0, prepared.budget) ??
    (check.remote ? remoteFault(ran.text, records) : printFault(ran.text, records, call));
  if (why !== undefined) return { status: failing(ran), points: 0, why, failed: prepared };
  return {
    status: 'pass',
    points: check.points,
    why: check.remote ? 'prints the records of its work' : `prints the records of system call ${call}`,
  };
}

/** Why the printed records are not those of the call; undefined if they are. */
function printFault(text: string, records: Records, call: number): string | undefined {
  if (!records.hasCall) return `kcov recorded nothing of system call ${call}: was it enabled then?`;
  const printed = [...text.matchAll(/^0x([0-9a-f]+)$/gm)].map(match => match[1]!);
  const { list } = records;
  const at = printed.findIndex((pc, i) => list[i]?.pc !== pc);
  if (at >= 0) {
    const was = list[at] ? `0x${list[at].pc} was recorded` : `only ${list.length} were recorded`;
    return `record ${at + 1}: printed is 0x${printed[at]}, ${was}`;
  }
  const other = list.slice(0, printed.length).find(record => record.call >= 0 && record.call !== call);
  if (other)
    return `record 0x${other.pc} of system call ${other.call} is printed too, not only those of ${call}`;
  const missing = list.findIndex((record, i) => i >= printed.length && record.call === call);
  return missing < 0 ? undefined : `record ${missing + 1} is not printed: 0x${list[missing]!.pc}`;
}

/** The same for records of remote sections; their order is that in which the sections ended. */
function remoteFault(text: string, { list }: Records): string | undefined {
  if (list.length === 0) return 'kcov recorded nothing of the work that was deferred';
  const printed = [...text.matchAll(/^0x([0-9a-f]+)$/gm)].map(match => match[1]!);
  const known = new Set(list.map(({ pc }) => pc));
  const other = printed.find(pc => !known.has(pc));
  if (other !== undefined) return `0x${other} is printed, and was not recorded in a remote section`;
  if (printed.length === list.length) return undefined;
  return `${printed.length} addresses are printed, ${list.length} were recorded`;
}

/** A mutant ends after so many times the units of the run without a fault. */
const LONGER = 4;
const LONGER_BY = 20_000_000;

async function mutantsCheck(bench: Bench, check: CheckOf<'mutants'>): Promise<Decision> {
  const { runs, solution } = bench;
  const base = baseOf(runs, check, solution);
  if (!base) return { status: 'skipped', points: 0, why: 'judged by the teacher' };
  const names = faultsOf(runs, check);
  const sound = await runs.prepare(check, { overlay: base });
  const ran = await runs.run(sound);
  const fault = endFault(ran, 0, sound.budget);
  if (fault !== undefined)
    return { status: failing(ran), points: 0, why: `without a fault in the kernel: ${fault}`, failed: sound };
  const budget = Math.min(sound.budget, LONGER * ran.spent + LONGER_BY);
  const survivors: string[] = [];
  for (const name of names) if (!(await isKilled(bench, check, base, name, budget))) survivors.push(name);
  const killed = names.length - survivors.length;
  const why = `${killed} of ${names.length} faults are noticed, ${check.need} are needed`;
  if (killed >= check.need) return { status: 'pass', points: check.points, why };
  return {
    status: killed > 0 ? 'part' : 'fail',
    points: share(check.points, killed, check.need),
    why: `${why}; not noticed: ${check.file} ${survivors[0]}`,
  };
}

/** Builds the kernels that have the faults of a check. */
export async function mutantKernels({ runs, solution }: Bench, check: CheckOf<'mutants'>): Promise<void> {
  const base = baseOf(runs, check, solution);
  for (const name of base ? faultsOf(runs, check) : [])
    await runs.kernel(check, { overlay: mutated(runs, check, base!, name) });
}

/** The files without a fault; undefined: they are the teacher's, and are not here. */
const baseOf = (runs: Runs, { of }: CheckOf<'mutants'>, solution: Files | undefined): Files | undefined =>
  of === 'solution' ? solution && runs.placed(solution) : new Map();

const faultsOf = ({ lab }: Runs, { id }: CheckOf<'mutants'>): readonly string[] => lab.mutants[id] ?? [];

/** The text of `file` with the fault of this name. */
function mutated(runs: Runs, check: CheckOf<'mutants'>, base: Files, name: string): Files {
  const mutant = mutantsOf(sourceOf(runs, check, base), check.functions).find(known => known.name === name);
  if (!mutant) throw new KcovboxError('input', `the lab has no mutant "${name}" any more: kcovbox lab check`);
  return new Map([...base, [check.file, bytesOf(mutant.source)]]);
}

export function sourceOf({ workshop }: Runs, check: CheckOf<'mutants'>, base: Files): string {
  const own = base.get(check.file);
  const text = own ? textOf(own) : workshop.source(check.file);
  if (text === undefined) throw refused(`${check.id}: the kernel has no file ${check.file}`);
  return text;
}

export async function isKilled(
  { runs }: Bench,
  check: CheckOf<'mutants'>,
  base: Files,
  name: string,
  budget: number,
): Promise<boolean> {
  const ran = await runs.run(
    await runs.prepare(check, { overlay: mutated(runs, check, base, name), budget }),
  );
  return endFault(ran, 0, budget) !== undefined;
}

/** A schedule seed as `run --sched-seed` takes it. */
const SEED = /^(?:0x)?[0-9a-f]{1,16}$/i;
export const seedText = (seed: number): string => `0x${seed.toString(16)}`;

/** Harts of a check that varies their order. */
const RACING = 2;

/** The moment at which a schedule begins to matter; undefined: the program does not begin. */
async function choiceOf(guest: Guest, budget: number): Promise<Moment | undefined> {
  if (!(await guest.runToUser(budget))) return undefined;
  const start = guest.save();
  return (await guest.runToChoice(budget)) ? guest.save() : start;
}

/**
 * The first schedule seed, from 1 to `seeds`, with which the program of a check fails, and the
 * failure; undefined: it passes with all. `overlay`: instead of the submission's files.
 */
export async function failingSeed(
  runs: Runs,
  check: RunSpec & { readonly schedule?: string | undefined },
  seeds: number,
  overlay?: Files,
): Promise<
  { readonly prepared: Prepared; readonly seed: number; readonly ran: Ran; readonly why: string } | undefined
> {
  const spec = { ...check, harts: check.harts ?? RACING };
  const schedule = check.schedule === undefined ? undefined : parseSchedule(check.schedule);
  const variant = { ...(overlay && { overlay }), ...(schedule && { schedule }) };
  const prepared = await runs.prepare(spec, { ...variant, schedSeed: 1n });
  const guest = new Guest(prepared.machine);
  const powerOn = guest.save();
  const choice = schedule && (await choiceOf(guest, prepared.budget)); // the same for all seeds
  for (let seed = 1; seed <= seeds; seed++) {
    guest.goTo(choice ?? powerOn);
    if (!schedule) guest.machine.scheduler.reseed(BigInt(seed));
    else if (choice) guest.machine.reschedule(schedule, BigInt(seed));
    const ran = await runs.finish(guest, prepared.budget);
    const why = endFault(ran, 0, prepared.budget);
    if (why === undefined) continue;
    return { prepared: await runs.prepare(spec, { ...variant, schedSeed: BigInt(seed) }), seed, ran, why };
  }
  return undefined;
}

async function sweepCheck(bench: Bench, check: CheckOf<'sweep'>): Promise<Decision> {
  const { runs } = bench;
  const found = await failingSeed(runs, check, check.seeds);
  if (!found)
    return { status: 'pass', points: check.points, why: `passes with all ${check.seeds} schedule seeds` };
  const { prepared, seed, ran, why } = found;
  const schedule = check.schedule === undefined ? 'schedule ' : `schedule ${check.schedule}, `;
  return {
    status: failing(ran),
    points: 0,
    why: `with ${schedule}seed ${seedText(seed)} of ${check.seeds}: ${why}`,
    failed: prepared,
    path: await explain(bench, prepared, []),
  };
}

/** All kinds but the one that no kernel survives without an IOMMU. */
const FAULTS = (Object.keys(FAULT_KINDS) as FaultKind[]).filter(kind => kind !== 'dma-misdirect');

async function faultsCheck(bench: Bench, check: CheckOf<'faults'>): Promise<Decision> {
  const { runs } = bench;
  const prepared = await runs.prepare(check);
  const ran = await runs.run(prepared);
  const why = endFault(ran, 0, prepared.budget);
  if (why !== undefined)
    return { status: failing(ran), points: 0, why: `without a fault: ${why}`, failed: prepared };
  const { rows } = await sweep({
    machine: prepared.machine,
    devices: check.of,
    kinds: FAULTS,
    events: check.events,
  });
  const bad = rows.filter(({ outcome }) => isBad(outcome));
  const [first] = bad;
  if (!first) return { status: 'pass', points: check.points, why: `survives all ${rows.length} faults` };
  return {
    status: bad.length < rows.length ? 'part' : 'fail',
    points: share(check.points, rows.length - bad.length, rows.length) >> 1,
    why: `survives ${rows.length - bad.length} of ${rows.length} faults; ${faultText(first.fault)}: ${first.outcome} ${quote(first.line)}`,
    failed: await runs.prepare(check, { faults: [first.fault] }),
  };
}

async function seedCheck(bench: Bench, check: CheckOf<'seed'>): Promise<Decision> {
  const { runs } = bench;
  const text = givenText(runs, check.file).trim();
  if (!SEED.test(text)) return fault(`${check.file} has no schedule seed, such as 1f`);
  const overlay = runs.placed(runs.lab.starter);
  const spec: RunSpec = { ...check, harts: check.harts ?? RACING };
  const prepared = await runs.prepare(spec, { overlay, schedSeed: BigInt(`0x${text.replace(/^0x/i, '')}`) });
  const ran = await runs.run(prepared);
  const why = endFault(ran, 0, prepared.budget);
  if (why === undefined)
    return fault(`with schedule seed ${text} the program passes: the race is not in that run`);
  return { status: 'pass', points: check.points, why: `seed ${text}: ${why}` };
}

const fault = (why: string): Decision => ({ status: 'fail', points: 0, why });
const givenText = ({ submission }: Runs, name: string): string =>
  textOf(submission.files.get(name) ?? new Uint8Array(0));

function answersCheck({ runs }: Bench, check: CheckOf<'answers'>): Decision {
  const given = new Map<string, string>();
  for (const [, key, value] of givenText(runs, check.file).matchAll(/^([a-z][a-z-]*):[ \t]*(.*)$/gm))
    given.set(key!, value!.trim());
  const keys = Object.keys(check.answers);
  const wrong = keys.filter(
    key => !new RegExp(`^(?:${check.answers[key]})$`, 'i').test(given.get(key) ?? ''),
  );
  const done = keys.length - wrong.length;
  if (wrong.length === 0)
    return { status: 'pass', points: check.points, why: `all ${keys.length} answers are right` };
  const first = given.get(wrong[0]!);
  return {
    status: done > 0 ? 'part' : 'fail',
    points: share(check.points, done, keys.length),
    why: `${done} of ${keys.length} answers are right; ${wrong[0]} is ${first ? quote(first) : 'not answered'}`,
  };
}

function styleCheck({ runs }: Bench, check: CheckOf<'style'>): Decision {
  const faults = check.files.flatMap(name => styleFaults(name, givenText(runs, name), check));
  if (faults.length === 0) return { status: 'pass', points: check.points, why: 'within the limits' };
  return fault(faults.length === 1 ? faults[0]! : `${faults[0]}, and ${faults.length - 1} more`);
}

const KINDS: { [K in LabCheck['kind']]: (bench: Bench, check: CheckOf<K>) => Decision | Promise<Decision> } =
  {
    run: runCheck,
    cover: coverCheck,
    kcov: kcovCheck,
    mutants: mutantsCheck,
    sweep: sweepCheck,
    faults: faultsCheck,
    seed: seedCheck,
    answers: answersCheck,
    style: styleCheck,
  };

const FIRST_ERROR = /^(.*?:\d+:\d+: (?:fatal )?error: .*|.*undefined symbol: .*|.*: error: .*)$/m;

/** Decides one check. A file that does not compile is a decision too, and so is a fault of ours. */
export async function decide(bench: Bench, check: LabCheck): Promise<Decision> {
  try {
    return await (KINDS[check.kind] as (bench: Bench, check: LabCheck) => Decision | Promise<Decision>)(
      bench,
      check,
    );
  } catch (error) {
    if (error instanceof NeedsTeacher) return { status: 'skipped', points: 0, why: 'judged by the teacher' };
    if (error instanceof CompileError) {
      const why = FIRST_ERROR.exec(error.detail ?? '')?.[1] ?? error.message;
      return { status: 'compile', points: 0, why: quote(why).slice(1, -1) };
    }
    const why = error instanceof Error ? error.message.split('\n')[0]! : String(error);
    return { status: 'error', points: 0, why: `kcovbox could not judge this: ${why}` };
  }
}

/** The part of a decision that is written. */
export const asScore = (check: LabCheck, { status, points, why, path, ...rest }: Decision): CheckScore => ({
  id: check.id,
  says: check.says,
  status,
  points,
  of: check.points,
  why,
  ...(path?.length && { path: [...path] }),
  ...(rest.try?.length && { try: [...rest.try] }),
});
