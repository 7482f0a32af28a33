// The lines that the browser keeps between two visits: they are there before the run, they are
// those of the run, and nothing but a capsule of the menu gets there.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHROMIUM } from '../coverage/browser.ts';
import { kcovbox, ROOT } from '../support/command.ts';
import { PATIENCE, settled } from './built.ts';
import { BASELINE, hosted } from './hosted.ts';

const reason = existsSync(CHROMIUM) ? undefined : `kept lines skipped: no ${CHROMIUM}`;
if (reason) console.warn(reason);

const FIRST = 'kcovbox-lines-first';
/** A script that fails, packed as those of the page. */
const BROKEN = gzipSync("throw new Error('no page today');");
type State = Awaited<ReturnType<BrowserContext['storageState']>>;
/** States of the lines that are drawn, by their texts. */
const DRAWN = `Object.fromEntries([...document.querySelectorAll('.editor .cm-line')]
  .map(one => [one.textContent, [...one.classList].filter(name => /^l-(covered|partly|uncovered|unknown)/.test(name)).join()]))`;

/** The editor draws as many lines as fit, so a few are in one of them only. */
function expectSame(one: Readonly<Record<string, string>>, other: Readonly<Record<string, string>>): void {
  const both = Object.keys(one).filter(text => text.trim() !== '' && Object.hasOwn(other, text));
  const statesOf = (lines: Readonly<Record<string, string>>) => both.map(text => [text, lines[text]]);
  expect(both.length).toBeGreaterThan(10);
  expect(statesOf(other)).toEqual(statesOf(one));
  expect(Object.values(one)).toContain('l-covered');
}

