// The kinds of check: each decides from runs, and says why in one line.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { KcovboxError, type KcovSink } from '../../emulator/index.ts';
import { mutantsOf } from '../../grade/mutate.ts';
import type { CheckOf, CheckScore, CheckStatus, LabCheck } from '../../grade/schema.ts';
import { share } from '../../grade/score.ts';
import { styleFaults } from '../../grade/style.ts';
import { Guest } from '../../run/faults/guest.ts';
import { CompileError, packageRoot } from '../../toolchain/index.ts';
import { type Files, readFolder } from './lab.ts';
import { describePlace, notReached, pathOf, type ReadSource } from './places.ts';
import { finish, type Prepared, type Ran, type RunSpec, type Runs } from './runs.ts';

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
    if (own) return Buffer.from(own).toString('utf8');
    try {
      return readFileSync(join(packageRoot(), 'kernel', path), 'utf8');
    } catch {
      return undefined;
    }
  };

/** The files whose lines explain a failure: the student's own ones, and those that places name. */
function explained({ runs }: Bench, places: readonly string[]): string[] {
  const own = [...runs.placed().keys()].filter(path => path.endsWith('.c'));
  return [...new Set([...own, ...places.map(place => place.split(': ')[0]!)])];
}

async function explain(bench: Bench, prepared: Prepared, places: readonly string[]): Promise<string[]> {
  const files = explained(bench, places);
  if (!bench.explains || files.length === 0) return [];
  const { coverage } = await bench.runs.run(prepared, true);
  return coverage ? pathOf(coverage, files, sourcesOf(bench.runs)) : [];
}

