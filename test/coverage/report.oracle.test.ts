/**
 * Reports on the fixture program: states of lines, totals, annotated source, difference,
 * explanation, call path.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  addrOf,
  annotateCoverage,
  annotatedText,
  CallSites,
  Coverage,
  callPaths,
  diffCoverage,
  diffReport,
  type Elf,
  explainPc,
  exportCoverage,
  filterTrace,
  functionReport,
  hex,
  keepPoint,
  Program,
  parsePcRange,
  type Trace,
  TraceBuilder,
  treeReport,
} from '../../coverage/index.ts';
import { FIXTURES, fixture, fixtureTrace, missing } from './support.ts';

const reason = missing('coverage reports', 'clang-19', 'ld.lld-19');
const readSource = (path: string) => readFileSync(join(FIXTURES, path), 'utf8');

describe.skipIf(reason)('reports', () => {
  let elf: Elf;
  let trace: Trace;
  let coverage: Coverage;

  beforeAll(() => {
    elf = fixture();
    trace = fixtureTrace(elf);
    coverage = Coverage.of(trace, elf);
  });

  const fileOf = (path: string) => coverage.program.files.find(file => file.path === path)!;
  const lineOf = (path: string, text: string) =>
    readSource(path)
      .split('\n')
      .findIndex(line => line.includes(text)) + 1;
  const stateOf = (path: string, text: string) => {
    const code = fileOf(path).lines.get(lineOf(path, text));
    return code && coverage.line(code).state;
  };

  it('denominators are the call sites of the pc hook, each in one file', () => {
    const sites = new CallSites(elf);
    const total = [...sites.hook].filter(hook => hook === 0).length;
    expect(coverage.totals().points.total).toBe(total);
    expect(coverage.program.files.reduce((sum, file) => sum + file.points.length, 0)).toBe(total);
    expect(coverage.totals().functions.total).toBe(6);
  });

  it('a line is covered, partly covered, uncovered or not instrumented', () => {
    expect(stateOf('main.c', 'int number = 0')).toBe('covered');
    expect(stateOf('lookup.c', 'switch (key)')).toBe('partly');
    expect(stateOf('lookup.c', 'return slow_path(key)')).toBe('uncovered');
    expect(stateOf('lookup.c', 'case 3:')).toBeUndefined();
  });

  it('code without a hook counts what others tell of it, and nothing is said without a proof', () => {
    const line = (of: Coverage, text: string) =>
      of.line(of.program.files.find(file => file.path === 'parse.c')!.lines.get(lineOf('parse.c', text))!);
    // The loop header has no hook: its two ways out have.
    expect(line(coverage, 'int digit')).toEqual({ state: 'covered', hits: 2, isLeast: false });
    expect(line(coverage, '*out = value')).toEqual({ state: 'uncovered', hits: 0, isLeast: false });
    const { flow: _, ...header } = trace.header;
    const unproven = Object.assign(Object.create(Object.getPrototypeOf(trace)), trace, { header });
    const weak = Coverage.of(unproven, elf);
    expect(line(weak, 'int digit')).toMatchObject({ state: 'covered', hits: undefined });
    expect(line(weak, '*out = value').state).toBe('unknown');
    expect([...annotateCoverage(weak, readSource)].join('')).not.toMatch(/ 0 - /);
  });

  it('the tree, the table of functions and the annotated source agree', () => {
    const tree = [...treeReport(coverage)].join('\n');
    const { lines, points } = coverage.totals();
    expect(tree).toContain(`${lines.covered}/${lines.total}`);
    expect(tree).toContain('openbsd, 11 records, 2 tests, 3 lost: the buffer was full');
    expect(
      [...functionReport(coverage)].some(row => /100\.00%\s+1\/1\s+1 {2}run_all main\.c:\d+/.test(row)),
    ).toBe(true);
    const text = annotatedText(Coverage.of(trace, elf), readSource);
    expect(text).toMatch(/\d+ +1 \+ {5}int number = 0;/);
    expect(text).toMatch(/\d+ +0 - {9}return slow_path\(key\);/);
    expect(text).toContain(`${points.covered}/${points.total}`);
    expect(text).not.toContain('slow_path  ');
    expect(annotatedText(Coverage.of(trace, elf), () => undefined)).toContain('parse.c  (source not found)');
  });

  it('diff tells what only B covered, by function and line', () => {
    const second = filterTrace(trace, { source: source => source.test === 'second' });
    const program = new Program(elf);
    const diff = diffCoverage(new Coverage(second, program), new Coverage(trace, program));
    expect(diff.points.onlyA).toBe(0);
    expect(diff.points.onlyB + diff.points.both).toBe(coverage.totals().points.covered);
    expect(diff.functions.map(fn => fn.name)).toEqual(['table_lookup', 'run_all', 'parse_number']);
    const text = [...diffReport(diff, 'a', 'b')].join('\n');
    expect(text).toMatch(/lines covered only by b \(\d+\):\n {2}lookup\.c:15-16/);
    expect([...diffReport(diffCoverage(coverage, coverage), 'a', 'b')][1]).toBe(
      'the two cover the same points',
    );
  });

  it('selection by file, function and address restricts denominators too', () => {
    const only = (selection: Parameters<typeof keepPoint>[0]) =>
      Coverage.of(trace, elf, { keep: keepPoint(selection) }).totals().points;
    expect(only({ files: ['parse.c'] })).toEqual(fileTotals('parse.c'));
    expect(only({ functions: '^run_all$' })).toEqual({ covered: 1, total: 1 });
    const all = coverage.totals().points;
    const { ret } = coverage.program.sites;
    expect(only({ pcs: [`${hex(ret[0]!)}-${hex(ret[ret.length - 1]! + 1)}`] })).toEqual(all);
    expect(only({ pcs: ['0x0-0xffffffffffffffff'] })).toEqual(all);
    expect(only({ pcs: [`0x1000-${hex(ret[0]!)}`] }).total).toBeLessThan(all.total);
    expect(() => parsePcRange('0x10-0x5')).toThrow('the range 0x10-0x5 is empty');
    expect(() => keepPoint({ functions: '(' })).toThrow('"(" is not a regular expression');
    expect(() => parsePcRange('12')).toThrow('"12" is not a range of addresses; write 0xLOW-0xHIGH');
  });
  const fileTotals = (path: string) => coverage.fileTotals(fileOf(path)).points;

  it('explains a PC', () => {
    const pc = trace.pointPc[0]!;
    const text = [
      ...explainPc(elf, addrOf(pc), { trace, disassemble: bytes => `${bytes.length} bytes` }),
    ].join('\n');
    expect(text).toContain('return address of the call of __sanitizer_cov_trace_pc');
    const call = addrOf(pc) - 4;
    expect([...explainPc(elf, call)][1]).toBe('  call of __sanitizer_cov_trace_pc');
    expect(text).toMatch(/run_all main\.c:\d+:\d+/);
    expect(text).toMatch(/=> 0xffffffff[0-9a-f]+ {2}4 bytes/);
    expect(text).toMatch(/covered 1 times, by\n +1 {2}first test, process 1 thread 1, system call 63/);
    expect([...explainPc(elf, 0x10)].join('\n')).toContain('no executable section there');
    // Above the image; the nearest symbol says nothing of it.
    const [above = ''] = explainPc(elf, 2 ** 40);
    expect(above).toMatch(/no symbol$/);
  });

  it('explains a PC whose records did not fit into a buffer', () => {
    const builder = new TraceBuilder({ image: elf.imageId });
    const [pc = 0n, lost = 0n] = trace.pointPc;
    builder.pc(builder.source({ test: 'a', thread: 1 }), pc);
    builder.lost(builder.source({ test: 'b', thread: 2 }), 3, { kind: 'pc', pc: lost });
    const text = [...explainPc(elf, addrOf(lost), { trace: builder.finish() })].join('\n');
    expect(text).toMatch(/covered 3 times, by\n +3 {2}b, process 0 thread 2, outside a system call$/);
  });

  it('rebuilds the call path: calls, returns and siblings', () => {
    const [first] = callPaths(coverage);
    const drawn = first!.nodes.filter(node => !node.inline);
    expect(drawn.map(({ name, depth, from, to }) => ({ name, depth, from, to }))).toEqual([
      { name: 'run_all', depth: 0, from: 0, to: 7 },
      { name: 'parse_number', depth: 1, from: 1, to: 5 },
      { name: 'table_lookup', depth: 1, from: 5, to: 7 },
    ]);
    const cut = callPaths(coverage, { limit: 2 })[0]!;
    expect([cut.isCut, cut.nodes.length]).toEqual([true, 2]);
  });

  it('a trace of comparisons alone is counted at the comparison hooks', () => {
    const only = Coverage.of(filterTrace(trace, { point: kind => kind === 'cmp' }), elf);
    expect(only.program.hooks).toBe('cmp');
    expect(only.totals().points.covered).toBe(2);
    // Lines with a comparison surely ran, but counted alone they would be 100 %.
    const { covered, total, unknown } = only.totals().lines;
    expect([covered, total, unknown > 0]).toEqual([0, 0, true]);
    expect([...treeReport(only)][1]).toBe('  lines      not recorded: the trace has comparisons only');
    const text = (format: 'lcov' | 'cobertura' | 'json') =>
      Buffer.concat([...exportCoverage(format, only)]).toString();
    expect(text('lcov')).not.toMatch(/^DA:|^L[FH]:[1-9]/m);
    expect(text('cobertura')).not.toMatch(/<classes>[\s\S]*<\/methods>\s*<lines>\s*<line /);
    expect(JSON.parse(text('json')).totals.lines).toMatchObject({ covered: 0, total: 0, percent: null });
    // Filtered records prove that lines ran, and nothing about others.
    const part = Coverage.of(filterTrace(trace, { point: (_, pc) => pc === trace.pointPc[0] }), elf);
    expect(part.hasShare).toBe(false);
    expect([...treeReport(part)][1]).toMatch(/^ {2}lines {6}\d+ surely ran; the trace does not show which/);
    const empty = new TraceBuilder({ dialect: 'linux' }).finish();
    expect(Coverage.of(empty, elf).totals().points.covered).toBe(0);
  });
});
