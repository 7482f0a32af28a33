// Sequences of steps that random ones seldom make.

import { decode, encode } from '../../../emulator/isa/index.ts';
import { rowNamed } from '../../../emulator/isa/table.ts';
import type { Random } from '../random.ts';
import { ENTRY_INSN, plain } from './code.ts';
import {
  DATA,
  DATA_PAGES,
  HIGH,
  LEVEL0,
  LEVEL1,
  PAGE,
  POINTERS,
  ROOTS,
  SNIPPET_AT,
  VALUES,
  WINDOW,
} from './layout.ts';
import type { Action } from './step.ts';

/** A snippet that executes a page table entry, and the page that this entry maps. */
export interface EntryCode {
  readonly snippet: number;
  readonly va: number;
}

export function entryCodes(snippets: readonly (readonly number[])[]): EntryCode[] {
  return snippets.flatMap((words, snippet) => {
    const at = words.indexOf(ENTRY_INSN);
    return at < 0 ? [] : [{ snippet, va: WINDOW + ((SNIPPET_AT[snippet]! - LEVEL0) / 8 + at / 2) * PAGE }];
  });
}

/** A page of the data, but not the one next to the tables. */
export const dataBase = (r: Random): number => DATA + (1 + r.below(DATA_PAGES - 1)) * PAGE;

const dataBases = (r: Random): number[] => POINTERS.map(() => dataBase(r) + 8 * r.below(300));

/** A snippet in M-mode, so often that it is compiled. */
const runInM = (r: Random, at: number, bases: readonly number[]): Action => ({
  kind: 'call',
  snippet: SNIPPET_AT.indexOf(at),
  at,
  mode: 3,
  mprv: -1,
  times: r.pick([60, 150]),
  bases,
  entry: DATA,
});

/** A snippet is compiled, one of its first instructions changes, and it runs again. */
export function codeChanges(r: Random): Action[] {
  const at = r.pick(SNIPPET_AT.filter(pa => pa < ROOTS));
  const bases = dataBases(r);
  const fence = r.oneIn(2) ? 'fence.i' : 'none';
  return [
    runInM(r, at, bases),
    { kind: 'store', at: at + 4 * r.below(3), words: [plain(r, false)], va: 0, fence },
    runInM(r, at, bases),
  ];
}

/**
 * A snippet is compiled, and the function that it calls; then it changes, so that it is compiled
 * again and linked to the function; then the function changes, and the snippet runs once more.
 */
export function calleeChanges(r: Random, snippets: readonly (readonly number[])[]): Action[] {
  const callers = snippets.flatMap((words, i) => {
    const at = words.findIndex(word => rowNamed(decode(word)!.name).flow !== 'next');
    const call = at > 0 ? decode(words[at]!)! : undefined;
    return call?.name === 'jal' ? [{ at: SNIPPET_AT[i]!, callee: SNIPPET_AT[i]! + 4 * at + call.imm }] : [];
  });
  if (callers.length === 0) return [];
  const { at, callee } = r.pick(callers);
  const bases = dataBases(r);
  const change = (pa: number): Action => ({
    kind: 'store',
    at: pa,
    words: [encode('addi', { rd: r.pick(VALUES), rs1: 0, imm: r.below(2048) })],
    va: 0,
    fence: 'fence.i',
  });
  return [runInM(r, at, bases), change(at), runInM(r, at, bases), change(callee), runInM(r, at, bases)];
}

/**
 * The store of a snippet that surely runs: the first instruction behind those that change no
 * pointer and do not jump. Its pointer and offset, or undefined.
 */
function firstStore(words: readonly number[]): { readonly rs1: number; readonly imm: number } | undefined {
  for (const word of words) {
    const insn = decode(word)!;
    const { mem, flow } = rowNamed(insn.name);
    if (mem.kind === 'store') return insn;
    if (flow !== 'next' || POINTERS.includes(insn.rd)) return undefined;
  }
  return undefined;
}

/**
 * Four calls in M-mode: a snippet that stores to data, one of HIGH, which holds no code before, the
 * first again, which now stores to the code of HIGH, and that.
 */
