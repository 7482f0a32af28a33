// The hash of all of RAM, kept up to date at the cost of the pages that were stored to.
//
// The hash of a page is XXH64 of its 4,096 bytes with the page's number as seed, and 0 for a page
// of zeros; the hash of RAM is the sum of all modulo 2^64. So a page that changes costs one
// subtraction and one addition, and an unchanged page costs nothing. It detects faults, not
// attacks: an attacker who chooses the contents of pages can make sums equal.

import type { Ram } from '../bus/ram.ts';
import type { DirtyPages } from '../engine/dirty-pages.ts';
import { type CodeWriter, type FunctionHandle, I32, I64, type Local, ModuleBuilder } from '../wasm/module.ts';
import { PageSet } from './page-set.ts';

const PAGE = 4096;
/** The sum, an i64. The table of all pages' hashes follows. */
const HEAD = 0x1_0000;
/** Pages of the largest RAM. */
const PAGES_MAX = 0x10_0000;

// Primes of XXH64.
const P1 = 0x9e37_79b1_85eb_ca87n;
const P2 = 0xc2b2_ae3d_27d4_eb4fn;
const P3 = 0x1656_67b1_9e37_79f9n;
const P4 = 0x85eb_ca77_c2b2_ae63n;
const signed = (value: bigint): bigint => BigInt.asIntN(64, value);

/** The engine's knowledge of pages that hold code or page tables. */
type HoldsCode = (page: number) => boolean;

interface Exports {
  /** XXH64 of the page at a host address; 0 for zeros. */
  readonly page: (at: number, seed: bigint) => bigint;
  /** Hashes a page again. */
  readonly update: (page: number) => void;
  /** Hashes the pages [first, end) again. */
  readonly range: (first: number, end: number) => void;
}

export class MemoryHash {
  /** Bytes of linear memory that a hash needs. */
  static readonly bytes = HEAD + 8 * PAGES_MAX;
  readonly #ram: Ram;
  readonly #dirty: DirtyPages;
  readonly #sum: Int32Array;
  readonly #table: BigInt64Array;
  readonly #base: number;
  #wasm: Exports | undefined;
  /** Stored to since they were hashed. */
  readonly #pending: PageSet;
  /** Receives all pages that are stored to, too. */
  watcher: PageSet | undefined;
  /** Must stores to the page be announced? */
  readonly holdsCode: HoldsCode;

  /** `base`: where its bytes lie; they are zero. */
  constructor(ram: Ram, dirty: DirtyPages, base: number, holdsCode: HoldsCode) {
    const { buffer } = ram.memory;
    this.#ram = ram;
    this.#dirty = dirty;
    this.#base = base;
    this.holdsCode = holdsCode;
    this.#pending = new PageSet(this.#pages);
    this.#sum = new Int32Array(buffer, base, 2);
    this.#table = new BigInt64Array(buffer, base + HEAD, this.#pages);
  }

