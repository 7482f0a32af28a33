/**
 * The stored form of a trace, `*.kcov`, version 1 (layout: docs/coverage-formats.md). A file is the
 * magic and then blocks of `tag u8, length u32, payload`; the last block, `E`, carries totals and a
 * checksum, so that a truncated file is distinguished from a short one. The writer needs memory for
 * one block and the points; the reader checks every number it uses.
 */
import { visible } from '../../emulator/base/words.ts';
import { CoverageError, Cursor, text } from '../base/bytes.ts';
import { excessOf } from './json-bounds.ts';
import {
  COUNT_MAX,
  COUNTS_INSTEAD,
  Grow,
  KIND_CMP,
  KINDS,
  POINTS_MAX,
  RECORDS_MAX,
  ROWS_MAX,
  SOURCES_MAX,
  type Source,
  Trace,
  type TraceHeader,
} from './trace.ts';

const MAGIC = 'KCOVTRC1';
const RECORDS_PER_BLOCK = 1 << 16;
/** Of one block: a run with a source for each system call has millions. */
const SOURCES_PER_BLOCK = 1 << 16;
/** Characters of the tests' names in one block, unless a single one has more. */
const NAMES_PER_BLOCK = 1 << 22;
/** Bytes of the header: its names are shown, and each note takes memory. */
const HEADER_MAX = 1 << 20;
/** Bytes of a whole file: readers hold it in one piece. */
const FILE_MAX = 2 ** 31;
/** Blocks that a file has once. */
const ONCE = 'HPF';
/** Blocks with numbers of sources: no list of sources comes behind one. */
const OF_SOURCES = 'RLXM';

/** Bytes that grow: the payload of one block. */
export class ByteWriter {
  private readonly out: Grow<Uint8Array>;

  constructor(size = 4096) {
    this.out = new Grow(n => new Uint8Array(n), size);
  }

  u8(value: number): void {
    this.out.push(value);
  }

  u32(value: number): void {
    const at = this.out.reserve(4);
    for (let i = 0; i < 4; i++) this.out.data[at + i] = (value >>> (8 * i)) & 255;
  }

  uleb(value: number): void {
    let at = this.out.reserve(8);
    const { data } = this.out;
    while (value >= 0x80) {
      data[at++] = (value % 0x80) | 0x80;
      value = Math.floor(value / 0x80);
    }
    data[at++] = value;
    this.out.count = at; // drop the unused part
  }

  bytes(value: Uint8Array): void {
    const at = this.out.reserve(value.length);
    this.out.data.set(value, at);
  }

  /** Little-endian 64-bit words, whatever the host's order. */
  words(values: BigUint64Array): void {
    const at = this.out.reserve(values.length * 8);
    const view = new DataView(this.out.data.buffer);
    for (let i = 0; i < values.length; i++) view.setBigUint64(at + 8 * i, values[i]!, true);
  }

  get length(): number {
    return this.out.count;
  }

  take(): Uint8Array {
    const bytes = this.out.done();
    this.out.count = 0;
    return bytes;
  }
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let k = 0; k < 8; k++) n = n & 1 ? (n >>> 1) ^ 0xedb88320 : n >>> 1;
  return n;
});

/** CRC-32 (ISO-HDLC) continued from `crc`. */
export function crc32(bytes: Uint8Array, crc: number): number {
  crc = ~crc;
  for (let i = 0; i < bytes.length; i++) crc = (crc >>> 8) ^ CRC_TABLE[(crc ^ bytes[i]!) & 255]!;
  return ~crc >>> 0;
}

interface StoredSource extends Omit<Source, 'handle'> {
  handle: string;
}

const encoder = new TextEncoder();
const json = (value: unknown) => encoder.encode(JSON.stringify(value));

/** The sources of each block; there is one at least. */
function* sourceBlocks(sources: readonly Source[]): Generator<Source[]> {
  let from = 0;
  do {
    let to = from;
    for (let names = 0; to < sources.length && to - from < SOURCES_PER_BLOCK; to++) {
      names += sources[to]!.test.length;
      if (names > NAMES_PER_BLOCK && to > from) break;
    }
    yield sources.slice(from, to);
    from = to;
  } while (from < sources.length);
}

/**
 * The file of a trace, block by block. Errors: CoverageError for one that no reader takes.
 * `most`: bytes of a whole file.
 */
