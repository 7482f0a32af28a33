// A debugger of source code for a run that goes both ways: what its faces (the command line, DAP)
// share. It has no I/O; every method ends with the machine at some place of the run. A motion is a
// generator, so that its face stays responsive and can give it up between two pieces.
import { addrOf, cleanPath, type Place, type Type, type Variable } from '../coverage/index.ts';
import {
  type Execution,
  exhaust,
  type Found,
  type Hart,
  type InPieces,
  type Moment,
  type Range,
  type RunResult,
  readMemory,
  type Stops,
  type Store,
  type Timeline,
  translate,
} from '../emulator/index.ts';
import { type Breakpoint, Breakpoints, type Watch, type Wish } from './breakpoints.ts';
import { DebugError, notMapped } from './error.ts';
import { compile, type Expression } from './expression.ts';
import { FRAMES_MAX, type Frame, framesOf } from './frames.ts';
import type { Image } from './image.ts';
import type { Statement } from './lines.ts';
import type { Direction, Motion, Reason } from './motion.ts';
import { bytesAt } from './place-bytes.ts';
import { Places } from './places.ts';
import { Echo, meets, ruleOf } from './rules.ts';
import { stepInstruction, stepLine, stepOut } from './steps.ts';
import { threadOf } from './thread.ts';
import { type Read, show, type Value, vaOf } from './values.ts';

export interface Where extends Moment {
  readonly pc: bigint;
  readonly function: string;
  readonly file: string;
  readonly line: number;
}

/** A place, and the frame of the hart that the user looks at. */
export interface Stand extends Moment {
  readonly level: number;
}

/** Why a variable has no value at a moment. */
export type Absence = 'optimised out' | 'not yet stored';

const BREAKPOINTS_MAX = 1000;
const PAGE = 4096;
/** Searches backwards that a step begins again, see `until`. */
const REFUSALS_MAX = 8;
/** Executions that a search keeps. */
export const MOMENTS_MAX = 100_000;
/** Bytes of a value; the rest of a longer one is not read. */
const VALUE_MAX = 1 << 16;

export class DebugSession {
  readonly timeline: Timeline;
  #images: readonly Image[];
  #hart: number;
  #level = 0;
  #frames: { readonly at: string; readonly most: number; readonly list: readonly Frame[] } | undefined;
  readonly #breakpoints = new Breakpoints();
  readonly #echo = new Echo();
  #watches: Watch[] = [];
  #next = 1;
  /** Of breakpoints and watches. */
  #changes = 0;

  /** `images`: in the order in which names are looked up, the program first. */
  constructor(timeline: Timeline, images: readonly Image[]) {
    this.timeline = timeline;
    this.#images = images;
    this.#hart = timeline.machine.scheduler.turn;
  }

  get images(): readonly Image[] {
    return this.#images;
  }

  /** `more`: the same code with more debug information. */
  replaceImage(image: Image, more: Image): void {
    this.#images = this.#images.map(one => (one === image ? more : one));
    this.#frames = undefined;
  }

