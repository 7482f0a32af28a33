// Traces: what kcov recorded, in order, with its sources.

import {
  CoverageError,
  checkImage,
  filterTrace,
  type Trace as Inner,
  KIND_CMP,
  KINDS,
  keepPoint,
  mergeTraces as mergeInner,
  type RecordFilter,
  readTrace as readInner,
  SelectedPoints,
  writeTrace,
} from '../../coverage/index.ts';
import {
  aString,
  aWhole,
  bytesOf,
  hasParts,
  is,
  listOf,
  oneOf,
  optional,
  optionsOf,
} from '../../emulator/base/arguments.ts';
import { join } from '../bytes.ts';
import { check } from './checks.ts';
import { AN_IMAGE, elfOf, type Image, SELECTION, type Selection } from './image.ts';

/**
 * `pc`: a basic block ran. `cmp`: two values were compared. `edge`: a value of a UNIQ_EDGE mode.
 */
export type RecordKind = 'pc' | 'cmp' | 'edge';

/** One record. */
export interface TraceRecord {
  readonly kind: RecordKind;
  /** Return address of the hook; for `edge` the edge value. */
  readonly pc: bigint;
  /** `cmp` only: bits of size and constness, as kcov defines them, and the operands. */
  readonly type?: number;
  readonly arg1?: bigint;
  readonly arg2?: bigint;
  /** Name of the test. */
  readonly test: string;
  readonly process: number;
  readonly thread: number;
  /** System call number, -1 outside of one. */
  readonly syscall: number;
  /** Counts system calls in the trace, so that two calls of one number differ; 0 where unknown. */
  readonly call: number;
  /** Did a thread run its own code, or a remote section? */
  readonly context: 'task' | 'remote';
  /** Of the remote section; 0n for a task. */
  readonly handle: bigint;
}

/** Which records stay: those that match all that is given. */
export interface TraceFilter {
  readonly kind?: RecordKind;
  readonly test?: string;
  readonly process?: number;
  readonly thread?: number;
  readonly syscall?: number;
  readonly context?: 'task' | 'remote';
  /** Places in `image`. Edges have none, so they go. */
  readonly places?: { readonly image: Image; readonly select: Selection };
}

const NUMBER = optional(aWhole(-1));

const FILTER = optionsOf<TraceFilter>({
  kind: optional(oneOf('pc', 'cmp', 'edge')),
  test: optional(aString),
  process: NUMBER,
  thread: NUMBER,
  syscall: NUMBER,
  context: optional(oneOf('task', 'remote')),
  places: optional(optionsOf<Required<TraceFilter>['places']>({ image: AN_IMAGE, select: SELECTION })),
});

/** @internal */
export let innerTrace: (trace: Trace) => Inner;
/** @internal */
export let toTrace: (inner: Inner) => Trace;

/** A trace: the records of one run or of several. It never changes. `readTrace` makes one. */
export class Trace {
  readonly #inner: Inner;

  static {
    innerTrace = trace => trace.#inner;
    toTrace = inner => new Trace(inner);
  }

  private constructor(inner: Inner) {
    if (!hasParts(inner, 'records'))
      throw new CoverageError('new Trace: the constructor is private; readTrace makes one');
    this.#inner = inner;
  }

  /** Whose kcov the guest spoke: openbsd, netbsd, freebsd, linux; '' where unknown. */
  get dialect(): string {
    return this.#inner.header.dialect;
  }

  /** `Image.id` of the image it was recorded on; '' where unknown. */
  get image(): string {
    return this.#inner.header.image;
  }

  /** Names of the tests that made records, in order of first appearance. */
  get tests(): readonly string[] {
    return this.#inner.tests;
  }

  /** Number of records. */
  get count(): number {
    return this.#inner.records.length;
  }

  /** Records for which the program's buffer had no room. */
  get lost(): number {
    return this.#inner.lostTotal;
  }

  /** Errors during the recording, as text. */
  get findings(): readonly string[] {
    return this.#inner.findings;
  }