export function* writeTrace(trace: Trace, most = FILE_MAX): Generator<Uint8Array> {
  let crc = 0;
  let size = MAGIC.length;
  const framed = (tag: string, payload: Uint8Array): Uint8Array => {
    const head = new ByteWriter(8);
    head.u8(tag.charCodeAt(0));
    head.u32(payload.length);
    const block = new Uint8Array(5 + payload.length);
    block.set(head.take());
    block.set(payload, 5);
    size += block.length;
    if (size > most)
      throw new CoverageError(`a trace file has no room for more than ${most} bytes; ${COUNTS_INSTEAD}`);
    crc = crc32(block, crc);
    return block;
  };
  yield encoder.encode(MAGIC);
  const header = json(trace.header);
  if (header.length > HEADER_MAX)
    throw new CoverageError(
      `a trace file has no room for a header of ${header.length} bytes, more than ${HEADER_MAX}: ` +
        'shorten its notes',
    );
  yield framed('H', header);
  for (const part of sourceBlocks(trace.sources)) {
    const stored: StoredSource[] = part.map(s => ({ ...s, handle: `0x${s.handle.toString(16)}` }));
    yield framed('S', json(stored));
  }
  const points = new ByteWriter(trace.pointPc.length * 9 + 16);
  points.uleb(trace.pointPc.length);
  points.bytes(trace.pointKind);
  points.words(trace.pointPc);
  yield framed('P', points.take());
  let cmpAt = 0;
  for (const block of recordBlocks(trace)) {
    yield framed('R', block.payload);
    if (block.cmps > 0) yield framed('C', cmpPayload(trace, cmpAt, block.cmps));
    cmpAt += block.cmps;
  }
  if (trace.crossings.length > 0) yield framed('X', crossingPayload(trace));
  const lost = new ByteWriter();
  for (const [source, count] of trace.lost.entries()) {
    if (count === 0) continue;
    lost.uleb(source);
    lost.uleb(count);
  }
  if (lost.length > 0) yield framed('L', lost.take());
  if (trace.missed.length > 0) yield framed('M', missedPayload(trace));
  if (trace.findings.length > 0) yield framed('F', json(trace.findings));
  yield framed('E', json({ records: trace.records.length, cmps: cmpAt, crc }));
}

function missedPayload(trace: Trace): Uint8Array {
  const out = new ByteWriter(trace.missed.length * 12);
  for (const { source, kind, pc, count } of trace.missed) {
    out.uleb(source);
    out.u8(kind);
    out.words(BigUint64Array.of(pc));
    out.uleb(count);
  }
  return out.take();
}

function crossingPayload(trace: Trace): Uint8Array {
  const out = new ByteWriter(trace.crossings.length * 12);
  for (const { source, addr, entered, left } of trace.crossings) {
    out.uleb(source);
    out.words(BigUint64Array.of(addr));
    out.uleb(entered);
    out.uleb(left);
  }
  return out.take();
}

function* recordBlocks(trace: Trace): Generator<{ payload: Uint8Array; cmps: number }> {
  const runs = new ByteWriter();
  const body = new ByteWriter();
  let runCount = 0;
  let inBlock = 0;
  let cmps = 0;
  const finish = () => {
    const whole = new ByteWriter(runs.length + body.length + 16);
    whole.uleb(runCount);
    whole.bytes(runs.take());
    whole.bytes(body.take());
    const block = { payload: whole.take(), cmps };
    runCount = inBlock = cmps = 0;
    return block;
  };
  for (const { source, from, to } of trace.runs()) {
    for (let at = from; at < to; ) {
      const count = Math.min(to - at, RECORDS_PER_BLOCK - inBlock);
      runs.uleb(source);
      runs.uleb(count);
      runCount++;
      for (let i = 0; i < count; i++) {
        const point = trace.records[at + i]!;
        body.uleb(point);
        if (trace.pointKind[point] === KIND_CMP) cmps++;
      }
      at += count;
      inBlock += count;
      if (inBlock === RECORDS_PER_BLOCK) yield finish();
    }
  }
  if (inBlock > 0) yield finish();
}

function cmpPayload(trace: Trace, from: number, count: number): Uint8Array {
  const out = new ByteWriter(count * 17 + 16);
  out.uleb(count);
  for (let i = from; i < from + count; i++) out.uleb(trace.cmpType[i]!);
  out.words(trace.cmpArg1.subarray(from, from + count));
  out.words(trace.cmpArg2.subarray(from, from + count));
  return out.take();
}

