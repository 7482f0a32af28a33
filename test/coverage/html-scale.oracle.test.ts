/** The HTML report of a kernel with 3,700 files: opening it must not read all of them. */
import { existsSync, statSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHROMIUM, QUIET } from './browser.ts';
import { FILES, madeReport, pathOf } from './html-made.ts';

const reason = existsSync(CHROMIUM) ? undefined : `large HTML report skipped: no ${CHROMIUM}`;
if (reason) console.warn(reason);

describe.skipIf(reason)('HTML report of 3,700 files', () => {
  let browser: Browser;
  let url: string;
  let size: number;

  beforeAll(async () => {
    const path = madeReport('large.html', FILES);
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
