/**
 * The trace model: the events of the coverage device, in order, where the guest cannot change them.
 * A *point* is a distinct (kind, pc); a *record* is one event at a point; a *source* is the origin
 * of a record: test, process, thread, system call, and whether the thread ran its own code (task)
 * or a remote section with a handle. Records are an array of point numbers (4 bytes each), sources
 * are kept per run of records, operands only for comparisons; so ten million records take 40 MB and
 * every total is one pass over integers.
 *
 * kind `pc`: pc is the return address of the hook. kind `cmp`: the same, with type, arg1, arg2.
 * kind `edge`: the value of the UNIQ_EDGE mode (pc mixed with 12 bits of the previous pc), which
 * names no single line.
 */
import { visible } from '../../emulator/base/words.ts';
import { CoverageError } from '../base/bytes.ts';
import type { RecordRun } from './area-watch.ts';

export const KINDS = ['pc', 'cmp', 'edge'] as const;
export type RecordKind = (typeof KINDS)[number];
export const KIND_PC = 0;
export const KIND_CMP = 1;
export const KIND_EDGE = 2;

export interface Source {
  /** Name of the test or program the records are attributed to. */
  test: string;
  process: number;
  thread: number;
  /** System call number, -1 outside one. */
  syscall: number;
  /**
   * Counts system calls in the trace, so that two calls of one number are told apart; 0 where
   * unknown.
   */
  call: number;
  context: 'task' | 'remote';
  /** Remote handle, 0n for a task. */
  handle: bigint;
  /** Recorded in a UNIQ mode: each point at most once per descriptor, so nothing can be counted. */
  unique?: boolean;
  /** Code ran in a mode without PCs, so a hook that has no record here may have run. */
  withoutPcs?: boolean;
}

/**
 * A point where control enters or leaves recorded execution other than through the entry and the
 * exits of a function: recording was switched on or off, or the thread was put to sleep, inside a
 * call.
 */
export interface Crossing {
  source: number;
  /** The instruction before which it happens; mostly the return address of the call. */
  addr: bigint;
  entered: number;
  left: number;
}

/** Records that did not fit into a buffer: the device saw them, the program did not. */
export interface Missed {
  source: number;
  kind: number;
  pc: bigint;
  count: number;
}

export const NO_SOURCE: Source = {
  test: '',
  process: 0,
  thread: 0,
  syscall: -1,
  call: 0,
  context: 'task',
  handle: 0n,
};

export interface TraceHeader {
  /** openbsd, netbsd, freebsd, linux */
  dialect: string;
  /** `Elf.imageId` of the traced kernel; '' where unknown. */
  image: string;
  /** Facts of the run that readers may show but never interpret. */
  notes: Record<string, string>;
  /**
   * `known`: the crossings are complete, so a hook without a record or a lost record did not run.
   * Absent: unknown.
   */
  flow?: 'known';
  /** Records were left out: those that are here say nothing about code that only the others ran. */
  filtered?: true;
}

/** The sentence in each report of a filtered trace. */
export const FILTERED = 'code that is not covered here may have run in the records that were left out';

/** The note about a filtered trace; '' for one that has all of its records. */
export const filteredNote = ({ header, records }: Trace): string =>
  header.filtered ? `${records.length === 0 ? 'no record is left; ' : ''}${FILTERED}` : '';

