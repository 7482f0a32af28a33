/** Addresses of the HTML report: where a page begins and stays, and errors in an address. */
import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHROMIUM, QUIET } from './browser.ts';
import { madeReport, pathOf } from './html-made.ts';

const reason = existsSync(CHROMIUM) ? undefined : `addresses of the HTML report skipped: no ${CHROMIUM}`;
if (reason) console.warn(reason);

describe.skipIf(reason)('addresses of the HTML report', () => {
  let browser: Browser;
  let page: Page;
  let url: string;
  const file = `#/file/${pathOf(3)}`;
  const errors: string[] = [];
  const scroll = () => page.evaluate<number>('scrollY');
  const scrollTo = async (y: number) => {
    await page.evaluate(`scrollTo(0, ${y})`);
    await page.waitForTimeout(50); // the scroll event comes with the next frame
  };
  /** The top of the marked line, as a share of the window's height. */
  const heightOfLine = async () => (await page.locator('tr.at').boundingBox())!.y / 900;

  beforeAll(async () => {
    url = `file://${madeReport('address.html', 40)}`;
    browser = await chromium.launch({
      executablePath: CHROMIUM,
      args: QUIET,
      ignoreDefaultArgs: ['--hide-scrollbars'],
    });
    page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    page.on('pageerror', error => errors.push(error.message));
  });
  afterAll(async () => {
    await browser?.close();
    expect(errors).toEqual([]);
  });

  it('a link to a line of a file that was left elsewhere shows the line; back restores the position', async () => {
    await page.goto(`${url}${file}`);
    await scrollTo(900);
    await page.keyboard.press('u');
    await page.getByRole('heading', { name: 'Functions' }).waitFor();
    expect(await scroll()).toBe(0);
    await page.evaluate(`location.hash = '${file}:150'`);
    await page.locator('#L150.at').waitFor();
    expect(await heightOfLine()).toBeGreaterThan(0.3);
    expect(await heightOfLine()).toBeLessThan(0.7);
    await page.goBack();
    await page.getByRole('heading', { name: 'Functions' }).waitFor();
    await page.goBack();
    await page.locator('.code').waitFor();
    expect(await scroll()).toBe(900);
  });

  it('stays where it is when a line in sight is chosen, and draws nothing anew', async () => {
    await page.goto(`${url}#/`);
    await page.goto(`${url}${file}`);
    await scrollTo(700);
    await page.evaluate(`document.querySelector('.code').dataset.mine = '1'`);
    await page.getByRole('link', { name: 'Line 50', exact: true }).click();
    await page.waitForURL(`${url}${file}:50`);
    expect(await page.locator('tr.at').getAttribute('data-n')).toBe('50');
    expect(await scroll()).toBe(700);
    expect(await page.locator('.code[data-mine]').count()).toBe(1);
    await page.keyboard.press('j');
    await page.waitForURL(`${url}${file}:51`);
    expect(await scroll()).toBe(700);
    await page.getByRole('link', { name: /^file3_fn0/ }).click();
    await page.waitForURL(`${url}${file}:1`);
    expect(await scroll()).toBeLessThan(700);
  });

  it('keeps the position when the filter changes, and begins another view at its top', async () => {
    await page.goto(`${url}#/`);
    await page.goto(`${url}${file}`);
    await scrollTo(200);
    await page.locator('[data-query=only]').selectOption('test:a');
    await page.waitForURL(/only=test:a$/);
    expect(await scroll()).toBe(200);
    await page.getByRole('link', { name: 'Tests' }).click();
    await page.getByRole('heading', { name: 'Tests' }).waitFor();
    expect(await scroll()).toBe(0);
  });

  it('pages with and without a scroll bar are equally wide', async () => {
    const widths: number[] = [];
    for (const view of ['#/', '#/tests', file]) {
      await page.goto(`${url}${view}`);
      widths.push(await page.evaluate<number>('document.body.clientWidth'));
    }
    expect(new Set(widths).size).toBe(1);
  });

  it.each(['#/nosuch', '#nosuch', '#/constructor'])('says that there is no page %s', async hash => {
    await page.goto(`${url}${hash}`);
    expect(await page.locator('h1').textContent()).toBe('No such page');
    expect(await page.locator('.meta').textContent()).toContain(hash);
    await page.getByRole('link', { name: 'All files' }).click();
    await page.locator('.figures').waitFor();
  });

  it.each([
    ['#/file/no/such.c', 'h1', 'No such file'],
    [`${file}:999`, '.ignored', 'has no line 999'],
    ['#/?only=test:nosuch', '.ignored', 'has no test nosuch'],
    ['#/compare?a=test:a&b=test:nosuch', '.ignored', 'has no test nosuch'],
    ['#/compare?a=test:a&b=test:a', '.ignored', 'A and B are the same'],
    ['#/calls/no/such', '.ignored', 'has no call no/such'],
  ])('says what %s names in vain', async (hash, selector, text) => {
    await page.goto(`${url}${hash}`);
    expect(await page.locator(selector).textContent()).toContain(text);
    await page.locator('main a.button').first().click();
    await page.locator('.ignored').waitFor({ state: 'detached' });
  });

  it('the skip link leads to the content and leaves the address', async () => {
    await page.goto(`${url}#/tests`);
    await page.locator('.skip').focus();
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('main');
    expect(page.url()).toBe(`${url}#/tests`);
  });

  it('t switches between light and dark, and the choice survives', async () => {
    const paper = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.goto(url);
      await page.evaluate('localStorage.clear()');
      await page.reload();
      const before = await paper();
      await page.keyboard.press('t');
      const after = await paper();
      expect(after).not.toBe(before);
      await page.reload();
      expect(await paper()).toBe(after);
      await page.locator('#theme').click();
      expect(await paper()).toBe(before);
    }
  });

  it('bars of the list of functions have one width', async () => {
    await page.goto(`${url}${file}`);
    const widths = await page
      .locator('aside .meter')
      .evaluateAll(all => all.map(each => Math.round(each.getBoundingClientRect().width)));
    expect(widths.length).toBeGreaterThan(5);
    expect(new Set(widths).size).toBe(1);
  });
});
