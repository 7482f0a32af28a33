// The page as one HTML file: opened from the disk without a network, and where a host or a frame
// gives it no origin. The oracle is the run that Node recorded.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, chromium, type Frame, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHROMIUM, QUIET } from '../coverage/browser.ts';
import { serve } from '../support/static-server.ts';
import { buildPage, Observed, PATIENCE, settled, WEB } from './built.ts';
import { BASELINE } from './hosted.ts';
import { expectRecorded, INLINED } from './recorded.ts';

const reason = existsSync(CHROMIUM) ? undefined : `the page as one file skipped: no ${CHROMIUM}`;
if (reason) console.warn(reason);
const FILE = join(WEB, 'kcovbox.html');

describe.skipIf(reason)('the page as one file', () => {
  // Alone in a folder: nothing beside it can help.
  const dir = mkdtempSync(join(tmpdir(), 'kcovbox-one-file-'));
  const home = pathToFileURL(join(dir, 'kcovbox.html')).href;
  const observed = new Observed();
  let browser: Browser;

  beforeAll(async () => {
    buildPage();
    writeFileSync(join(dir, 'kcovbox.html'), readFileSync(FILE));
    browser = await chromium.launch({ executablePath: CHROMIUM, args: [...QUIET, ...BASELINE] });
  }, 600_000);

  afterAll(async () => {
    await browser?.close();
    rmSync(dir, { recursive: true, force: true });
  });

  async function opened(hash = ''): Promise<Page> {
    const context = await browser.newContext({ offline: true });
    const page = await context.newPage();
    observed.add(page);
    await page.goto(`${home}${hash}`);
    await verdict(page);
    return page;
  }
  async function verdict(page: Page | Frame): Promise<string | null> {
    const one = page.locator('.verdict:not(.busy)');
    await one.waitFor({ timeout: PATIENCE });
    return one.textContent();
  }

  it('has at most 3 MB', () => {
    expect(statSync(FILE).size).toBeLessThanOrEqual(3_000_000);
  });

  // One hart and two; the worker is that of the folder, and page.oracle.test.ts gives it all
  // programs. recorded.slow.test.ts opens each of them in the file.
  it('from the disk, without a network, its programs are the runs that Node recorded', async () => {
    const page = await opened('#program=race');
    const menu = page.locator('header select');
    const ids = await menu.locator('option').evaluateAll(all => all.map(one => one.getAttribute('value')));
    expect(ids).toEqual(INLINED);
    await expectRecorded(page, 'race');
    await page.locator('.l-covered').first().waitFor();
    await menu.selectOption('bare');
    await settled(page);
    await expectRecorded(page, 'bare');
    await page.context().close();
  });

  it('shows another program, lines of the kernel, and goes back', async () => {
    const page = await opened();
    await page.locator('header select').selectOption('hello');
    await settled(page);
    expect(await page.locator('.verdict').textContent()).toBe('identical to the recorded run');
    await page.getByLabel('ran', { exact: true }).check();
    await page.getByRole('button', { name: /sys_rw\.c/ }).click();
    await page.locator('.source h2', { hasText: 'kernel/fs/sys_rw.c' }).waitFor();
    await page.locator('.cm-line').first().waitFor();
    const unit = page.locator('.unit input');
    const first = await unit.inputValue();
    for (const key of ['i', 'i', 'I', 'I']) {
      await page.keyboard.press(key);
      await settled(page);
    }
    expect(await unit.inputValue()).toBe(first);
    await page.context().close();
  });

  it('says that a program is not in it', async () => {
    const page = await opened('#program=kcov-linux');
    expect(await page.locator('.message').textContent()).toBe(
      'this page has no program kcov-linux, and shows another',
    );
    await page.context().close();
  });

  it('works in a sandboxed frame of a page of another host, which has no origin', async () => {
    mkdirSync(join(dir, 'book'));
    const box = serve(WEB).listen(0, '127.0.0.1');
    const book = serve(join(dir, 'book')).listen(0, '127.0.0.1');
    await Promise.all([box, book].map(one => new Promise(done => one.once('listening', done))));
    const port = (server: typeof box) => (server.address() as AddressInfo).port;
    // The page of the folder cannot request its files there, and goes to the file.
    for (const path of ['kcovbox.html', '#program=hello']) {
      const frame = `<iframe sandbox="allow-scripts" src="http://localhost:${port(box)}/${path}"></iframe>`;
      writeFileSync(join(dir, 'book', 'index.html'), `<!doctype html><title>book</title>${frame}`);
      const page = await browser.newPage();
      page.setDefaultTimeout(PATIENCE);
      await page.goto(`http://127.0.0.1:${port(book)}/`);
      const inner = page.frames().find(one => one !== page.mainFrame())!;
      expect(await verdict(inner)).toBe('identical to the recorded run');
      expect(await inner.evaluate('origin')).toBe('null');
      if (path !== 'kcovbox.html') expect(await inner.locator('header select').inputValue()).toBe('hello');
      await page.close();
    }
    for (const server of [box, book]) {
      server.closeAllConnections();
      server.close();
    }
  });

  it('works in a frame whose text is in its element, which may not write an address', async () => {
    const page = await browser.newPage();
    page.setDefaultTimeout(PATIENCE);
    const errors: string[] = [];
    page.on('pageerror', error => errors.push(error.message));
    const text = readFileSync(join(WEB, 'kcovbox.html'), 'utf8');
    await page.setContent('<!doctype html><iframe sandbox="allow-scripts"></iframe>');
    await page.evaluate(`document.querySelector('iframe').srcdoc = ${JSON.stringify(text)}`);
    const inner = page.frameLocator('iframe');
    await inner.locator('.uplot').waitFor();
    await inner.locator('.verdict.same').waitFor();
    expect(errors).toEqual([]);
    await page.close();
  });

  it('a file that is cut off is one sentence', async () => {
    const whole = readFileSync(FILE, 'utf8');
    const cut = whole.replace(/(id="files">[^<]{100000})[^<]*/, '$1');
    writeFileSync(join(dir, 'cut.html'), cut);
    const page = await browser.newPage();
    page.setDefaultTimeout(PATIENCE);
    await page.goto(pathToFileURL(join(dir, 'cut.html')).href);
    const text = page.locator('#app', { hasText: 'cannot be opened' });
    await text.waitFor();
    expect(await text.textContent()).toBe(
      'This file cannot be opened: the data of this page is cut off. Get it again, as a whole.',
    );
    await page.close();
  });

  it('may not connect to any host, not even where there is a network', async () => {
    const page = await browser.newPage();
    await page.goto(home);
    await verdict(page);
    const host = serve(WEB).listen(0, '127.0.0.1');
    await new Promise(done => host.once('listening', done));
    const address = `http://127.0.0.1:${(host.address() as AddressInfo).port}/assets.packed`;
    const answer = `fetch(${JSON.stringify(address)}).then(() => 'connected', () => 'refused')`;
    expect(await page.evaluate(answer)).toBe('refused');
    const inWorker = `new Promise(done => {
      const text = \`fetch(${JSON.stringify(address)}, { mode: 'no-cors' })
        .then(() => postMessage('connected'), () => postMessage('refused'))\`;
      new Worker(URL.createObjectURL(new Blob([text]))).onmessage = ({ data }) => done(data);
    })`;
    expect(await page.evaluate(inWorker)).toBe('refused');
    host.close();
    await page.close();
  });

  it('requests nothing but itself, and reports no error', () => {
    expect(observed.requests.filter(url => !url.startsWith(home) && !/^(data|blob):/.test(url))).toEqual([]);
    expect(observed.errors).toEqual([]);
  });
});
