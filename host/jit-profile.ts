// Profiles of earlier runs, kept in the cache, one for each kernel: which code was hot, and which
// of its paths control took. A page of code is known by its virtual address and a hash of its
// contents, so a profile also fits other programs, and a kernel of which a part was changed.
//
// A file is one line, then a record of fixed length for each page: the number of the virtual page
// (f64), the hash of its contents (u32), its age (u32), and for each half-word a bit that is set if
// it was an entry point, then one that is set if it was reached. Whatever a file holds, it says
// only what to compile early.
import { dirname, join } from 'node:path';
import { type CodePage, hasBit, type JitProfile, type PageProfile, popcount } from '../emulator/index.ts';
import { cacheDir, keepNewest, markUsed, writeWhole } from '../toolchain/index.ts';
import { readIfThere } from './input.ts';

const HEAD = 'kcovbox profile 2\n';
const PAGE_HALF_WORDS = 2048;
const BITMAP = PAGE_HALF_WORDS / 8;
const RECORD = 16 + 2 * BITMAP;
/** Pages of a profile: those that were hot last. */
const PAGES_MAX = 1024;
/** Pages of a run: a guest that generates code has any number. */
const FOUND_MAX = 4 * PAGES_MAX;
const AGE_MAX = 0xffff_ffff;
/** Profiles that the cache keeps: the ones that were used last. */
const KEPT = 16;
/** A run that has found so many new entry points hot writes the file again. */
const NEWS = 8;
/**
 * One in so many bytes of a kernel decides the name of its profile, and one in so many words of a
 * page its hash: a page is hashed for each region. A kernel that patches a word or two of a page
 * finds it again, mostly.
 */
const SAMPLED = { bytes: 61, words: 5 } as const;

interface KnownPage extends PageProfile {
  readonly vpn: number;
  readonly hash: number;
  /** Times that the file was written since it was hot. */
  readonly age: number;
}

/** A page of this run. */
interface FoundPage extends PageProfile {
  readonly vpn: number;
  readonly hash: number;
  readonly page: CodePage;
}

/** FNV-1a over one in `step` elements; it names contents, and protects nothing. */
function hashOf(elements: Int32Array | Uint8Array, step: number): number {
  let hash = elements.length;
  for (let i = 0; i < elements.length; i += step) hash = Math.imul(hash ^ elements[i]!, 0x0100_0193);
  return hash >>> 0;
}

const hashOfPage = (contents: Int32Array): number => hashOf(contents, SAMPLED.words);
const halfWordOf = (va: bigint): number => Number(va & 0xfffn) >> 1;
const vpnOf = (va: bigint): number => Number(BigInt.asUintN(64, va) >> 12n);
const keyOf = ({ vpn, hash }: Pick<KnownPage, 'vpn' | 'hash'>): string => `${vpn} ${hash}`;
const union = (a: Uint8Array, b: Uint8Array): Uint8Array => a.map((byte, i) => byte | b[i]!);

/** The pages of a file; none of anything else. */
function read(path: string): KnownPage[] {
  const file = readIfThere(path, HEAD.length + PAGES_MAX * RECORD);
  if (!file) return [];
  const count = (file.length - HEAD.length) / RECORD;
  if (!Number.isInteger(count) || file.toString('latin1', 0, HEAD.length) !== HEAD) return [];
  markUsed(path);
  return Array.from({ length: count }, (_, i) => {
    const record = file.subarray(HEAD.length + i * RECORD, HEAD.length + (i + 1) * RECORD);
    return {
      vpn: record.readDoubleLE(0),
      hash: record.readUInt32LE(8),
      age: record.readUInt32LE(12),
      hot: record.subarray(16, 16 + BITMAP),
      reached: record.subarray(16 + BITMAP),
    };
  });
}

function recordOf({ vpn, hash, age, hot, reached }: KnownPage): Buffer {
  const head = Buffer.alloc(16);
  head.writeDoubleLE(vpn, 0);
  head.writeUInt32LE(hash, 8);
  head.writeUInt32LE(age, 12);
  return Buffer.concat([head, hot, reached]);
}

