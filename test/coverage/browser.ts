/** Chromium for tests: its path, and the switches that disable messages and the network. */
import type { Browser, Page } from 'playwright-core';

export const CHROMIUM = '/usr/bin/chromium';
export const QUIET = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export interface Load {
  /** Lengths of the texts that JSON.parse has read so far. */
  readonly parsed: readonly number[];
  readonly elements: number;
  /** Milliseconds to the load event, and until the first row of the list is there. */
  readonly loaded: number;
  readonly listed: number;
}

/** Opens an HTML report; `parsed` answers later, too. */
export async function openReport(
  browser: Browser,
  url: string,
): Promise<{ tab: Page; load: Load; parsed: () => Promise<number[]> }> {
  const tab = await browser.newPage();
  await tab.addInitScript(`
    globalThis.parsed = [];
    const parse = JSON.parse;
    JSON.parse = text => (parsed.push(text.length), parse(text));
  `);
  const parsed = () => tab.evaluate<number[]>('parsed');
  const start = performance.now();
  await tab.goto(url);
  await tab.locator('.list tbody tr').first().waitFor();
  const listed = performance.now() - start;
  const elements = await tab.evaluate<number>('document.querySelectorAll("*").length');
  const loaded = await tab.evaluate<number>('performance.getEntriesByType("navigation")[0].loadEventEnd');
  return { tab, load: { parsed: await parsed(), elements, loaded, listed }, parsed };
}
