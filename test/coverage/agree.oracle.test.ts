/**
 * All formats of one trace state the same facts. Random traces of the fixture program, from several
 * tests, with lost records, unique modes and recording that begins anywhere; each export is read
 * back from its bytes. KCOVBOX_SEED (hexadecimal) repeats a run.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { contextOf } from '../../coverage/html/groups.ts';
import type { IndexFile, PageFile, PageFunction, PageIndex } from '../../coverage/html/page.ts';
import {
  CallSites,
  Coverage,
  type Elf,
  type ExportOptions,
  exportTrace,
  type Format,
  filterTrace,
  functionReport,
  KINDS,
  pcOf,
  type Trace,
  TraceBuilder,
  treeReport,
} from '../../coverage/index.ts';
import { Random } from '../support/random.ts';
import { fixture, missing, textOf } from './support.ts';

const reason = missing('agreement of exports', 'clang-19', 'ld.lld-19');
const seed = Number.parseInt(process.env['KCOVBOX_SEED'] ?? '', 16) || Date.now() >>> 0;
const TRACES = 60;

interface Share {
  covered: number;
  total: number;
}
interface Totals {
  lines: Share & { partly: number; unknown: number };
  functions: Share & { unknown: number };
  points: Share;
}
interface Json {
  totals: Totals;
  files: {
    path: string;
    totals: Totals;
    lines: { line: number; state: string; hits: number | null; atLeast?: true }[];
    functions: { name: string; line: number; hits: number; atLeast?: true; points: Share }[];
  }[];
  points: { pc: string; call: string; hits: number }[];
  tests: { name: string }[];
}

const STATES = ['covered', 'partly', 'uncovered', 'unknown'];
const isKnown = ({ hits, atLeast }: { hits: number; atLeast?: true }): boolean => hits > 0 || !atLeast;
const ran = (state: string): boolean => state === 'covered' || state === 'partly';

/** Records at random places: what a guest could write, not only what a run would. */
function randomTrace(random: Random, elf: Elf, sites: CallSites): Trace {
  const kinds = random.pick(['pc', 'pc', 'pc', 'cmp', 'both']);
  const pcs = (isPc: boolean): bigint[] =>
    Array.from(sites.ret.keys())
      .filter(site => (sites.hook[site] === 0) === isPc)
      .map(site => pcOf(sites.ret[site]!));
  const [ofPc, ofCmp] = [pcs(true), pcs(false)].map(all => all.filter(() => !random.oneIn(3)));
  const builder = new TraceBuilder({
    dialect: 'linux',
    image: elf.imageId,
    ...(random.oneIn(2) && { flow: 'known' as const }),
  });
  const tests = 1 + random.below(3);
  for (let test = 0; test < tests; test++) {
    const unique = random.oneIn(4);
    const source = builder.source({ test: `test${test}`, thread: test, ...(unique && { unique }) });
    for (let n = random.below(40); n > 0; n--) {
      if (kinds !== 'cmp' && ofPc!.length > 0) builder.pc(source, random.pick(ofPc!));
      if (kinds !== 'pc' && ofCmp!.length > 0)
        builder.cmp(source, random.below(8), random.u64(), random.u64(), random.pick(ofCmp!));
    }
    if (random.oneIn(4)) builder.lost(source, 1 + random.below(3));
    for (const [kind, list] of [
      ['pc', ofPc!],
      ['cmp', ofCmp!],
    ] as const) {
      if (list.length === 0 || (kinds !== kind && kinds !== 'both')) continue;
      for (let n = random.oneIn(2) ? random.below(9) : 0; n > 0; n--)
        builder.lost(source, 1 + random.below(3), { kind, pc: random.pick(list) });
    }
  }
  return builder.finish();
}

const csvRows = (text: string): string[][] =>
  text
    .trimEnd()
    .split('\n')
    .slice(1)
    .map(row => row.split(','));

/** Hits by key, summed over the sections of the tests. */
function lcovFacts(text: string): { lines: Map<string, number>; functions: Map<string, number> } {
  const [lines, functions] = [new Map<string, number>(), new Map<string, number>()];
  let file = '';
  for (const row of text.split('\n')) {
    const [, key, first = '', second = ''] = /^(SF|DA|FNDA):([^,]*)(?:,(.*))?$/.exec(row) ?? [];
    if (key === 'SF') file = first;
    const [into, name, hits] =
      key === 'DA' ? [lines, first, Number(second)] : [functions, second, Number(first)];
    if (key === 'DA' || key === 'FNDA')
      into.set(`${file}:${name}`, (into.get(`${file}:${name}`) ?? 0) + hits);
  }
  return { lines, functions };
}

function coberturaFacts(text: string): { lines: Map<string, number>; functions: [string, number][] } {
  const lines = new Map<string, number>();
  const functions: [string, number][] = [];
  let file = '';
  for (const row of text.split('\n')) {
    const attribute = (name: string) => new RegExp(` ${name}="([^"]*)"`).exec(row)?.[1] ?? '';
    if (row.includes('<class ')) file = attribute('filename');
    else if (row.includes('<method '))
      functions.push([`${file}:${attribute('name')}`, Number(attribute('hits'))]);
    else if (row.includes('<line ')) lines.set(`${file}:${attribute('number')}`, Number(attribute('hits')));
  }
  return { lines, functions };
}

