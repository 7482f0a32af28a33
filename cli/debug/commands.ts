// The commands of `kcovbox debug`: one row each, with its help. They write lines and move the
// session; reading lines is repl.ts.
import type { Breakpoint, Rule } from '../../debug/breakpoints.ts';
import { DebugError } from '../../debug/error.ts';
import type { Direction, Motion, Reason } from '../../debug/motion.ts';
import { type DebugSession, MOMENTS_MAX } from '../../debug/session.ts';
import {
  EVENT_KINDS,
  type EventKind,
  type Execution,
  findEvent,
  type InPieces,
  stateHash,
  X_NAMES,
} from '../../emulator/index.ts';
import type { SourceView } from './source.ts';

/** The parts of the debugger that a command uses. */
export interface Desk {
  readonly session: DebugSession;
  readonly source: SourceView;
  /** Where the program begins. */
  readonly start: number;
  say(line: string): void;
  /** For `log`, when the run comes there. */
  readonly log: (line: string) => void;
}

export interface CommandRow {
  /** The name and its abbreviations. */
  readonly names: readonly string[];
  readonly args?: string;
  readonly help: string;
  /** An empty line does it again. */
  readonly repeats?: true;
  /** Of a motion: yields from time to time. */
  readonly run: (desk: Desk, args: string) => InPieces<void> | void;
}

const MOMENTS_SHOWN = 20;
const FUNCTION_OF_SWITCH = 'context_switch';

const move = (way: (session: DebugSession, direction: Direction) => Motion, direction: Direction) =>
  function* (desk: Desk, args: string): InPieces<void> {
    const times = args === '' ? 1 : count(args);
    for (let i = 0; i < times; i++) {
      const reason = yield* way(desk.session, direction);
      if (i < times - 1 && reason.kind === 'step') continue;
      tell(desk, reason);
      if (reason.kind !== 'step') return;
    }
  };

