/**
 * Only records of PCs prove that code did not run. Traces of comparisons, of edges, of several
 * modes, and traces that a filter emptied call no line "not run", and say so.
 */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import {
  Coverage,
  diffCoverage,
  Elf,
  exportTrace,
  filterTrace,
  hooksOfBoth,
  mergeTraces,
  Program,
  readTrace,
  type Trace,
  TraceBuilder,
  treeReport,
  writeTrace,
} from '../../coverage/index.ts';
import { buildFixture, bytesOf, fixtureTrace, missing, textOf } from './support.ts';

const reason = missing('kinds of records', 'clang-19', 'ld.lld-19');
const elf = reason ? undefined : new Elf(readFileSync(buildFixture()), 'fixture.elf');
const trace = elf ? fixtureTrace(elf) : undefined;

/** The lines of a coverage by state. */
function states(coverage: Coverage): Record<string, number> {
  const found: Record<string, number> = {};
  for (const { lines } of coverage.program.files)
    for (const code of lines.values()) {
      const { state } = coverage.line(code);
      found[state] = (found[state] ?? 0) + 1;
    }
  return found;
}

/** A trace of the fixture whose sources have no other records than those of `add`. */
function made(add: (builder: TraceBuilder, source: number) => void, unique = false): Trace {
  const builder = new TraceBuilder({ image: elf!.imageId, flow: 'known' });
  add(builder, builder.source({ test: 'made', process: 2, thread: 2, syscall: 3, call: 1, unique }));
  return builder.finish();
}

const comparisons = (): Trace => {
  const points = [...trace!.pointPc].filter((_, i) => trace!.pointKind[i] === 1);
  return made((builder, source) => {
    for (const pc of points) builder.cmp(source, 5, 1n, 2n, pc);
  });
};
const edges = (): Trace => made((builder, source) => builder.edge(source, 0x1234n));
const pcs = (): Trace => filterTrace(trace!, { source: ({ test }) => test === 'first test' });

it.skipIf(reason)('the trace of PCs has lines that did not run', () => {
  expect(states(Coverage.of(trace!, elf!)).uncovered).toBeGreaterThan(0);
});

it.skipIf(reason).each<[string, () => Trace]>([
  ['comparisons', comparisons],
  ['edges', edges],
  [
    'PCs of a UNIQ mode, then comparisons',
    () =>
      made((builder, source) => {
        builder.pc(source, trace!.pointPc[0]!);
        builder.cmp(source, 5, 1n, 2n, trace!.pointPc[0]!);
      }, true),
  ],
  [
    'PCs, then a mode that left no record',
    () =>
      made((builder, source) => {
        builder.pc(source, trace!.pointPc[0]!);
        builder.source({ test: 'made', process: 2, thread: 2, withoutPcs: true });
      }),
  ],
  [
    'PCs and comparisons',
    () => mergeTraces([pcs(), comparisons()].map((part, i) => ({ trace: part, name: `${i}` }))),
  ],
  ['PCs and edges', () => mergeTraces([pcs(), edges()].map((part, i) => ({ trace: part, name: `${i}` })))],
  ['a test without records', () => filterTrace(trace!, { source: () => false })],
  ['a place without records', () => filterTrace(trace!, { point: () => false })],
])('%s: no line is not run', (name, make) => {
  const stored = readTrace(bytesOf(writeTrace(make())));
  const coverage = Coverage.of(stored, elf!);
  expect(states(coverage).uncovered).toBeUndefined();
  expect(coverage.totals().lines).toMatchObject({ total: coverage.totals().lines.covered });
  expect(coverage.hasShare).toBe(false);
  expect([...treeReport(coverage)][1]).toMatch(
    /^ {2}lines {6}(\d+ surely ran; the trace does not|not recorded)/,
  );
  if (name === 'edges') {
    expect(() => exportTrace('json', stored, elf)).toThrow(/holds only edge records/);
    expect(() => hooksOfBoth(pcs(), stored)).toThrow(
      /^the second trace has only edge records, which have no/,
    );
    return;
  }
  expect(JSON.parse(textOf(exportTrace('json', stored, elf))).totals.lines.percent).toBeNull();
  const program = new Program(elf!, { hooks: hooksOfBoth(stored, stored) });
  expect(diffCoverage(new Coverage(stored, program), new Coverage(stored, program)).linesOnlyA).toEqual([]);
});

it.skipIf(reason)('UNIQ modes of PCs and edges together prove what did not run', () => {
  const both = made((builder, source) => {
    builder.pc(source, trace!.pointPc[0]!);
    builder.edge(source, 0x1234n);
  }, true);
  expect(states(Coverage.of(both, elf!)).uncovered).toBeGreaterThan(0);
});

it.skipIf(reason)('a trace that a filter emptied says that it is filtered', () => {
  const text = [...treeReport(Coverage.of(filterTrace(trace!, { source: () => false }), elf!))].join('\n');
  expect(text).toMatch(/^ {2}filtered: no record is left/m);
});
