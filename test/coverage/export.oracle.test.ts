/** Every export, read by the tool that it is made for. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  Coverage,
  type Elf,
  type ExportOptions,
  exportCoverage,
  exportTrace,
  type Format,
  hex,
  keepPoint,
  pcOf,
  type Trace,
  TraceBuilder,
  writeTrace,
} from '../../coverage/index.ts';
import { kcovbox } from '../support/command.ts';
import { bytesOf, FIXTURES, fixture, fixtureTrace, missing, run, scratch, textOf } from './support.ts';

/** Formats that name places of the image. */
const OF_PLACES = ['lcov', 'rawcover', 'jsonl', 'drcov', 'modoff', 'json', 'cobertura'] as const;

const reason = missing('export oracle', 'clang-19', 'ld.lld-19');

describe.skipIf(reason)('exports', () => {
  let elf: Elf;
  let trace: Trace;
  let coverage: Coverage;
  const text = (format: Format, options: ExportOptions = {}) =>
    textOf(exportTrace(format, trace, elf, options));
  const file = (name: string, format: Format, options: ExportOptions = {}) => {
    const path = join(scratch(), name);
    writeFileSync(path, bytesOf(exportTrace(format, trace, elf, options)));
    return path;
  };

  beforeAll(() => {
    elf = fixture();
    trace = fixtureTrace(elf);
    coverage = Coverage.of(trace, elf);
  });

  it('give the same bytes twice', () => {
    for (const format of [
      'kcov',
      'rawcover',
      'jsonl',
      'lcov',
      'drcov',
      'cobertura',
      'json',
      'csv',
      'modoff',
    ] as const) {
      expect(bytesOf(exportTrace(format, fixtureTrace(elf), elf)), format).toEqual(
        bytesOf(exportTrace(format, trace, elf)),
      );
    }
  });

  it('raw: the area as the guest maps it', () => {
    const words = new BigUint64Array(bytesOf(exportTrace('raw', trace, undefined, { kind: 'pc' })).buffer);
    expect(words[0]).toBe(9n);
    expect([...words.subarray(1)]).toEqual(
      [...trace.records.subarray(0, 9)].map(point => trace.pointPc[point]),
    );
    const compares = new BigUint64Array(
      bytesOf(exportTrace('raw', trace, undefined, { kind: 'cmp' })).buffer,
    );
    expect([...compares.subarray(0, 4)]).toEqual([2n, 5n, 0x30n, 0x34n]);
    expect(compares.length).toBe(9);
    expect(() => [...exportTrace('raw', trace, undefined)]).toThrow(
      'the trace holds pc and cmp records; a raw area holds one kind',
    );
  });

  it('formats of records hold those of the selection alone', () => {
    const keep = keepPoint({ files: ['lookup.c'] });
    const selected = Coverage.of(trace, elf, { keep });
    const pcs = (coverage: Coverage) =>
      Number(Buffer.from(bytesOf(exportCoverage('raw', coverage, { kind: 'pc' }))).readBigUInt64LE());
    expect([pcs(selected), pcs(coverage)]).toEqual([2, 9]);
    expect(textOf(exportTrace('rawcover', trace, elf, { keep })).split('\n')).toHaveLength(3);
    expect(textOf(exportCoverage('csv', selected)).split('\n')).toHaveLength(4);
  });

  it('rawcover: call addresses, one a line, unique and sorted or as recorded', () => {
    const lines = text('rawcover').trimEnd().split('\n');
    expect(lines.every(line => /^0x[0-9a-f]+$/.test(line))).toBe(true);
    expect(lines).toEqual([...new Set(lines)].sort());
    const ordered = text('rawcover', { inOrder: true }).trimEnd().split('\n');
    expect(ordered.length).toBe(9);
    expect(ordered[0]).toBe(
      hex(
        coverage.program.sites.call[
          coverage.program.sites.find(Number(BigInt.asIntN(64, trace.pointPc[0]!)))
        ]!,
      ),
    );
  });

  it('jsonl: the fields of syzkaller in its order, tests as hit counts', () => {
    const lines = text('jsonl').trimEnd().split('\n');
    const rows = lines.map(line => JSON.parse(line) as Record<string, unknown>);
    const keys = 'file_path func_name sl sc el ec hit_count inline pc';
    expect(rows.every(row => Object.keys(row).join(' ') === keys)).toBe(true);
    expect(lines[0]).toMatch(/"pc":1844674407[0-9]{10}\}$/);
    expect(Math.max(...rows.map(row => row['hit_count'] as number))).toBe(2);
    expect(rows.filter(row => row['inline'] === false).length).toBe(coverage.program.points.length);
  });

  it('modoff: name and offset, as Lighthouse reads them', () => {
    expect(text('modoff').split('\n')[0]).toMatch(/^fixture\.elf\+[0-9a-f]+$/);
  });

  it('drcov: a version 2 reader finds exactly the covered blocks', () => {
    const parsed = readDrcov(bytesOf(exportTrace('drcov', trace, elf)));
    expect(parsed.module.path).toBe('fixture.elf');
    const { sites, points } = coverage.program;
    const expected = [...coverage.covered()].map(point => {
      const site = points[point]!;
      const low = sites.blockLow[site]!;
      return { start: pcOf(low), size: sites.blockHigh[site]! - low, id: 0 };
    });
    expect(
      parsed.blocks.map(b => ({ ...b, start: BigInt.asUintN(64, parsed.module.base + BigInt(b.start)) })),
    ).toEqual(expected);
  });

  it('csv: one row a record, and the tables of syzkaller', () => {
    const rows = text('csv').trimEnd().split('\n');
    expect(rows.length).toBe(1 + trace.records.length);
    expect(new Set(rows.map(row => row.split(',').length))).toEqual(new Set([18]));
    expect(rows[1]).toContain(',run_all,');
    expect(text('csv', { table: 'functions' })).toMatch(
      /\nfixture\.elf,.\/?parse\.c,parse_number,3,\d+\n|\nfixture\.elf,parse\.c,parse_number,3,\d+\n/,
    );
    expect(text('csv', { table: 'files' }).split('\n')[0]).toMatch(
      /^Module,Filename,CoveredLines,.*,TotalPCsInCoveredFunctions$/,
    );
    expect(text('csv', { table: 'pcs' }).split('\n')[0]).toBe(
      'PC,Module,Offset,Filename,Inline,StartLine,EndLine',
    );
  });

  it('json: totals are those of the report', () => {
    const json = JSON.parse(text('json')) as {
      totals: { points: { covered: number } };
      lost: number;
      files: unknown[];
    };
    expect(json.totals.points.covered).toBe(coverage.totals().points.covered);
    expect(json.lost).toBe(3);
  });

  const noLcov = missing('lcov readers', 'lcov', 'genhtml');
  it.skipIf(noLcov)('lcov: --summary and genhtml agree with our totals', () => {
    const path = file('out.info', 'lcov', { sourceRoot: FIXTURES });
    const { lines, functions } = coverage.totals();
    const summary = run('sh', ['-c', `lcov --summary ${path} 2>&1`]);
    expect(summary).toContain(`(${lines.covered} of ${lines.total} lines)`);
    expect(summary).toContain(`(${functions.covered} of ${functions.total} functions)`);
    expect(summary).not.toMatch(/warning|error/i);
    const names = [...readFileSync(path, 'utf8').matchAll(/^TN:(.*)$/gm)].map(match => match[1]);
    expect([...new Set(names)]).toEqual(['first_test', 'second']);
    const html = join(scratch(), 'genhtml');
    mkdirSync(html, { recursive: true });
    const log = run('sh', ['-c', `genhtml --show-details -o ${html} ${path} 2>&1`]);
    expect(log).toContain(`(${lines.covered} of ${lines.total} lines)`);
    expect(readFileSync(join(html, 'index.html'), 'utf8')).toContain('LCOV');
    // genhtml lists under each file the tests that reached it, with their lines.
    const [details] = readdirSync(html, { recursive: true, encoding: 'utf8' }).filter(
      name => basename(name) === 'index-detail.html',
    );
    const rows = readFileSync(join(html, details!), 'utf8')
      .replaceAll('&nbsp;', ' ')
      .replace(/<[^>]*>/g, ' ')
      .replace(/\s+/g, ' ');
    expect(rows).toMatch(/ lookup\.c (?:[\d.]+ % \d+ \/ \d+ ){2}first_test /);
    // In any order: genhtml iterates over a hash.
    const [, parse = ''] = / parse\.c (.*) util\.h /.exec(rows) ?? [];
    expect(parse).toMatch(/ second 60\.0 % 3 \/ 5 100\.0 % 1 \/ 1( |$)/);
    expect(parse).toMatch(/ first_test 75\.0 % 6 \/ 8 100\.0 % 1 \/ 1( |$)/);
  });

  it('a function that recording began inside of ran, for readers of counts too', () => {
    const builder = new TraceBuilder(trace.header);
    const pcs = new Set(trace.pointPc.filter((_, point) => trace.pointKind[point] === 0));
    for (const pc of [...pcs].slice(2)) builder.pc(builder.source({ test: 'late' }), pc);
    const late = builder.finish();
    const counted = Coverage.of(late, elf);
    const { covered } = counted.totals().functions;
    const all = counted.program.files.flatMap(({ functions }) => functions);
    const [inside] = all.filter(fn => counted.functionCalls(fn).isLeast);
    expect(inside).toBeDefined();
    const lcov = textOf(exportTrace('lcov', late, elf));
    expect([...lcov.matchAll(/^FNDA:[1-9]/gm)]).toHaveLength(covered);
    expect(lcov).toContain(`FNDA:1,${inside!.name}\n`);
    const xml = textOf(exportTrace('cobertura', late, elf));
    expect([...xml.matchAll(/<method .*hits="[1-9]/g)]).toHaveLength(covered);
  });

  it('every reader finds the totals that cov stats prints', () => {
    writeFileSync(join(scratch(), 'agree.elf'), elf.bytes);
    writeFileSync(join(scratch(), 'agree.kcov'), Buffer.concat([...writeTrace(trace)]));
    const cov = (verb: string, ...args: string[]) => {
      const ran = kcovbox(['cov', verb, '-k', 'agree.elf', ...args, 'agree.kcov'], { cwd: scratch() });
      expect(ran.status, ran.stderr).toBe(0);
      return ran.stdout;
    };
    const { totals } = JSON.parse(cov('stats', '--json')) as {
      totals: Record<'lines' | 'functions' | 'points', { covered: number; total: number }>;
    };
    for (const name of ['out.info', 'out.xml', 'out.drcov', 'out.json']) cov('export', '-o', name);
    const read = (name: string) => readFileSync(join(scratch(), name));
    const xml = read('out.xml').toString();
    const number = (name: string) => Number(new RegExp(` ${name}="(\\d+)"`).exec(xml)![1]);
    expect([number('lines-covered'), number('lines-valid')]).toEqual([
      totals.lines.covered,
      totals.lines.total,
    ]);
    expect(readDrcov(read('out.drcov')).blocks).toHaveLength(totals.points.covered);
    expect(JSON.parse(read('out.json').toString())).toMatchObject({ totals });
    const hits = new Map<string, number>();
    let file = '';
    for (const row of read('out.info').toString().split('\n')) {
      const [, key, rest] = /^(SF|DA):(.*)$/.exec(row) ?? [];
      if (key === 'SF') file = rest!;
      else if (key === 'DA') {
        const [line, count] = rest!.split(',').map(Number);
        hits.set(`${file}:${line}`, (hits.get(`${file}:${line}`) ?? 0) + count!);
      }
    }
    expect([...hits.values()].filter(count => count > 0)).toHaveLength(totals.lines.covered);
    expect(hits.size).toBe(totals.lines.total);
  });

  const noXml = missing('Cobertura reader', 'xmllint');
  it.skipIf(noXml)('cobertura: valid by its DTD', () => {
    const path = file('cobertura.xml', 'cobertura');
    run('xmllint', ['--noout', '--nonet', '--dtdvalid', join(FIXTURES, 'coverage-04.dtd'), path]);
    const { lines } = coverage.totals();
    expect(readFileSync(path, 'utf8')).toContain(
      `lines-covered="${lines.covered}" lines-valid="${lines.total}"`,
    );
    expect(readFileSync(path, 'utf8')).toContain('timestamp="0"');
    const count = (of: string) =>
      Number(run('xmllint', ['--nonet', '--xpath', `count(//class/lines/line${of})`, path]));
    expect([count('[@hits > 0]'), count('')]).toEqual([lines.covered, lines.total]);
  });
});

describe.skipIf(reason)('what cannot be exported is named', () => {
  it('a PC that is not a call site', () => {
    const elf = fixture();
    const trace = fixtureTrace(elf);
    trace.pointPc[0] = trace.pointPc[0]! - 4n;
    for (const format of [...OF_PLACES, 'csv'] as const) {
      expect(() => [...exportTrace(format, trace, elf)], format).toThrow(
        /^PC 0xffffffff[0-9a-f]+ \(inside run_all\+0x[0-9a-f]+\) is not a call site/,
      );
    }
  });

  it('the wrong image, by build id or by its code', () => {
    const elf = fixture({ buildId: true });
    expect(elf.imageId).toMatch(/^build-id:[0-9a-f]{40}$/);
    expect(() => exportTrace('lcov', fixtureTrace(fixture()), fixture({ relax: true }))).toThrow(
      /^the trace was recorded on image sha256:[0-9a-f]{16}, but .*fixture\.elf is sha256:[0-9a-f]{16}: give the image that ran$/,
    );
    expect(() => exportTrace('rawcover', fixtureTrace(elf), fixture({ relax: true, buildId: true }))).toThrow(
      'recorded on image build-id:',
    );
  });

  it('a trace without places', () => {
    const elf = fixture();
    const builder = new TraceBuilder({ dialect: 'linux', image: elf.imageId });
    builder.edge(builder.source({}), 0x1234n);
    const edges = builder.finish();
    for (const format of [...OF_PLACES, 'html'] as const) {
      expect(() => exportTrace(format, edges, elf), format).toThrow(
        `the trace holds only edge records, which format ${format} cannot`,
      );
    }
    expect(bytesOf(exportTrace('raw', edges, undefined)).length).toBe(16);
    expect(textOf(exportTrace('csv', edges, elf))).toContain('\n0,edge,0x1234,,,,,,,,');
  });

  it('an image without debug information, and a missing image', () => {
    const bare = fixture({ debug: false });
    expect(() => exportTrace('lcov', fixtureTrace(bare), bare)).toThrow(
      'has no debug information: compile with -g',
    );
    expect(textOf(exportTrace('rawcover', fixtureTrace(bare), bare))).toMatch(/^0x/);
    expect(() => exportTrace('lcov', fixtureTrace(bare), undefined)).toThrow(
      'format lcov needs the image that was traced',
    );
  });
});

interface Drcov {
  module: { base: bigint; path: string };
  blocks: { start: number; size: number; id: number }[];
}

/**
 * A reader of drcov 2 as strict as the tools that read it: exact header lines, packed table,
 * nothing behind it.
 */
function readDrcov(bytes: Uint8Array): Drcov {
  const buffer = Buffer.from(bytes);
  let at = 0;
  const line = () => {
    const end = buffer.indexOf('\n', at);
    const row = buffer.toString('latin1', at, end);
    at = end + 1;
    return row;
  };
  expect(line()).toBe('DRCOV VERSION: 2');
  expect(line()).toMatch(/^DRCOV FLAVOR: \S+$/);
  expect(line()).toBe('Module Table: version 2, count 1');
  expect(line()).toBe('Columns: id, base, end, entry, checksum, timestamp, path');
  const fields = line().split(', ');
  expect(fields.length).toBe(7);
  expect(Number(fields[0])).toBe(0);
  const count = Number(/^BB Table: (\d+) bbs$/.exec(line())![1]);
  expect(buffer.length - at).toBe(8 * count);
  const blocks = Array.from({ length: count }, (_, i) => ({
    start: buffer.readUInt32LE(at + 8 * i),
    size: buffer.readUInt16LE(at + 8 * i + 4),
    id: buffer.readUInt16LE(at + 8 * i + 6),
  }));
  return { module: { base: BigInt(fields[1]!), path: fields[6]! }, blocks };
}
