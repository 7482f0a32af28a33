// The page in headless Chromium, as `npm run web` builds it, from a host that sets no headers, in a
// folder of its own. The oracle is the run that Node recorded: its hashes, console and coverage.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, describe, expect, it } from 'vitest';
import { CHROMIUM } from '../coverage/browser.ts';
import { serve } from '../support/static-server.ts';
import { PATIENCE, settled, WEB } from './built.ts';
import { hosted } from './hosted.ts';
import { expectConsole, expectIgnored, expectRecorded, IDS } from './recorded.ts';

const reason = existsSync(CHROMIUM) ? undefined : `the page skipped: no ${CHROMIUM}`;
if (reason) console.warn(reason);

describe.skipIf(reason)('the page', () => {
  const site = hosted('/courses/2026/');
  const dir = mkdtempSync(join(tmpdir(), 'kcovbox-page-'));

  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  async function opened(hash = '', width = 1400): Promise<Page> {
    const page = await site.browser.newPage({ viewport: { width, height: 860 } });
    site.observed.add(page);
    await page.goto(`${site.home}${hash}`);
    await page.waitForSelector('.verdict.same, .verdict.other');
    await page.waitForSelector('.verdict:not(.busy)');
    return page;
  }
  const unitOf = async (page: Page): Promise<number> =>
    Number(await page.locator('.unit input').inputValue());

  // In one page, as a reader goes through the menu; recorded.slow.test.ts opens each by address.
  it.each(IDS)(
    '%s is the run that Node recorded',
    async id => {
      const page = await site.at(`#program=${id}`);
      await expectRecorded(page, id);
      await expectConsole(page, id);
      site.leave(page);
    },
    PATIENCE,
  );

  it('says what differs when the run is not the recorded one', async () => {
    // The same capsule with another state hash: version 1 of the format has no seal to mend.
    const page = await site.at('#program=hello');
    const whole = join(dir, 'not-a.kcapsule');
    writeFileSync(whole, 'PK this is no capsule');
    await page.locator('input[type=file]').setInputFiles(whole);
    await settled(page);
    expect(await page.locator('.message').textContent()).toMatch(/^capsule not-a\.kcapsule is /);
    await page.locator('header select').selectOption('hello');
    await settled(page);
    expect(await page.locator('.verdict').textContent()).toBe('identical to the recorded run');
    site.leave(page);
  });

  it('of an inlined function of the C library it shows the call, where there is a text', async () => {
    const page = await site.at('#program=lines');
    await page.locator('.cm-line').first().waitFor();
    expect(await page.locator('.source h2').textContent()).toBe('lines.c');
    expect(await page.locator('.state .calls').textContent()).toMatch(/^getchar .* inlinedmain lines\.c:\d+/);
    expect(await page.locator('.calls [aria-current]').textContent()).toMatch(/^main /);
    // It can be looked at all the same.
    await page.locator('.calls button').first().click();
    await settled(page);
    await page.locator('.source', { hasText: 'The text of stdio.h is not in the page.' }).waitFor();
    site.leave(page);
  });

  it('a file of the address that the page has not is no error, also on a later visit', async () => {
    // One that every object has, one that is no own name of any, one in no folder; the other kinds:
    // recorded.slow.test.ts.
    await expectIgnored(site, ['constructor/x.c', '__proto__/x.c', 'x.c']);
  });

  it.each([
    ['an empty file', 'file=', ''],
    ['a file whose name has a million letters', `file=${'a'.repeat(1e6)}`, ''],
    ['a datum that does not exist', 'unit=500&datum=nosuch', 'nosuch: there is no variable nosuch here'],
    ['a datum that is none', 'datum=((&named=3', '((: a value is expected before the end'],
  ])('an address with %s opens the run all the same', async (_, words, said) => {
    const hash = `#program=bare&${words}`;
    // A file is looked for while the page starts, a datum when the run is there.
    const page = words.startsWith('file=') ? await opened(hash) : await site.at(hash);
    expect(await page.locator('.verdict').textContent()).toBe('identical to the recorded run');
    expect(await page.locator('.message').textContent()).toBe(said);
    site.leave(page);
  });

  it('an address that waits for a page around it says where that is missing', async () => {
    const page = await site.browser.newPage();
    await page.goto(`${site.home}#embed=1&wait=1`);
    await page.locator('.message', { hasText: 'is in the page around its frame' }).waitFor();
    await page.close();
  });

  it('a folder that is dropped is one line, and the run stays', async () => {
    const page = await site.at('#program=bare');
    const address = page.url();
    await page.evaluate(`{
      const folder = new File([], 'folder');
      folder.arrayBuffer = () => Promise.reject(new DOMException('not found', 'NotFoundError'));
      const drop = new Event('drop');
      Object.defineProperty(drop, 'dataTransfer', { value: { files: [folder] } });
      dispatchEvent(drop);
    }`);
    await page.locator('.message', { hasText: 'folder cannot be read' }).waitFor();
    await settled(page);
    expect(page.url()).toBe(address);
    expect(await page.locator('.uplot').count()).toBe(1);
    // So it does when a file is none; the verdict is of the run.
    const give = (...files: [name: string, text: string][]) =>
      page.evaluate(`{
        const drop = new DragEvent('drop', { dataTransfer: new DataTransfer() });
        for (const [name, text] of ${JSON.stringify(files)}) drop.dataTransfer.items.add(new File([text], name));
        dispatchEvent(drop);
      }`);
    const before = await unitOf(page);
    for (const [name, text, why] of [
      ['a.txt', 'text', 'capsule a.txt is not a capsule; make one with --record'],
      ['cut.kcapsule', 'PK\x03\x04', 'capsule cut.kcapsule is damaged: its end is missing'],
      ['cut', '\x7fELF', 'program cut is a truncated ELF file: 4 bytes'],
    ] as const) {
      await give([name, text]);
      await expect.poll(() => page.locator('.message').textContent()).toBe(why);
      await settled(page);
      expect(page.url()).toBe(address);
      expect(await page.locator('.verdict').textContent()).toBe('identical to the recorded run');
    }
    await page.keyboard.press('n');
    await settled(page);
    expect(await unitOf(page)).toBeGreaterThan(before);
    site.leave(page);
  });

  it('of several files one is opened, and the page says so', async () => {
    const page = await site.at('#program=bare');
    const file = readFileSync(join(WEB, 'programs', 'lost.kcapsule')).toString('base64');
    const drop = (count: number) =>
      page.evaluate(`{
        const bytes = Uint8Array.from(atob('${file}'), letter => letter.charCodeAt(0));
        const drop = new DragEvent('drop', { dataTransfer: new DataTransfer() });
        for (let n = 0; n < ${count}; n++) drop.dataTransfer.items.add(new File([bytes], 'run' + n));
        dispatchEvent(drop);
      }`);
    await drop(20);
    await page
      .locator('.message', { hasText: 'run0 is open; 19 more files are not: open one at a time' })
      .waitFor();
    await drop(2);
    await page.locator('.message', { hasText: 'run0 is open; 1 more file is not: open one' }).waitFor();
    // The last request wins: a program behind a file, and a file behind a program.
    await drop(1);
    await page.locator('header select').selectOption('hello');
    await page.locator('.source h2', { hasText: /hello\.c$/ }).waitFor();
    await settled(page);
    expect(await page.locator('header select').inputValue()).toBe('hello');
    await page.locator('header select').selectOption('race');
    await drop(1);
    await page.locator('.source h2', { hasText: /lost\.c$/ }).waitFor();
    await settled(page);
    expect(await page.locator('header select').inputValue()).toBe('');
    expect(await page.locator('.verdict').textContent()).toBe('identical to the recorded run');
    expect(await page.locator('.message').textContent()).toBe('');
    site.leave(page);
  });

  it('loads programs where the browser has no room to keep them', async () => {
    const context = await site.browser.newContext();
    const page = await context.newPage();
    site.observed.add(page);
    await page.goto(site.home);
    await page.waitForSelector('.verdict.same');
    await page.waitForFunction('navigator.serviceWorker.controller !== null');
    const session = await context.newCDPSession(page);
    const origin = new URL(site.home).origin;
    await session.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 1 });
    await page.locator('header select').selectOption('hello');
    await page.waitForSelector('.verdict.same[title*="exit, status"]');
    await settled(page);
    expect(await page.locator('.message').textContent()).toBe('');
    await context.close();
  });

  it('the way back of the browser leads to the program before, at its moment', async () => {
    const page = await site.at('#program=hello');
    await page.keyboard.press('n');
    await settled(page);
    const unit = await unitOf(page);
    await page.locator('header select').selectOption('bare');
    await settled(page);
    await page.goBack();
    await page.locator('.source h2', { hasText: 'hello.c' }).waitFor({ timeout: 20_000 });
    await settled(page);
    expect(await page.locator('header select').inputValue()).toBe('hello');
    expect(await unitOf(page)).toBe(unit);
    await page.goForward();
    await page.locator('.source h2', { hasText: 'bare.c' }).waitFor({ timeout: 20_000 });
    site.leave(page);
  });

  it('shows no text below the name of another file', async () => {
    const page = await opened('#program=kcov-linux');
    await page.locator('.cm-line', { hasText: 'KCOV_INIT_TRACE' }).first().waitFor();
    await page.evaluate(`{
      globalThis.wrong = [];
      new MutationObserver(() => {
        const name = document.querySelector('.source h2')?.textContent;
        const text = document.querySelector('.editor:not([hidden]) .cm-content')?.textContent ?? '';
        if (name === 'hello.c' && text.includes('KCOV')) wrong.push(text.slice(0, 80));
      }).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
    }`);
    await page.locator('header select').selectOption('hello');
    await page.locator('.cm-line', { hasText: 'hello, %s' }).waitFor({ timeout: 20_000 });
    expect(await page.evaluate('wrong')).toEqual([]);
    await page.close();
  });

  it('goes both ways: forth and back is the same place, by keys and by buttons', async () => {
    const page = await site.at('#program=kcov-openbsd');
    const first = await unitOf(page);
    const units = [first];
    for (let i = 0; i < 4; i++) {
      await page.keyboard.press('i');
      await settled(page);
      units.push(await unitOf(page));
    }
    expect(units).toEqual(units.map((_, i) => first + i));
    for (const unit of units.slice(0, -1).reverse()) {
      await page.getByLabel('one instruction back').click();
      await settled(page);
      expect(await unitOf(page)).toBe(unit);
    }
    await page.keyboard.press('n');
    await settled(page);
    const next = await unitOf(page);
    expect(next).toBeGreaterThan(first + 1);
    await page.keyboard.press('N');
    await settled(page);
    expect(await unitOf(page)).toBeLessThan(next);
    site.leave(page);
  });

  it('a click on a line lists its moments, and a moment shows the state', async () => {
    const page = await site.at('#program=kcov-openbsd');
    const call = page.locator('.cm-line', { hasText: '(void)read(-1, NULL, 0)' });
    await call.click();
    await settled(page);
    expect(await page.locator('.moments h2').textContent()).toMatch(/openbsd-kcov\.c:\d+ ran once$/);
    await page.locator('.moments li button').click();
    await settled(page);
    expect(await page.locator('.l-now').textContent()).toContain('read(-1, NULL, 0)');
    expect(await page.locator('.state').textContent()).toContain('records PCs');
    expect(await page.locator('.word0').textContent()).toBe('0');
    site.leave(page);
  });

  it('lines of the program ran as often as they did', async () => {
    const page = await site.at('#program=kcov-openbsd');
    const hits = async (text: string): Promise<string | null> => {
      const line = page.locator('.cm-line', { hasText: text }).first();
      await line.waitFor();
      const box = (await line.boundingBox())!;
      const gutter = page.locator('.g-hits .cm-gutterElement');
      for (const element of await gutter.all()) {
        const own = await element.boundingBox();
        if (own && Math.abs(own.y - box.y) < 2 && own.height > 0) return element.textContent();
      }
      return null;
    };
    // Its page is not mapped yet: the store traps once, and then runs once.
    expect(await hits('area[0] = 0;')).toBe('1');
    expect(await hits('err(1, "KIOENABLE")')).toBe('0');
    site.leave(page);
  });

  it('who wrote this last: a store before the moment', async () => {
    const page = await site.at('#program=kcov-openbsd');
    await page.locator('.cm-line', { hasText: 'if (ioctl(fd, KIOSETBUFSIZE' }).click();
    await settled(page);
    await page.locator('.moments li button').first().click();
    await settled(page);
    const before = await unitOf(page);
    await page.getByTitle('go to the last store to words').click();
    await settled(page);
    expect(await page.locator('.message').textContent()).toMatch(/^words was last written here: main at /);
    expect(await unitOf(page)).toBeLessThan(before);
    // It is true here only.
    await page.keyboard.press('n');
    await settled(page);
    expect(await page.locator('.message').textContent()).toBe('');
    // Words that are no datum are one line; the datum stays.
    const field = page.getByLabel('datum to follow');
    for (const [text, why] of [
      ['who wrote', 'who wrote: "wrote" is not expected here'],
      ['wrods', 'wrods: there is no variable wrods here'],
    ] as const) {
      await field.fill(text);
      await field.press('Enter');
      await settled(page);
      expect(await page.locator('.message').textContent()).toBe(why);
    }
    await page.locator('.datum button').first().click();
    await settled(page);
    expect(await page.locator('.message').textContent()).toMatch(/^words was last written here: /);
    await field.selectText();
    await page.keyboard.insertText('x'.repeat(5000));
    expect(await field.inputValue()).toHaveLength(200); // as much as an address holds
    await field.blur();
    site.leave(page);
  });

  it('a breakpoint stops in both directions', async () => {
    const page = await site.at('#program=kcov-openbsd');
    const line = page.locator('.cm-line', { hasText: '(void)read(-1, NULL, 0)' });
    await line.hover(); // unlike scrollIntoViewIfNeeded, also while the editor draws lines again
    const box = (await line.boundingBox())!;
    const gutter = (await page.locator('.g-break').boundingBox())!;
    await page.mouse.click(gutter.x + gutter.width / 2, box.y + box.height / 2);
    await settled(page);
    await page.keyboard.press('c');
    await settled(page);
    const there = await unitOf(page);
    expect(await page.locator('.l-now').textContent()).toContain('read(-1');
    await page.getByTitle('to the end of the run').click();
    await settled(page);
    await page.keyboard.press('C');
    await settled(page);
    expect(await unitOf(page)).toBe(there);
    site.leave(page);
  });

  it('the address names program, moment and line', async () => {
    const page = await site.at('#program=hello');
    await page.keyboard.press('n');
    await settled(page);
    const [unit, address] = [await unitOf(page), page.url()];
    site.leave(page);
    const again = await opened(address.slice(address.indexOf('#')));
    expect(await unitOf(again)).toBe(unit);
    await again.close();
  });

  it.each([1400, 320])('fits a window %i pixels wide', async width => {
    const page = width === 1400 ? await site.at('#program=kcov-linux') : await opened('#program=bare', width);
    const excess = () =>
      page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
    expect(await excess()).toBe(0);
    const nameless = await page.evaluate(
      `[...document.querySelectorAll('button, input, select')]
         .filter(one => !(one.textContent || one.title || one.ariaLabel || one.labels?.length || one.closest('.xterm')))
         .map(one => one.outerHTML)`,
    );
    expect(nameless).toEqual([]);
    // The choice of a measure is one row.
    const tops = await page
      .locator('.files fieldset label')
      .evaluateAll(labels => labels.map(label => label.getBoundingClientRect().top));
    expect(tops).toHaveLength(2);
    expect(new Set(tops).size).toBe(1);
    if (width === 1400) return site.leave(page);
    // The line is shown, and the menu stays.
    await page.locator('.l-now').waitFor();
    expect(await page.evaluate('scrollY')).toBe(0);
    // The list of keys begins with the first one.
    await page.setViewportSize({ width, height: 300 });
    await page.keyboard.press('?');
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
    expect(await page.locator('.help').evaluate(one => one.scrollTop)).toBe(0);
    await page.goto(`${site.home}labs.html`);
    await page.getByRole('article').waitFor();
    expect(await excess()).toBe(0);
    await page.close();
  });

  it('opens another capsule while one still runs', async () => {
    const page = await site.at('#program=hello');
    await page.locator('header select').selectOption('race');
    await page.locator('header select').selectOption('constants');
    await page.locator('.source h2', { hasText: /constants\.c$/ }).waitFor();
    await settled(page);
    expect(await page.locator('.verdict').textContent()).toBe('identical to the recorded run');
    expect(await page.locator('.message').textContent()).toBe('');
    site.leave(page);
  });

  it(
    'works without a connection after one visit',
    async () => {
      const own = serve(WEB, '/');
      const [answer] = own.listeners('request') as RequestListener[];
      let isNew = false;
      own.removeAllListeners('request').on('request', (request, response) => {
        // A browser takes a service worker of other bytes for a new one.
        if (isNew && request.url === '/offline.js')
          response
            .writeHead(200, { 'content-type': 'text/javascript' })
            .end(`${readFileSync(join(WEB, 'offline.js'), 'utf8')}// a new build`);
        else answer!(request, response);
      });
      own.listen(0, '127.0.0.1');
      await new Promise(done => own.once('listening', done));
      const address = `http://127.0.0.1:${(own.address() as AddressInfo).port}/`;
      const context = await site.browser.newContext();
      const page = await context.newPage();
      page.setDefaultTimeout(PATIENCE);
      await page.goto(address);
      await page.waitForSelector('.verdict.same');
      // Of each kind of file one is kept. The page's policy forbids what waitForFunction does.
      const kept = `caches.keys().then(async names => {
      const lists = await Promise.all(names.map(async name => (await caches.open(name)).keys()));
      const paths = lists.flat().map(({ url }) => new URL(url).pathname);
      const kinds = ['.packed', '.kcapsule', '.js', '/'];
      return kinds.every(end => paths.some(path => path.endsWith(end)));
    })`;
      while (!(await page.evaluate(kept))) await page.waitForTimeout(100);
      // The first visit of a new build drops files of others, and no other files.
      const old = ['kernels/openbsd.load-0123456789ab.packed', 'sources-0123456789ab/a/b.c.packed'];
      const names = (await page.evaluate(`(async () => {
        const cache = await caches.open((await caches.keys())[0]);
        const names = (await cache.keys()).map(({ url }) => url.replace(/#.*/, ''));
        for (const path of ${JSON.stringify([...old, 'assets.packed?old'])}) await cache.put(path, new Response('old'));
        return names;
      })()`)) as string[];
      isNew = true;
      await page.reload();
      await page.waitForSelector('.verdict.same');
      const urls = `caches.keys()
        .then(async ([name]) => (await caches.open(name)).keys())
        .then(keys => keys.map(({ url }) => url.replace(/#.*/, '')))`;
      const ofOthers = async (): Promise<string[]> =>
        ((await page.evaluate(urls)) as string[]).filter(url => /0123456789ab|old/.test(url));
      // The new worker starts behind the verdict.
      await expect.poll(ofOthers, { timeout: PATIENCE / 2 }).toEqual([]);
      expect(await page.evaluate(urls)).toEqual(expect.arrayContaining(names));
      own.closeAllConnections();
      await new Promise(done => own.close(done));
      await page.reload();
      await page.waitForSelector('.verdict.same');
      await page.waitForSelector('.l-covered');
      await context.close();
    },
    PATIENCE,
  );

  it('asks no other host, needs no eval, and reports no error', () => {
    const { errors, requests } = site.observed;
    expect(requests.filter(url => !url.startsWith(site.home) && !/^(data|blob):/.test(url))).toEqual([]);
    expect(readFileSync(join(WEB, 'index.html'), 'utf8')).not.toContain("'unsafe-eval'");
    expect(errors).toEqual([]);
  });
});