function htmlFacts(text: string): { index: PageIndex; files: PageFile[]; functions: PageFunction[][] } {
  const inside = (id: string): string =>
    new RegExp(`<script type="application/json" id="${id}">([^]*?)</script>`).exec(text)![1]!;
  const files = inside('files').trimEnd().split('\n').filter(Boolean);
  return {
    index: JSON.parse(inside('index')),
    files: files.map(row => JSON.parse(row)),
    functions: JSON.parse(inside('functions')),
  };
}

const rowOf = ({ lines, functions, points }: Totals): number[] => [
  ...[lines.covered, lines.partly, lines.total, functions.covered, functions.total],
  ...[points.covered, points.total],
];

const rowWithUnknown = (totals: Totals): number[] => [
  ...rowOf(totals),
  ...[totals.lines.unknown, totals.functions.unknown],
];

/** The numbers of a file on the page for one group; one without a row reached nothing of it. */
function groupRow({ t, x, g }: IndexFile, group: number): number[] {
  const row = g?.find(([number]) => number === group);
  const [, , lines, , functions, , points] = t;
  if (!row) return [0, 0, lines + x[0], 0, functions + x[1], 0, points, 0, 0];
  const [, ...rest] = row;
  return [...rest.slice(0, 6), points, ...rest.slice(6)];
}