export const COMMANDS: readonly CommandRow[] = [
  {
    names: ['continue', 'c'],
    help: 'run on to the next breakpoint, watch or the end',
    repeats: true,
    run: move((s, d) => s.continue(d), 'forward'),
  },
  {
    names: ['back', 'rcontinue', 'rc'],
    help: 'the same backwards',
    repeats: true,
    run: move((s, d) => s.continue(d), 'back'),
  },
  {
    names: ['next', 'n'],
    args: '[N]',
    help: 'to the next line, over calls',
    repeats: true,
    run: move((s, d) => s.next(d), 'forward'),
  },
  {
    names: ['rnext', 'rn'],
    args: '[N]',
    help: 'to the line before, over calls',
    repeats: true,
    run: move((s, d) => s.next(d), 'back'),
  },
  {
    names: ['step', 's'],
    args: '[N]',
    help: 'to the next line, into calls',
    repeats: true,
    run: move((s, d) => s.step(d), 'forward'),
  },
  {
    names: ['rstep', 'rs'],
    args: '[N]',
    help: 'to the line before, into calls',
    repeats: true,
    run: move((s, d) => s.step(d), 'back'),
  },
  {
    names: ['finish', 'fin'],
    help: 'out of this function, behind its call',
    run: move((s, d) => s.finish(d), 'forward'),
  },
  {
    names: ['rfinish', 'rfin'],
    help: 'back to the call of this function',
    run: move((s, d) => s.finish(d), 'back'),
  },
  {
    names: ['stepi', 'si'],
    args: '[N]',
    help: 'one instruction',
    repeats: true,
    run: move((s, d) => s.stepInstruction(d), 'forward'),
  },
  {
    names: ['rstepi', 'rsi'],
    args: '[N]',
    help: 'one instruction back',
    repeats: true,
    run: move((s, d) => s.stepInstruction(d), 'back'),
  },
  {
    names: ['break', 'b'],
    args: 'FUNCTION|FILE:LINE|LINE|*0xADDR [if EXPR]',
    help: 'stop there, in both directions',
    run: ({ session, say }, what) => {
      const [place, condition] = conditional(needed(what, 'break main'));
      say(`breakpoint ${placesOf(session, session.break(place, { condition }))}`);
    },
  },
  {
    names: ['log'],
    args: 'FUNCTION|FILE:LINE|LINE|*0xADDR TEXT',
    help: 'say the text there, and go on; {EXPR} in it is the value',
    run: ({ session, say, log }, what) => {
      const [, place, text] = /^(\S+)\s+(.+)$/.exec(what) ?? [];
      if (!place || !text) throw new DebugError('something is missing: log sum.c:7 n is {n}');
      say(`log ${placesOf(session, session.break(place, { log: { text, say: log } }))}`);
    },
  },
  {
    names: ['watch'],
    args: 'EXPR [if EXPR]',
    help: 'stop where the value changes, in both directions',
    run: ({ session, say }, what) => {
      const [watched, condition] = conditional(needed(what, 'watch list->next'));
      const { id, va } = session.watch(watched, { condition });
      say(`watch ${id}: ${watched}, at 0x${va.toString(16)}`);
    },
  },
  {
    names: ['delete', 'd'],
    args: '[NUMBER]',
    help: 'remove a breakpoint or watch, or all',
    run: ({ session, say }, what) => {
      if (what === '') session.deleteAll();
      else if (!session.delete(count(what))) say(`there is no breakpoint or watch ${what}`);
    },
  },
  {
    names: ['last-write', 'lw'],
    args: 'EXPR',
    help: 'who wrote this last? goes nowhere',
    *run({ session, source, say }, what) {
      const store = yield* session.findLastWrite(needed(what, 'last-write list->next'));
      if (!store) {
        say(`nothing has stored to it since unit ${session.timeline.first}`);
        return;
      }
      const by = store.by === 'device' ? 'a device, during ' : '';
      say(`unit ${store.unit}, hart ${store.hart}: ${by}${placeOf(session, store.pc)}`);
      const { file, line } = session.describe(store.pc);
      const text = source.line(file, line);
      if (text !== undefined) say(`    ${text.trim()}`);
    },
  },
  {
    names: ['when'],
    args: 'FUNCTION|FILE:LINE|LINE',
    help: 'list the moments at which it ran',
    run: when,
  },
  {
    names: ['goto', 'g'],
    args: 'UNIT|+N|-N|start|end|KIND N',
    help: `go to a moment; KIND: ${EVENT_KINDS.join(', ')}, switch`,
    run: goto,
  },
  {
    names: ['backtrace', 'bt', 'where'],
    help: 'the calls that led here',
    run: ({ session, say }) => {
      for (const [level, frame] of session.frames.entries()) {
        const mark = level === session.level ? '>' : ' ';
        const place = frame.file === '' ? `0x${frame.pc.toString(16)}` : `${frame.file}:${frame.line}`;
        say(
          `${mark}${String(level).padStart(2)}  ${frame.function} at ${place}${frame.isInlined ? ' (inlined)' : ''}`,
        );
      }
    },
  },
  {
    names: ['frame', 'f'],
    args: '[LEVEL]',
    help: 'look at a caller; without a number, where we are',
    run: (desk, what) => {
      if (what !== '') desk.session.selectFrame(count(what));
      whereAmI(desk);
    },
  },
  { names: ['up'], help: 'look at the caller', repeats: true, run: desk => level(desk, 1) },
  { names: ['down'], help: 'look at the callee', repeats: true, run: desk => level(desk, -1) },
  {
    names: ['locals'],
    help: 'variables of this frame',
    run: ({ session, say }) => {
      const { locals } = session;
      if (locals.length === 0) say('there are no variables here');
      for (const variable of locals) {
        const value = session.valueHere(variable);
        say(`${variable.name} = ${typeof value === 'string' ? `<${value}>` : session.show(value)}`);
      }
    },
  },
  {
    names: ['print', 'p'],
    args: 'EXPR',
    help: 'a value: names, ->, ., [], *, &, casts, arithmetic',
    run: ({ session, say }, what) => {
      const value = session.evaluate(needed(what, 'print *list'));
      say(`${what} = ${session.show(value)}`);
    },
  },
  {
    names: ['list', 'l'],
    args: '[FILE:LINE|FUNCTION]',
    help: 'source text',
    run: ({ session, source, say }, what) => {
      const at = what === '' ? session.frame : session.describe(session.find(what)[0]!);
      if (!source.show(at.file, at.line, session.frame, say))
        say(`the source of ${at.file || '??'} is not here; --source DIR`);
    },
  },
  {
    names: ['info', 'i'],
    args: 'threads|regs|kcov|hash|breakpoints',
    help: 'harts, registers, coverage, run hash, breakpoints',
    run: info,
  },
  {
    names: ['thread', 't'],
    args: 'HART',
    help: 'look at another hart',
    run: (desk, what) => {
      desk.session.selectHart(count(what));
      whereAmI(desk);
    },
  },
];

