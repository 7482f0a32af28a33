// The sources of recorded records: one for each system call of a thread, and more if its context,
// its mode or its test changes.
import type { Source, TraceBuilder } from '../coverage/record.ts';
import type { KcovOrigin } from '../emulator/index.ts';

export interface Call {
  syscall: number;
  /** Counts the calls of the thread, so that two calls of one number are two sources. */
  call: number;
  sources: { readonly source: Source; readonly number: number }[];
}

export class CallSources {
  readonly #builder: TraceBuilder;
  /** The last system call of each thread. */
  readonly #calls = new Map<number, Call>();
  /** The last origin with its test, and their source. */
  #origin: KcovOrigin | undefined;
  #test = '';
  #source = -1;

  constructor(builder: TraceBuilder) {
    this.#builder = builder;
  }

  /** The number of the source of records that come now. */
  of(origin: KcovOrigin, test: string): number {
    if (origin === this.#origin && test === this.#test) return this.#source;
    this.#origin = origin;
    this.#test = test;
    const { handle, tid, pid, syscall, isUnique } = origin;
    const context = origin.context === 'task' ? 'task' : 'remote';
    const { call, sources } = this.call(tid, syscall);
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

  /** The number of the last call of a thread; undefined: it had none. */
  syscallOf(thread: number): number | undefined {
    return this.#calls.get(thread)?.syscall;
  }

  /** The call that a thread is in now: the last one, or the next if its number is another. */
  call(thread: number, syscall: number): Call {
    const last = this.#calls.get(thread);
    if (last?.syscall === syscall) return last;
    if (last) {
      this.next(last, syscall);
      return last;
    }
    const call: Call = { syscall, call: 1, sources: [] };
    this.#calls.set(thread, call);
    return call;
  }

  /** A thread's next call begins, or that behind some more, without a source so far. */
  next(call: Call, syscall: number, calls = 1): void {
    this.#origin = undefined;
    call.syscall = syscall;
    call.call += calls;
    if (call.sources.length > 0) call.sources = [];
  }
}
