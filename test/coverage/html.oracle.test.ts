/** The HTML report in a real browser, from file://, with all network access refused. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  CallSites,
  Coverage,
  Elf,
  exportTrace,
  filterTrace,
  pcOf,
  TraceBuilder,
} from '../../coverage/index.ts';
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
    expect(await page.title()).toBe('Fixture <&> "report"');
    expect(await page.locator('.figures .big').count()).toBe(3);
    const names = ['lookup.c', 'main.c', 'parse.c', 'util.h'];
    expect(await page.locator('.list td.name a').allTextContents()).toEqual(names);
    expect(await page.locator('.notice').textContent()).toContain('3 records found no room');
    expect(requests).toEqual([url]);
  });

  it('has the name of the image as its title, and not the folder of the one who made it', () => {
    const elf = new Elf(fixture().bytes, '/home/me/kernel.elf');
    const html = new TextDecoder().decode(bytesOf(exportTrace('html', fixtureTrace(elf), elf)));
    expect(html).toContain('<title>Coverage of kernel.elf</title>');
    expect(html).not.toContain('/home/me');
  });

  it('names every view by path and line, in the URL and in the title', async () => {
    await page.goto(`${url}#/`);
    await page.getByRole('link', { name: 'lookup.c' }).click();
    await page.waitForURL(`${url}#/file/lookup.c`);
    expect(await page.title()).toBe('lookup.c \u2013 Fixture <&> "report"');
    await page.getByRole('link', { name: 'Line 12', exact: true }).click();
    await page.waitForURL(`${url}#/file/lookup.c:12`);
    expect(await page.title()).toContain('lookup.c:12');
    await page.getByRole('link', { name: 'Calls' }).click();
    await page.getByRole('heading', { name: 'Calls' }).waitFor();
    await page.goBack();
    await page.waitForURL(`${url}#/file/lookup.c:12`);
    expect(await page.locator('tr.at').getAttribute('data-n')).toBe('12');
    await page.goBack();
    await page.goBack();
    await page.locator('.figures').waitFor();
    expect(await page.title()).toBe('Fixture <&> "report"');
    await page.goForward();
    expect(await page.locator('h1').textContent()).toBe('lookup.c');
    await page.goto(`${url}#/file/no/such.c:3`);
    expect(await page.locator('h1').textContent()).toBe('No such file');
  });

  it('colours source lines by state with counts and says the states in words', async () => {
    await page.goto(`${url}#/file/lookup.c`);
    const line = page.locator('tr.p', { hasText: 'switch (key)' });
    expect(await line.count()).toBe(1);
    const red = page.locator('tr.u', { hasText: 'return slow_path' });
    expect((await red.locator('.h').textContent())?.startsWith('0')).toBe(true);
    expect(await red.locator('.h button').getAttribute('aria-label')).toContain('not run');
    expect(await line.locator('.h button').getAttribute('aria-label')).toContain('partly covered');
    expect(await page.locator('tr', { hasText: 'case 3:' }).getAttribute('class')).toBe('');
    const states = page.locator('.code tr:is(.c, .p, .u, .x)');
    const spoken = await states.evaluateAll(rows =>
      rows.every(row => /covered|run|unknown/.test(row.querySelector('.h')!.innerHTML)),
    );
    expect(spoken).toBe(true);
    const legend = await page.locator('.legend').textContent();
    expect(legend).toBe('coveredpartlynot rununknown');
    await page.keyboard.press('n');
    const at = Number(await page.locator('tr.at').getAttribute('data-n'));
    expect(page.url()).toBe(`${url}#/file/lookup.c:${at}`);
    await page.keyboard.press('j');
    expect(await page.locator('tr.at').getAttribute('data-n')).toBe(String(at + 1));
  });

  it('lists the points of a partly covered line, taken and not, and its code', async () => {
    await page.goto(`${url}#/file/lookup.c`);
    const line = page.locator('tr.p', { hasText: 'switch (key)' });
    await line.locator('.h button').click();
    const detail = page.locator('.detail');
    const rows = await detail.locator('tr').evaluateAll(all => all.map(row => row.textContent ?? ''));
    expect(rows.some(row => /^not taken0x[0-9a-f]+table_lookup/.test(row))).toBe(true);
    expect(rows.some(row => /^ran/.test(row)) && rows.some(row => /^not run/.test(row))).toBe(true);
    await line.locator('.h button').click();
    expect(await detail.count()).toBe(0);
  });

  it('names the tests of a line and the operands of its comparisons', async () => {
    await page.goto(`${url}#/file/parse.c`);
    await page.locator('.cmp').first().click();
    const text = await page.locator('.detail').textContent();
    expect(text).toContain('0x30 const');
    expect(text).toContain('first test, second');
  });

  it('restricts files and lines to one test, and never claims more than is proven', async () => {
    await page.goto(`${url}#/tests`);
    await page.getByRole('button', { name: 'show only this' }).nth(1).click();
    await page.waitForURL(`${url}#/tests?only=test:second`);
    await page.goto(`${url}#/file/main.c?only=test:second`);
    expect(await page.locator('.code tr.c').count()).toBe(0);
    expect(await page.locator('.code tr.u').count()).toBeGreaterThan(3);
    const trace = fixtureTrace(fixture());
    const elf = fixture();
    const part = filterTrace(trace, { source: source => source.test === 'second' });
    const coverage = Coverage.of(part, elf);
    const letters = { covered: 'c', partly: 'p', uncovered: 'u', unknown: 'x' };
    for (const file of coverage.program.files) {
      await page.goto(`${url}#/file/${file.path}?only=test:second`);
      for (const [line, code] of file.lines)
        expect(await page.locator(`#L${line}`).getAttribute('class'), `${file.path}:${line}`).toBe(
          letters[coverage.line(code).state],
        );
    }
  });

  it('compares two tests', async () => {
    await page.goto(`${url}#/compare`);
    await page.locator('[data-query=a]').selectOption('test:first test');
    await page.locator('[data-query=b]').selectOption('test:second');
    await page.waitForURL(`${url}#/compare?a=test:first%20test&b=test:second`);
    const rows = await page.locator('.list tbody tr').evaluateAll(all => all.map(row => row.textContent));
    expect(rows.some(row => row?.startsWith('lookup.c'))).toBe(true);
    await page.getByRole('link', { name: 'lookup.c' }).click();
    await page.locator('.code').waitFor();
    expect(await page.locator('.code tr.oa').count()).toBeGreaterThan(0);
    expect(await page.locator('.code tr.ob').count()).toBe(0);
  });

  it('restricts to remote sections by handle', async () => {
    const elf = fixture();
    const sites = new CallSites(elf);
    const builder = new TraceBuilder({ dialect: 'linux', image: elf.imageId, notes: {}, flow: 'known' });
    const task = builder.source({ test: 't', process: 1, thread: 1, call: 1, syscall: 63 });
    const remote = builder.source({ test: 't', process: 1, thread: 2, context: 'remote', handle: 0x42n });
    const points = Array.from(sites.ret).filter((_, site) => sites.hook[site] === 0);
    builder.pc(task, pcOf(points[0]!));
    builder.pc(remote, pcOf(points[points.length - 1]!));
    const path = join(scratch(), 'remote.html');
    writeFileSync(path, bytesOf(exportTrace('html', builder.finish(), elf)));
    await page.goto(`file://${path}#/`);
    const select = page.locator('[data-query=only]');
    expect(await select.locator('option').allTextContents()).toEqual([
      'all records',
      'own code of threads',
      'remote sections of 0x42',
    ]);
    const figure = page.locator('.figures > div').nth(2);
    expect(await figure.textContent()).toContain('2 of ');
    await select.selectOption('context:0x42');
    await page.waitForURL(/only=context:0x42$/);
    expect(await figure.textContent()).toContain('1 of ');
    await page.goto(`file://${path}#/calls?only=context:0x42`);
    const calls = await page.locator('.calls li').allTextContents();
    expect(calls).toHaveLength(1);
    expect(calls[0]).toContain('remote section');
  });

  it('shows no share of lines where none is proven', async () => {
    const elf = fixture();
    const whole = fixtureTrace(elf);
    const unknown = new TraceBuilder({ dialect: 'linux', image: elf.imageId });
    unknown.pc(unknown.source({ test: 't' }), whole.pointPc[0]!);
    const compares = new TraceBuilder({ dialect: 'linux', image: elf.imageId, flow: 'known' });
    const pc = whole.pointPc[whole.pointKind.indexOf(1)]!;
    compares.cmp(compares.source({ test: 't' }), 5, 0x30n, 0x34n, pc);
    for (const [trace, figure, cell, meta] of [
      [compares.finish(), /^Lines\u2013No line coverage was recorded\.$/, /^$/, /^no line coverage, /],
      [unknown.finish(), /^Lines\d+ ran.*do not prove which/, /^\d+ ran$/, /^\d+ lines? ran, /],
    ] as const) {
      const path = join(scratch(), 'open.html');
      writeFileSync(path, bytesOf(exportTrace('html', trace, elf)));
      await page.goto(`file://${path}`);
      expect(await page.locator('.figures > div').first().textContent()).toMatch(figure);
      const cells = await page.locator('.list tbody td:nth-child(3)').allTextContents();
      expect(cells).toContainEqual(expect.stringMatching(cell));
      expect(cells.join()).not.toContain('%');
      await page.locator('.list td.name a').first().click();
      expect(await page.locator('.meta').first().textContent()).toMatch(meta);
      expect(await page.locator('.code tr.u').count()).toBe(0);
    }
  });

  it('shows a share for each test that proves one, and functions that are unknown', async () => {
    const elf = fixture();
    const builder = new TraceBuilder({ dialect: 'linux', image: elf.imageId, flow: 'known' });
    const pc = fixtureTrace(elf).pointPc[0]!;
    builder.pc(builder.source({ test: 'proves', thread: 1 }), pc);
    const open = builder.source({ test: 'lost', thread: 2 });
    builder.pc(open, pc);
    builder.lost(open, 1);
    const path = join(scratch(), 'shares.html');
    writeFileSync(path, bytesOf(exportTrace('html', builder.finish(), elf)));
    for (const [filter, isShared] of [
      ['', false],
      ['?only=test:lost', false],
      ['?only=test:proves', true],
    ] as const) {
      await page.goto(`file://${path}#/${filter}`);
      const figures = page.locator('.figures > div');
      for (const number of [0, 1])
        expect(await figures.nth(number).textContent(), filter).toMatch(isShared ? /%\d+ of / : /\d+ ran/);
      await page.goto(`file://${path}#/file/main.c${filter}`);
      const meta = await page.locator('.meta').first().textContent();
      expect(meta, filter).toMatch(isShared ? /^[\d.]+% of \d+ lines?, \d+ of \d+ functions?/ : / ran, /);
      expect(/ unknown/.test(meta!), filter).toBe(!isShared);
    }
    await page.goto(`file://${path}#/file/lookup.c`);
    const listed = await page.locator('aside li a').allTextContents();
    expect(listed.every(text => text.endsWith('?'))).toBe(true);
    await page.goto(`file://${path}#/functions`);
    const calls = await page.locator('.list tbody td:nth-child(5)').allTextContents();
    expect(calls).toContain('seen');
    expect(new Set(calls)).toEqual(new Set(['seen', '?']));
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
    await page.goto(`${url}#/calls/first%20test/1/1/1`);
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
      await page.goto(`${url}#/file/parse.c`);
      const style = (selector: string, property: string) =>
        page.evaluate<string>(`getComputedStyle(document.querySelector('${selector}')).${property}`);
      const colours = [await style('body', 'color'), await style('body', 'backgroundColor')];
      colours.push(await style('.code tr.u .s', 'color'), await style('.code tr.u .s', 'backgroundColor'));
      expect(contrast(colours[0]!, colours[1]!)).toBeGreaterThan(7);
      expect(contrast(colours[2]!, colours[3]!)).toBeGreaterThan(7);
    }
    expect(errors).toEqual([]);
  });

  it('fits a screen of 420 and of 1400 pixels', async () => {
    for (const width of [420, 1400]) {
      await page.setViewportSize({ width, height: 900 });
      for (const view of ['', 'functions', 'calls', 'tests', 'compare', 'file/parse.c']) {
        await page.goto(`${url}#/${view}`);
        const overflow = await page.evaluate<number>(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        );
        expect(overflow, `${view} at ${width}`).toBeLessThanOrEqual(0);
      }
      await page.goto(`${url}#/functions`);
      const name = await page.locator('.list td.name').first().boundingBox();
      expect(name!.width).toBeGreaterThan(100);
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