/** Columns of a finished trace. Treat them as read-only. */
export class Trace {
  header: TraceHeader;
  pointKind: Uint8Array = new Uint8Array(0);
  pointPc: BigUint64Array = new BigUint64Array(0);
  /** Point number of each record, in order. */
  records: Uint32Array = new Uint32Array(0);
  /**
   * How many records each of `records` stands for. Absent: one each. With it order, operands,
   * threads and system calls are not known: formats of single records need a trace without it.
   */
  times?: Float64Array;
  /**
   * By source, how many later calls of its thread left the same records and are kept only as this
   * number; `times` counts them. Absent: every call is here. Call paths stay complete with it.
   */
  alike?: Float64Array;
  /** Run i of records is `[runStart[i], runStart[i + 1])`, made by source `runSource[i]`. */
  runStart: Uint32Array = new Uint32Array(0);
  runSource: Uint32Array = new Uint32Array(0);
  sources: Source[] = [];
  /** Operands, one row per comparison record in order. */
  cmpType: Uint32Array = new Uint32Array(0);
  cmpArg1: BigUint64Array = new BigUint64Array(0);
  cmpArg2: BigUint64Array = new BigUint64Array(0);
  crossings: Crossing[] = [];
  /** The identified lost records; may be fewer than `lost`. */
  missed: Missed[] = [];
  /** Records that did not fit into the buffer, by source number. */
  lost: Float64Array = new Float64Array(0);
  /** Errors and signs of falsification, as text. */
  findings: string[] = [];

  constructor(header: TraceHeader) {
    this.header = header;
  }

  get lostTotal(): number {
    return this.lost.reduce((sum, n) => sum + n, 0);
  }

  /** The tests that made records, in order of first appearance. */
  get tests(): string[] {
    return [...new Set(this.sources.map(source => source.test))];
  }

  /** The number of records. */
  get count(): number {
    return this.times?.reduce((sum, n) => sum + n, 0) ?? this.records.length;
  }

  /** The number of sources, those that are kept as a number included. */
  get sourceCount(): number {
    return this.sources.length + (this.alike?.reduce((sum, n) => sum + n, 0) ?? 0);
  }

  /** The number of records of each point. */
  hits(): Float64Array {
    return this.hitsOf(Int32Array.from(this.pointPc.keys()), new Float64Array(this.pointPc.length));
  }

  /** Adds the records to `hits`, at `place` of their points unless that is negative. */
  hitsOf(place: Int32Array, hits: Float64Array): Float64Array {
    const { records, times } = this;
    for (let i = 0; i < records.length; i++) {
      const at = place[records[i]!]!;
      if (at >= 0) hits[at]! += times ? times[i]! : 1;
    }
    return hits;
  }

  countOf(kind: number): number {
    let count = 0;
    for (const [point, hits] of this.hits().entries()) if (this.pointKind[point] === kind) count += hits;
    return count;
  }

  /** Runs of records with one source: source number and record numbers `[from, to)`. */
  *runs(): Generator<{ source: number; from: number; to: number }> {
    for (let i = 0; i < this.runStart.length; i++) {
      const to = i + 1 < this.runStart.length ? this.runStart[i + 1]! : this.records.length;
      if (to > this.runStart[i]!) yield { source: this.runSource[i]!, from: this.runStart[i]!, to };
    }
  }
}

type Column = Uint8Array | Uint32Array | Float64Array | BigUint64Array;

/** Bytes of one column: 268 million records, or half as many comparisons. */
const COLUMN_MAX = 1 << 30;
export const RECORDS_MAX = COLUMN_MAX / Uint32Array.BYTES_PER_ELEMENT;
/** Of a trace: one for each system call. Each takes some 150 bytes. */
export const SOURCES_MAX = 1 << 24;
/** Distinct (kind, pc) pairs. A map of V8 holds four times as many. */
export const POINTS_MAX = 1 << 22;
/** The finding of a trace with more lost records than it identifies: they prove nothing. */
const UNIDENTIFIED = 'not all lost records are identified: there are too many';
/** Crossings of a trace, and identified lost records. Each takes some 250 bytes while recorded. */
export const ROWS_MAX = 1 << 22;
/** Of a number in a trace file that readers add up: sums of 32 files are exact. */
export const COUNT_MAX = 2 ** 48;

/** The advice of an error about a trace that is too long. */
export const COUNTS_INSTEAD = 'formats that count records (json, lcov, cobertura) have no such limit';