/** Read a stored trace. `name` is used in error texts. */
export function readTrace(bytes: Uint8Array, name = 'the data'): Trace {
  return new TraceReader(bytes, name).read();
}

/** Of an end block: names, three numbers. */
const END_MAX = 128;

const NO_HANDLE = 0n;

class TraceReader {
  private readonly cursor: Cursor;
  private readonly name: string;
  private readonly trace: Trace;
  private readonly records = new Grow(n => new Uint32Array(n));
  private readonly runStart = new Grow(n => new Uint32Array(n));
  private readonly runSource = new Grow(n => new Uint32Array(n));
  private readonly cmpType = new Grow(n => new Uint32Array(n));
  private readonly cmpArg1 = new Grow(n => new BigUint64Array(n));
  private readonly cmpArg2 = new Grow(n => new BigUint64Array(n));
  private cmps = 0;
  private lostTotal = 0;
  private readonly seen = new Set<string>();

  constructor(bytes: Uint8Array, name: string) {
    this.name = name;
    this.cursor = new Cursor(bytes, name);
    this.trace = new Trace({ dialect: '', image: '', notes: {} });
    if (bytes.length < 8 || text(bytes, 0, 8) !== MAGIC) {
      if (bytes.length >= 7 && text(bytes, 0, 7) === MAGIC.slice(0, 7)) {
        throw new CoverageError(
          `${name} is a trace of version "${text(bytes, 7, 8)}"; this program reads version 1`,
        );
      }
      throw new CoverageError(`${name} is not a trace: wrong magic`);
    }
    this.cursor.seek(8);
  }

  private fault(what: string): never {
    throw new CoverageError(`${this.name} is damaged: ${what} at offset 0x${this.cursor.at.toString(16)}`);
  }

  read(): Trace {
    const { cursor } = this;
    const { bytes } = cursor;
    for (let crc = 0; ; ) {
      const start = cursor.at;
      if (start + 5 > bytes.length) {
        throw new CoverageError(
          `${this.name} is truncated after ${this.records.count} records (${bytes.length} bytes, no end block)`,
        );
      }
      const tag = String.fromCharCode(cursor.u8());
      const size = cursor.u32();
      if (cursor.at + size > bytes.length) {
        throw new CoverageError(
          `${this.name} is truncated after ${this.records.count} records: block ${JSON.stringify(tag)} at 0x${start.toString(16)} ` +
            `needs ${size} bytes, ${bytes.length - cursor.at} are left`,
        );
      }
      const end = cursor.at + size;
      if (tag === 'E') {
        this.end(end, crc);
        this.lost();
        this.checkMissed();
        return this.finish();
      }
      crc = crc32(bytes.subarray(start, end), crc);
      cursor.end = end;
      this.block(tag, end);
      cursor.end = bytes.length;
      cursor.seek(end);
    }
  }

  private json(end: number): unknown {
    const excess = excessOf(this.cursor.bytes.subarray(this.cursor.at, end));
    if (excess !== undefined) this.fault(excess);
    try {
      return JSON.parse(text(this.cursor.bytes, this.cursor.at, end));
    } catch {
      return this.fault('text that is not JSON');
    }
  }

  private block(tag: string, end: number): void {
    if (ONCE.includes(tag)) {
      // Records that were read already hold numbers into these lists.
      if (this.seen.has(tag)) this.fault(`a second block ${JSON.stringify(tag)}`);
    }
    if (tag === 'S' && [...OF_SOURCES].some(one => this.seen.has(one)))
      this.fault('sources behind the records');
    this.seen.add(tag);
    switch (tag) {
      case 'H':
        if (end - this.cursor.at > HEADER_MAX)
          this.fault(`a header of ${end - this.cursor.at} bytes, more than ${HEADER_MAX},`);
        this.trace.header = this.header(this.json(end));
        break;
      case 'S':
        this.sources(this.json(end));
        break;
      case 'P':
        this.points();
        break;
      case 'R':
        this.recordBlock();
        break;
      case 'C':
        this.cmpBlock();
        break;
      case 'L':
        this.lost();
        while (this.cursor.at < end) this.lostOf();
        break;
      case 'X':
        while (this.cursor.at < end) this.crossing();
        break;
      case 'M':
        while (this.cursor.at < end) this.missed();
        break;
      case 'F': {
        const findings = this.json(end);
        if (!Array.isArray(findings)) this.fault('findings that are not a list');
        this.trace.findings = findings.map(finding => this.shown(finding, 'a finding'));
        break;
      }
      default:
        this.fault(`unknown block ${JSON.stringify(tag)}`);
    }
  }

