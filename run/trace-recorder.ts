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
import type {
  KcovContext,
  KcovCounts,
  KcovOrigin,
  KcovRun,
  KcovSink,
  Machine,
  RunsFollowed,
} from '../emulator/index.ts';
import { CallFolding } from './call-folding.ts';
import { CallSources } from './call-sources.ts';
import { type CrossingSink, CrossingWatch } from './crossings.ts';
import { kernelCodeOf } from './kernel-frames.ts';

export interface RecorderOptions {
  /** No program reads the buffer, so a record that does not fit counts like the others. */
  readonly keepLost?: boolean | undefined;
  /**
   * Only the numbers of records are wanted: the trace has `times`, and takes memory for each point
   * instead of each record.
   */
  readonly countsOnly?: boolean | undefined;
  /**
   * Nobody asks which system call left a record: the trace has one source for each test, and takes
   * no memory for each call.
   */
  readonly withoutCalls?: boolean | undefined;
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
  readonly #withoutCalls: boolean;
  /** In place of a source for each system call, if nobody asks for these: the last test's. */
  #sourceOfTest: readonly [test: string, source: number] = ['', -1];
  readonly #sources: CallSources;
  #count = 0;
  readonly #folding: CallFolding | undefined;
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
    { keepLost = false, countsOnly = false, withoutCalls = false, foldsCalls = false }: RecorderOptions = {},
  ) {
    this.#keepLost = keepLost;
    this.#countsOnly = countsOnly;
    this.#withoutCalls = withoutCalls;
    this.#elf = kernel instanceof Elf ? kernel : new Elf(kernel, 'kernel');
    this.#builder = new TraceBuilder({ dialect, image: this.#elf.imageId });
    this.#sources = new CallSources(this.#builder);
    this.#test = typeof test === 'string' ? () => test : test;
    if (typeof test !== 'string' || test === '') return;
    if (countsOnly) this.counts = this.#counts;
    else {
      this.run = this.#run;
      if (!foldsCalls) return;
      const folding = new CallFolding(this.#builder, this.#sources, test);
      this.#folding = folding;
      this.repeats = { use: repeats => folding.use(repeats), followed: this.#followed };
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
      this.#folding?.settle();
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
    if (this.#folding && !isLost && !isEdge && !origin.isUnique) {
      if (!isCmp) this.#crossings?.recorded(origin.contextAddress);
      this.#folding.add(origin, { words, at: 0, count: 1, halves: words.length });
      this.#watch?.wrote(origin.descriptor, area, index, words);
      this.#count++;
      return;
    }
    this.#folding?.interrupt(origin);
    const source = isCounted ? this.#testSource(test) : this.#sourceOf(origin, test);
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
    if (this.#folding) this.#folding.add(origin, run);
    else this.#builder.recordRun(this.#sourceOf(origin, this.#test()), run);
    if (run.halves === 2) this.#crossings?.recorded(origin.contextAddress);
    this.#watch?.wroteRun(origin.descriptor, run);
    this.#count += run.count;
  };

  readonly #followed: RunsFollowed = (last, records) => {
    const origin = this.#folding!.followed();
    if (last.halves === 2) this.#crossings?.recorded(last.context);
    this.#watch?.wroteRun(origin.descriptor, last);
    this.#count += records;
  };

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

  #sourceOf(origin: KcovOrigin, test: string): number {
    return this.#withoutCalls ? this.#testSource(test) : this.#sources.of(origin, test);
  }

  #testSource(test: string): number {
    if (this.#sourceOfTest[0] !== test) this.#sourceOfTest = [test, this.#builder.source({ test })];
    return this.#sourceOfTest[1];
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
    this.#folding?.finish();
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