export function tell(desk: Desk, reason: Reason): void {
  const { say, session } = desk;
  if (reason.kind === 'breakpoint') say(`breakpoint ${reason.id}`);
  else if (reason.kind === 'watch') {
    const what = session.watches.find(({ id }) => id === reason.id)?.what ?? '';
    say(`watch ${reason.id}: ${what}\n  before: ${reason.before}\n  after:  ${reason.after}`);
  } else if (reason.kind === 'begin') say('this is the beginning of the run');
  else if (reason.kind === 'end') {
    const { result } = reason;
    say(
      `this is the end of the run${'status' in result ? `: ${result.kind}, status ${result.status & 0xff}` : ''}`,
    );
  }
  if ('note' in reason && reason.note !== undefined) say(reason.note);
  whereAmI(desk);
}

export function whereAmI({ session, source, say }: Desk): void {
  const { frame, timeline } = session;
  const { function: name, file, line, pc } = frame;
  say(
    `unit ${timeline.position}, hart ${session.hart.id}: ${name} at ${file === '' ? `0x${pc.toString(16)}` : `${file}:${line}`}`,
  );
  const text = source.line(file, line);
  if (text !== undefined) say(`${line}\t${text}`);
}

function level(desk: Desk, by: number): void {
  desk.session.selectFrame(desk.session.level + by);
  whereAmI(desk);
}

function* when({ session, say }: Desk, what: string): InPieces<void> {
  const place = needed(what, 'when main.c:12');
  yield* knowAll(session);
  const all = yield* session.findMoments(place, MOMENTS_MAX + 1);
  const isCut = all.length > MOMENTS_MAX;
  if (all.length === 0) say('it did not run');
  else if (isCut) say(`it ran at least ${MOMENTS_MAX} times, the first ones:`);
  else say(`it ran ${all.length} time${all.length === 1 ? '' : 's'}`);
  const shown =
    isCut || all.length <= MOMENTS_SHOWN
      ? all.slice(0, MOMENTS_SHOWN)
      : [...all.slice(0, MOMENTS_SHOWN - 1), all.at(-1)!];
  for (const { unit, hart, pc } of shown) say(`  unit ${unit}, hart ${hart}: ${placeOf(session, pc)}`);
  const places = [...new Set(all.map(({ pc }) => pc))];
  if (isFunction(place) && places.some(pc => session.imageAt(pc)?.isInlinedLoop(pc)))
    say('where it is inlined it begins with its loop: each round counts');
}

const isFunction = (place: string): boolean => /^[A-Za-z_]\w*$/.test(place);

/** A search looks at what the run has executed: all of it. The hart and the frame stay selected. */
function* knowAll({ timeline }: DebugSession): InPieces<void> {
  const here = timeline.position;
  try {
    yield* timeline.travelToEnd();
  } finally {
    timeline.seek(here);
  }
}