/** A typed array that doubles. Errors: CoverageError for one of more than `COLUMN_MAX` bytes. */
export class Grow<T extends Column> {
  data: T;
  count = 0;
  private readonly make: (size: number) => T;

  constructor(make: (size: number) => T, size = 1024) {
    this.make = make;
    this.data = make(size);
  }

  /** Reserve space for `more` values and return its index. */
  reserve(more: number): number {
    const at = this.count;
    const need = at + more;
    if (need > this.data.length) this.widen(need);
    this.count = need;
    return at;
  }

  private widen(need: number): void {
    const most = COLUMN_MAX / this.data.BYTES_PER_ELEMENT;
    if (need > most)
      throw new CoverageError(
        `a trace has no room for more than ${most} records of this kind; ${COUNTS_INSTEAD}`,
      );
    const wider = this.make(Math.min(most, Math.max(need, this.data.length * 2)));
    (wider as Uint8Array).set(this.data as Uint8Array);
    this.data = wider;
  }

  push(value: T[number]): void {
    const at = this.reserve(1); // before `data` is named: it may be replaced
    this.data[at] = value as never;
  }

  done(): T {
    return this.data.slice(0, this.count) as T;
  }
}

/** Slots of the points that were asked for last: two for each hash, by the kind's lowest bit. */
const RECENT = 8192;

/** The 32-bit halves of the words, low ones first. */
export const halvesOf = ({ buffer, byteOffset, length }: BigUint64Array): Uint32Array =>
  new Uint32Array(buffer, byteOffset, 2 * length);

/**
 * Numbers for (kind, pc) pairs. Upper and lower halves make an exact double for every canonical
 * address.
 */
export class PointTable {
  readonly kind = new Grow(n => new Uint8Array(n));
  readonly pc = new Grow(n => new BigUint64Array(n));
  private readonly maps = [new Map<number, number>(), new Map<number, number>(), new Map<number, number>()];
  private readonly far = [new Map<bigint, number>(), new Map<bigint, number>(), new Map<bigint, number>()];

  /** Direct-mapped: the last point of each slot, plus 1, and its key. */
  private readonly recent = new Uint32Array(RECENT);
  private readonly keys = new Uint32Array(2 * RECENT);

  /** The same as `of`, for points that come again and again. */
  near(kind: number, lo: number, hi: number): number {
    const slot = (((lo >>> 1) ^ (lo >>> 12)) & (RECENT / 2 - 1)) * 2 + (kind & 1);
    const known = this.recent[slot]!;
    if (known !== 0 && this.keys[2 * slot] === lo && this.keys[2 * slot + 1] === hi) return known - 1;
    const point = this.of(kind, lo, hi);
    this.recent[slot] = point + 1;
    this.keys[2 * slot] = lo;
    this.keys[2 * slot + 1] = hi;
    return point;
  }

  of(kind: number, lo: number, hi: number): number {
    const upper = hi | 0;
    if (upper >= 0x1fffff || upper < -0x1fffff)
      return this.ofFar(kind, (BigInt(hi >>> 0) << 32n) | BigInt(lo >>> 0));
    const map = this.maps[kind]!;
    const key = upper * 0x1_0000_0000 + (lo >>> 0);
    let point = map.get(key);
    if (point === undefined) {
      point = this.add(kind, (BigInt(hi >>> 0) << 32n) | BigInt(lo >>> 0));
      map.set(key, point);
    }
    return point;
  }

  ofPc(kind: number, pc: bigint): number {
    return this.of(kind, Number(pc & 0xffffffffn), Number((pc >> 32n) & 0xffffffffn));
  }

  private ofFar(kind: number, pc: bigint): number {
    const map = this.far[kind]!;
    let point = map.get(pc);
    if (point === undefined) {
      point = this.add(kind, pc);
      map.set(pc, point);
    }
    return point;
  }

