// The effect of one hook on guest RAM: the record, the count in word 0, the seen-sets of the UNIQ
// modes and the count of lost records. kernel/opt/kcovguest/record.c is the same algorithm in C,
// step by step; tests compare their bytes. Rules of the buffer (all dialects): a pc record is 1
// word, a cmp record 4; a record that does not fit as a whole is dropped. *Divergence* from the
// real kernels: word 0 belongs to the user and may hold any value, so the count is compared with
// the capacity before it is multiplied. No value causes a write outside the buffer (see
// docs/kcov-dialects.md). 64-bit values travel as two unsigned halves: no BigInt on this path.

import type { RamPort } from '../emulator/bus/device.ts';
import { AREA_WORDS_MAX, CMP_WORDS, CTX, CTXF, ERR, HOOK, LIMIT, RECORD } from './kcov-layout.ts';
import { KcovFault, readAddress } from './kcov-ram.ts';
import { Steps, seenInsert } from './kcov-seen.ts';

/**
 * Receives every record, stored or lost, in order. `words` are halves of the record's words. `area`
 * is the address of its buffer and `index` its place there, -1 for a lost one. Both are passed
 * instead of read from RAM, because the record may have overwritten its own context.
 */
export interface RecordSink {
  record(context: number, edge: boolean, words: Uint32Array, area: number, index: number): void;
}

export class Recorder {
  /** Set while a listener outside the guest is registered. */
  sink: RecordSink | undefined;
  /** Records since the machine was created, stored and lost. */
  count = 0;
  readonly #ram: RamPort;
  /** Cases that the current hook has recorded. */
  #cases = 0;
  readonly #steps = new Steps();
  /** The current record, as halves of its words: type, arg1, arg2, pc; or only pc. */
  readonly #pc = new Uint32Array(2);
  readonly #cmp = new Uint32Array(2 * CMP_WORDS);

  constructor(ram: RamPort) {
    this.#ram = ram;
  }

  /** Cases and nodes that the last hook examined; reading resets it to 0. */
  takeWork(): number {
    const work = this.#cases + this.#steps.take();
    this.#cases = 0;
    return work;
  }

  /** The pc hook in a valid context. */
  pc(ctx: number, lo: number, hi: number): void {
    const mode = this.#ram.read32(ctx + CTX.MODE);
    if ((mode & RECORD.ANY_PC) === 0) return;
    const words = this.#pc;
    words[0] = lo;
    words[1] = hi;
    if (mode & RECORD.PC) {
      this.#append(ctx, CTX.AREA, words);
      return;
    }
    if (mode & RECORD.UNIQ_PC) this.#appendNew(ctx, CTX.SEEN, CTX.AREA, words);
    if (mode & RECORD.UNIQ_EDGE) this.#edge(ctx, lo, hi);
  }

  /** A comparison or switch hook; its operands are latched in the context. */
  cmp(ctx: number, kind: number, lo: number, hi: number, kvaOffset: bigint): void {
    const ram = this.#ram;
    if ((ram.read32(ctx + CTX.MODE) & RECORD.ANY_CMP) === 0) return;
    const rec = this.#cmp;
    rec[6] = lo;
    rec[7] = hi;
    if (kind === HOOK.SWITCH) {
      this.#switch(ctx, kvaOffset);
      return;
    }
    const isConst = kind >= HOOK.CONST_CMP1 ? 1 : 0;
    const log2 = kind - (isConst ? HOOK.CONST_CMP1 : HOOK.CMP1);
    rec[0] = (log2 << 1) | isConst;
    rec[1] = 0;
    // Operands narrower than a register: the compiler may have sign-extended them.
    const mask = log2 >= 2 ? 0xffff_ffff : (1 << (8 << log2)) - 1;
    rec[2] = ram.read32(ctx + CTX.ARG0) & mask;
    rec[3] = log2 === 3 ? ram.read32(ctx + CTX.ARG0 + 4) : 0;
    rec[4] = ram.read32(ctx + CTX.ARG1) & mask;
    rec[5] = log2 === 3 ? ram.read32(ctx + CTX.ARG1 + 4) : 0;
    this.#appendCmp(ctx);
  }

