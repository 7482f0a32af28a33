// Keeps the records of a system call only if no earlier call of its thread has left the same ones;
// else the earlier one stands for it, too (`Trace.alike`). Records come in runs of one origin.
import type { TraceBuilder } from '../coverage/record.ts';
import type { KcovOrigin, KcovRepeats, KcovRun } from '../emulator/index.ts';
import type { Call, CallSources } from './call-sources.ts';
import { ExpectedCalls } from './expected-calls.ts';
import { type Run, type SeenCall, SeenCalls } from './seen-calls.ts';

/** The records of the call that a thread is in. */
interface Kept {
  /** So far, if all are of one source; undefined: not remembered. */
  seen: SeenCall | undefined;
  source: number;
}

export class CallFolding {
  readonly #builder: TraceBuilder;
  readonly #sources: CallSources;
  readonly #test: string;
  readonly #known = new SeenCalls();
  readonly #expected: ExpectedCalls;
  /** By thread. */
  readonly #kept = new Map<number, Kept>();
  /** The last call, if its records so far are those of an earlier one; it has no source yet. */
  #pending: SeenCall | undefined;
  /** The call of `#pending`. */
  #pendingCall: Call | undefined;

  /** `test`: the one that all records are of. */
  constructor(builder: TraceBuilder, sources: CallSources, test: string) {
    this.#builder = builder;
    this.#sources = sources;
    this.#test = test;
    this.#expected = new ExpectedCalls(builder);
  }

  /** From now on runs that come as expected are only told by `followed`. */
  use(repeats: KcovRepeats): void {
    this.settle();
    this.#expected.use(repeats);
  }

  /** Runs came as expected; the origin of the last one. */
  followed(): KcovOrigin {
    const { seen, origin, begun } = this.#expected.take();
    this.#pending = seen;
    if (begun > 0) this.#sources.next(this.#pendingCall!, origin.syscall, begun);
    return origin;
  }

  /** A run, or a single record. */
  add(origin: KcovOrigin, run: Run | KcovRun): void {
    const { tid, syscall } = origin;
    const last = this.#pending?.origin.tid === tid ? this.#pending : undefined;
    const isFirst = this.#begins(origin);
    const before = isFirst ? undefined : (this.#pending ?? this.#kept.get(tid)?.seen);
    const canFold = isFirst || before !== undefined;
    const seen = canFold ? this.#known.find(before, origin, run) : undefined;
    if (seen && (isFirst || this.#pending)) {
      this.#pendingCall = this.#sources.call(tid, syscall);
      this.#pending = seen;
      if ('origin' in run) this.#expected.came(last, seen, origin, run);
      else this.#expected.lost();
      return;
    }
    this.settle();
    const source = this.#append(origin, run);
    this.#keep(tid, canFold ? (seen ?? this.#known.add(before, origin, run)) : undefined, source);
  }

  /** A record comes that is none of a run. */
  interrupt(origin: KcovOrigin): void {
    this.#begins(origin);
    this.settle();
    const kept = this.#kept.get(origin.tid);
    if (kept) kept.seen = undefined;
  }

  /** The last call may get other records, or others come before its next: it is kept as it is. */
  settle(): void {
    this.#expected.lost();
    const pending = this.#pending;
    if (!pending) return;
    this.#pending = undefined;
    const runs: SeenCall[] = [];
    for (let part: SeenCall | undefined = pending; part; part = part.before) runs.unshift(part);
    let source = -1;
    for (const { words, count, halves } of runs)
      source = this.#append(pending.origin, { words, at: 0, count, halves });
    this.#keep(pending.origin.tid, pending, source);
  }

  finish(): void {
    this.settle();
    this.#expected.settle();
  }

  /**
   * Before records of this origin: true if they are the first of a system call, which ends the one
   * before of the thread. If a call of another thread is pending, it is kept as it is.
   */
  #begins({ tid, syscall }: KcovOrigin): boolean {
    const isFirst = this.#sources.syscallOf(tid) !== syscall;
    const pending = this.#pending;
    if (pending && pending.origin.tid !== tid) this.settle();
    else if (pending && isFirst) {
      if (pending.source >= 0) {
        this.#builder.alike(pending.source, 1);
        this.#pending = undefined;
      } else this.settle();
    }
    const kept = this.#kept.get(tid);
    if (isFirst && kept) {
      if (kept.seen && kept.seen.source < 0) kept.seen.source = kept.source;
      kept.seen = undefined;
    }
    return isFirst;
  }

  #keep(thread: number, seen: SeenCall | undefined, source: number): void {
    const kept = this.#kept.get(thread);
    if (kept) [kept.seen, kept.source] = [seen, source];
    else this.#kept.set(thread, { seen, source });
  }

  #append(origin: KcovOrigin, run: Run): number {
    const source = this.#sources.of(origin, this.#test);
    this.#builder.recordRun(source, run);
    return source;
  }
}