  /** A value of JSON as text. An object may have no text, or one that takes all of the stack. */
  private shown(value: unknown, what: string): string {
    if (typeof value === 'object') this.fault(`${what} that is not text`);
    return visible(String(value));
  }

  /** A number that readers add up. */
  private number(): number {
    const value = this.cursor.uleb();
    return value <= COUNT_MAX ? value : this.fault(`a number above ${COUNT_MAX}`);
  }

  private lostOf(): void {
    const { lost } = this.trace;
    const source = this.cursor.uleb();
    if (source >= lost.length) this.fault(`source ${source} of lost records`);
    if (lost[source] !== 0) this.fault(`lost records of source ${source} for a second time`);
    const count = this.number();
    lost[source] = count;
    this.lostTotal += count;
    if (this.lostTotal > COUNT_MAX) this.fault(`more than ${COUNT_MAX} lost records`);
  }

  private crossing(): void {
    const { crossings, sources } = this.trace;
    const source = this.cursor.uleb();
    if (source >= sources.length) this.fault(`source ${source} of a crossing`);
    if (crossings.length >= ROWS_MAX) this.fault('more crossings than a trace has');
    const addr = this.words(1)[0]!;
    crossings.push({ source, addr, entered: this.number(), left: this.number() });
  }

  private missed(): void {
    const source = this.cursor.uleb();
    if (source >= this.trace.sources.length) this.fault(`source ${source} of a lost record`);
    const kind = this.cursor.u8();
    if (kind >= KINDS.length) this.fault('a lost record of unknown kind');
    const { missed } = this.trace;
    if (missed.length >= ROWS_MAX) this.fault('more distinct lost records than a trace has');
    missed.push({ source, kind, pc: this.words(1)[0]!, count: this.number() });
  }

  /** Identified lost records are among those that were counted. */
  private checkMissed(): void {
    const { lost, missed } = this.trace;
    if (missed.length === 0) return;
    const left = lost.slice();
    for (const { source, count } of missed)
      if ((left[source]! -= count) < 0) this.fault(`more lost records of source ${source} than it lost`);
  }

  private header(value: unknown): TraceHeader {
    const { dialect, image, notes, flow, filtered } = (value ?? {}) as Record<string, unknown>;
    if (typeof dialect !== 'string' || typeof image !== 'string')
      this.fault('a header without dialect or image');
    if (typeof (notes ?? {}) !== 'object') this.fault('notes that are not named');
    const pairs = Object.entries((notes ?? {}) as Record<string, unknown>).map(([key, v]) => [
      visible(key),
      this.shown(v, 'a note'),
    ]);
    return {
      dialect: visible(dialect),
      image: visible(image),
      notes: Object.fromEntries(pairs),
      ...(flow === 'known' && { flow }),
      ...(filtered === true && { filtered }),
    };
  }

  private sources(value: unknown): void {
    if (!Array.isArray(value)) this.fault('sources that are not a list');
    const { sources } = this.trace;
    if (sources.length + value.length > SOURCES_MAX) this.fault('more sources than a trace has');
    for (const item of value) sources.push(this.source(item));
  }

  private source(item: unknown): Source {
    const row = (item ?? {}) as Partial<Record<keyof StoredSource, unknown>>;
    const { test, context, handle } = row;
    const number = (v: unknown) =>
      Number.isSafeInteger(v) ? (v as number) : this.fault('a source without numbers');
    const [process, thread] = [number(row.process), number(row.thread)];
    const [syscall, call] = [number(row.syscall), number(row.call)];
    if (call < 0 || call > COUNT_MAX) this.fault(`system call ${call} of a thread`);
    if (context !== 'task' && context !== 'remote') this.fault('a source of unknown context');
    if (typeof handle !== 'string' || !/^0x[0-9a-f]{1,16}$/.test(handle))
      this.fault('a source without a handle');
    const source: Source = {
      test: this.shown(test ?? '', 'a test'),
      process,
      thread,
      syscall,
      call,
      context,
      handle: handle === '0x0' ? NO_HANDLE : BigInt(handle),
    };
    if (row.unique === true) source.unique = true;
    if (row.withoutPcs === true) source.withoutPcs = true;
    return source;
  }

