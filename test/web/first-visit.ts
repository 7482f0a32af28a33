// A first visit to the page: its files until a line of the kernel is coloured. Chromium emulates a
// line of 10 Mbit/s and 40 ms; the host compresses nothing and sets no header.
import { existsSync } from 'node:fs';
import type { BrowserContext } from 'playwright-core';
import { CHROMIUM } from '../coverage/browser.ts';
import { type Hosted, hosted } from './hosted.ts';

export const reason = existsSync(CHROMIUM) ? undefined : `the first line skipped: no ${CHROMIUM}`;
if (reason) console.warn(reason);

const LINE = { offline: false, latency: 40, downloadThroughput: 1.25e6, uploadThroughput: 1.25e6 };
const COLOURED = '.l-covered, .l-partly';

/**
 * Notes when the first coloured line has been painted, and the files that had come when it was
 * made. The page does it itself: Playwright looks for an element every half a second at last, so a
 * line that is there after 1.3 s is found after 1.8 s.
 */
const WATCH = `new MutationObserver((_, observer) => {
  if (!document.querySelector('${COLOURED}')) return;
  observer.disconnect();
  requestAnimationFrame(() => setTimeout(() => {
    globalThis.paintedAt = Date.now();
  }));
  const files = performance.getEntriesByType('resource').filter(({ responseEnd }) => responseEnd > 0);
  globalThis.cameBefore = files.map(({ name }) => name);
}).observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ['class'] })`;

export interface Visit {
  /** Milliseconds from the order to go to the page until the first coloured line was painted. */
  readonly time: number;
  /** Bytes of the files that had come by then, by the end of their paths. */
  readonly came: ReadonlyMap<string, number>;
  /** Milliseconds from the request of each file to its end, by the end of its path. */
  readonly spans: ReadonlyMap<string, readonly [start: number, end: number]>;
}

/** A host of the built page for the tests around the call, and visits to it. */
export function visits(): { site: Hosted; visit(context: BrowserContext, idleMs?: number): Promise<Visit> } {
  const site = hosted('/a/');

  /** Without the name of the build. */
  const pathOf = (url: string): string => url.slice(site.home.length).replace(/\?.*/, '');

  /** `idleMs`: the window is open for so long before. */
  async function visit(context: BrowserContext, idleMs = 0): Promise<Visit> {
    const page = await context.newPage();
    site.observed.add(page);
    const session = await context.newCDPSession(page);
    await session.send('Network.enable');
    await session.send('Network.emulateNetworkConditions', LINE);
    const paths = new Map<string, string>();
    const came = new Map<string, number>();
    session.on('Network.requestWillBeSent', ({ requestId, request }) => {
      if (request.url.startsWith(site.home)) paths.set(requestId, pathOf(request.url));
    });
    session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      const path = paths.get(requestId);
      if (path !== undefined) came.set(path, encodedDataLength);
    });
    await page.addInitScript(WATCH);
    await page.waitForTimeout(idleMs);
    const start = Date.now();
    await page.goto(site.home, { waitUntil: 'commit' });
    await page.waitForSelector('.verdict.same');
    const time = ((await page.evaluate('globalThis.paintedAt')) as number) - start;
    const before = (await page.evaluate('globalThis.cameBefore')) as string[];
    const names = new Set(['', ...before.map(pathOf)]);
    const timings = (await page.evaluate(
      `performance.getEntriesByType('resource').map(one => [one.name, [one.startTime, one.responseEnd]])`,
    )) as [string, [number, number]][];
    const spans = new Map(timings.map(([url, span]) => [pathOf(url), span]));
    await page.close();
    return { time, spans, came: new Map([...came].filter(([path]) => names.has(path))) };
  }

  return { site, visit };
}
