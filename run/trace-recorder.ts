// Records the trace that the kcov device reports to the host while the guest runs: outside the
// guest, in order, with its sources.
import { AreaWatch, Elf, type Trace, TraceBuilder } from '../coverage/record.ts';
import type { KcovContext, KcovRecord, Machine } from '../emulator/index.ts';
import { CrossingWatch } from './crossings.ts';

export class TraceRecorder {
  readonly #builder: TraceBuilder;
  readonly #test: () => string;
  readonly #keepLost: boolean;
  /** System calls of each thread, so that two calls of one number are two sources. */
  readonly #calls = new Map<number, { syscall: number; call: number }>();
  #count = 0;
  #watch: AreaWatch | undefined;
  #crossings: CrossingWatch | undefined;

  /**
   * `test`: the name of the running test; '' between two tests, where records are dropped.
   * `keepLost`: no program reads the buffer, so a record that does not fit counts like the others.
   */
  constructor(dialect: string, kernel: Uint8Array, test: string | (() => string), keepLost = false) {
    this.#keepLost = keepLost;
    this.#builder = new TraceBuilder({ dialect, image: new Elf(kernel, 'kernel').imageId });
    this.#test = typeof test === 'string' ? () => test : test;
  }

  /** Starts to listen. Without the device there is nothing to listen to. */
  attach(machine: Machine): void {
    const readWord = (address: number): bigint =>
      new DataView(machine.ram.read(address, 8).slice().buffer).getBigUint64(0, true);
    this.#watch = new AreaWatch(readWord, finding => this.#builder.finding(finding));
    machine.board.kcov?.onRecord(record => this.#take(record));
    this.#crossings = new CrossingWatch(machine, {
      crossing: (context, addr, entered, left) => {
        const test = this.#test();
        if (test !== '') this.#builder.crossing(this.#threadOf(context, test), addr, entered, left);
      },
    });
  }

  /** The source of a thread's records outside its system calls. */
  #threadOf({ pid, tid, context, handle }: KcovContext, test: string): number {
    return this.#builder.source({
      test,
      process: pid,
      thread: tid,
      context: context === 'task' ? 'task' : 'remote',
      handle,
    });
  }

  #take(record: KcovRecord): void {
    const { context, handle, tid, pid, syscall } = record;
    const test = this.#test();
    if (test === '') return;
    const source = this.#builder.source({
      test,
      process: pid,
      thread: tid,
      syscall,
      call: this.#callOf(tid, syscall),
      context: context === 'task' ? 'task' : 'remote',
      handle,
      ...(record.isUnique && { unique: true }),
    });
    if (record.kind === 'pc') this.#crossings?.recorded(record.contextAddress);
    if (record.isLost && !this.#keepLost) this.#builder.lost(source, 1, record);
    else if (record.kind === 'pc') this.#builder.pc(source, record.pc);
    else if (record.kind === 'edge') this.#builder.edge(source, record.pc);
    else this.#builder.cmp(source, record.type, record.arg1, record.arg2, record.pc);
    if (!record.isLost) {
      const { type, arg1, arg2, pc } = record;
      const words = record.kind === 'cmp' ? [BigInt(type), arg1, arg2, pc] : [pc];
      this.#watch?.wrote(record.descriptor, record.area, record.index, words);
    }
    this.#count++;
  }

  #callOf(tid: number, syscall: number): number {
    const last = this.#calls.get(tid);
    if (last?.syscall === syscall) return last.call;
    const call = (last?.call ?? 0) + 1;
    this.#calls.set(tid, { syscall, call });
    return call;
  }

  get count(): number {
    return this.#count;
  }

  /** True if the guest has recorded, or has tried to. */
  get wasOn(): boolean {
    return this.#count > 0 || (this.#crossings?.everOpen ?? false);
  }

  finish(): Trace {
    if (this.#crossings?.finish()) this.#builder.header.flow = 'known';
    return this.#builder.finish();
  }
}