  /** No source is added from here on. */
  private lost(): void {
    if (this.trace.lost.length === 0) this.trace.lost = new Float64Array(this.trace.sources.length);
  }

  private points(): void {
    const { cursor, trace } = this;
    const count = cursor.uleb();
    if (count > POINTS_MAX) this.fault('more points than a trace has');
    if (count * 9 > cursor.end - cursor.at) this.fault(`${count} points that do not fit their block`);
    const at = cursor.take(count);
    trace.pointKind = cursor.bytes.slice(at, at + count);
    if (trace.pointKind.some(kind => kind >= KINDS.length)) this.fault('a point of unknown kind');
    trace.pointPc = this.words(count);
  }

  private words(count: number): BigUint64Array {
    const { view } = this.cursor;
    const at = this.cursor.take(count * 8);
    const out = new BigUint64Array(count);
    for (let i = 0; i < count; i++) out[i] = view.getBigUint64(at + 8 * i, true);
    return out;
  }

  private recordBlock(): void {
    const { cursor, trace } = this;
    const runs = cursor.uleb();
    if (runs * 2 > cursor.end - cursor.at) this.fault(`${runs} runs that do not fit their block`);
    let total = 0;
    for (let i = 0; i < runs; i++) {
      const source = cursor.uleb();
      const count = cursor.uleb();
      if (source >= trace.sources.length) this.fault(`source ${source} of ${trace.sources.length}`);
      if (count === 0) this.fault('a run without records');
      const last = this.runSource.count - 1;
      if (last < 0 || this.runSource.data[last] !== source) {
        this.runStart.push(this.records.count + total);
        this.runSource.push(source);
      }
      total += count;
    }
    if (total > cursor.end - cursor.at) this.fault(`${total} records that do not fit their block`);
    if (this.records.count + total > RECORDS_MAX) this.fault('more records than a trace has');
    const points = trace.pointKind.length;
    let at = this.records.reserve(total);
    const { data } = this.records;
    for (const stop = at + total; at < stop; at++) {
      const point = cursor.uleb();
      if (point >= points) this.fault(`point ${point} of ${points}`);
      if (trace.pointKind[point] === KIND_CMP) this.cmps++;
      data[at] = point;
    }
  }

  private cmpBlock(): void {
    const { cursor } = this;
    const count = cursor.uleb();
    if (count * 17 > cursor.end - cursor.at) this.fault(`${count} comparisons that do not fit their block`);
    if (this.cmpType.count + count > RECORDS_MAX / 2) this.fault('more comparisons than a trace has');
    const at = this.cmpType.reserve(count);
    for (let i = 0; i < count; i++) {
      const type = cursor.uleb();
      if (type >= 2 ** 32) this.fault('a type of a comparison above 32 bits');
      this.cmpType.data[at + i] = type;
    }
    for (const column of [this.cmpArg1, this.cmpArg2]) {
      const first = column.reserve(count);
      column.data.set(this.words(count), first);
    }
  }

  private end(end: number, crc: number): void {
    const { cursor } = this;
    const records = this.records.count;
    if (end !== cursor.bytes.length) this.fault(`${cursor.bytes.length - end} bytes after its end block`);
    if (end - cursor.at > END_MAX) this.fault(`totals of ${end - cursor.at} bytes`);
    if (this.cmpType.count !== this.cmps)
      this.fault(`${this.cmpType.count} operand pairs for ${this.cmps} comparisons`);
    const promised = text(cursor.bytes, cursor.at, end);
    const read = JSON.stringify({ records, cmps: this.cmps, crc });
    if (promised !== read)
      this.fault(`totals ${JSON.stringify(promised)} where ${JSON.stringify(read)} was read`);
  }

  private finish(): Trace {
    const { trace } = this;
    trace.records = this.records.done();
    trace.runStart = this.runStart.done();
    trace.runSource = this.runSource.done();
    trace.cmpType = this.cmpType.done();
    trace.cmpArg1 = this.cmpArg1.done();
    trace.cmpArg2 = this.cmpArg2.done();
    return trace;
  }
}
