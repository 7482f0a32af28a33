// The documents as a site: every page in a real browser, as wide as a phone and as a desk's screen.
// No page is wider than its window, nothing is missing, and every link leads to a page and a
// heading of the site.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHROMIUM, QUIET } from '../coverage/browser.ts';
import { ROOT } from '../support/command.ts';
import { serve } from '../support/static-server.ts';

const reason = existsSync(CHROMIUM) ? undefined : `documents as a site skipped: no ${CHROMIUM}`;
if (reason) console.warn(reason);

const WIDTHS = [420, 1400];

/** The page where it reaches beyond the window, and elements that do not scroll by themselves. */
const TOO_WIDE = `(() => {
  const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  if (wide <= 0) return [];
  const beyond = [...document.querySelectorAll('.vp-doc *')].filter(
    each => each.getBoundingClientRect().right > innerWidth + 1 && !each.closest('table, pre, div[class*=language-]'),
  );
  return [wide + ' pixels', ...beyond.slice(0, 5).map(each => each.tagName + ': ' + each.textContent.slice(0, 60))];
})()`;

describe.skipIf(reason)('the documents as a site', () => {
  const out = mkdtempSync(join(tmpdir(), 'kcovbox-site-'));
  let server: Server;
  let browser: Browser;
  let url: string;
  let pages: string[];

  beforeAll(async () => {
    const vitepress = join(ROOT, 'node_modules', 'vitepress', 'bin', 'vitepress.js');
    execFileSync(process.execPath, [vitepress, 'build', 'docs', '--outDir', out], { cwd: ROOT });
    pages = readdirSync(out, { recursive: true, encoding: 'utf8' })
      .filter(name => name.endsWith('.html') && name !== '404.html')
      .sort();
    server = serve(out);
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    browser = await chromium.launch({ executablePath: CHROMIUM, args: QUIET });
  }, 300_000);
  afterAll(async () => {
    await browser?.close();
    server?.close();
    rmSync(out, { recursive: true, force: true });
  });

  it.each(WIDTHS)('fits %i pixels, and has no dead link', { timeout: 600_000 }, async width => {
    const faults: string[] = [];
    const anchors = new Map<string, Set<string>>();
    const links: [page: string, target: string][] = [];
    const tab = await browser.newPage({ viewport: { width, height: 900 } });
    let at = '';
    tab.on('pageerror', error => faults.push(`${at}: ${error.message}`));
    tab.on('response', response => {
      if (response.status() >= 400) faults.push(`${at}: ${response.status()} ${response.url()}`);
    });
    for (const name of pages) {
      at = name;
      await tab.goto(`${url}/${name}`);
      await tab.locator('.vp-doc h1').first().waitFor();
      const wide = await tab.evaluate<string[]>(TOO_WIDE);
      if (wide.length > 0) faults.push(`${name}: ${wide.join('; ')}`);
      const images = await tab.evaluate<string[]>(
        `[...document.images].filter(i => i.complete && i.naturalWidth === 0).map(i => i.src)`,
      );
      for (const image of images) faults.push(`${name}: no image ${image}`);
      anchors.set(
        name,
        new Set(await tab.evaluate<string[]>(`[...document.querySelectorAll('[id]')].map(e => e.id)`)),
      );
      for (const href of await tab.evaluate<string[]>(
        `[...document.querySelectorAll('main a[href]')].map(a => a.href)`,
      ))
        if (href.startsWith(url)) links.push([name, href.slice(url.length + 1)]);
    }
    await tab.close();
    for (const [from, link] of links) {
      const [path = '', anchor] = decodeURIComponent(link).split('#');
      const page = path === '' || path.endsWith('/') ? `${path}index.html` : path;
      const known = anchors.get(page);
      if (!known && !existsSync(join(out, page))) faults.push(`${from}: dead link ${link}`);
      else if (anchor && known && !known.has(anchor)) faults.push(`${from}: no heading ${link}`);
    }
    expect(pages.length).toBeGreaterThan(30);
    expect(links.length).toBeGreaterThan(200);
    expect(faults).toEqual([]);
  });
});
