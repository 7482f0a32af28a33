// The steps of a thread, by lines and functions, and of a hart, by instructions. Other threads and
// harts run meanwhile; what they come to does not end a step, except breakpoints of the user.
import type { Scope } from '../coverage/index.ts';
import { type Hart, type InPieces, type RunResult, type Timeline, unitsOf } from '../emulator/index.ts';
import { DebugError } from './error.ts';
import type { Frame } from './frames.ts';
import { type Image, intervalsOf } from './image.ts';
import type { Interval } from './lines.ts';
import type { Direction, Motion, Reason } from './motion.ts';

/** The session as a step needs it: where it stands, and its ways to go. */
export interface Walker {
  readonly timeline: Timeline;
  /** Where the thread is that steps. */
  readonly hart: Hart;
  /** Its calls, from the innermost out. */
  readonly frames: readonly Frame[];
  /** Which of them the user looks at. */
  readonly level: number;
  /** The first of them, without looking for the others. */
  readonly innermost: Frame;
  /** To a place; the hart stays selected. */
  travel(unit: number, hart: number): InPieces<RunResult>;
  /**
   * Until the thread meets one of `addresses` where its innermost call `isDone`, or any thread a
   * breakpoint of the user.
   */
  until(direction: Direction, addresses: ReadonlySet<bigint>, isDone: (innermost: Frame) => boolean): Motion;
}

/** Units of other harts between two looks at the hart that steps. */
const STRIDE_MAX = 1 << 16;

/** One unit of the hart; back: in front of the last one. The turns of other harts run as well. */
export function* stepInstruction(walker: Walker, direction: Direction): Motion {
  const { timeline, hart } = walker;
  const isBack = direction === 'back';
  const units = unitsOf(hart);
  for (let near = timeline.position, stride = 1; ; stride = Math.min(2 * stride, STRIDE_MAX)) {
    if (isBack && near <= timeline.first) return { kind: 'begin' };
    const far = isBack ? Math.max(timeline.first, near - stride) : near + stride;
    const result = yield* walker.travel(far, hart.id);
    if (unitsOf(hart) !== units) {
      // The count of the hart grows with the place.
      const [low, high] = isBack ? [far, near] : [near, timeline.position];
      yield* toChange(walker, low, high, isBack ? units : units + 1n, isBack);
      return !isBack && timeline.isAtEnd ? { kind: 'end', result } : { kind: 'step' };
    }
    if (!isBack && timeline.isAtEnd) return { kind: 'end', result };
    near = far;
  }
}

/** The hart has fewer than `units` at `low`, not at `high`: goes to one side of the change. */
function* toChange(
  walker: Walker,
  low: number,
  high: number,
  units: bigint,
  isInFront: boolean,
): InPieces<void> {
  const { hart } = walker;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    yield* walker.travel(middle, hart.id);
    if (unitsOf(hart) < units) low = middle;
    else high = middle;
  }
  yield* walker.travel(isInFront ? low : high, hart.id);
}

/** Out of the function: behind its call, or back to the call. */
export function* stepOut(walker: Walker, direction: Direction): Motion {
  // As in gdb, out of the frame that the user looks at.
  const frames = walker.frames.slice(walker.level);
  const own = frames[0]!;
  if (own.isInlined && own.scope) return yield* outOfInlined(walker, direction, own, own.scope);
  const above = callerOf(frames);
  if (!above) throw new DebugError('there is no caller');
  if (direction === 'forward') {
    // longjmp leaves callers out.
    const behind = near(frames.slice(frames.indexOf(above)));
    return yield* walker.until(direction, new Set([above.pc, ...behind]), ({ cfa }) => cfa > own.cfa);
  }
  // The kernel called a signal handler, from where it had been interrupted.
  if (above.at === above.pc)
    return yield* walker.until(direction, new Set(callOf(above, direction)), ({ cfa }) => cfa > own.cfa);
  const lows = own.image?.functionAt(own.pc).map(({ low }) => low) ?? [];
  if (own.pc === lows[0]) return yield* stepInstruction(walker, direction);
  const reason = yield* walker.until(direction, new Set(lows), ({ cfa }) => cfa === own.cfa);
  return reason.kind === 'step' ? yield* stepInstruction(walker, direction) : reason;
}

/** Behind the code of the call; back, to the last line before it, or where its function begins. */
function outOfInlined(walker: Walker, direction: Direction, own: Frame, scope: Scope): Motion {
  const entry = own.image?.functionAt(own.pc)[0]?.low;
  if (direction === 'back' && own.pc === entry) return stepInstruction(walker, direction);
  const code = intervalsOf(scope);
  const isOut = ({ pc, cfa }: Frame): boolean =>
    cfa > own.cfa ||
    (cfa === own.cfa && (pc === entry || !code.some(({ low, high }) => low <= pc && pc < high)));
  const addresses = new Set([...near(walker.frames), ...code.map(({ high }) => high)]);
  if (entry !== undefined && direction === 'back') addresses.add(entry);
  return walker.until(direction, addresses, isOut);
}

