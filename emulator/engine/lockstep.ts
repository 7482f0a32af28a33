// Runs two machines that should be equal side by side: same images and input, different engines.
// After every slice their harts are compared field by field, at checkpoints and at the end also
// RAM. At the first difference the slice is narrowed to one instruction by running fresh machines
// up to points inside it, and a Divergence describes the difference. Slices have irregular lengths,
// so that quanta end at all kinds of instructions. This module does not import the machine: a Side
// is the interface that it needs. Scratch fields of the window, TLBs and other derived data may
// differ.

import { HostError } from '../base/errors.ts';
import type { State } from '../hart/index.ts';
import * as L from '../hart/layout.ts';
import { CSRS, decode, disassemble, X_NAMES } from '../isa/index.ts';

/** The interface of a machine that the comparison needs. */
export interface Side<Result> {
  /** Instructions and exceptions so far. */
  readonly spent: number;
  readonly harts: readonly { readonly state: State }[];
  readonly ram: { readonly data: Uint8Array; readonly base: number };
  /** Virtual time; it passes without instructions, too. */
  readonly time: number;
  /** Runs at most `units` more, and at most `duration` of virtual time. */
  run(units: number, duration?: number): Result;
}

export interface LockstepOptions<Result> {
  /** The names of the two in reports. */
  readonly names: readonly [subject: string, reference: string];
  /**
   * A machine in the state in which the comparison began, which receives all input since then
   * again; index as in `names`.
   */
  readonly make?: (index: 0 | 1) => Side<Result>;
  /** Longest slice, and units between comparisons of RAM. */
  readonly slice?: number;
  readonly checkpoint?: number;
  /** Narrowing re-runs everything some twenty times; not done beyond this many units. */
  readonly narrowLimit?: number;
}

export interface Difference {
  /** Hart, or -1 for RAM. */
  readonly hart: number;
  readonly what: string;
  readonly values: readonly [string, string];
}

/** Instructions shown before a difference, and differences shown. */
const HISTORY = 24;
const MOST = 24;

/** The engines disagree; `message` gives the place, `detail` (several lines) the difference. */
export class Divergence extends HostError {
  readonly differences: readonly Difference[];
  /** The engines agreed after `agreed` units and no longer after `differed`. */
  readonly agreed: number;
  readonly differed: number;

  constructor(
    message: string,
    detail: string,
    differences: readonly Difference[],
    agreed: number,
    differed: number,
  ) {
    super(message, detail);
    this.differences = differences;
    this.agreed = agreed;
    this.differed = differed;
  }
}

const hex = (value: bigint | number): string => `0x${value.toString(16)}`;

/** The guest-visible i64 fields of a window. */
const WIDE: readonly (readonly [name: string, offset: number])[] = [
  ['pc', L.PC],
  ...X_NAMES.map((name, i) => [name, L.X + 8 * i] as const),
  ...Array.from({ length: 32 }, (_, i) => [`f${i}`, L.F + 8 * i] as const),
  ['instructions', L.INSTRET],
  ['exceptions', L.EXCEPTIONS],
  ['reservation', L.RESERVATION],
  ...CSRS.filter(row => row.slot !== undefined).map(row => [row.name, L.csrAt(row)] as const),
];
const NARROW: readonly (readonly [name: string, offset: number])[] = [
  ['privilege', L.PRIV],
  ['fetch view', L.FETCH_VIEW],
  ['data view', L.DATA_VIEW],
  ['fflags', L.FFLAGS],
  ['frm', L.FRM],
  ['waiting', L.WAITING],
];
/** Lists how the harts of two machines differ. */
export function compareHarts<R>(a: Side<R>, b: Side<R>): Difference[] {
  const found: Difference[] = [];
  for (const [hart, { state: s }] of a.harts.entries()) {
    const t = b.harts[hart]!.state;
    if (sameWindow(s, t)) continue;
    const add = (what: string, x: bigint | number, y: bigint | number): void => {
      if (x !== y) found.push({ hart, what, values: [hex(x), hex(y)] });
    };
    for (const [name, at] of WIDE) add(name, s.get64(at), t.get64(at));
    for (const [name, at] of NARROW) add(name, s.get(at), t.get(at));
  }
  return found;
}