  private add(kind: number, pc: bigint): number {
    if (this.kind.count >= POINTS_MAX)
      throw new CoverageError(
        `a trace has no room for more than ${POINTS_MAX} distinct PCs; record parts of the run apart`,
      );
    const point = this.kind.reserve(1);
    this.kind.data[point] = kind;
    this.pc.push(pc);
    return point;
  }
}

/** Collects records into a `Trace`. Sources are numbered by `source()`; everything else appends. */
export class TraceBuilder {
  readonly header: TraceHeader;
  private readonly points = new PointTable();
  private readonly records = new Grow(n => new Uint32Array(n));
  private readonly runStart = new Grow(n => new Uint32Array(n));
  private readonly runSource = new Grow(n => new Uint32Array(n));
  private readonly cmpType = new Grow(n => new Uint32Array(n));
  private readonly cmpArg1 = new Grow(n => new BigUint64Array(n));
  private readonly cmpArg2 = new Grow(n => new BigUint64Array(n));
  private readonly sources: Source[] = [];
  private readonly sourceNumbers = new Map<string, number>();
  private readonly lostBy: number[] = [];
  private readonly findings: string[] = [];
  private readonly crossings = new Map<string, Crossing>();
  private readonly missed = new Map<string, Missed>();
  /** Of a source whose records are only counted, their numbers by point. */
  private readonly counts = new Map<number, Grow<Float64Array>>();
  /** Of a source, the calls that left the same records. */
  private readonly alikeBy: number[] = [];
  private current = -1;
  /** The test of the last new source, and how it is shown. */
  private lastTest: readonly [test: string, shown: string] = ['', ''];
  /** One record as words and as halves. */
  private readonly words = new BigUint64Array(4);
  private readonly halves = new Uint32Array(this.words.buffer);
  private readonly sourcesMax: number;
  private readonly rowsMax: number;

  /** Errors of what follows: CoverageError behind so many sources, or so many crossings. */
  constructor(header: Partial<TraceHeader> = {}, sourcesMax = SOURCES_MAX, rowsMax = ROWS_MAX) {
    this.header = { dialect: '', image: '', notes: {}, ...header };
    this.sourcesMax = sourcesMax;
    this.rowsMax = rowsMax;
  }

  /** The number of a source; equal sources share one. */
  source(part: Partial<Source>): number {
    const source = { ...NO_SOURCE, ...part };
    const { test, process, thread, syscall, call, context, handle, unique, withoutPcs } = source;
    const modes = `${unique ? 'u' : ''}${withoutPcs ? 'w' : ''}`;
    const key = `${process} ${thread} ${syscall} ${call} ${context} ${handle} ${modes} ${test}`;
    let number = this.sourceNumbers.get(key);
    if (number === undefined) {
      number = this.addSource({ ...source, test: visible(source.test) });
      this.sourceNumbers.set(key, number);
    }
    return number;
  }

  private addSource(source: Source): number {
    if (this.sources.length >= this.sourcesMax)
      throw new CoverageError(
        `a trace has no room for more than ${this.sourcesMax} system calls; ${COUNTS_INSTEAD}`,
      );
    this.lostBy.push(0);
    return this.sources.push(source) - 1;
  }

  /**
   * The number of a source that differs from all others, as the caller knows: unlike `source`, this
   * remembers no text for it. A traced run has one for each system call.
   */
  newSource(source: Source): number {
    if (source.test !== this.lastTest[0]) this.lastTest = [source.test, visible(source.test)];
    const test = this.lastTest[1];
    return this.addSource(test === source.test ? source : { ...source, test });
  }

  get count(): number {
    return this.records.count;
  }

  private run(source: number): void {
    if (source === this.current) return;
    if (!(source < this.sources.length)) throw new CoverageError(`trace source ${source} was never declared`);
    this.runSource.push(source);
    this.runStart.push(this.records.count);
    this.current = source;
  }

  private append(point: number): void {
    this.records.push(point);
  }