describe.skipIf(reason)(`formats agree (KCOVBOX_SEED=0x${seed.toString(16)})`, () => {
  let elf: Elf;
  let sites: CallSites;
  beforeAll(() => {
    elf = fixture();
    sites = new CallSites(elf);
  });

  it.each(Array.from({ length: TRACES }, (_, i) => i))('trace %i', i => {
    const trace = randomTrace(new Random(seed + i), elf, sites);
    const text = (format: Format, options: ExportOptions = {}) =>
      textOf(exportTrace(format, trace, elf, options));
    const json = JSON.parse(text('json')) as Json;
    const files = json.files.filter(({ path }) => path !== '');
    const hasPcs = trace.pointKind.includes(0);
    const isCmp = !hasPcs && trace.pointKind.includes(1);

    // The parts of the JSON make its totals.
    for (const { totals, lines, functions } of json.files) {
      const count = (wanted: (state: string) => boolean) => lines.filter(({ state }) => wanted(state)).length;
      expect(totals.lines).toMatchObject(
        isCmp
          ? { covered: 0, total: 0, partly: 0, unknown: lines.length }
          : {
              covered: count(ran),
              partly: count(state => state === 'partly'),
              total: count(state => state !== 'unknown'),
              unknown: count(state => state === 'unknown'),
            },
      );
      for (const { hits, points } of functions) expect(hits > 0).toBe(points.covered > 0);
      expect(totals.functions).toMatchObject({
        covered: functions.filter(({ hits }) => hits > 0).length,
        total: functions.filter(isKnown).length,
        unknown: functions.filter(fn => !isKnown(fn)).length,
      });
      for (const { state, hits } of lines) if (hits !== null) expect(hits > 0).toBe(ran(state));
    }
    const reached = json.points.filter(({ hits }) => hits > 0).map(({ call }) => call);
    expect(json.totals.points).toMatchObject({ covered: reached.length, total: json.points.length });

    const lineHits = new Map<string, number>();
    for (const { path, lines } of isCmp ? [] : files)
      for (const { line, state, hits } of lines)
        if (state !== 'unknown') lineHits.set(`${path}:${line}`, ran(state) ? (hits ?? 1) : 0);
    const callsIf = (wanted: typeof isKnown) =>
      files.flatMap(({ path, functions }) =>
        functions.filter(wanted).map(({ name, hits }): [string, number] => [`${path}:${name}`, hits]),
      );
    const calls = callsIf(isKnown);

    const lcov = lcovFacts(text('lcov'));
    const isAtAll = (rows: Iterable<[string, number]>) =>
      Object.fromEntries([...rows].map(([key, hits]) => [key, hits > 0]));
    expect(isAtAll(lcov.lines)).toEqual(isAtAll(lineHits));
    expect(isAtAll(lcov.functions)).toEqual(isAtAll(calls));
    if (json.tests.length <= 1) {
      expect(lcov.lines).toEqual(lineHits);
      expect(lcov.functions).toEqual(new Map(calls));
    }

    const xml = coberturaFacts(text('cobertura'));
    expect(xml.lines).toEqual(lineHits);
    expect(Object.fromEntries(xml.functions)).toEqual(Object.fromEntries(calls));

    const html = htmlFacts(text('html'));
    expect(html.files.map(({ l }) => l.map(([line, state, hits]) => [line, STATES[state], hits]))).toEqual(
      files.map(({ lines }) => lines.map(({ line, state, hits }) => [line, state, hits ?? -1])),
    );
    expect(html.functions.flat().map(([name, , , covered, total]) => [name, covered, total])).toEqual(
      files.flatMap(file => file.functions.map(fn => [fn.name, fn.points.covered, fn.points.total])),
    );
    expect([html.index.totals, html.index.unknown]).toEqual([
      rowOf(json.totals),
      [json.totals.lines.unknown, json.totals.functions.unknown],
    ]);
    expect(html.index.files.map(({ t }) => t)).toEqual(files.map(({ totals }) => rowOf(totals)));
    expect(html.index.files.map(({ x }) => x)).toEqual(
      files.map(({ totals }) => [totals.lines.unknown, totals.functions.unknown]),
    );
    expect(html.functions.flat().map(([, , hits, , , isLeast]) => [hits, isLeast === 1])).toEqual(
      files.flatMap(({ functions }) =>
        functions.map(({ hits, atLeast }) => [hits > 0 && !html.index.counts ? -1 : hits, atLeast === true]),
      ),
    );
    const coverage = Coverage.of(trace, elf);
    for (const [group, { kind, name, hasShare }] of html.index.groups.entries()) {
      const part = new Coverage(
        filterTrace(trace, {
          source: source => (kind === 'test' ? source.test : contextOf(source)) === name,
        }),
        coverage.program,
      );
      expect(hasShare).toBe(part.hasShare);
      for (const [i, file] of part.program.files.filter(({ path }) => path !== '').entries())
        expect(groupRow(html.index.files[i]!, group), file.path).toEqual(
          rowWithUnknown(part.fileTotals(file)),
        );
    }

    const tree = [...treeReport(coverage)];
    const shareIn = (name: string) => tree.find(row => row.startsWith(`  ${name} `))!.match(/(\d+)\/(\d+)/)!;
    if (coverage.hasShare)
      expect(shareIn('functions').slice(1).map(Number)).toEqual(rowOf(json.totals).slice(3, 5));
    expect(
      shareIn(isCmp ? 'compares' : 'points')
        .slice(1)
        .map(Number),
    ).toEqual(rowOf(json.totals).slice(5));
    if (coverage.hasShare && !isCmp)
      expect(shareIn('lines').slice(1).map(Number)).toEqual([
        json.totals.lines.covered,
        json.totals.lines.total,
      ]);
    const rows = [...functionReport(coverage)]
      .map(row => /(\d+)\/(\d+) +(?:>=)?(\d+) {2}(\S*) (.*):\d+$/.exec(row))
      .filter(row => row !== null);
    expect(rows.map(row => [`${row[5]}:${row[4]}`, ...row.slice(1, 4).map(Number)])).toEqual(
      json.files.flatMap(({ path, functions }) =>
        functions.map(fn => [`${path}:${fn.name}`, fn.points.covered, fn.points.total, fn.hits]),
      ),
    );

    expect(
      csvRows(text('csv', { table: 'files' })).map(([, ...row]) => [row[0], ...row.slice(1, 6).map(Number)]),
    ).toEqual(
      json.files.map(({ path, totals }) => {
        const { lines, functions, points } = totals;
        return [path, lines.covered, lines.total, points.covered, points.total, functions.total];
      }),
    );
    expect(
      csvRows(text('csv', { table: 'functions' })).map(row => [
        row[1],
        row[2],
        Number(row[3]),
        Number(row[4]),
      ]),
    ).toEqual(
      json.files.flatMap(({ path, functions }) =>
        functions.map(fn => [path, fn.name, fn.points.covered, fn.points.total]),
      ),
    );
    const distinct = (list: readonly string[]) => [...new Set(list)];
    expect(distinct(csvRows(text('csv', { table: 'pcs' })).map(([pc]) => pc!))).toEqual(reached);
    const records = csvRows(text('csv')).filter(row => row[1] === (isCmp ? 'cmp' : 'pc'));
    const lost = new Map<string, number>();
    for (const { kind, pc, count } of trace.missed)
      if (KINDS[kind] === (isCmp ? 'cmp' : 'pc'))
        lost.set(`0x${pc.toString(16)}`, (lost.get(`0x${pc.toString(16)}`) ?? 0) + count);
    for (const { pc, call, hits } of json.points)
      expect(
        records.filter(row => row[3] === call),
        call,
      ).toHaveLength(hits - (lost.get(pc) ?? 0));

    const jsonl = text('jsonl')
      .trimEnd()
      .split('\n')
      .map(row => JSON.parse(row.replace(/"pc":(\d+)/, '"pc":"0x$1"')));
    const hex = (pc: string) => `0x${BigInt(pc.slice(2)).toString(16)}`;
    expect(distinct(jsonl.filter(row => row.hit_count > 0).map(row => hex(row.pc)))).toEqual(reached);
    const drcov = Buffer.from(text('drcov'), 'latin1');
    expect(Number(/BB Table: (\d+) bbs/.exec(drcov.toString('latin1'))![1])).toBe(reached.length);
    if (hasPcs) {
      expect(text('rawcover').split('\n').slice(0, -1)).toEqual(reached);
      expect(text('modoff').split('\n').slice(0, -1)).toHaveLength(reached.length);
    }
  });
});
