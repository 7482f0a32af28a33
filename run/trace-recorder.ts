// Records the trace that the kcov device reports to the host while the guest runs: outside the
// guest, in order, with its sources.
import {
  AreaWatch,
  Elf,
  KIND_CMP,
  KIND_PC,
  type RecordKind,
  type Source,
  type Trace,
  TraceBuilder,
} from '../coverage/record.ts';
import type { KcovContext, KcovCounts, KcovOrigin, KcovRun, KcovSink, Machine } from '../emulator/index.ts';
import { type CrossingSink, CrossingWatch } from './crossings.ts';
import { kernelCodeOf } from './kernel-frames.ts';
import { type Run, type SeenCall, SeenCalls } from './seen-calls.ts';

/** A system call, and the sources of its records: several if its context or its test changes. */
interface Call {
  syscall: number;
  call: number;
  sources: { readonly source: Source; readonly number: number }[];
  /** Its records so far, if they are all of one source; undefined: not remembered. */
  seen: SeenCall | undefined;
  source: number;
}

export interface RecorderOptions {
  /** No program reads the buffer, so a record that does not fit counts like the others. */
  readonly keepLost?: boolean | undefined;
  /**
   * Only the numbers of records are wanted: the trace has `times`, and takes memory for each point
   * instead of each record.
   */
  readonly countsOnly?: boolean | undefined;
  /**
   * A call that leaves the same records as an earlier one of its thread is wanted only as a number:
   * the trace has `alike`, and takes memory for each distinct call.
   */
  readonly foldsCalls?: boolean | undefined;
}

export class TraceRecorder implements KcovSink {
  readonly isPassive = true;
  /**
   * Only while the name of the test stays: records that come late would be another test's.
   */
  readonly run: KcovSink['run'];
  readonly repeats: KcovSink['repeats'];
  readonly counts: KcovSink['counts'];
  readonly #builder: TraceBuilder;
  readonly #test: () => string;
  readonly #elf: Elf;
  readonly #keepLost: boolean;
  readonly #countsOnly: boolean;
  /** In place of a source for each system call, if only numbers are wanted: the last test's. */
  #sourceOfTest: readonly [test: string, source: number] = ['', -1];
  /** The last system call of each thread, so that two calls of one number are two sources. */
  readonly #calls = new Map<number, Call>();
  /** The last origin with its test, and their source. */
  #origin: KcovOrigin | undefined;
  #originTest = '';
  #source = -1;
  #count = 0;
  readonly #seen: SeenCalls | undefined;
  /** The last call, if its records so far are those of an earlier one; it has no source yet. */
  #pending: SeenCall | undefined;
  /** The call of `#pending`. */
  #pendingCall: Call | undefined;
  #device: Machine['board']['kcov'];
  #watch: AreaWatch | undefined;
  /** Threads with code that ran in a mode without PCs. */
  readonly #withoutPcs = new Map<string, readonly [KcovContext, string]>();
  #crossings: CrossingWatch | undefined;

  /**
   * `test`: the name of the running test; '' between two tests, where records are dropped.
   * `kernel`: its bytes, or the image that a reader of the trace has opened.
   */
  constructor(
    dialect: string,
    kernel: Uint8Array | Elf,
    test: string | (() => string),
    { keepLost = false, countsOnly = false, foldsCalls = false }: RecorderOptions = {},
  ) {
    this.#keepLost = keepLost;
    this.#countsOnly = countsOnly;
    this.#elf = kernel instanceof Elf ? kernel : new Elf(kernel, 'kernel');
    this.#builder = new TraceBuilder({ dialect, image: this.#elf.imageId });
    this.#test = typeof test === 'string' ? () => test : test;
    if (typeof test !== 'string' || test === '') return;
    if (countsOnly) this.counts = this.#counts;
    else {
      this.run = this.#run;
      if (!foldsCalls) return;
      this.#seen = new SeenCalls();
      this.repeats = this.#repeats;
    }
  }

  /**
   * Starts to listen. Without the device there is nothing to listen to. `switched` is told when a
   * hart records into another context.
   */
  attach(machine: Machine, switched?: CrossingSink['switched']): void {
    const readHalf = (address: number): number => machine.ram.read32(address);
    this.#watch = new AreaWatch(readHalf, finding => this.#builder.finding(finding));
    this.#device = machine.board.kcov;
    this.#device?.observe(this);
    const crossing: CrossingSink['crossing'] = (context, addr, entered, left) => {
      const test = this.#test();
      this.#settle();
      if (test !== '') this.#builder.crossing(this.#threadOf(context, test), addr, entered, left);
    };
    const withoutPcs: CrossingSink['withoutPcs'] = context => {
      const test = this.#test();
      if (test !== '') this.#withoutPcs.set(`${context.tid} ${context.handle} ${test}`, [context, test]);
    };
    this.#crossings = new CrossingWatch(
      machine,
      { crossing, withoutPcs, ...(switched && { switched }) },
      kernelCodeOf(this.#elf),
    );
  }