  pc(source: number, pc: bigint): void {
    this.run(source);
    this.append(this.points.ofPc(KIND_PC, pc));
  }

  /** The same without BigInt: `lo` and `hi` are the halves of the pc. */
  pcHalves(source: number, lo: number, hi: number): void {
    this.run(source);
    this.append(this.points.of(KIND_PC, lo, hi));
  }

  edge(source: number, value: bigint): void {
    this.run(source);
    this.append(this.points.ofPc(KIND_EDGE, value));
  }

  /** The same without BigInt, like `pcHalves`. */
  edgeHalves(source: number, lo: number, hi: number): void {
    this.run(source);
    this.append(this.points.of(KIND_EDGE, lo, hi));
  }

  /** A comparison from the halves of its words: type, arg1, arg2, pc. */
  cmpHalves(source: number, halves: Uint32Array): void {
    this.run(source);
    this.append(this.points.of(KIND_CMP, halves[6]!, halves[7]!));
    this.cmpType.push(halves[0]!);
    this.halves.set(halves);
    this.cmpArg1.push(this.words[1]!);
    this.cmpArg2.push(this.words[2]!);
  }

  /**
   * Records of which only the number is kept: memory grows with the points, not with the records.
   * `lo` and `hi` are the halves of the pc.
   */
  counted(source: number, kind: number, lo: number, hi: number, times: number): void {
    let counts = this.counts.get(source);
    if (!counts) this.counts.set(source, (counts = new Grow(n => new Float64Array(n))));
    const point = this.points.near(kind, lo, hi);
    if (point >= counts.count) counts.reserve(point + 1 - counts.count);
    counts.data[point]! += times;
  }

  /** `calls` more calls left the same records, in the same order, as this source has in the end. */
  alike(source: number, calls: number): void {
    while (this.alikeBy.length <= source) this.alikeBy.push(0);
    this.alikeBy[source]! += calls;
  }

  /** The numbers of `alike` by source, and with them how many records each record stands for. */
  private addAlike(trace: Trace): void {
    if (this.alikeBy.length === 0) return;
    trace.alike = new Float64Array(trace.sources.length);
    trace.alike.set(this.alikeBy);
    trace.times ??= new Float64Array(trace.records.length).fill(1);
    for (const { source, from, to } of trace.runs())
      for (let i = from; i < to; i++) trace.times[i]! *= 1 + trace.alike[source]!;
  }

  /** Appends the records that were only counted; answers with how many each record stands for. */
  private appendCounted(): Float64Array | undefined {
    if (this.counts.size === 0) return undefined;
    const times = new Grow(n => new Float64Array(n));
    times.reserve(this.records.count);
    times.data.fill(1, 0, times.count);
    for (const [source, { data, count }] of this.counts) {
      this.run(source);
      for (let point = 0; point < count; point++) {
        if (data[point] === 0) continue;
        this.append(point);
        times.push(data[point]!);
      }
    }
    return times.done();
  }

  /** PCs or comparisons of one source: `count` of them, each of `halves`, from `words[at]` on. */
  recordRun(source: number, { halves, words, at, count }: Omit<RecordRun, 'area' | 'index'>): void {
    if (halves > 2) this.cmpRun(source, words, at, count);
    else this.pcRun(source, words, at, count);
  }

  private pcRun(source: number, words: Uint32Array, at: number, count: number): void {
    this.run(source);
    const to = this.records.reserve(count);
    const { data } = this.records;
    const { points } = this;
    for (let i = 0; i < count; i++)
      data[to + i] = points.near(KIND_PC, words[at + 2 * i]!, words[at + 2 * i + 1]!);
  }