  /** The hash of RAM as it is now: low and high half. Between two quanta. */
  get sum(): readonly [low: number, high: number] {
    this.upToDate();
    return [this.#sum[0]!, this.#sum[1]!];
  }

  /** Brings the table of page hashes up to date. */
  upToDate(): this {
    if (!this.#dirty.isTracking) {
      this.rescan();
      return this;
    }
    this.collect();
    const { update } = this.#code;
    for (let i = 0; i < this.#pending.size; i++) update(this.#pending.at(i));
    this.#pending.clear();
    return this;
  }

  /** Hashes all of RAM, whatever was stored to. */
  rescan(): void {
    this.#code.range(0, this.#pages);
    this.#pending.clear();
  }

  /** Makes a checkpoint of dirty-pages.ts, and remembers the pages that were listed. */
  collect(): void {
    const { pages } = this.#dirty;
    for (let i = 0; i < pages.length; i++) {
      this.#pending.add(pages[i]!);
      this.watcher?.add(pages[i]!);
    }
    this.#dirty.checkpoint();
  }

  /** From now on these pages count as stored to after each `collect`, and no others. */
  keep(pages: readonly number[]): void {
    this.#dirty.keep(pages);
  }

  /** The page was given other contents, unannounced. */
  changed(page: number): void {
    this.#pending.add(page);
  }

  /** Of a table that is up to date. */
  isZero(page: number): boolean {
    return this.#table[page] === 0n;
  }

  /** Of a table that is up to date. */
  pagesNotZero(): number[] {
    const pages: number[] = [];
    for (let page = 0; page < this.#table.length; page++) if (this.#table[page] !== 0n) pages.push(page);
    return pages;
  }

  /**
   * Numbers of the pages that may have been stored to since the last `sum`, while stores are
   * tracked; a view.
   */
  get dirtyPages(): Int32Array {
    return this.#dirty.pages;
  }

  /** From now on stores are tracked, and `sum` costs what they touched. */
  track(): void {
    if (this.#dirty.isTracking) return;
    this.#code.range(0, this.#pages);
    this.#dirty.track();
  }

  /** The same for RAM to which nobody has stored yet. */
  trackNew(): void {
    this.#dirty.trackNew();
  }

  /** Sets all of RAM to zero. */
  clearRam(): void {
    this.#ram.data.fill(0);
    if (!this.#dirty.isTracking) return;
    this.#table.fill(0n);
    this.#sum.fill(0);
    this.#pending.clear();
    this.#dirty.track();
  }

  /** The hash of a page as of now, whether it was stored to or not. */
  pageHash(page: number): bigint {
    return BigInt.asUintN(64, this.#code.page(this.#ram.hostBase + page * PAGE, BigInt(page)));
  }

  get #pages(): number {
    return this.#ram.bytes / PAGE;
  }

  get #code(): Exports {
    this.#wasm ??= compile(this.#ram, this.#base);
    return this.#wasm;
  }
}

function compile({ memory, hostBase }: Ram, base: number): Exports {
  const m = new ModuleBuilder();
  m.importMemory('env', 'memory', { min: 1 });
  const page = addPage(m);
  const update = addUpdate(m, page, hostBase, base);
  const range = m.func([I32, I32], [], 'range');
  {
    const { code: c } = range;
    const [first, end] = range.params;
    const done = c.block();
    const next = c.loop();
    c.local_get(first).local_get(end).i32_ge_u().br_if(done);
    c.local_get(first).call(update.index);
    c.local_get(first).i32_const(1).i32_add().local_set(first);
    c.br(next).end().end();
  }
  for (const [name, { index }] of Object.entries({ page, update, range })) m.export(name, 'func', index);
  const module = new WebAssembly.Module(m.finish());
  return new WebAssembly.Instance(module, { env: { memory } }).exports as unknown as Exports;
}

/** (page: i32): brings its entry of the table and the sum up to date. */
function addUpdate(m: ModuleBuilder, page: FunctionHandle, hostBase: number, base: number): FunctionHandle {
  const f = m.func([I32], [], 'update');
  const { code: c } = f;
  const [number] = f.params;
  const [hash, old, entry] = [c.local(I64), c.local(I64), c.local(I32)];
  c.local_get(number).i32_const(12).i32_shl().i32_const(hostBase).i32_add();
  c.local_get(number).i64_extend_i32_u().call(page.index).local_set(hash);
  c.local_get(number).i32_const(3).i32_shl().local_tee(entry);
  c.i64_load(base + HEAD)
    .local_tee(old)
    .local_get(hash)
    .i64_ne()
    .if_();
  c.local_get(entry)
    .local_get(hash)
    .i64_store(base + HEAD);
  c.i32_const(0).i32_const(0).i64_load(base).local_get(hash).i64_add().local_get(old).i64_sub();
  c.i64_store(base).end();
  c.release(hash, old, entry);
  return f;
}

/** (host address: i32, seed: i64) -> XXH64 of the page, 0 if all of it is zero. */
function addPage(m: ModuleBuilder): FunctionHandle {
  const f = m.func([I32, I64], [I64], 'page');
  const { code: c } = f;
  const [at, seed] = f.params;
  const lanes = [0, 1, 2, 3].map(() => c.local(I64));
  const [word, end] = [c.local(I64), c.local(I32)];
  zeroPage(c, at, word, end);
  c.local_get(word).i64_eqz().if_();
  c.i64_const(0).return_().end();
  const starts = [P1 + P2, P2, 0n, -P1];
  for (const [i, lane] of lanes.entries())
    c.local_get(seed).i64_const(signed(starts[i]!)).i64_add().local_set(lane);
  c.local_get(at).i32_const(PAGE).i32_add().local_set(end);
  const next = c.loop();
  for (const [i, lane] of lanes.entries()) {
    c.local_get(at)
      .i64_load(8 * i)
      .local_set(word);
    c.local_get(lane);
    round(c, word);
    c.local_set(lane);
  }
  c.local_get(at).i32_const(32).i32_add().local_tee(at).local_get(end).i32_lt_u().br_if(next).end();
  const hash = c.local(I64);
  for (const [i, turn] of [1, 7, 12, 18].entries()) {
    c.local_get(lanes[i]!).i64_const(turn).i64_rotl();
    if (i > 0) c.i64_add();
  }
  c.local_set(hash);
  for (const lane of lanes) {
    c.local_get(hash).i64_const(0);
    round(c, lane);
    c.i64_xor().i64_const(signed(P1)).i64_mul().i64_const(signed(P4)).i64_add().local_set(hash);
  }
  c.local_get(hash).i64_const(PAGE).i64_add().local_set(hash);
  for (const [shift, prime] of [
    [33, P2],
    [29, P3],
  ] as const) {
    c.local_get(hash).local_get(hash).i64_const(shift).i64_shr_u().i64_xor();
    c.i64_const(signed(prime)).i64_mul().local_set(hash);
  }
  c.local_get(hash).local_get(hash).i64_const(32).i64_shr_u().i64_xor().local_set(hash);
  // 0 says that a page is zero.
  c.local_get(hash).local_get(hash).i64_eqz().i64_extend_i32_u().i64_add();
  c.release(...lanes, word, hash, end);
  return f;
}

/** Sets `word` to 0 if all of the page at `at` is zero; most pages are, or begin otherwise. */
function zeroPage(c: CodeWriter, at: Local<I32>, word: Local<I64>, end: Local<I32>): void {
  c.local_get(at).local_set(end);
  const next = c.loop();
  c.i64_const(0);
  for (let i = 0; i < 8; i++)
    c.local_get(end)
      .i64_load(8 * i)
      .i64_or();
  c.local_tee(word).i64_eqz().if_();
  c.local_get(end).i32_const(64).i32_add().local_tee(end);
  c.i32_const(PAGE - 1)
    .i32_and()
    .br_if(next)
    .end()
    .end();
}

/** The accumulator on the stack takes a word in. */
function round(c: CodeWriter, word: Local<I64>): void {
  c.local_get(word).i64_const(signed(P2)).i64_mul().i64_add();
  c.i64_const(31).i64_rotl().i64_const(signed(P1)).i64_mul();
}