export function codeAppears(r: Random, snippets: readonly (readonly number[])[]): Action[] {
  const storing = SNIPPET_AT.filter((at, i) => at < ROOTS && firstStore(snippets[i]!) !== undefined);
  if (storing.length === 0) return [];
  const pa = r.pick(storing);
  const high = r.pick(SNIPPET_AT.filter(at => at >= HIGH));
  const { rs1, imm } = firstStore(snippets[SNIPPET_AT.indexOf(pa)]!)!;
  const run = (at: number, bases: readonly number[]) => runInM(r, at, bases);
  const data = dataBases(r);
  const code = data.map((base, i) => (POINTERS[i] === rs1 ? high + 8 * r.below(2) - imm : base));
  return [run(pa, data), run(high, data), run(pa, code), run(high, data)];
}

/** Instructions of a snippet that access memory. */
const accesses = (words: readonly number[]): number =>
  words.filter(word => rowNamed(decode(word)!.name).mem.kind !== 'none').length;

/**
 * A snippet accesses two pages in S-mode, so that the walk in WebAssembly keeps their table of
 * leaves; then the entry above leads to another such table, which maps the same addresses to other
 * pages, and the snippet runs again.
 */
export function leafTableChanges(r: Random, snippets: readonly (readonly number[])[]): Action[] {
  const candidates = SNIPPET_AT.filter(pa => pa < ROOTS).map(pa => SNIPPET_AT.indexOf(pa));
  const most = Math.max(...candidates.map(i => accesses(snippets[i]!)));
  const snippet = candidates.find(i => accesses(snippets[i]!) === most)!;
  const first = r.below(3);
  const pages = [first, first + 1 + r.below(2)];
  const write = (at: number, value: number): Action => ({
    kind: 'store',
    at,
    words: [value, 0],
    va: 0,
    fence: 'sfence',
  });
  /** Table `to` maps the pages of the window, from page `data` of the data on. */
  const map = (to: number, data: number): Action[] =>
    pages.map((page, i) => write(LEVEL0 + to * PAGE + 8 * page, ((DATA / PAGE + data + i) << 10) | 0xcf));
  const pointTo = (table: number): Action => write(LEVEL1, ((LEVEL0 / PAGE + table) << 10) | 1);
  const run: Action = {
    kind: 'call',
    snippet,
    at: SNIPPET_AT[snippet]!,
    mode: 1,
    mprv: -1,
    times: r.pick([2, 4]),
    bases: POINTERS.map((_, i) => WINDOW + pages[i % 2]! * PAGE + 512 + 8 * r.below(100)),
    entry: DATA,
  };
  return [
    ...map(0, 1),
    ...map(2, 4),
    { kind: 'satp', value: (8n << 60n) | BigInt(ROOTS / PAGE), isFenced: true },
    run,
    pointTo(2),
    run,
    pointTo(0),
  ];
}

/**
 * A snippet in a page table runs in S-mode until it stores through an entry, mostly its own: then
 * the walker sets D in an instruction of the loop that runs.
 */
export function walkerChangesCode(r: Random, codes: readonly EntryCode[]): Action[] {
  const { snippet, va } = r.pick(codes);
  const at = LEVEL0 + (va - WINDOW) / 512;
  return [
    { kind: 'satp', value: (8n << 60n) | BigInt(ROOTS / PAGE), isFenced: true },
    { kind: 'store', at, words: [ENTRY_INSN], va, fence: 'sfence-page' },
    {
      kind: 'call',
      snippet,
      at: SNIPPET_AT[snippet]!,
      mode: 1,
      mprv: -1,
      times: r.pick([20, 60, 150]),
      bases: dataBases(r),
      entry: r.oneIn(4) ? r.pick(codes).va : va,
    },
  ];
}

/** Snippets run in S-mode, on data of U that SUM lets them reach, until their loops end. */
export function statusChanges(r: Random): Action[] {
  const run = (): Action => {
    const at = r.pick(SNIPPET_AT.filter(pa => pa < ROOTS));
    return {
      kind: 'call',
      snippet: SNIPPET_AT.indexOf(at),
      at,
      mode: 1,
      mprv: -1,
      times: r.pick([20, 60]),
      bases: POINTERS.map(() => WINDOW + 0x20_0000 + (8 + r.below(16)) * PAGE + 8 * r.below(400)),
      entry: DATA,
    };
  };
  const tables: Action = { kind: 'satp', value: (8n << 60n) | BigInt(ROOTS / PAGE), isFenced: true };
  return [tables, ...Array.from({ length: 8 }, run)];
}
