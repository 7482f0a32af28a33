/** The HTML report of a kernel with 3,700 files: opening it must not read all of them. */
import { existsSync, statSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHROMIUM, openReport, QUIET } from './browser.ts';
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
    const { tab, load, parsed } = await openReport(browser, url);
    const { parsed: atStart, elements, loaded } = load;
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