/** To another line; `isInto`: also of a function that is called. */
export function* stepLine(walker: Walker, direction: Direction, isInto: boolean): Motion {
  const own = walker.innermost;
  const { image } = own;
  if (!image?.hasLines(own.pc)) return yield* leave(walker, direction);
  const depth = (frame: Frame): string => `${frame.cfa} ${frame.function} ${frame.file}:${frame.line}`;
  const here = depth(own);
  const isOther = (now: Frame): boolean => depth(now) !== here && (isInto || now.cfa >= own.cfa);
  const addresses = wantedFrom(walker, image, direction, isInto);
  const above = callerOf(walker.frames);
  // A caller without lines would be passed, with all that comes behind it.
  const isAlone = above !== undefined && !above.image?.hasLines(above.at);
  if (isAlone) for (const pc of callOf(above, direction)) addresses.add(pc);
  const reason = yield* walker.until(direction, addresses, isOther);
  if (reason.kind !== 'step') return reason;
  const now = walker.innermost;
  if (isAlone && now.cfa > own.cfa && !now.image?.hasLines(now.pc))
    return { ...reason, note: `${now.function} has no lines` };
  return direction === 'back' ? reason : yield* passPrologue(walker, image, reason);
}

/**
 * Addresses of statements to stop at. Those of the own line are left out, because a loop may have
 * no others, but not where another call of the function comes to them: one that is open already, or
 * on a way back one that has ended. A new call comes to the first instruction.
 */
function wantedFrom(walker: Walker, image: Image, direction: Direction, isInto: boolean): Set<bigint> {
  const { statements } = image;
  const { frames } = walker;
  const own = frames[0]!;
  const addresses = new Set(isInto ? statements.keys() : near(frames));
  const intervals = image.functionAt(own.pc);
  if ((isInto && direction === 'back') || isCalledTwice(frames, intervals)) return addresses;
  for (const pc of intervals.flatMap(interval => image.lines.within(interval))) {
    const at = statements.get(pc)!;
    const isCall = isInto && pc === intervals[0]!.low;
    if (at.line === own.line && at.file === own.file && !isCall) addresses.delete(pc);
  }
  return addresses;
}

const isCalledTwice = ([own, ...above]: readonly Frame[], intervals: readonly Interval[]): boolean =>
  above.some(({ at, cfa }) => cfa !== own!.cfa && intervals.some(({ low, high }) => low <= at && at < high));

/** Statements of the functions of these calls: longjmp may return to any of them. */
function near(frames: readonly Frame[]): bigint[] {
  const cfas = new Set<bigint>();
  return frames.flatMap(({ cfa, at, image }) => {
    if (!image || cfas.has(cfa)) return [];
    cfas.add(cfa);
    return image.functionAt(at).flatMap(interval => image.lines.within(interval));
  });
}

/** A function is entered behind its prologue. */
function* passPrologue(walker: Walker, image: Image, reason: Reason): Motion {
  const { pc, cfa } = walker.innermost;
  const inside = image.behindPrologue(pc);
  if (inside === undefined) return reason;
  return yield* walker.until('forward', new Set([inside]), now => now.cfa <= cfa);
}

/** A function without lines: out of it to the next caller that has some, else one instruction. */
function* leave(walker: Walker, direction: Direction): Motion {
  const { frames, timeline, hart } = walker;
  const own = frames[0]!;
  const name = own.function === '??' ? 'this code' : own.function;
  const above = frames.find(frame => frame.cfa > own.cfa && frame.image?.hasLines(frame.at));
  if (above) {
    const here = timeline.position;
    const isOut = ({ cfa }: Frame): boolean => cfa > own.cfa;
    const reason = yield* walker.until(direction, new Set(callOf(above, direction)), isOut);
    if (reason.kind === 'step') return { ...reason, note: `${name} has no lines: out to ${above.function}` };
    if (reason.kind !== 'begin') return reason;
    yield* walker.travel(here, hart.id); // it was not called from there
  }
  const reason = yield* stepInstruction(walker, direction);
  return reason.kind === 'step' ? { ...reason, note: `${name} has no lines: one instruction` } : reason;
}

/**
 * Where a caller's call ends; back, where it begins. Of the two possible lengths of a call only one
 * is an instruction there. A signal handler may come in front of any instruction.
 */
const callOf = ({ pc, at }: Frame, direction: Direction): bigint[] =>
  direction === 'forward' ? [pc] : [pc - 2n, pc - 4n, ...(at === pc ? [pc] : [])];

/** The caller of the innermost function; calls that were inlined into it are left out. */
const callerOf = (frames: readonly Frame[]): Frame | undefined =>
  frames.find(({ cfa }) => cfa !== frames[0]!.cfa);