describe.skipIf(reason)('lines of the last visit', () => {
  const site = hosted('/', BASELINE);
  const dir = mkdtempSync(join(tmpdir(), 'kcovbox-kept-'));
  const capsule = join(dir, 'stranger.kcapsule');

  beforeAll(async () => {
    const source = join(ROOT, 'guest-programs', 'netbsd-kcov.c');
    kcovbox(['run', '--dialect', 'netbsd', '--record', capsule, source], { cwd: dir });
  }, 600_000);

  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  /** The browser's storage after the first view, and the lines that it showed. */
  let first: { readonly state: State; readonly lines: Readonly<Record<string, string>> };
  beforeAll(async () => {
    const context = await newContext();
    const page = await visit(context);
    await page.waitForSelector('.verdict.same');
    first = { lines: await drawn(page), state: await context.storageState() };
    await context.close();
  }, 600_000);

  // Without the service worker, requests can be held.
  const newContext = (storageState?: State): Promise<BrowserContext> =>
    site.browser.newContext({
      viewport: { width: 1400, height: 860 },
      serviceWorkers: 'block',
      ...(storageState && { storageState }),
    });
  /** A reader who has seen the first view; `change`: of what the browser has kept of it. */
  async function reader(change = (text: string): string => text): Promise<BrowserContext> {
    const state = structuredClone(first.state);
    for (const { localStorage } of state.origins)
      for (const item of localStorage) if (item.name === FIRST) item.value = change(item.value);
    expect(JSON.stringify(state)).toContain(FIRST);
    return newContext(state);
  }
  async function visit(context: BrowserContext): Promise<Page> {
    const page = await context.newPage();
    site.observed.add(page);
    await page.goto(site.home);
    return page;
  }
  const stored = (page: Page): Promise<unknown> => page.evaluate('JSON.stringify({ ...localStorage })');

  const drawn = async (page: Page) => (await page.evaluate(DRAWN)) as Record<string, string>;

  /** Holds requests for files; the answer lets them go. */
  async function hold(context: BrowserContext, files: string): Promise<() => void> {
    let go = (): void => {};
    const held = new Promise<void>(done => {
      go = done;
    });
    await context.route(files, async route => {
      await held;
      await route.continue();
    });
    return go;
  }

  it(
    'are drawn by the first script, before there is a page',
    async () => {
      const context = await reader();
      const go = await hold(context, '**/assets/page-*');
      const page = await visit(context);
      await page.waitForSelector('#kept .l-covered');
      const [before, { name, background, middle }] = (await page.evaluate(`(() => {
        const { line, text } = JSON.parse(localStorage['${FIRST}']);
        const all = text.split('\\n');
        const rows = [...document.querySelectorAll('#kept .editor > div')];
        const { top, height } = rows
          .find(row => row.querySelector('.kept-number').textContent === String(line))
          .getBoundingClientRect();
        const editor = document.querySelector('#kept .editor').getBoundingClientRect();
        return [
          Object.fromEntries(
            rows
              .map(row => [row.lastChild.textContent, row.className])
              .filter(([own]) => all.indexOf(own) === all.lastIndexOf(own)),
          ),
          {
            name: document.querySelector('#kept h2').textContent,
            background: getComputedStyle(document.querySelector('#kept .l-covered')).backgroundColor,
            middle: (top + height / 2 - editor.top) / editor.height,
          },
        ];
      })()`)) as [Record<string, string>, { name: string; background: string; middle: number }];
      expectSame(before, first.lines);
      expect(name).toBe('kernel/fs/sys_rw.c');
      expect(background).toMatch(/^(rgb|color|oklab|oklch)/);
      expect(background).not.toBe('rgba(0, 0, 0, 0)');
      expect(middle).toBeGreaterThan(0.4);
      expect(middle).toBeLessThan(0.6);
      go();
      await page.waitForSelector('.cm-line.l-covered');
      expect(await page.locator('#kept').count()).toBe(0);
      await page.waitForSelector('.verdict.same');
      expectSame(before, await drawn(page));
      await page.close();
      // No lines of another program are drawn, and none below the reason why there is no page.
      const elsewhere = await context.newPage();
      await context.route('**/assets/page-*', route => route.fulfill({ status: 404 }));
      for (const place of ['', '#program=hello', '#wait=1', '#run=x']) {
        await elsewhere.goto(`${site.home}${place}`);
        await elsewhere.reload(); // another fragment alone loads nothing
        await elsewhere.locator('#app', { hasText: 'cannot be loaded: 404' }).waitFor();
        expect(await elsewhere.locator('#kept').count()).toBe(0);
      }
      await context.close();
    },
    PATIENCE,
  );

  it(
    'are not left alone by a page that fails when it starts',
    async () => {
      const context = await reader();
      await context.route('**/assets/page-*', route => route.fulfill({ body: BROKEN }));
      const page = await context.newPage();
      await page.goto(site.home);
      await page.locator('#app', { hasText: 'cannot start: Uncaught Error: no page today' }).waitFor();
      expect(await page.locator('#kept').count()).toBe(0);
      await context.close();
    },
    PATIENCE,
  );

  it(
    'are drawn around the line that the page will show, whatever the address says',
    async () => {
      const context = await reader();
      await hold(context, '**/assets/page-*');
      const page = await context.newPage();
      const { line } = JSON.parse(
        first.state.origins[0]!.localStorage.find(({ name }) => name === FIRST)!.value,
      ) as { line: number };
      const numbersAt = async (place: string): Promise<string[]> => {
        await page.goto('about:blank');
        await page.goto(`${site.home}${place}`);
        await page.locator('#kept .kept-number').first().waitFor();
        return page.locator('#kept .kept-number').allTextContents();
      };
      const own = await numbersAt('');
      expect(own[0]).toBe(`${Math.max(1, line - 80)}`);
      for (const none of ['x', '', '-200', '1e400', '2.5'])
        expect(await numbersAt(`#line=${none}`), none).toEqual(own);
      for (const top of ['0', '999999']) expect((await numbersAt(`#line=${top}`))[0]).toBe('1');
      await context.close();
    },
    PATIENCE,
  );

  it(
    'are shown before there is a kernel, and are those of the run',
    async () => {
      const context = await reader();
      const go = await hold(context, '**/kernels/*');
      const page = await visit(context);
      await page.waitForSelector('.cm-line.l-covered');
      expect(await page.locator('.verdict').textContent()).toMatch(/^as on the last visit/);
      const [before, storedBefore] = [await drawn(page), await stored(page)];
      go();
      await page.waitForSelector('.verdict.same');
      expectSame(before, await drawn(page));
      // All lines of the file, with their counts, as this run gave them.
      expect(await stored(page)).toBe(storedBefore);
      expect(await page.locator('.message').textContent()).toBe('');
      await context.close();
    },
    PATIENCE,
  );

  it(
    'that are not those of the run are an error, and the lines of the run replace them',
    async () => {
      const context = await reader(text => {
        const kept = JSON.parse(text) as { lines: [line: number, state: string, hits: number][] };
        const wrong = kept.lines.map(([line, state, hits]) => [
          line,
          state === 'covered' ? 'uncovered' : state,
          hits,
        ]);
        return JSON.stringify({ ...kept, lines: wrong });
      });
      const again = await visit(context);
      await again.locator('.message', { hasText: 'were not those of the run' }).waitFor();
      await again.waitForSelector('.verdict.same');
      expectSame(first.lines, await drawn(again));
      await again.close();
      // Storage that is no kept view is as good as none.
      const noText = '{"toString":1}';
      for (const lines of ['7', '[[0,"covered",1]]', `[[1,${noText},1]]`, `[[1,"unknown",${noText}]]`]) {
        const next = await visit(context);
        await next.waitForSelector('.verdict.same');
        expect(await next.locator('.message').textContent()).toBe('');
        expectSame(first.lines, await drawn(next));
        await next.evaluate(
          `localStorage['${FIRST}'] = localStorage['${FIRST}'].replace(/"lines":.*/, '"lines":${lines}}')`,
        );
        await next.close();
      }
      const last = await visit(context);
      await last.waitForSelector('.verdict.same');
      expect(await last.locator('.message').textContent()).toBe('');
      expectSame(first.lines, await drawn(last));
      await context.close();
    },
    PATIENCE,
  );

  it(
    'are taken away when no run confirms them',
    async () => {
      const context = await reader();
      await context.route('**/kernels/*', route => route.fulfill({ status: 404 }));
      const page = await context.newPage();
      page.setDefaultTimeout(PATIENCE);
      await page.goto(site.home);
      await page.locator('.message', { hasText: 'cannot be loaded' }).waitFor();
      expect(await page.locator('.cm-line').count()).toBe(0);
      expect(await page.locator('.verdict').textContent()).toBe('no run');
      await context.close();
    },
    PATIENCE,
  );

  it(
    'are never those of a file, also while a program of the menu is on its way',
    async () => {
      const context = await reader();
      const page = await visit(context);
      await page.waitForSelector('.verdict.same');
      const before = await stored(page);
      expect(before).toContain(FIRST);
      await page.locator('input[type=file]').setInputFiles(capsule);
      await page.locator('.source h2', { hasText: 'netbsd-kcov.c' }).waitFor();
      await settled(page);
      const go = await hold(context, '**/hello.kcapsule?*');
      await page.locator('header select').selectOption('hello');
      // The lines of the file's run, under the name of the next program.
      for (const name of ['ran', 'recorded', 'ran']) {
        await page.getByRole('radio', { name: new RegExp(name) }).click();
        await page.waitForTimeout(200);
      }
      expect(await stored(page)).toBe(before);
      go();
      await page.locator('.source h2', { hasText: 'hello.c' }).waitFor();
      await context.close();
    },
    PATIENCE,
  );

  it('reports no error', () => expect(site.observed.errors).toEqual([]));
});
