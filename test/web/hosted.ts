/** The built page at a host of files that sets no header, and a browser to open it. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { CHROMIUM, QUIET } from '../coverage/browser.ts';
import { serve } from '../support/static-server.ts';
import { buildPage, Observed, settled, WEB } from './built.ts';

/**
 * For tests of what the page shows: its WebAssembly stays as V8's first compiler leaves it. The
 * second one takes a fifth of the processor time of such a test, and ends when the test has ended.
 * The pages of test/engine, of page.oracle and of the slow tests have both.
 */
export const BASELINE: readonly string[] = ['--js-flags=--liftoff-only'];

/** The run and all views are there, or a line says why not. */
const READY = '.uplot, .message:not(:empty)';

export class Hosted {
  browser!: Browser;
  /** The address of the folder, which ends with a slash. */
  home!: string;
  readonly observed = new Observed();
  #server: Server | undefined;
  /** Pages that no test uses. */
  readonly #free: Page[] = [];

  async start(prefix: string, flags: readonly string[]): Promise<void> {
    buildPage();
    const server = serve(WEB, prefix).listen(0, '127.0.0.1');
    this.#server = server;
    await new Promise(done => server.once('listening', done));
    this.home = `http://127.0.0.1:${(server.address() as AddressInfo).port}${prefix}`;
    this.browser = await chromium.launch({ executablePath: CHROMIUM, args: [...QUIET, ...flags] });
  }

  async end(): Promise<void> {
    await this.browser?.close();
    this.#server?.close();
  }

  /** The page at a place, when its run and all views are there. */
  async opened(hash = '', width = 1400, ready = '.uplot'): Promise<Page> {
    const page = await this.browser.newPage({ viewport: { width, height: 860 } });
    this.observed.add(page);
    await page.goto(`${this.home}${hash}`);
    await page.waitForSelector(ready);
    await settled(page);
    return page;
  }

  /**
   * The same in a page of an earlier test, where there is one: Chromium takes 5 s of a processor to
   * load a page and 3 s for another program in it. Without a place, whatever that test has opened.
   * Tests hand theirs over with `leave`; a page whose test failed is not used again.
   */
  async at(hash?: string): Promise<Page> {
    const page = this.#free.pop();
    if (!page) return this.opened(hash, 1400, READY);
    const close = page.locator('.moments').getByRole('button', { name: 'close' });
    if ((await close.count()) > 0) await close.click();
    if (hash === undefined) return page;
    await page.evaluate(`new Promise(done => {
      const hash = ${JSON.stringify(hash)};
      if (location.hash === hash) return done();
      addEventListener('hashchange', () => setTimeout(done), { once: true });
      location.hash = hash;
    })`);
    await settled(page);
    await page.waitForSelector(READY);
    return page;
  }

  /** Hands a page over to the test that comes next. */
  leave(page: Page): void {
    this.#free.push(page);
  }
}

/** For the tests around the call. `flags`: more switches of the browser. */
export function hosted(prefix = '/', flags: readonly string[] = []): Hosted {
  const site = new Hosted();
  beforeAll(() => site.start(prefix, flags), 600_000);
  afterAll(() => site.end());
  return site;
}
