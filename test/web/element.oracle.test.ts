// <kcovbox-run> in chapters of a textbook: on the host of the page and on another one, twice in one
// chapter, from hosts that set no header. The oracle is the run that Node recorded.
import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium, type Frame, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHROMIUM, QUIET } from '../coverage/browser.ts';
import { serve } from '../support/static-server.ts';
import { buildPage, Observed, PATIENCE, WEB } from './built.ts';
import { BASELINE } from './hosted.ts';

const reason = existsSync(CHROMIUM) ? undefined : `<kcovbox-run> skipped: no ${CHROMIUM}`;
if (reason) console.warn(reason);
const SAME = 'identical to the recorded run';

describe.skipIf(reason)('<kcovbox-run>', () => {
  const book = mkdtempSync(join(tmpdir(), 'kcovbox-book-'));
  const servers: Server[] = [];
  let browser: Browser;
  let page: string;
  let chapter: string;
  const observed = new Observed();

  async function listening(folder: string, prefix: string): Promise<string> {
    const server = serve(folder, prefix).listen(0, '127.0.0.1');
    servers.push(server);
    await new Promise(done => server.once('listening', done));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}${prefix}`;
  }

  beforeAll(async () => {
    buildPage();
    page = await listening(WEB, '/tools/kcovbox/');
    chapter = await listening(book, '/book/');
    copyFileSync(join(WEB, 'programs', 'hello.kcapsule'), join(book, 'mine.kcapsule'));
    writeFileSync(join(book, 'damaged.kcapsule'), 'PK and no more');
    writeFileSync(
      join(book, 'index.html'),
      `<!doctype html><title>chapter</title><link rel="icon" href="data:,">
       <script src="${page}kcovbox-run.js"></script>
       <kcovbox-run id="a" program="kcov-openbsd" line="kernel/fs/sys_rw.c:78" autostart></kcovbox-run>
       <kcovbox-run id="b" src="mine.kcapsule" height="500px"></kcovbox-run>`,
    );
    writeFileSync(
      join(book, 'opener.html'),
      '<!doctype html><title>no run</title><link rel="icon" href="data:,">',
    );
    browser = await chromium.launch({ executablePath: CHROMIUM, args: [...QUIET, ...BASELINE] });
  }, 600_000);

  afterAll(async () => {
    await browser?.close();
    for (const server of servers) server.close();
    rmSync(book, { recursive: true, force: true });
  });

  async function opened(address: string): Promise<Page> {
    const tab = await browser.newPage({ viewport: { width: 1000, height: 1300 } });
    observed.add(tab);
    await tab.addInitScript(`
      globalThis.verdicts = [];
      addEventListener('verdict', event => globalThis.verdicts.push(event.detail));
    `);
    await tab.goto(address);
    return tab;
  }
  const frameOf = async (tab: Page, id: string): Promise<Frame> => {
    const frame = await tab.locator(`#${id} iframe`).elementHandle();
    return (await frame!.contentFrame())!;
  };

  it(
    'works twice in a chapter of another host',
    async () => {
      const tab = await opened(chapter);
      const first = await frameOf(tab, 'a');
      await first.waitForSelector('.verdict.same');
      expect(await first.locator('.source h2').textContent()).toBe('kernel/fs/sys_rw.c');
      expect(await first.locator('.l-shown.l-covered').textContent()).toContain('return transfer(');
      await tab.locator('#b button').click();
      const second = await frameOf(tab, 'b');
      await second.waitForSelector('.verdict.same');
      await second.locator('.cm-line', { hasText: 'int main' }).first().waitFor();
      expect(await tab.evaluate('verdicts')).toEqual([SAME, SAME]);
      expect(await tab.locator('#b').evaluate(element => element.getBoundingClientRect().height)).toBe(500);
      // The moments of the two are their own.
      const unit = (frame: Frame): Promise<string> => frame.locator('.unit input').inputValue();
      const before = await unit(first);
      await second.getByLabel('one instruction', { exact: true }).click();
      await second.waitForSelector('.verdict.same');
      expect(await unit(first)).toBe(before);
      // Another capsule: one sentence in the frame, as for a file that is dropped.
      await tab.locator('#b').evaluate(element => element.setAttribute('src', 'damaged.kcapsule'));
      await tab.waitForTimeout(100);
      const third = await frameOf(tab, 'b');
      await third.locator('.message', { hasText: /^capsule damaged\.kcapsule is / }).waitFor();
      await tab.close();
    },
    PATIENCE,
  );

  it(
    'is a module in the example beside the page, and goes to a moment',
    async () => {
      const tab = await opened(`${page}textbook.html`);
      const one = tab.locator('kcovbox-run').first();
      const frame = await one.locator('iframe').elementHandle();
      await (await frame!.contentFrame())!.waitForSelector('.verdict.same');
      await one.evaluate(element => element.setAttribute('moment', '1600000'));
      await tab.waitForTimeout(100);
      const again = (await (await one.locator('iframe').elementHandle())!.contentFrame())!;
      await again.waitForSelector('.verdict.same');
      await again.waitForSelector('.time .uplot');
      expect(await again.locator('.unit input').inputValue()).toBe('1600000');
      await tab.close();
    },
    PATIENCE,
  );

  it('takes a capsule from the page around it, and not from one that opened it', async () => {
    const tab = await opened(`${chapter}opener.html`);
    const popup = tab.waitForEvent('popup');
    await tab.evaluate(`
      const other = open(${JSON.stringify(`${page}#wait=1`)});
      const bytes = new Uint8Array(9);
      setInterval(() => other.postMessage({ kcovbox: 'capsule', name: 'strange', bytes }, '*'), 50);
    `);
    const other = await popup;
    await other.waitForSelector('header');
    await other.waitForSelector('.verdict.none');
    await other.locator('.message', { hasText: /is in the page around its frame/ }).waitFor();
    await other.waitForTimeout(500);
    expect(await other.locator('.message').textContent()).toBe(
      'the run of this address is in the page around its frame: open that page, or a file',
    );
    await tab.close();
    await other.close();
  });

  it('takes one message of the right form from any page around it, and no more', async () => {
    const tab = await opened(chapter);
    await tab.evaluate(`{
      const frame = document.createElement('iframe');
      frame.id = 'strange';
      frame.src = ${JSON.stringify(`${page}#wait=1`)};
      addEventListener('message', ({ data, source }) => {
        if (source !== frame.contentWindow || data.kcovbox !== 'waiting') return;
        const bytes = new Uint8Array(1e6);
        const wrong = [null, 7, 'capsule', [], {}, new Array(1e5).fill(0), { kcovbox: 'capsule' },
          { kcovbox: 'capsule', name: 1, bytes }, { kcovbox: 'capsule', name: 'array', bytes: [1, 2] },
          { kcovbox: 'capsule', name: 'x'.repeat(5000), bytes }, { kcovbox: 'failed' },
          { kcovbox: 'failed', text: 'x'.repeat(5e6) }, { kcovbox: 'verdict', text: 'x' }];
        for (const message of wrong) source.postMessage(message, '*');
        for (let n = 0; n < 200; n++) source.postMessage({ kcovbox: 'capsule', name: 'run' + n, bytes }, '*');
      });
      document.body.append(frame);
    }`);
    const frame = (await (await tab.waitForSelector('#strange')).contentFrame())!;
    const message = frame.locator('.message:not(:empty)');
    await message.waitFor();
    await frame.waitForSelector('.verdict.none');
    await tab.waitForTimeout(300);
    expect(await message.textContent()).toBe('capsule run0 is not a capsule; make one with --record');
    await frame.locator('header select').selectOption('bare');
    await frame.waitForSelector('.verdict.same');
    await tab.close();
  });

  it('reports no error', () => expect(observed.errors).toEqual([]));
});