  /** Comparisons have eight halves: type, arg1, arg2, pc. */
  private cmpRun(source: number, words: Uint32Array, at: number, count: number): void {
    this.run(source);
    const to = this.records.reserve(count);
    const type = this.cmpType.reserve(count);
    const one = this.cmpArg1.reserve(count);
    const two = this.cmpArg2.reserve(count);
    const [args1, args2] = [halvesOf(this.cmpArg1.data), halvesOf(this.cmpArg2.data)];
    for (let i = 0; i < count; i++) {
      const from = at + 8 * i;
      this.records.data[to + i] = this.points.near(KIND_CMP, words[from + 6]!, words[from + 7]!);
      this.cmpType.data[type + i] = words[from]!;
      for (let half = 0; half < 2; half++) {
        args1[2 * (one + i) + half] = words[from + 2 + half]!;
        args2[2 * (two + i) + half] = words[from + 4 + half]!;
      }
    }
  }

  cmp(source: number, type: number, arg1: bigint, arg2: bigint, pc: bigint): void {
    this.run(source);
    this.append(this.points.ofPc(KIND_CMP, pc));
    this.cmpType.push(type);
    this.cmpArg1.push(arg1);
    this.cmpArg2.push(arg2);
  }

  /** Append `count` records in the format of a buffer; `bytes` begins at word 1. */
  area(source: number, kind: RecordKind, bytes: Uint8Array, count: number): void {
    const words = kind === 'cmp' ? 4 : 1;
    if (count * words * 8 > bytes.length) {
      throw new CoverageError(`an area of ${bytes.length} bytes cannot hold ${count} ${kind} records`);
    }
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const number = KINDS.indexOf(kind);
    for (let i = 0; i < count; i++) {
      const at = i * words * 8;
      if (kind === 'cmp') {
        const word = (k: number) => view.getBigUint64(at + 8 * k, true);
        this.cmp(source, Number(word(0)), word(1), word(2), word(3));
      } else {
        this.run(source);
        this.append(this.points.of(number, view.getUint32(at, true), view.getUint32(at + 4, true)));
      }
    }
  }

  /** Count `count` lost records; `what` identifies them if known. */
  lost(source: number, count: number, what?: { kind: RecordKind; pc: bigint }): void {
    this.lostBy[source]! += count;
    if (!what) return;
    const key = `${source} ${what.kind} ${what.pc}`;
    const row = this.missed.get(key);
    if (row) row.count += count;
    else if (this.missed.size < this.rowsMax)
      this.missed.set(key, { source, kind: KINDS.indexOf(what.kind), pc: what.pc, count });
    else if (this.findings.at(-1) !== UNIDENTIFIED) this.findings.push(UNIDENTIFIED);
  }

  /**
   * Add a crossing: control entered or left recorded execution before the instruction at `addr`.
   */
  crossing(source: number, addr: bigint, entered: number, left: number): void {
    const key = `${source} ${addr}`;
    const row = this.crossings.get(key);
    if (row) {
      row.entered += entered;
      row.left += left;
    } else if (this.crossings.size >= this.rowsMax)
      throw new CoverageError(
        `a trace has no room for more than ${this.rowsMax} crossings; record parts of the run apart`,
      );
    else this.crossings.set(key, { source, addr, entered, left });
  }

  finding(text: string): void {
    this.findings.push(visible(text.replaceAll('\n', ' ')));
  }

  finish(): Trace {
    const trace = new Trace(this.header);
    const times = this.appendCounted();
    if (times) trace.times = times;
    trace.pointKind = this.points.kind.done();
    trace.pointPc = this.points.pc.done();
    trace.records = this.records.done();
    trace.runStart = this.runStart.done();
    trace.runSource = this.runSource.done();
    trace.cmpType = this.cmpType.done();
    trace.cmpArg1 = this.cmpArg1.done();
    trace.cmpArg2 = this.cmpArg2.done();
    trace.sources = [...this.sources];
    trace.lost = Float64Array.from(this.lostBy);
    trace.findings = [...this.findings];
    trace.crossings = [...this.crossings.values()];
    trace.missed = [...this.missed.values()];
    this.addAlike(trace);
    return trace;
  }
}