function* goto(desk: Desk, what: string): InPieces<void> {
  const { session, start } = desk;
  const { timeline } = session;
  const [, sign = '', digits] = /^([+-]?)(\d{1,15})$/.exec(what) ?? [];
  const [, kind = '', n] = /^([a-z]+) +(\d{1,15})$/.exec(what) ?? [];
  if (what === 'start') yield* session.travel(start);
  else if (what === 'end') yield* session.travel(Number.MAX_SAFE_INTEGER);
  else if (digits !== undefined) {
    const by = Number(digits);
    yield* session.travel(sign === '+' ? timeline.position + by : sign === '-' ? timeline.position - by : by);
  } else if (n !== undefined && (kind === 'switch' || EVENT_KINDS.includes(kind as EventKind))) {
    const moment =
      kind === 'switch'
        ? yield* nthSwitch(session, Number(n))
        : yield* findEvent(timeline, kind as EventKind, Number(n));
    if (!moment) throw new DebugError(`the run has no ${kind} ${n}`);
    yield* session.travel(moment.unit, moment.hart);
  } else throw new DebugError('goto UNIT, +N, -N, start, end, or a kind and a number: goto syscall 3');
  whereAmI(desk);
}

function* nthSwitch(session: DebugSession, n: number): InPieces<Execution | undefined> {
  yield* knowAll(session);
  return (yield* session.findMoments(FUNCTION_OF_SWITCH, n))[n - 1];
}

function info(desk: Desk, what: string): void {
  const { session, say } = desk;
  const { machine } = session.timeline;
  if (/^t/.test(what))
    for (const hart of machine.harts) {
      const mark = hart === session.hart ? '>' : ' ';
      say(`${mark}hart ${hart.id}${hart.waiting ? ', waits' : ''}: ${placeOf(session, hart.state.pc)}`);
    }
  else if (/^r/.test(what)) {
    const cells = X_NAMES.map(
      (name, n) => `${name.padEnd(5)}${session.hart.state.getX(n).toString(16).padStart(16, '0')}`,
    );
    for (let i = 0; i < 32; i += 4) say(cells.slice(i, i + 4).join('  '));
    say(`pc   ${session.hart.state.pc.toString(16).padStart(16, '0')}`);
  } else if (/^k/.test(what)) say(`${machine.kcovRecords} coverage records up to here`);
  else if (/^h/.test(what)) {
    const state = stateHash(machine);
    const links = machine.hasher?.result(state).links ?? [];
    say(`state ${state}, run hash ${links.at(-1)}, link ${links.length} of the chain`);
  } else if (/^b/.test(what)) {
    for (const { id, what: place, addresses, rule } of session.breakpoints) {
      const places = `${addresses.size} place${addresses.size === 1 ? '' : 's'}`;
      const [verb, text] = rule.log ? ['log', `: ${rule.log.text}`] : ['break', ''];
      say(`${id}  ${verb} ${place}${ifOf(rule)} (${places})${text}`);
    }
    for (const { id, what: text, rule } of session.watches) say(`${id}  watch ${text}${ifOf(rule)}`);
    if (session.breakpoints.length + session.watches.length === 0) say('there are none');
  } else throw new DebugError('info threads, regs, kcov, hash or breakpoints');
}

/** `PLACE if EXPR` in its parts. No variable of C has the name `if`. */
function conditional(text: string): [what: string, condition: string | undefined] {
  const [, what, condition] = /^(.*?)\s+if\b\s*(.+)$/.exec(text) ?? [];
  return what === undefined ? [text, undefined] : [what, condition];
}

const ifOf = ({ condition }: Rule): string => (condition ? ` if ${condition.text}` : '');

function placesOf(session: DebugSession, { id, addresses, levels }: Breakpoint): string {
  const [first] = [...addresses].map(pc => placeOf(session, pc, levels.get(pc)));
  return `${id}: ${first}${addresses.size > 1 ? ` and ${addresses.size - 1} more places` : ''}`;
}

function placeOf(session: DebugSession, pc: bigint, level = 0): string {
  const { function: name, file, line } = session.describe(pc, level);
  return `${name} at ${file === '' ? `0x${pc.toString(16)}` : `${file}:${line}`}`;
}

function count(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new DebugError(`"${text}" is not a number`);
  return Number(text);
}

function needed(text: string, example: string): string {
  if (text === '') throw new DebugError(`something is missing: ${example}`);
  return text;
}