/** The profile of a kernel. Its file is read when the JIT first asks; a short run never does. */
export class KeptProfile implements JitProfile {
  readonly #kernel: Uint8Array;
  #read: Map<number, KnownPage[]> | undefined;
  /** Of this run, by vpn and hash. */
  readonly #found = new Map<string, FoundPage>();

  /** `kernel`: the image. Without a cache the profile is empty. */
  constructor(kernel: Uint8Array) {
    this.#kernel = kernel;
  }

  get #path(): string | undefined {
    const name = `profile-${hashOf(this.#kernel, SAMPLED.bytes).toString(16).padStart(8, '0')}`;
    try {
      return join(cacheDir(), 'profile', name);
    } catch {
      return undefined; // there is no cache
    }
  }

  mayBeHot(va: bigint): boolean {
    return this.#pages.get(vpnOf(va))?.some(({ hot }) => hasBit(hot, halfWordOf(va))) ?? false;
  }

  pageAt(va: bigint, contents: Int32Array): PageProfile | undefined {
    const vpn = vpnOf(va);
    return this.#pages.has(vpn) ? this.#known(vpn, hashOfPage(contents)) : undefined;
  }

  get #pages(): Map<number, KnownPage[]> {
    if (this.#read) return this.#read;
    this.#read = new Map();
    const path = this.#path;
    for (const page of path === undefined ? [] : read(path)) {
      const pages = this.#read.get(page.vpn);
      if (pages) pages.push(page);
      else this.#read.set(page.vpn, [page]);
    }
    return this.#read;
  }

  compiled(page: CodePage, entries: readonly bigint[]): void {
    const found = this.#find(page);
    if (!found) return;
    addReached(found.reached, page);
    for (const va of entries) {
      const halfWord = halfWordOf(va);
      found.hot[halfWord >> 3]! |= 1 << (halfWord & 7);
    }
  }

  /** The page of this run with these contents. */
  #find(page: CodePage): FoundPage | undefined {
    const key = { vpn: vpnOf(page.va), hash: hashOfPage(page.contents) };
    const name = keyOf(key);
    let found = this.#found.get(name);
    if (!found && this.#found.size < FOUND_MAX) {
      found = { ...key, page, hot: new Uint8Array(BITMAP), reached: new Uint8Array(BITMAP) };
      this.#found.set(name, found);
    }
    return found;
  }

  /** Writes the file, if much of what this run has compiled was not known. */
  keep(): void {
    let news = 0;
    for (const { vpn, hash, hot } of this.#found.values()) {
      const known = this.#known(vpn, hash);
      for (const [i, byte] of hot.entries()) news += popcount(byte & ~(known?.hot[i] ?? 0));
    }
    const path = news < NEWS ? undefined : this.#path;
    if (path === undefined) return;
    const found = [...this.#found.values()].map(({ page, vpn, hash, hot, reached }): KnownPage => {
      if (hashOfPage(page.contents) === hash) addReached(reached, page); // it is still there
      const known = this.#known(vpn, hash);
      if (!known) return { vpn, hash, age: 0, hot, reached };
      return { vpn, hash, age: 0, hot: union(hot, known.hot), reached: union(reached, known.reached) };
    });
    const others = [...this.#pages.values()].flat().filter(page => !this.#found.has(keyOf(page)));
    const all = [...found, ...others.map(page => ({ ...page, age: Math.min(page.age + 1, AGE_MAX) }))];
    all.sort((a, b) => a.age - b.age);
    try {
      writeWhole(path, Buffer.concat([Buffer.from(HEAD), ...all.slice(0, PAGES_MAX).map(recordOf)]));
      keepNewest(dirname(path), /^profile-[0-9a-f]{8}$/, KEPT);
    } catch {} // the next run learns it again
  }

  #known(vpn: number, hash: number): KnownPage | undefined {
    return this.#pages.get(vpn)?.find(page => page.hash === hash);
  }
}

function addReached(reached: Uint8Array, page: CodePage): void {
  for (let i = 0; i < PAGE_HALF_WORDS; i++) if (page.wasReached(2 * i)) reached[i >> 3]! |= 1 << (i & 7);
}
