// The runs that a listener expects again (devices/kcov-ring.ts), in the host's memory, and the
// WebAssembly function that compares what waits in the ring with them: most of what a program
// records is what it has recorded before, and JavaScript takes seven times as long to find that.
import type { KcovRepeats, KcovRun } from '../../../devices/kcov-ring.ts';
import type { Ram } from '../../bus/ram.ts';
import { type CodeWriter, I32, I64, type Local, ModuleBuilder } from '../../wasm/module.ts';
import { ORIGIN_BYTES, RUN } from './run.ts';

/** Bytes of memory that the kept runs have: some thousand short ones. */
export const REPEATS_BYTES = 0x10_0000;

const AT = {
  /** i32: host address of the last run; 0 = none that is kept. */
  CURRENT: 0,
  /** i64: how many calls began as expected. */
  BEGUN: 8,
  KEPT: 64,
} as const;

/**
 * A kept run: i32 host address of the one that is expected behind it, 0 = none; i32 bytes of its
 * records; i64 how many calls ended with it; i32 1 = it begins a call; its origin; its records.
 */
const KEPT = { NEXT: 0, BYTES: 4, ENDED: 8, BEGINS: 16, ORIGIN: 24, DATA: 24 + ORIGIN_BYTES } as const;

/**
 * Follows expected runs from the entry `run` on; the first entry that differs, or `runsEnd`. The
 * records of the last one end at `end`.
 */
type Follow = (run: number, runsEnd: number, end: number) => number;

export class Repeats implements KcovRepeats {
  readonly #base: number;
  readonly #words: Uint32Array;
  readonly #follow: Follow;
  /** Host address behind the last kept run. */
  #free: number;

  /** `base`: where its bytes lie in RAM's memory. */
  constructor({ memory }: Pick<Ram, 'memory'>, base: number) {
    this.#base = base;
    this.#words = new Uint32Array(memory.buffer);
    this.#free = base + AT.KEPT;
    this.#follow = compile(memory, base);
  }

  get at(): number {
    return this.#words[(this.#base + AT.CURRENT) >>> 2]!;
  }

  set at(number: number) {
    this.#words[(this.#base + AT.CURRENT) >>> 2] = number;
  }

  keep({ words, origin, at, count, halves }: KcovRun, begins: boolean): number {
    const kept = this.#free;
    const bytes = 4 * count * halves;
    if (kept + KEPT.DATA + bytes > this.#base + REPEATS_BYTES) return 0;
    const all = this.#words;
    all.fill(0, kept >>> 2, (kept + KEPT.ORIGIN) >>> 2);
    all[(kept + KEPT.BYTES) >>> 2] = bytes;
    all[(kept + KEPT.BEGINS) >>> 2] = begins ? 1 : 0;
    all.set(words.subarray(origin, origin + ORIGIN_BYTES / 4), (kept + KEPT.ORIGIN) >>> 2);
    all.set(words.subarray(at, at + count * halves), (kept + KEPT.DATA) >>> 2);
    this.#free = kept + KEPT.DATA + bytes;
    return kept;
  }

  expect(from: number, to: number): void {
    this.#words[(from + KEPT.NEXT) >>> 2] = to;
  }

  takeBegun(): number {
    return this.#take(this.#base + AT.BEGUN);
  }

  takeEnded(number: number): number {
    return this.#take(number + KEPT.ENDED);
  }

  clear(): void {
    this.#free = this.#base + AT.KEPT;
    this.at = 0;
    this.takeBegun();
  }

  follow(run: number, runsEnd: number, end: number): number {
    return this.at === 0 ? run : this.#follow(run, runsEnd, end) >>> 0;
  }

  #take(at: number): number {
    const words = this.#words;
    const count = words[(at >>> 2) + 1]! * 0x1_0000_0000 + words[at >>> 2]!;
    words.fill(0, at >>> 2, (at >>> 2) + 2);
    return count;
  }
}

function compile(memory: WebAssembly.Memory, base: number): Follow {
  const m = new ModuleBuilder();
  m.importMemory('env', 'memory', { min: 1 });
  const follow = m.func([I32, I32, I32], [I32], 'kcovFollow');
  m.export('follow', 'func', follow.index);
  const { code: c, params } = follow;
  const [run, runsEnd, end] = params;
  const [current, kept, next] = [c.local(I32), c.local(I32), c.local(I32)];
  const [at, stop] = [c.local(I32), c.local(I32)];
  c.i32_const(0)
    .i32_load(base + AT.CURRENT)
    .local_set(current);
  const differs = c.block();
  const again = c.loop();
  c.local_get(run).local_get(runsEnd).i32_ge_u().br_if(differs);
  c.local_get(current).i32_load(KEPT.NEXT).local_tee(kept).i32_eqz().br_if(differs);
  c.local_get(run).i32_const(RUN.SIZE).i32_add().local_set(next);
  c.local_get(run).i32_load(RUN.START).local_set(at);
  c.local_get(next).i32_load(RUN.START).local_get(end);
  c.local_get(next).local_get(runsEnd).i32_lt_u().select().local_tee(stop);
  c.local_get(at).i32_sub().local_get(kept).i32_load(KEPT.BYTES).i32_ne().br_if(differs);
  compare(c, run, kept, at, stop);
  c.i64_const(0).i64_ne().br_if(differs);
  c.local_get(kept).i32_load(KEPT.BEGINS).if_();
  addOne(c, KEPT.ENDED, current);
  addOne(c, base + AT.BEGUN);
  c.end();
  c.local_get(kept).local_set(current);
  c.local_get(next).local_set(run);
  c.br(again).end().end();
  c.i32_const(0)
    .local_get(current)
    .i32_store(base + AT.CURRENT);
  c.local_get(run);
  c.release(current, kept, next, at, stop);
  const instance = new WebAssembly.Instance(new WebAssembly.Module(m.finish()), { env: { memory } });
  return instance.exports.follow as Follow;
}

/** Leaves bits that differ between a run and a kept one as long, in origin or records. */
function compare(
  c: CodeWriter,
  run: Local<I32>,
  kept: Local<I32>,
  at: Local<I32>,
  stop: Local<I32>,
): CodeWriter {
  const [known, bits] = [c.local(I32), c.local(I64)];
  for (let word = 0; word < ORIGIN_BYTES; word += 8) {
    c.local_get(run).i64_load(word);
    c.local_get(kept)
      .i64_load(KEPT.ORIGIN + word)
      .i64_xor();
    if (word > 0) c.i64_or();
  }
  c.local_set(bits);
  c.local_get(kept).local_set(known);
  const next = c.loop();
  c.local_get(at).i64_load(0).local_get(known).i64_load(KEPT.DATA).i64_xor();
  c.local_get(bits).i64_or().local_set(bits);
  c.local_get(known).i32_const(8).i32_add().local_set(known);
  c.local_get(at).i32_const(8).i32_add().local_tee(at).local_get(stop).i32_lt_u().br_if(next);
  c.end();
  c.local_get(bits);
  c.release(known, bits);
  return c;
}

/** Adds 1 to the i64 at an offset from `from`, or from 0. */
function addOne(c: CodeWriter, offset: number, from?: Local<I32>): void {
  const place = (): CodeWriter => (from ? c.local_get(from) : c.i32_const(0));
  place();
  place().i64_load(offset).i64_const(1).i64_add().i64_store(offset);
}
