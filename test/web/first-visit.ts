// A first visit to the page: its files until a line of the kernel is coloured. Chromium emulates a
// line of 10 Mbit/s and 40 ms; the host compresses nothing and sets no header.
import { existsSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, type BrowserContext, chromium } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { CHROMIUM, QUIET } from '../coverage/browser.ts';
import { serve } from '../support/static-server.ts';
import { buildPage, Observed, WEB } from './built.ts';

export const reason = existsSync(CHROMIUM) ? undefined : `the first line skipped: no ${CHROMIUM}`;
if (reason) console.warn(reason);

const LINE = { offline: false, latency: 40, downloadThroughput: 1.25e6, uploadThroughput: 1.25e6 };
const COLOURED = '.l-covered, .l-partly';

/** Notes the files that have come when the first line is coloured; a busy machine asks later. */
const WATCH = `new MutationObserver((_, observer) => {
  if (!document.querySelector('${COLOURED}')) return;
  observer.disconnect();
  const files = performance.getEntriesByType('resource').filter(({ responseEnd }) => responseEnd > 0);
  globalThis.cameBefore = files.map(({ name }) => name);
}).observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ['class'] })`;

/** Milliseconds until the first coloured line, and the files that had come by then. */
export interface Visit {
  readonly time: number;
  /** Bytes of the files, by the end of their paths. */
  readonly came: ReadonlyMap<string, number>;
}

export interface Visits {
  readonly browser: () => Browser;
  readonly home: () => string;
  readonly observed: Observed;
  visit(context: BrowserContext): Promise<Visit>;
}

/** A server of the built page and a browser for the tests around the call. */
export function visits(): Visits {
  let server: Server;
  let browser: Browser;
  let home: string;
  const observed = new Observed();

  beforeAll(async () => {
    buildPage();
    server = serve(WEB, '/a/').listen(0, '127.0.0.1');
    await new Promise(done => server.once('listening', done));
    home = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a/`;
    browser = await chromium.launch({ executablePath: CHROMIUM, args: QUIET });
  }, 600_000);

  afterAll(async () => {
    await browser?.close();
    server?.close();
  });

  async function visit(context: BrowserContext): Promise<Visit> {
    const page = await context.newPage();
    observed.add(page);
    const session = await context.newCDPSession(page);
    await session.send('Network.enable');
    await session.send('Network.emulateNetworkConditions', LINE);
    const paths = new Map<string, string>();
    const came = new Map<string, number>();
    session.on('Network.requestWillBeSent', ({ requestId, request }) => {
      if (request.url.startsWith(home)) paths.set(requestId, request.url.slice(home.length));
    });
    session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      const path = paths.get(requestId);
      if (path !== undefined) came.set(path, encodedDataLength);
    });
    const start = performance.now();
    await page.addInitScript(WATCH);
    await page.goto(home, { waitUntil: 'commit' });
    await page.waitForSelector(COLOURED);
    const time = performance.now() - start;
    await page.waitForSelector('.verdict.same');
    const before = (await page.evaluate('globalThis.cameBefore')) as string[];
    const names = new Set(['', ...before.map(url => url.slice(home.length))]);
    await page.close();
    return { time, came: new Map([...came].filter(([path]) => names.has(path))) };
  }

  return { browser: () => browser, home: () => home, observed, visit };
}
