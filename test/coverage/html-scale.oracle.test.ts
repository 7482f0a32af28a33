/** The HTML report of a kernel with 3,700 files: opening it must not read all of them. */
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { htmlPage } from '../../coverage/html/index.ts';
import type { IndexFile, PageFile, PageFunction, PageIndex, Row7 } from '../../coverage/html/page.ts';
import { CHROMIUM, QUIET } from './browser.ts';
import { bytesOf, scratch } from './support.ts';

const reason = existsSync(CHROMIUM) ? undefined : `large HTML report skipped: no ${CHROMIUM}`;
if (reason) console.warn(reason);

/**
 * 3,700 files of 160 lines of code, 12 functions and 90 points, as a small configuration of Linux
 * has.
 */
const FILES = 3700;
const FOLDERS = 60;
const LINES = 160;
const FUNCTIONS = 12;
const POINTS = 90;
const ROW: Row7 = [100, 20, LINES, 8, FUNCTIONS, 60, POINTS];
const pathOf = (file: number): string => `drivers/d${file % FOLDERS}/part${file % 7}/file${file}.c`;
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

const index: PageIndex = {
  title: 'Large',
  image: 'sha256:0',
  dialect: 'linux',
  notes: {},
  hooks: 'pc',
  counts: true,
  records: 1e7,
  lost: 0,
  findings: [],
  tests: ['a', 'b'].map((name, group) => ({ name, points: 1, only: 1, lines: 1, group })),
  groups: ['a', 'b'].map(name => ({ kind: 'test', name })),
  ungrouped: 0,
  totals: ROW.map(n => n * FILES) as Row7,
  unknown: 0,
  files: numbers(FILES).map(
    (file): IndexFile => ({ p: pathOf(file), t: ROW, x: 0, g: [[0, 100, 20, LINES, 8, 60]] }),
  ),
  names: ['probe_one'],
  paths: [],
  morePaths: 0,
};

function* pages(): Generator<PageFile> {
  for (let file = 0; file < FILES; file++) yield page(file);
}

describe.skipIf(reason)('HTML report of 3,700 files', () => {
  let browser: Browser;
  let url: string;
  let size: number;

  beforeAll(async () => {
    const functions = numbers(FILES).map(file =>
      numbers(FUNCTIONS).map((i): PageFunction => [`file${file}_fn${i}`, i * 10 + 1, i, 3, 7]),
    );
    const path = join(scratch(), 'large.html');
    writeFileSync(path, bytesOf(htmlPage({ index, files: pages(), functions })));
    ({ size } = statSync(path));
    url = `file://${path}`;
    browser = await chromium.launch({ executablePath: CHROMIUM, args: QUIET });
  });
  afterAll(() => browser?.close());

  it('parses the index alone, draws some hundred rows, and reads a file when it is looked at', async () => {
    const tab = await browser.newPage();
    await tab.addInitScript(`
      globalThis.parsed = [];
      const parse = JSON.parse;
      JSON.parse = text => (parsed.push(text.length), parse(text));
    `);
    const parsed = () => tab.evaluate<number[]>('parsed');
    await tab.goto(url);
    await tab.locator('.list tbody tr').first().waitFor();
    const atStart = await parsed();
    const elements = await tab.evaluate<number>('document.querySelectorAll("*").length');
    const loaded = await tab.evaluate<number>('performance.getEntriesByType("navigation")[0].loadEventEnd');
    console.log(
      `${FILES} files, ${(size / 1e6).toFixed(1)} MB: loaded in ${loaded.toFixed(0)} ms, ` +
        `${(atStart[0]! / 1e6).toFixed(2)} MB parsed, ${elements} elements`,
    );
    expect(atStart).toHaveLength(1);
    expect(atStart[0]).toBeLessThan(500_000);
    expect(elements).toBeLessThan(6000);
    await tab.goto(`${url}#/file/${pathOf(1234)}:5`);
    expect(await tab.locator('tr.at .s').textContent()).toContain('file1234_ready');
    // Its functions and its text; nothing of the other files' text.
    const later = (await parsed()).slice(1);
    expect(later).toHaveLength(2);
    expect(later.reduce((sum, length) => sum + length, 0)).toBeLessThan(2_500_000);
  });
});