async function runCheck(bench: Bench, check: CheckOf<'run'>): Promise<Decision> {
  const { runs } = bench;
  const { status = 0, prints = [], reaches = [] } = check;
  const prepared = await runs.prepare(check);
  const ran = await runs.run(prepared, reaches.length > 0);
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
  const [place] = ran.coverage ? notReached(ran.coverage, reaches, read) : [];
  if (place !== undefined) return fail(`the run did not execute ${describePlace(place, read)}`);
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
  const missed = notReached(ran.coverage!, places, read);
  const done = places.length - missed.length;
  if (missed.length === 0) return { status: 'pass', points, why: `all ${places.length} places ran` };
  return {
    status: done > 0 ? 'part' : 'fail',
    points: share(points, done, places.length),
    why: `${done} of ${places.length} places ran; not ${describePlace(missed[0]!, read)}`,
    failed: prepared,
    path: bench.explains ? pathOf(ran.coverage!, explained(bench, places), read) : [],
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
  #index = 0;

  constructor(call: number) {
    this.#call = call;
  }

  record(...[origin, isEdge, words, , index]: Parameters<KcovSink['record']>): void {
    if (origin.context !== 'task' || isEdge || words.length > 2) return;
    if (index <= this.#index && !this.hasCall) this.list = [];
    this.#index = index;
    const pc = ((BigInt(words[1]!) << 32n) | BigInt(words[0]!)).toString(16);
    this.list.push({ pc, call: origin.syscall });
  }

  get hasCall(): boolean {
    return this.list.some(({ call }) => call === this.#call);
  }
}

async function kcovCheck(bench: Bench, check: CheckOf<'kcov'>): Promise<Decision> {
  const { runs } = bench;
  const call = check.calls[runs.seed % check.calls.length]!;
  const prepared = await runs.prepare(check, { dialect: check.dialect, call });
  const records = new Records(call);
  const ran = await runs.run(prepared, false, guest => guest.machine.board.kcov?.observe(records));
  const why = endFault(ran, 0, prepared.budget) ?? printFault(ran.text, records, call);
  if (why !== undefined) return { status: failing(ran), points: 0, why, failed: prepared };
  return { status: 'pass', points: check.points, why: `prints the records of system call ${call}` };
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

/** A mutant ends after so many times the units of the run without a fault. */
const LONGER = 4;
const LONGER_BY = 20_000_000;

async function mutantsCheck(bench: Bench, check: CheckOf<'mutants'>): Promise<Decision> {
  const { runs, solution } = bench;
  const base = check.of === 'solution' ? solution && runs.placed(solution) : new Map<string, Uint8Array>();
  if (!base) return { status: 'skipped', points: 0, why: 'judged by the teacher' };
  const names = runs.lab.mutants[check.id] ?? [];
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

/** The text of `file` with the fault of this name. */
export function mutated(check: CheckOf<'mutants'>, base: Files, name: string): Files {
  const text = sourceOf(check, base);
  const mutant = mutantsOf(text, check.functions).find(known => known.name === name);
  if (!mutant) throw new KcovboxError('input', `the lab has no mutant "${name}" any more: kcovbox lab check`);
  return new Map([...base, [check.file, Buffer.from(mutant.source)]]);
}

export function sourceOf(check: CheckOf<'mutants'>, base: Files): string {
  const own = base.get(check.file);
  return own
    ? Buffer.from(own).toString('utf8')
    : readFileSync(join(packageRoot(), 'kernel', check.file), 'utf8');
}

export async function isKilled(
  { runs }: Bench,
  check: CheckOf<'mutants'>,
  base: Files,
  name: string,
  budget: number,
): Promise<boolean> {
  const ran = await runs.run(await runs.prepare(check, { overlay: mutated(check, base, name), budget }));
  return endFault(ran, 0, budget) !== undefined;
}

async function sweepCheck(bench: Bench, check: CheckOf<'sweep'>): Promise<Decision> {
  const { runs } = bench;
  const spec = { ...check, harts: check.harts ?? 2 };
  const prepared = await runs.prepare(spec, { schedSeed: 1n });
  const guest = new Guest(prepared.machine);
  const start = guest.save();
  for (let seed = 1; seed <= check.seeds; seed++) {
    guest.goTo(start);
    guest.machine.scheduler.reseed(BigInt(seed));
    const ran = await finish(guest, prepared.budget);
    const fault = endFault(ran, 0, prepared.budget);
    if (fault === undefined) continue;
    const failed = await runs.prepare(spec, { schedSeed: BigInt(seed) });
    const why = `with schedule seed ${seed} of ${check.seeds}: ${fault}`;
    return { status: failing(ran), points: 0, why, failed, path: await explain(bench, failed, []) };
  }
  return { status: 'pass', points: check.points, why: `passes with all ${check.seeds} schedule seeds` };
}

async function seedCheck(bench: Bench, check: CheckOf<'seed'>): Promise<Decision> {
  const { runs } = bench;
  const text = textOf(runs, check.file).trim();
  if (!/^\d{1,18}$/.test(text)) return fault(`${check.file} is not a number`);
  const overlay = runs.placed(readFolder(join(runs.lab.folder, 'starter')));
  const spec: RunSpec = { ...check, harts: check.harts ?? 2 };
  const prepared = await runs.prepare(spec, { overlay, schedSeed: BigInt(text) });
  const ran = await runs.run(prepared);
  const why = endFault(ran, 0, prepared.budget);
  if (why === undefined)
    return fault(`with schedule seed ${text} the program passes: the race is not in that run`);
  return { status: 'pass', points: check.points, why: `seed ${text}: ${why}` };
}

const fault = (why: string): Decision => ({ status: 'fail', points: 0, why });
const textOf = ({ submission }: Runs, name: string): string =>
  Buffer.from(submission.files.get(name) ?? '').toString('utf8');

function answersCheck({ runs }: Bench, check: CheckOf<'answers'>): Decision {
  const given = new Map<string, string>();
  for (const [, key, value] of textOf(runs, check.file).matchAll(/^([a-z][a-z-]*):[ \t]*(.*)$/gm))
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
  const faults = check.files.flatMap(name => styleFaults(name, textOf(runs, name), check));
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