/** A quick comparison of all fields of `compareHarts`. */
function sameWindow(s: State, t: State): boolean {
  for (const [, at] of WIDE) if (s.get(at) !== t.get(at) || s.hi(at) !== t.hi(at)) return false;
  for (const [, at] of NARROW) if (s.get(at) !== t.get(at)) return false;
  return true;
}

/** The first doubleword in which RAM differs. */
export function compareRam<R>(a: Side<R>, b: Side<R>): Difference[] {
  const x = wordsOf(a.ram.data);
  const y = wordsOf(b.ram.data);
  for (let i = 0; i < x.length; i++) {
    if (x[i] === y[i]) continue;
    const what = `memory at ${hex(a.ram.base + 4 * i)}`;
    return [{ hart: -1, what, values: [hex(x[i]! >>> 0), hex(y[i]! >>> 0)] }];
  }
  return [];
}

const wordsOf = (data: Uint8Array): Int32Array =>
  new Int32Array(data.buffer, data.byteOffset, data.length / 4);

export class Lockstep<Result> {
  readonly subject: Side<Result>;
  readonly reference: Side<Result>;
  readonly #options: Required<Omit<LockstepOptions<Result>, 'make'>> & Pick<LockstepOptions<Result>, 'make'>;
  /** Ends of all slices, in units. */
  readonly #cuts: number[] = [];
  #nextCheckpoint: number;
  /** Units before the comparison. */
  readonly #start: number;
  #random = 1;

  constructor(subject: Side<Result>, reference: Side<Result>, options: LockstepOptions<Result>) {
    this.subject = subject;
    this.reference = reference;
    this.#options = { slice: 50_000, checkpoint: 50_000_000, narrowLimit: 500_000_000, ...options };
    this.#start = subject.spent;
    this.#nextCheckpoint = this.#start + this.#options.checkpoint;
  }

