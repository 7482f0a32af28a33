/**
 * Every combination of format, kinds of records in the trace and option of `cov export`: the file
 * holds the records that it is asked for, or one line says why there is none.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  CallSites,
  FORMATS,
  type Format,
  pcOf,
  readTrace,
  TraceBuilder,
  writeTrace,
} from '../../coverage/index.ts';
import { isOneLine } from '../support/command.ts';
import { type Answered, runMany } from '../support/many.ts';
import { fixture, missing, scratch } from './support.ts';

const reason = missing('combinations of export options', 'clang-19', 'ld.lld-19');

type Kind = 'pc' | 'cmp' | 'edge';
const KINDS: readonly Kind[] = ['pc', 'cmp', 'edge'];
const TABLES = ['records', 'files', 'functions', 'pcs'] as const;
/** All sets of kinds, the empty one too. */
const TRACES = Array.from({ length: 8 }, (_, bits) => KINDS.filter((_, i) => bits & (1 << i)));

interface Asked {
  readonly format: Format;
  readonly kind?: Kind;
  readonly table?: (typeof TABLES)[number];
  readonly inOrder?: true;
  readonly file?: string;
}

/** The kinds of which the output shows records. */
function shown({ format, kind, table = 'records', file }: Asked, all: readonly Kind[]): readonly Kind[] {
  const held = file === undefined ? all : all.filter(each => each !== 'edge'); // edges have no file
  if (format === 'kcov' || (format === 'csv' && table === 'records')) return held;
  if (format === 'raw') return kind ? held.filter(each => each === kind) : held.length === 1 ? held : [];
  const listsPcs = format === 'rawcover' || format === 'modoff';
  return held.includes('pc') ? ['pc'] : held.includes('cmp') && !listsPcs ? ['cmp'] : [];
}

/** Options that belong to another format are refused. */
const isMeant = ({ format, kind, table, inOrder }: Asked): boolean =>
  (kind === undefined || format === 'raw') &&
  (table === undefined || format === 'csv') &&
  (inOrder === undefined || format === 'rawcover');

const COMBINATIONS: Asked[] = FORMATS.flatMap(format =>
  [undefined, ...KINDS].flatMap(kind =>
    [undefined, ...TABLES].flatMap(table =>
      ([undefined, true] as const).map(inOrder => ({
        format,
        ...(kind && { kind }),
        ...(table && { table }),
        ...(inOrder && { inOrder }),
      })),
    ),
  ),
);

const wordsOf = ({ format, kind, table, inOrder, file }: Asked): string[] => [
  ...['--format', format],
  ...(kind ? ['--kind', kind] : []),
  ...(table ? ['--table', table] : []),
  ...(inOrder ? ['--in-order'] : []),
  ...(file ? ['-F', file] : []),
];

/** Readers of lcov and Cobertura show 100 % of what is listed, so the command says what is not. */
function remarkOn(path: string, { format }: Asked, held: readonly Kind[]): string {
  if (!['lcov', 'cobertura'].includes(format) || held.length === 0) return '';
  return held.includes('pc')
    ? `kcovbox: ${path} lists only lines that ran: the trace does not show which others did not\n`
    : `kcovbox: ${path} lists no line: the trace has comparisons only\n`;
}

/** How many records of a kind the output states, where the format has them one by one. */
function countIn(
  path: string,
  { format, table = 'records', inOrder }: Asked,
  kind: Kind,
): number | undefined {
  const bytes = readFileSync(path);
  if (format === 'raw') return Number(bytes.readBigUInt64LE());
  if (format === 'kcov') return readTrace(bytes).countOf(KINDS.indexOf(kind));
  const rows = bytes.toString().split('\n').slice(0, -1);
  if (format === 'csv' && table === 'records') return rows.filter(row => row.split(',')[1] === kind).length;
  if (format === 'rawcover' && inOrder) return rows.length;
  return undefined;
}

describe.skipIf(reason)('cov export', () => {
  const dir = scratch();
  const nameOf = (held: readonly Kind[]) => `${held.join('+') || 'empty'}.kcov`;
  const target = (i: number) => `out${i}`;
  const counts = new Map<string, number>();
  let lines: { asked: Asked; held: readonly Kind[] }[] = [];
  let answers: Answered[] = [];

  beforeAll(() => {
    const elf = fixture();
    writeFileSync(join(dir, 'fixture.elf'), elf.bytes);
    const sites = new CallSites(elf);
    for (const held of TRACES) {
      const builder = new TraceBuilder({ dialect: 'linux', image: elf.imageId });
      const source = builder.source({ test: 't' });
      for (const [site, ret] of sites.ret.entries()) {
        const [isPc, pc] = [sites.hook[site] === 0, pcOf(ret)];
        if (isPc && held.includes('pc')) builder.pc(source, pc);
        if (!isPc && held.includes('cmp')) builder.cmp(source, 5, 1n, 2n, pc);
        if (isPc && held.includes('edge')) builder.edge(source, pc ^ 0x123n);
      }
      const trace = builder.finish();
      for (const [i, kind] of KINDS.entries()) counts.set(`${nameOf(held)} ${kind}`, trace.countOf(i));
      writeFileSync(join(dir, nameOf(held)), Buffer.concat([...writeTrace(trace)]));
    }
    lines = [
      ...COMBINATIONS.filter(isMeant).flatMap(asked => TRACES.map(held => ({ asked, held }))),
      ...COMBINATIONS.filter(asked => !isMeant(asked)).map(asked => ({ asked, held: KINDS })),
      ...COMBINATIONS.filter(isMeant).flatMap(asked =>
        TRACES.map(held => ({ asked: { ...asked, file: 'parse.c' }, held })),
      ),
    ];
    answers = runMany(
      lines.map(({ asked, held }, i) => [
        'cov',
        'export',
        '-k',
        'fixture.elf',
        ...wordsOf(asked),
        '-o',
        target(i),
        nameOf(held),
      ]),
      dir,
    );
  }, 300_000);

  it.each(FORMATS)('%s: what it writes is what was asked, or it says why not', format => {
    const wrong: string[] = [];
    for (const [i, { asked, held }] of lines.entries()) {
      if (asked.format !== format) continue;
      const { status, stderr } = answers[i]!;
      const line = `${wordsOf(asked).join(' ')} ${nameOf(held)}: status ${status} ${stderr.trim()}`;
      const path = join(dir, target(i));
      const kinds = shown(asked, held);
      const isEmpty = held.length === 0;
      const isRight = isMeant(asked) && (kinds.length > 0 || isEmpty);
      if (!isRight) {
        if (status !== 125 || !isOneLine(stderr) || existsSync(path)) wrong.push(`not refused: ${line}`);
        continue;
      }
      if (status !== 0 || stderr !== remarkOn(target(i), asked, held) || !existsSync(path)) {
        wrong.push(line);
        continue;
      }
      for (const kind of kinds) {
        const count = countIn(path, asked, kind);
        const all = counts.get(`${nameOf(held)} ${kind}`)!;
        if (count === undefined) continue;
        const isSelected = asked.file === undefined ? count === all : count < all;
        if (!isSelected) wrong.push(`${line}: ${count} of ${all} records of ${kind}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('enumerates all', () => expect(lines.length).toBe(19 * 8 * 2 + 11 * 40 - 19));
});