  /** One record per case; table: number of cases, width of the operand in bits, the cases. */
  #switch(ctx: number, kvaOffset: bigint): void {
    const ram = this.#ram;
    const rec = this.#cmp;
    const table = Number(BigInt.asUintN(64, ram.read64(ctx + CTX.ARG1) - kvaOffset));
    if (!ram.has(table, 16) || table % 8 !== 0) throw new KcovFault(ERR.SWITCH, table);
    const cases = readAddress(ram, table);
    const log2 = [8, 16, 32, 64].indexOf(readAddress(ram, table + 8));
    if (log2 < 0) return;
    if (!ram.has(table + 16, cases * 8)) throw new KcovFault(ERR.SWITCH, table);
    const freebsd = (ram.read32(ctx + CTX.FLAGS) & CTXF.SWITCH_FREEBSD) !== 0;
    const value = freebsd ? 2 : 4;
    const label = freebsd ? 4 : 2;
    rec[0] = freebsd ? log2 << 1 : (log2 << 1) | 1;
    rec[1] = 0;
    rec[value] = (ram.read32(ctx + CTX.ARG0) | (freebsd ? 1 : 0)) >>> 0;
    rec[value + 1] = ram.read32(ctx + CTX.ARG0 + 4);
    const recorded = Math.min(cases, LIMIT.SWITCH_CASES);
    for (let i = 0; i < recorded; i++) {
      this.#cases++;
      rec[label] = ram.read32(table + 16 + 8 * i);
      rec[label + 1] = ram.read32(table + 20 + 8 * i);
      // FreeBSD stops at the first case that does not fit; the other dialects try, and lose, each
      // of them.
      if (!this.#appendCmp(ctx) && freebsd) return;
    }
    if (cases > LIMIT.SWITCH_CASES) this.#limited(ctx, table);
  }

  #appendCmp(ctx: number): boolean {
    if (this.#ram.read32(ctx + CTX.MODE) & RECORD.CMP) return this.#append(ctx, CTX.AREA, this.#cmp);
    this.#appendNew(ctx, CTX.SEEN, CTX.AREA, this.#cmp);
    return true;
  }

  /** Edge = pc ^ mix(prev); only the low 12 bits of the previous pc take part. */
  #edge(ctx: number, lo: number, hi: number): void {
    const ram = this.#ram;
    const prev = ram.read32(ctx + CTX.PREV);
    ram.write32(ctx + CTX.PREV, lo);
    ram.write32(ctx + CTX.PREV + 4, hi);
    this.#pc[0] = (lo ^ (((prev & 0xfff) * 0x3eb) & 0xfff)) >>> 0;
    this.#pc[1] = hi;
    this.#appendNew(ctx, CTX.EDGE_SEEN, CTX.EDGE_AREA, this.#pc);
  }

  /**
   * Enters the record into the set first, so a record that does not fit is never reported again
   * (UNIQ series, seen-set rules).
   */
  #appendNew(ctx: number, seenField: number, areaField: number, words: Uint32Array): void {
    const seen = readAddress(this.#ram, ctx + seenField);
    const verdict = seenInsert(this.#ram, seen, words, this.#steps);
    if (verdict === 'new') this.#append(ctx, areaField, words);
    else if (verdict === 'full') this.#lost(ctx, areaField, words);
    else if (verdict === 'limit') this.#limited(ctx, seen);
  }

  /** Ends the hook: it has reached the limit of work for one store of the guest. */
  #limited(ctx: number, address: number): never {
    const flags = this.#ram.read32(ctx + CTX.FLAGS);
    this.#ram.write32(ctx + CTX.FLAGS, flags | CTXF.LIMITED);
    throw new KcovFault(ERR.LIMIT, address);
  }

  /** Appends to the buffer; false when it is full. */
  #append(ctx: number, areaField: number, words: Uint32Array): boolean {
    const ram = this.#ram;
    const area = readAddress(ram, ctx + areaField);
    const size = readAddress(ram, ctx + CTX.WORDS);
    if (area % 8 !== 0 || size === 0 || size > AREA_WORDS_MAX || !ram.has(area, size * 8)) {
      throw new KcovFault(ERR.AREA, area);
    }
    const length = words.length >>> 1;
    const capacity = Math.floor((size - 1) / length);
    const count = ram.read32(area);
    if (count >= capacity || ram.read32(area + 4) !== 0) {
      this.#lost(ctx, areaField, words);
      return false;
    }
    const at = area + 8 + 8 * length * count;
    ram.write32(area, count + 1);
    for (let i = 0; i < words.length; i++) ram.write32(at + 4 * i, words[i]!);
    this.count++;
    this.sink?.record(ctx, areaField === CTX.EDGE_AREA, words, area, count);
    return true;
  }

  #lost(ctx: number, areaField: number, words: Uint32Array): void {
    const ram = this.#ram;
    const lo = (ram.read32(ctx + CTX.LOST) + 1) >>> 0;
    ram.write32(ctx + CTX.LOST, lo);
    if (lo === 0) ram.write32(ctx + CTX.LOST + 4, (ram.read32(ctx + CTX.LOST + 4) + 1) >>> 0);
    this.count++;
    this.sink?.record(ctx, areaField === CTX.EDGE_AREA, words, readAddress(ram, ctx + areaField), -1);
  }
}
