/** The built page at a host of files that sets no header, and a browser to open it. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { CHROMIUM, QUIET } from '../coverage/browser.ts';
import { serve } from '../support/static-server.ts';
import { buildPage, Observed, settled, WEB } from './built.ts';

export class Hosted {
  browser!: Browser;
  /** The address of the folder, which ends with a slash. */
  home!: string;
  readonly observed = new Observed();
  #server: Server | undefined;

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
  async opened(hash = '', width = 1400): Promise<Page> {
    const page = await this.browser.newPage({ viewport: { width, height: 860 } });
    this.observed.add(page);
    await page.goto(`${this.home}${hash}`);
    await page.waitForSelector('.uplot');
    await settled(page);
    return page;
  }
}

/** For the tests around the call. `flags`: more switches of the browser. */
export function hosted(prefix = '/', flags: readonly string[] = []): Hosted {
  const site = new Hosted();
  beforeAll(() => site.start(prefix, flags), 600_000);
  afterAll(() => site.end());
  return site;
}