  /**
   * As `Side.run`, of both; throws a Divergence. `goesOn` tells whether the run continues after a
   * result.
   */
  run(units: number, goesOn: (result: Result) => boolean, duration = Number.POSITIVE_INFINITY): Result {
    const limit = this.subject.spent + units;
    const deadline = this.subject.time + duration;
    for (;;) {
      const before = this.subject.spent;
      const slice = Math.min(this.#slice(), limit - before);
      const left = deadline - this.subject.time;
      const result = this.subject.run(slice, left);
      const other = this.reference.run(slice, left);
      this.#cuts.push(this.subject.spent);
      const found = compareHarts(this.subject, this.reference);
      if (JSON.stringify(result) !== JSON.stringify(other)) {
        found.push({
          hart: -1,
          what: 'end of the run',
          values: [JSON.stringify(result), JSON.stringify(other)],
        });
      }
      const isLast = !goesOn(result) || this.subject.spent >= limit || this.subject.time >= deadline;
      if (found.length === 0 && (isLast || this.subject.spent >= this.#nextCheckpoint)) {
        this.#nextCheckpoint = this.subject.spent + this.#options.checkpoint;
        found.push(...compareRam(this.subject, this.reference));
      }
      if (found.length > 0) throw this.#diverged(found, before);
      if (isLast) return result;
    }
  }

  /** Mostly long, sometimes very short. */
  #slice(): number {
    this.#random = (Math.imul(this.#random, 1_103_515_245) + 12_345) >>> 0;
    const r = this.#random >>> 8;
    return 1 + (r % (r & 0x300 ? this.#options.slice : 64));
  }

  #diverged(found: Difference[], agreed: number): Divergence {
    const end = this.subject.spent;
    if (!this.#options.make || agreed - this.#start > this.#options.narrowLimit)
      return this.#report(found, agreed, end);
    return this.#narrow(agreed, end) ?? this.#report(found, agreed, end);
  }

  /** Bisects (agreed, end]. A difference in RAM may be much older than the check that found it. */
  #narrow(agreed: number, end: number): Divergence | undefined {
    let [low, high] = [agreed, end];
    const start = this.#start;
    while (low > start && this.#differsAt(low))
      low = this.#cuts.findLast(cut => cut - start < (low - start) / 2) ?? start;
    if (!this.#differsAt(high)) return undefined;
    while (high - low > 1) {
      const middle = low + Math.floor((high - low) / 2);
      if (this.#differsAt(middle)) high = middle;
      else low = middle;
    }
    const [a, b] = this.#pairAt(high);
    return this.#report([...compareHarts(a, b), ...compareRam(a, b)], low, high, this.#history(high));
  }

  #differsAt(unit: number): boolean {
    const [a, b] = this.#pairAt(unit);
    return compareHarts(a, b).length > 0 || compareRam(a, b).length > 0;
  }

  /**
   * Fresh machines after `unit` units; the subject runs the same slices as before, so that its
   * engine's state is the same.
   */
  #pairAt(unit: number): [Side<Result>, Side<Result>] {
    const [a, b] = [this.#options.make!(0), this.#options.make!(1)];
    for (const side of [a, b]) {
      for (const cut of this.#cuts) if (cut < unit && cut > side.spent) side.run(cut - side.spent);
      if (side.spent < unit) side.run(unit - side.spent);
    }
    return [a, b];
  }

  /**
   * The last instructions before `unit`, as the reference executes them. Compiled code may have
   * gone wrong at any of them.
   */
  #history(unit: number): string[] {
    const side = this.#options.make!(1);
    const from = Math.max(unit - HISTORY, this.#start);
    if (from > side.spent) side.run(from - side.spent);
    const lines: string[] = [];
    while (side.spent < unit) {
      const before = side.harts.map(({ state }) => state.get64(L.INSTRET));
      const codes = side.harts.map(({ state }) => codeAt(state, side));
      const at = side.spent;
      side.run(1);
      const hart = side.harts.findIndex(({ state }, i) => state.get64(L.INSTRET) !== before[i]);
      if (side.spent === at) break;
      lines.push(`  ${at + 1} hart ${hart} ${codes[hart] ?? ''}`);
    }
    return lines;
  }

  #report(found: Difference[], agreed: number, end: number, history: string[] = []): Divergence {
    const [subject, reference] = this.#options.names;
    const where = end - agreed === 1 ? `instruction ${end}` : `instructions ${agreed + 1} to ${end}`;
    const lines = history.length > 0 ? [`the last instructions of ${reference}:`, ...history] : [];
    for (const { hart, what, values } of found.slice(0, MOST)) {
      lines.push(
        `  ${hart < 0 ? '' : `hart ${hart} `}${what}: ${subject} ${values[0]}, ${reference} ${values[1]}`,
      );
    }
    if (found.length > MOST) lines.push(`  and ${found.length - MOST} more differences`);
    return new Divergence(
      `${subject} and ${reference} differ after ${where}`,
      lines.join('\n'),
      found,
      agreed,
      end,
    );
  }
}

/** The pc and, when its page is in the exec TLB, the instruction there. */
function codeAt<R>(state: State, side: Side<R>): string {
  const pc = state.pc;
  const entry = L.execEntryOf(state.get(L.FETCH_VIEW), Number(pc & 0xffff_ffffn));
  if (state.get64(entry) !== (pc & ~0xfffn)) return hex(pc);
  const at = state.get(entry + 12) * 4096 + Number(pc & 0xfffn) - side.ram.base;
  const { data } = side.ram;
  if (!(at >= 0 && at + 4 <= data.length)) return hex(pc);
  const word = data[at]! | (data[at + 1]! << 8) | (data[at + 2]! << 16) | (data[at + 3]! << 24);
  const insn = decode(word >>> 0);
  return `${hex(pc)}: ${insn ? disassemble(insn, pc) : 'illegal instruction'}`;
}