  /** The source of a thread's records outside its system calls. */
  #threadOf({ pid, tid, context, handle }: KcovContext, test: string, more?: Partial<Source>): number {
    return this.#builder.source({
      ...more,
      test,
      process: pid,
      thread: tid,
      context: context === 'task' ? 'task' : 'remote',
      handle,
    });
  }

  /** One record of the device. A run has millions: nothing is allocated while the origin stays. */
  record(origin: KcovOrigin, isEdge: boolean, words: Uint32Array, area: number, index: number): void {
    const test = this.#test();
    if (test === '') return;
    const isLost = index < 0;
    const isCmp = words.length > 2;
    const isCounted = this.#countsOnly && !origin.isUnique;
    if (this.#seen && !isLost && !isEdge && !origin.isUnique) {
      if (!isCmp) this.#crossings?.recorded(origin.contextAddress);
      this.#fold(this.#seen, origin, { words, at: 0, count: 1, halves: words.length });
      this.#watch?.wrote(origin.descriptor, area, index, words);
      this.#count++;
      return;
    }
    if (this.#seen) {
      this.#begins(origin);
      this.#settle();
    }
    const source = isCounted ? this.#testSource(test) : this.#sourceOf(origin, test);
    if (this.#seen) this.#forget(origin.tid);
    if (!isCmp && !isEdge) this.#crossings?.recorded(origin.contextAddress);
    if (isLost && !this.#keepLost) this.#builder.lost(source, 1, pointOf(isEdge, words));
    else if (isCounted) this.#builder.counted(source, isCmp ? KIND_CMP : KIND_PC, ...lastHalves(words), 1);
    else if (isCmp) this.#builder.cmpHalves(source, words);
    else if (isEdge) this.#builder.edgeHalves(source, words[0]!, words[1]!);
    else this.#builder.pcHalves(source, words[0]!, words[1]!);
    if (!isLost) this.#watch?.wrote(origin.descriptor, area, index, words);
    this.#count++;
  }

  /** Many records of one origin: nothing is called for each of them. */
  readonly #run = (origin: KcovOrigin, run: KcovRun): void => {
    if (this.#seen) this.#fold(this.#seen, origin, run);
    else this.#append(this.#sourceOf(origin, this.#test()), run);
    if (run.halves === 2) this.#crossings?.recorded(origin.contextAddress);
    this.#watch?.wroteRun(origin.descriptor, run);
    this.#count += run.count;
  };

  /** A program that makes the same calls again and again mostly comes here. */
  readonly #repeats = (run: KcovRun): boolean => {
    const last = this.#pending;
    const next = last && this.#seen!.repeated(last, run);
    if (!next) return false;
    if (next.before !== last) {
      this.#builder.alike(last.source, 1);
      this.#pendingCall!.syscall = next.origin.syscall;
      this.#pendingCall!.call++;
    }
    this.#pending = next;
    if (run.halves === 2) this.#crossings?.recorded(run.context);
    this.#watch?.wroteRun(next.origin.descriptor, run);
    this.#count += run.count;
    return true;
  };

  #append(source: number, { halves, words, at, count }: Run): void {
    if (halves > 2) this.#builder.cmpRun(source, words, at, count);
    else this.#builder.pcRun(source, words, at, count);
  }

  /** A run that is kept only if no earlier call of the thread has left the same records. */
  #fold(known: SeenCalls, origin: KcovOrigin, run: Run): void {
    const { tid, syscall } = origin;
    const last = this.#pending?.origin.tid === tid ? this.#pending : undefined;
    const isFirst = this.#begins(origin);
    const before = isFirst ? undefined : (this.#pending ?? this.#calls.get(tid)!.seen);
    const canFold = isFirst || before !== undefined;
    const seen = canFold ? known.find(before, origin, run, last) : undefined;
    if (seen && (isFirst || this.#pending)) {
      this.#pendingCall = this.#callOf(tid, syscall);
      this.#origin = undefined;
      this.#pending = seen;
      return;
    }
    this.#settle();
    const source = this.#sourceOf(origin, this.#test());
    this.#append(source, run);
    const call = this.#calls.get(tid)!;
    call.seen = canFold ? (seen ?? known.add(before, origin, run)) : undefined;
    call.source = source;
  }

  /**
   * Before records of this origin: true if they are the first of a system call, which ends the one
   * before of the thread. If a call of another thread is pending, it is kept as it is.
   */
  #begins({ tid, syscall }: KcovOrigin): boolean {
    const call = this.#calls.get(tid);
    const isFirst = call?.syscall !== syscall;
    const pending = this.#pending;
    if (pending && pending.origin.tid !== tid) this.#settle();
    else if (pending && isFirst) {
      if (pending.source >= 0) {
        this.#builder.alike(pending.source, 1);
        this.#pending = undefined;
      } else this.#settle();
    }
    if (isFirst && call) {
      if (call.seen && call.seen.source < 0) call.seen.source = call.source;
      call.seen = undefined;
    }
    return isFirst;
  }

  /** The call that a thread is in has a record that is none of a run. */
  #forget(thread: number): void {
    const call = this.#calls.get(thread);
    if (call) call.seen = undefined;
  }

  /** The last call may get other records, or others come before its next: it is kept as it is. */
  #settle(): void {
    const pending = this.#pending;
    if (!pending) return;
    this.#pending = undefined;
    this.#origin = undefined;
    const source = this.#sourceOf(pending.origin, this.#test());
    const runs: SeenCall[] = [];
    for (let part: SeenCall | undefined = pending; part; part = part.before) runs.unshift(part);
    for (const { words, count, halves } of runs) this.#append(source, { words, at: 0, count, halves });
    const call = this.#calls.get(pending.origin.tid)!;
    call.seen = pending;
    call.source = source;
  }

  /** Records that compiled code has counted. The device has reported one of their context. */
  readonly #counts: KcovCounts = {
    counted: ({ isCmp, lo, hi, stored, lost }) => {
      const source = this.#testSource(this.#test());
      const kept = this.#keepLost ? stored + lost : stored;
      if (kept > 0) this.#builder.counted(source, isCmp ? KIND_CMP : KIND_PC, lo, hi, kept);
      if (kept === stored && lost > 0)
        this.#builder.lost(source, lost, { kind: isCmp ? 'cmp' : 'pc', pc: wordOf(lo, hi) });
      this.#count += stored + lost;
    },
    last: (descriptor, record) => this.#watch?.wroteRun(descriptor, record),
  };

  #testSource(test: string): number {
    if (this.#sourceOfTest[0] !== test) this.#sourceOfTest = [test, this.#builder.source({ test })];
    return this.#sourceOfTest[1];
  }

  #sourceOf(origin: KcovOrigin, test: string): number {
    if (origin === this.#origin && test === this.#originTest) return this.#source;
    this.#origin = origin;
    this.#originTest = test;
    const { handle, tid, pid, syscall, isUnique } = origin;
    const context = origin.context === 'task' ? 'task' : 'remote';
    const { call, sources } = this.#callOf(tid, syscall);
    const known = sources.find(
      ({ source }) =>
        source.test === test &&
        source.process === pid &&
        source.context === context &&
        source.handle === handle &&
        (source.unique ?? false) === isUnique,
    );
    this.#source = known?.number ?? -1;
    if (!known) {
      const source: Source = { test, process: pid, thread: tid, syscall, call, context, handle };
      if (isUnique) source.unique = true;
      this.#source = this.#builder.newSource(source);
      sources.push({ source, number: this.#source });
    }
    return this.#source;
  }

  #callOf(tid: number, syscall: number): Call {
    const last = this.#calls.get(tid);
    if (last?.syscall === syscall) return last;
    if (last) {
      last.syscall = syscall;
      last.call++;
      last.sources = [];
      return last;
    }
    const call: Call = { syscall, call: 1, sources: [], seen: undefined, source: -1 };
    this.#calls.set(tid, call);
    return call;
  }

  get count(): number {
    this.#device?.flush();
    return this.#count;
  }

  /** True if the guest has recorded, or has tried to. */
  get wasOn(): boolean {
    return this.count > 0 || (this.#crossings?.everOpen ?? false);
  }

  finish(): Trace {
    this.#device?.flush();
    this.#settle();
    if (this.#crossings?.finish()) {
      this.#builder.header.flow = 'known';
      // Where the flow is unknown, the PCs prove nothing of other code anyway.
      for (const [context, test] of this.#withoutPcs.values())
        this.#threadOf(context, test, { withoutPcs: true });
    }
    return this.#builder.finish();
  }
}

/** Halves of the last word of a record. */
const lastHalves = (words: Uint32Array): [lo: number, hi: number] => [
  words[words.length - 2]!,
  words[words.length - 1]!,
];

const wordOf = (lo: number, hi: number): bigint => (BigInt(hi) << 32n) | BigInt(lo);

/** The point of a lost record. */
const pointOf = (isEdge: boolean, words: Uint32Array): { kind: RecordKind; pc: bigint } => ({
  kind: words.length > 2 ? 'cmp' : isEdge ? 'edge' : 'pc',
  pc: wordOf(...lastHalves(words)),
});