  /** The distinct PCs of `pc` records, in order of address. */
  get pcs(): bigint[] {
    const { pointKind, pointPc } = this.#inner;
    return [...pointPc.filter((_, i) => KINDS[pointKind[i]!] === 'pc').sort()];
  }

  /** The records in order. */
  *records(): Generator<TraceRecord> {
    const { pointKind, pointPc, records, sources, cmpType, cmpArg1, cmpArg2 } = this.#inner;
    let row = 0;
    for (const { source, from, to } of this.#inner.runs()) {
      const { test, process, thread, syscall, call, context, handle } = sources[source]!;
      for (let i = from; i < to; i++) {
        const point = records[i]!;
        const kind = KINDS[pointKind[point]!]!;
        const head = { kind, pc: pointPc[point]!, test, process, thread, syscall, call, context, handle };
        if (pointKind[point] !== KIND_CMP) yield head;
        else {
          yield { ...head, type: cmpType[row]!, arg1: cmpArg1[row]!, arg2: cmpArg2[row]! };
          row++;
        }
      }
    }
  }

  /**
   * The records that match. Records that are left out may have proven that code did not run, so
   * more lines may be unknown.
   *
   * @throws KcovboxError of kind `coverage` for a selection that cannot be read, and for an image
   *   on which the trace was not recorded.
   */
  filter(filter: TraceFilter): Trace {
    check('Trace.filter', ['filter', filter, FILTER]);
    const { kind, places } = filter;
    if (places) checkImage(this.#inner, elfOf(places.image));
    const source: RecordFilter['source'] = of =>
      (['test', 'process', 'thread', 'syscall', 'context'] as const).every(
        name => filter[name] === undefined || filter[name] === of[name],
      );
    const inPlace = places && placeFilter(places.image, places.select);
    const point: RecordFilter['point'] =
      kind || inPlace
        ? (k, pc) => (kind === undefined || k === kind) && (!inPlace || inPlace(k, pc))
        : undefined;
    return toTrace(filterTrace(this.#inner, { source, ...(point && { point }) }));
  }

  /** The bytes of a `.kcov` file. */
  bytes(): Uint8Array {
    return join(writeTrace(this.#inner));
  }
}

/** @internal */
export const A_TRACE = is('a Trace: readTrace makes one of bytes', value => value instanceof Trace);

function placeFilter(image: Image, select: Selection): RecordFilter['point'] {
  const { files, functions, pcs } = select;
  const keep = keepPoint({ files: files && [...files], functions, pcs: pcs && [...pcs] });
  if (!keep) return undefined;
  const selected = new SelectedPoints(elfOf(image), keep);
  return (kind, pc) => selected.has(kind, pc);
}

/**
 * Reads the bytes of a `.kcov` file.
 *
 * @param name - of the file, for messages.
 * @throws KcovboxError of kind `coverage` if it is anything else, truncated, or damaged.
 */
export function readTrace(bytes: Uint8Array, name = 'the data'): Trace {
  check('readTrace', ['bytes', bytes, bytesOf('a .kcov file')], ['name', name, aString]);
  return toTrace(readInner(bytes, name));
}

const PARTS = listOf(optionsOf<{ trace: Trace; name: string }>({ trace: A_TRACE, name: optional(aString) }));

/**
 * One trace after the other. Records that carry no test name get the name given with their trace.
 *
 * @throws KcovboxError of kind `coverage` if they were recorded on different images.
 */
export function mergeTraces(parts: readonly { readonly trace: Trace; readonly name?: string }[]): Trace {
  check('mergeTraces', ['parts', parts, PARTS]);
  const images = [...new Set(parts.map(({ trace }) => trace.image).filter(image => image !== ''))];
  if (images.length > 1)
    throw new CoverageError(
      `the traces were recorded on ${images.length} images: their PCs cannot be put together`,
    );
  return toTrace(
    mergeInner(parts.map(({ trace, name }) => ({ trace: innerTrace(trace), name: name ?? '' }))),
  );
}
