/** The HTML report in a real browser, from file://, with everything network refused. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exportTrace } from '../../coverage/index.ts';
import { CHROMIUM, QUIET } from './browser.ts';
import { bytesOf, FIXTURES, fixture, fixtureTrace, missing, scratch } from './support.ts';

let reason = missing('HTML report', 'clang-19', 'ld.lld-19');
if (!reason && !existsSync(CHROMIUM)) {
  reason = `HTML report skipped: no ${CHROMIUM}`;
  console.warn(reason);
}

describe.skipIf(reason)('HTML report', () => {
  let browser: Browser;
  let page: Page;
  let url: string;
  const requests: string[] = [];
  const errors: string[] = [];

  beforeAll(async () => {
    const elf = fixture();
    const readSource = (path: string) => readFileSync(join(FIXTURES, path), 'utf8');
    const options = { readSource, title: 'Fixture <&> "report"' };
    const html = bytesOf(exportTrace('html', fixtureTrace(elf), elf, options));
    expect(bytesOf(exportTrace('html', fixtureTrace(elf), elf, options))).toEqual(html);
    const path = join(scratch(), 'report.html');
    writeFileSync(path, html);
    url = `file://${path}`;
    browser = await chromium.launch({ executablePath: CHROMIUM, args: QUIET });
    page = await browser.newPage();
    page.on('request', request => requests.push(request.url()));
    page.on('pageerror', error => errors.push(error.message));
  });
  afterAll(() => browser?.close());

  it('shows totals and the tree, and asks for nothing but itself', async () => {
    await page.goto(url);
    expect(await page.locator('h1').textContent()).toBe('Fixture <&> "report"');
    expect(await page.locator('.figures .big').count()).toBe(3);
    expect(await page.locator('.list td.name a').allTextContents()).toEqual([
      'lookup.c',
      'main.c',
      'parse.c',
      'util.h',
    ]);
    expect(await page.locator('.notice').textContent()).toContain('3 records found no room');
    expect(requests).toEqual([url]);
  });

  it('colours source lines by state with counts', async () => {
    await page.goto(`${url}#/`);
    await page.getByRole('link', { name: 'lookup.c' }).click();
    expect(await page.locator('tr.p', { hasText: 'switch (key)' }).count()).toBe(1);
    expect(await page.locator('tr.u', { hasText: 'return slow_path' }).locator('.h').textContent()).toBe('0');
    expect(await page.locator('tr', { hasText: 'case 3:' }).getAttribute('class')).toBe('');
    await page.keyboard.press('n');
    expect(await page.locator('tr.at').count()).toBe(1);
  });

  it('attributes lines to tests and shows comparison operands', async () => {
    await page.goto(`${url}#/file/2`);
    await page.locator('.cmp').first().hover();
    expect(await page.locator('.pop').textContent()).toContain('0x30 const');
    expect(await page.locator('.pop').textContent()).toContain('first test, second');
    await page.goto(`${url}#/tests`);
    await page.getByRole('button', { name: 'show only this' }).nth(1).click();
    await page.goto(`${url}#/file/1`);
    expect(await page.locator('.code tr.c').count()).toBe(0);
    expect(await page.locator('.code tr.u').count()).toBeGreaterThan(3);
  });

  it('finds by keyboard', async () => {
    await page.goto(`${url}#/`);
    await page.keyboard.press('/');
    await page.keyboard.type('slow_path');
    await page.keyboard.press('Enter');
    await page.waitForURL(/#\/file\//);
    expect(await page.locator('h1').textContent()).toBe('lookup.c');
    expect(await page.locator('tr.at .s').textContent()).toContain('slow_path');
    await page.keyboard.press('u');
    await page.getByRole('heading', { name: 'Functions' }).waitFor();
    await page.keyboard.press('?');
    expect(await page.locator('dialog').isVisible()).toBe(true);
    await page.keyboard.press('Escape');
  });

  it('draws call paths that lead to the source', async () => {
    await page.goto(`${url}#/calls/0`);
    const boxes = page.locator('.flame button');
    expect((await boxes.evaluateAll(list => list.map(box => box.getAttribute('aria-label'))))[0]).toBe(
      'run_all, 7 records',
    );
    const box = page.locator('.flame button', { hasText: 'table_lookup' });
    await box.click();
    await page.locator('.axis', { hasText: 'record 5' }).waitFor();
    await page.locator('.flame button', { hasText: 'table_lookup' }).click();
    await page.waitForURL(/#\/file\//);
    expect(await page.locator('h1').textContent()).toBe('lookup.c');
  });

  it('is legible in light and dark and never fails', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.goto(`${url}#/file/2`);
      const style = (selector: string, property: string) =>
        page.evaluate<string>(`getComputedStyle(document.querySelector('${selector}')).${property}`);
      const colours = [await style('body', 'color'), await style('body', 'backgroundColor')];
      colours.push(await style('.code tr.u .s', 'color'), await style('.code tr.u .s', 'backgroundColor'));
      expect(contrast(colours[0]!, colours[1]!)).toBeGreaterThan(7);
      expect(contrast(colours[2]!, colours[3]!)).toBeGreaterThan(7);
    }
    expect(errors).toEqual([]);
  });
});

/** Contrast ratio of two `rgb()` colours (WCAG 2.1 §1.4.3). */
function contrast(a: string, b: string): number {
  const luminance = (colour: string) => {
    const [r, g, bl] = colour
      .match(/[\d.]+/g)!
      .slice(0, 3)
      .map(value => {
        const c = Number(value) / 255;
        return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
      });
    return 0.2126 * r! + 0.7152 * g! + 0.0722 * bl!;
  };
  const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (light! + 0.05) / (dark! + 0.05);
}