  get hart(): Hart {
    return this.timeline.machine.harts[this.#hart]!;
  }

  get breakpoints(): readonly Breakpoint[] {
    return this.#breakpoints.list;
  }

  get watches(): readonly Watch[] {
    return this.#watches;
  }

  /** Errors: DebugError when there is no such hart. */
  selectHart(id: number): void {
    if (!this.timeline.machine.harts[id]) throw new DebugError(`there is no hart ${id}`);
    this.#hart = id;
    this.#level = 0;
  }

  get frames(): readonly Frame[] {
    return this.#framesTo(FRAMES_MAX);
  }

  /** The first of `frames`, without looking for its callers. */
  get innermost(): Frame {
    return this.#framesTo(1)[0]!;
  }

  #framesTo(most: number): readonly Frame[] {
    const at = `${this.timeline.position}.${this.timeline.machine.time}.${this.#hart}`;
    if (this.#frames?.at !== at || this.#frames.most < most)
      this.#frames = { at, most, list: framesOf(this.timeline.machine, this.hart, this.images, most) };
    return this.#frames.list;
  }

  get level(): number {
    return this.#level;
  }

  get frame(): Frame {
    return this.#framesTo(this.#level + 1)[this.#level] ?? this.innermost;
  }

  selectFrame(level: number): void {
    if (!this.frames[level]) throw new DebugError(`there is no frame ${level}; backtrace lists them`);
    this.#level = level;
  }

  // Breakpoints and watches.

  /** Errors: DebugError when nothing in the images has that name. */
  find(what: string): bigint[] {
    const [, address] = /^\*?(0x[0-9a-f]{1,16})$/i.exec(what) ?? [];
    if (address !== undefined) return [BigInt(address)];
    const text = /^\d+$/.test(what) ? `${this.frame.file}:${what}` : what;
    for (const image of this.images) {
      const found = image.find(text);
      if (found.length > 0) return found;
    }
    throw new DebugError(`there is no code for "${what}"; FUNCTION, FILE:LINE or *0xADDRESS is possible`);
  }

  /** `addresses`: what it means, where the caller knows better. Errors: DebugError. */
  break(what: string, wish: Wish = {}, addresses: readonly bigint[] = this.find(what)): Breakpoint {
    const { list } = this.#breakpoints;
    if (list.length >= BREAKPOINTS_MAX) throw new DebugError('there are too many breakpoints');
    const rule = ruleOf(wish, this);
    const levels = new Map(addresses.map(pc => [pc, this.imageAt(pc)?.levelAt(pc, what) ?? 0]));
    const breakpoint = { id: this.#next++, what, addresses: new Set(addresses), levels, rule };
    this.#breakpoints.list = [...list, breakpoint];
    this.#changes++;
    return breakpoint;
  }

  /** Errors: DebugError. */
  watch(what: string, wish: Wish = {}): Watch {
    if (this.#watches.length >= BREAKPOINTS_MAX) throw new DebugError('there are too many watches');
    const memory = this.memoryOf(what);
    const watch = { id: this.#next++, what, ...memory, rule: ruleOf(wish, this) };
    this.#watches.push(watch);
    this.#changes++;
    return watch;
  }

  /** False: there is none with this number. */
  delete(id: number): boolean {
    const count = (): number => this.breakpoints.length + this.#watches.length;
    const before = count();
    this.#breakpoints.list = this.breakpoints.filter(b => b.id !== id);
    this.#watches = this.#watches.filter(w => w.id !== id);
    this.#changes++;
    return count() < before;
  }

  deleteAll(): void {
    this.#breakpoints.list = [];
    this.#watches = [];
    this.#changes++;
  }

  // Values.

  readonly read: Read = (va, bytes) => {
    if (bytes === 0) return new Uint8Array(0);
    const data = readMemory(this.timeline.machine, this.hart, va, bytes);
    return data?.length === bytes ? data : undefined;
  };

  /** Variables of the selected frame; inner ones hide outer ones. */
  get locals(): readonly Variable[] {
    const { frame } = this;
    const { image, scope, at } = frame;
    let found = this.#locals.get(frame);
    found ??= image && scope ? image.variables.of(scope, at) : [];
    this.#locals.set(frame, found);
    return found;
  }

  readonly #locals = new WeakMap<Frame, readonly Variable[]>();

  /** The value of a variable of the frame, or why it has none. */
  valueHere(variable: Variable): Value | Absence {
    if (!this.#isStored(variable)) return 'not yet stored';
    return this.valueOf(variable) ?? 'optimised out';
  }

  /** As the debug information says, also of a frame that is still to be made. */
  valueOf(variable: Variable): Value | undefined {
    const { view, at } = this.frame;
    const place = variable.place(view, at);
    const { type } = variable;
    const size = Math.min(type.bytes, VALUE_MAX);
    const bytes = place && (bytesAt(place, size, view, this.read) ?? this.#mapped(place, type, size));
    return bytes && { type, place, bytes };
  }

  /** The beginning of an array: its elements have addresses and values without the rest. */
  #mapped(place: Place, type: Type, size: number): Uint8Array | undefined {
    if (place.kind !== 'memory' || type.kind !== 'array') return undefined;
    return readMemory(this.timeline.machine, this.hart, place.va, size) ?? new Uint8Array(0);
  }

  /**
   * False: it belongs into a frame that is still to be made, so its value is of whatever was there
   * before. Only a function that calls none can be at its first instructions.
   */
  #isStored(variable: Variable): boolean {
    const { view, pc, at, image } = this.frame;
    if (pc !== at || !image?.isInPrologue(pc)) return true;
    let isOfFrame = false;
    const noting = {
      ...view,
      frameBase: () => {
        isOfFrame = true;
        return view.frameBase();
      },
    };
    return variable.place(noting, pc)?.kind !== 'memory' || !isOfFrame;
  }

  /** Errors: DebugError with the reason. */
  evaluate(text: string): Value {
    return this.compile(text)();
  }

  /** An expression of the selected frame, whichever that is when it is evaluated. */
  compile(text: string): Expression {
    return compile(text, {
      variable: name => this.#named(name),
      hasVariable: name => this.hasVariable(name),
      type: name => {
        for (const { variables } of this.images) {
          const type = variables.types.named(name);
          if (type) return type;
        }
        return undefined;
      },
      read: this.read,
    });
  }

  #named(name: string): Value | undefined {
    const local = this.locals.find(variable => variable.name === name);
    if (local) {
      const value = this.valueHere(local);
      if (typeof value !== 'string') return value;
      const why = value === 'not yet stored' ? ': the function is at its first instructions' : '';
      throw new DebugError(`${name} is ${value} here${why}`);
    }
    // Those of the frame's file hide those of its program, and these hide those of the kernel.
    const { image, scope, view, at } = this.frame;
    for (const { variables } of new Set(image ? [image, ...this.images] : this.images)) {
      const variable = variables.global(name, scope?.unit);
      const value = variable && this.valueOf(variable);
      if (value) return value;
      const place = variable?.place(view, at);
      if (place?.kind === 'memory') throw notMapped(place.va);
    }
    return undefined;
  }

  show(value: Value): string {
    return show(value, this.read);
  }

  /** The memory of an expression: pages that are neighbours here are not in RAM. */
  memoryOf(text: string): Pick<Watch, 'type' | 'bits' | 'va' | 'ranges'> {
    const value = this.evaluate(text);
    const va = vaOf(value);
    const bytes = value.bits ? value.bytes.length : value.type.bytes;
    const size = Math.max(1, Math.min(bytes, VALUE_MAX));
    const ranges: Range[] = [];
    for (let done = 0; done < size; ) {
      const pa = translate(this.timeline.machine, this.hart, va + BigInt(done));
      if (pa === undefined) throw notMapped(va + BigInt(done));
      const part = Math.min(size - done, PAGE - (pa % PAGE));
      ranges.push({ pa, bytes: part });
      done += part;
    }
    return { type: value.type, bits: value.bits, va, ranges };
  }

  // Places.

  get where(): Where {
    const { pc, function: name, file, line } = this.innermost;
    return { unit: this.timeline.position, hart: this.#hart, pc, function: name, file, line };
  }

  /** Is it the name of a variable that can be seen here, with a value or without? */
  hasVariable(name: string): boolean {
    return (
      this.locals.some(variable => variable.name === name) ||
      this.images.some(({ variables }) => variables.global(name, this.frame.scope?.unit) !== undefined)
    );
  }

  imageAt(pc: bigint): Image | undefined {
    return this.images.find(image => image.hasCode(pc));
  }

  /** A place by its instruction alone, also of another moment. */
  describe(pc: bigint, level = 0): Statement & { readonly function: string } {
    const frame = this.imageAt(pc)?.symbolizer.frames(addrOf(pc))[level];
    const file = frame?.file && frame.line > 0 ? cleanPath(frame.file) : '';
    return { function: frame?.function || '??', file, line: frame?.line ?? 0 };
  }

  /** Goes to a place. Errors: HostError for one before the first. */
  goto(unit: number, hart?: number): RunResult {
    const result = this.timeline.seek(unit);
    this.#stand(hart);
    return result;
  }

  #stand(hart = this.timeline.machine.scheduler.turn): void {
    this.#hart = hart;
    this.#level = 0;
  }

  /** The executions of a line, function or address, in order. */
  moments(what: string, most = MOMENTS_MAX): Execution[] {
    return exhaust(this.findMoments(what, most));
  }

  /** As `moments`, in pieces. */
  findMoments(what: string, most = MOMENTS_MAX): InPieces<Execution[]> {
    return this.timeline.findMoments(new Set(this.find(what)), { most });
  }

  lastWrite(text: string): Store | undefined {
    return exhaust(this.findLastWrite(text));
  }

  /** As `lastWrite`, in pieces. */
  *findLastWrite(text: string): InPieces<Store | undefined> {
    let last: Store | undefined;
    for (const { pa, bytes } of this.memoryOf(text).ranges) {
      const store = yield* this.timeline.findLastWrite(pa, bytes);
      if (store && (last === undefined || store.unit > last.unit)) last = store;
    }
    return last;
  }

  // Motion.

  /** Ends a motion that was given up: one into the past, or a search, where it began. */
  abandon(from: Stand): void {
    if (this.timeline.position > from.unit) {
      this.#stand();
      return;
    }
    this.goto(from.unit, from.hart);
    this.#level = from.level;
  }

  /** The place, and the frame that is selected. */
  get stand(): Stand {
    return { unit: this.timeline.position, hart: this.#hart, level: this.#level };
  }

  /** As `goto`, in pieces. */
  *travel(unit: number, hart?: number): InPieces<RunResult> {
    const result = yield* this.timeline.travel(unit);
    this.#stand(hart);
    return result;
  }

  *continue(direction: Direction): Motion {
    for (;;) {
      const found = yield* this.#search(direction, () => ({
        breakpoints: new Set(this.#breakpoints.addresses),
        accepts: (hart, pc) => this.#holds(hart, pc, direction),
        stores: this.#watches.flatMap(({ ranges }) => ranges),
      }));
      const reason = this.#reason(found, direction);
      if (reason) return reason;
      yield;
    }
  }

  /** To another line of this function, or of the function that it returns to. */
  next(direction: Direction): Motion {
    return stepLine(this, direction, false);
  }

  /** To another line, also of a function that is called. */
  step(direction: Direction): Motion {
    return stepLine(this, direction, true);
  }

  /** Out of the function: behind its call, or back to the call. */
  finish(direction: Direction): Motion {
    return stepOut(this, direction);
  }

  /** One unit of the hart. */
  stepInstruction(direction: Direction): Motion {
    return stepInstruction(this, direction);
  }

  /** Until one of `addresses` is met by this thread and `isDone`, or a breakpoint of the user. */
  *until(
    direction: Direction,
    addresses: ReadonlySet<bigint>,
    isDone: (innermost: Frame) => boolean,
  ): Motion {
    const { machine } = this.timeline;
    const hart = this.#hart;
    const places = new Places(
      threadOf(this.hart),
      pc => this.imageAt(pc),
      one => isDone(framesOf(machine, one, this.images, 1)[0]!),
    );
    for (let refusals = 0; ; refusals++) {
      // Backwards only the last place counts of the many that an interval has, so they are not
      // looked at in the midst of the run; unless refusals are many, as in a deep recursion.
      const isLate = direction === 'back' && refusals < REFUSALS_MAX;
      const found = yield* this.#search(direction, () => {
        const accepts = (one: Hart, pc: bigint): boolean =>
          (addresses.has(pc) && (isLate ? places.mayEnd(one) : places.ends(one))) ||
          this.#holds(one, pc, direction);
        return { breakpoints: new Set([...addresses, ...this.#breakpoints.addresses]), accepts };
      });
      if (found.kind !== 'breakpoint') this.#stand(hart);
      const reason = this.#reason(found, direction);
      const isOwn = found.kind === 'breakpoint' && addresses.has(found.pc);
      if (isOwn && places.ends(this.hart)) return { kind: 'step' };
      if (reason) return reason;
      yield;
    }
  }

  /** `stops` is asked again when the user has changed breakpoints meanwhile. */
  *#search(direction: Direction, stops: () => Stops): InPieces<Found> {
    const { timeline } = this;
    const origin = timeline.position;
    this.#echo.begin();
    for (let isFirst = true; ; isFirst = false) {
      const changes = this.#changes;
      this.#echo.forget();
      const search =
        direction === 'forward'
          ? timeline.forward(stops(), { here: isFirst ? 'stores' : 'counts' })
          : timeline.backward({ ...stops(), passed: unit => this.#echo.say(unit) }, origin);
      while (changes === this.#changes) {
        const { done, value } = search.next();
        if (done) {
          this.#echo.say('unit' in value ? value.unit + 1 : 0);
          this.#stand('hart' in value ? value.hart : undefined);
          return value;
        }
        yield;
      }
    }
  }

  /**
   * Does one of the breakpoints there hold? Asked in the midst of a run, where no face can look.
   * Backwards, a text is kept: a stop for each would run through the interval again.
   */
  #holds(hart: Hart, pc: bigint, direction: Direction): boolean {
    const there = this.#breakpoints.at(pc);
    if (there.some(({ rule }) => !rule.condition && (!rule.log || direction === 'forward'))) return true;
    const [own, level] = [this.#hart, this.#level];
    [this.#hart, this.#level, this.#frames] = [hart.id, 0, undefined];
    try {
      let holds = false;
      for (const one of there) {
        const met = this.#met(one, pc);
        const log = met && !met.note && direction === 'back' ? one.rule.log : undefined;
        const isKept = log && this.#echo.add(this.timeline.machine.spentNow, log.made(), log.say);
        if (met && !isKept) holds = true;
      }
      return holds;
    } finally {
      [this.#hart, this.#level, this.#frames] = [own, level, undefined];
    }
  }

  /** Undefined: nothing there stops the run. */
  #reason(found: Found, direction: Direction): Reason | undefined {
    if (found.kind === 'end') return { kind: 'end', result: found.result };
    if (found.kind === 'store') return this.#changed(found, direction);
    if (found.kind !== 'breakpoint') return { kind: 'begin' };
    let first: Reason | undefined;
    let level = 0;
    for (const one of this.#breakpoints.at(found.pc)) {
      const met = this.#met(one, found.pc);
      const { log } = one.rule;
      if (met && log && !met.note) log.say(log.made());
      else if (met && !first) {
        first = { kind: 'breakpoint', id: one.id, ...met };
        level = this.#level;
      }
    }
    this.#level = level;
    return first;
  }

  /** See `meets`: in the frame that the breakpoint means, which stays selected. */
  #met({ levels, rule }: Breakpoint, pc: bigint): ReturnType<typeof meets> {
    this.#level = levels.get(pc) ?? 0;
    return meets(rule);
  }

  /**
   * Undefined: the store changed nothing, or no condition holds, for which the new value counts in
   * both directions. Forwards the machine goes behind the store.
   */
  #changed(store: Store, direction: Direction): Reason | undefined {
    const { timeline } = this;
    const watches = this.#watches.filter(({ ranges }) =>
      ranges.some(({ pa, bytes }) => store.pa < pa + bytes && pa < store.pa + store.bytes),
    );
    const old = watches.map(watch => this.#shown(watch));
    timeline.step();
    this.#stand(store.hart);
    let first: Reason | undefined;
    for (const [i, watch] of watches.entries()) {
      const [before, after] = [old[i]!, this.#shown(watch)];
      const met = before === after ? undefined : meets(watch.rule);
      const { log } = watch.rule;
      if (met && log && !met.note) log.say(log.made());
      else if (met) first ??= { kind: 'watch', id: watch.id, before, after, ...met };
    }
    if (direction === 'back') timeline.seek(store.unit);
    return first;
  }

  /** By the physical memory: the address may mean something else by now. */
  #shown({ type, bits, va, ranges }: Watch): string {
    const { ram } = this.timeline.machine;
    const bytes = Uint8Array.from(ranges.flatMap(({ pa, bytes: size }) => [...ram.read(pa, size)]));
    return this.show({ type, place: { kind: 'memory', va }, bytes, ...(bits && { bits }) });
  }
}
