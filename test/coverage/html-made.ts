/** An HTML report of made-up data: as many files as wanted, each longer than a screen. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { htmlPage } from '../../coverage/html/index.ts';
import type { IndexFile, PageFile, PageFunction, PageIndex, Row7 } from '../../coverage/html/page.ts';
import { bytesOf, scratch } from './support.ts';

/**
 * 3,700 files of 160 lines of code, 12 functions and 90 points, as a small configuration of Linux
 * has.
 */
export const FILES = 3700;
const FOLDERS = 60;
const LINES = 160;
const FUNCTIONS = 12;
const POINTS = 90;
const ROW: Row7 = [100, 20, LINES, 8, FUNCTIONS, 60, POINTS];
export const pathOf = (file: number): string => `drivers/d${file % FOLDERS}/part${file % 7}/file${file}.c`;
const numbers = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

function page(file: number): PageFile {
  return {
    l: numbers(LINES).map(i => [i + 1, (i % 3) as 0 | 1 | 2, i % 3 === 2 ? 0 : i * file, 0]),
    q: Object.fromEntries(numbers(POINTS).map(i => [i + 1, [i]])),
    points: numbers(POINTS).map(i => [`0xffffffff80${(file * 1000 + i).toString(16)}`, i % 3, 0, 0]),
    chains: ['probe_one'],
    sets: [[0, 1]],
    k: { 2: [['0xffffffff80000000', '0xffffffff80000008', 0, 3]] },
    v: { 0: `c${LINES}`, 1: `u${LINES}` },
    s: numbers(LINES)
      .map(i => `    if (file${file}_ready(device, ${i}))\n`)
      .join(''),
  };
}

const indexOf = (files: number): PageIndex => ({
  title: 'Large',
  image: 'sha256:0',
  dialect: 'linux',
  notes: {},
  hooks: 'pc',
  counts: true,
  hasShare: true,
  records: 1e7,
  lost: 0,
  filtered: '',
  findings: [],
  tests: ['a', 'b'].map((name, group) => ({ name, points: 1, only: 1, lines: 1, group })),
  groups: ['a', 'b'].map(name => ({ kind: 'test', name, hasShare: true })),
  ungrouped: 0,
  totals: ROW.map(n => n * files) as Row7,
  unknown: [0, 0],
  files: numbers(files).map(
    (file): IndexFile => ({
      p: pathOf(file),
      t: ROW,
      x: [0, 0],
      g: [[0, 100, 20, LINES, 8, ROW[4], 60, 0, 0]],
    }),
  ),
  names: ['probe_one'],
  paths: [],
  morePaths: 0,
});

/** Writes the report of so many files, and answers with its path. */
export function madeReport(name: string, files: number): string {
  const functions = numbers(files).map(file =>
    numbers(FUNCTIONS).map((i): PageFunction => [`file${file}_fn${i}`, i * 10 + 1, i, 3, 7, 0]),
  );
  const path = join(scratch(), name);
  function* pages(): Generator<PageFile> {
    for (let file = 0; file < files; file++) yield page(file);
  }
  writeFileSync(path, bytesOf(htmlPage({ index: indexOf(files), files: pages(), functions })));
  return path;
}
