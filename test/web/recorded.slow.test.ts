// Each program of the menu by its own address, in a browser that knows nothing, as a folder and as
// one file from the disk without a network; page.oracle.test.ts has all programs in one page.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHROMIUM } from '../coverage/browser.ts';
import { settled, WEB } from './built.ts';
import { hosted } from './hosted.ts';
import { expectConsole, expectIgnored, expectRecorded, IDS, INLINED } from './recorded.ts';

const reason = existsSync(CHROMIUM) ? undefined : `all programs of the page skipped: no ${CHROMIUM}`;
if (reason) console.warn(reason);

describe.skipIf(reason)('every program of the menu is the run that Node recorded', () => {
  const site = hosted('/courses/2026/');
  const dir = mkdtempSync(join(tmpdir(), 'kcovbox-recorded-'));
  const file = join(dir, 'kcovbox.html');

  beforeAll(() => writeFileSync(file, readFileSync(join(WEB, 'kcovbox.html'))));
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  async function opened(address: string, offline: boolean): Promise<Page> {
    const page = await (await site.browser.newContext({ offline })).newPage();
    site.observed.add(page);
    await page.goto(address);
    await page.waitForSelector('.verdict.same, .verdict.other');
    await settled(page);
    return page;
  }

  it.each(IDS)('%s by its address', async id => {
    const page = await opened(`${site.home}#program=${id}`, false);
    await expectRecorded(page, id);
    await expectConsole(page, id);
    await page.context().close();
  });

  it.each(INLINED)('%s in the one file', async id => {
    const page = await opened(`${pathToFileURL(file).href}#program=${id}`, true);
    await expectRecorded(page, id);
    await page.locator('.l-covered').first().waitFor();
    await page.context().close();
  });

  it('a file of the address that the page has not is no error, also on a later visit', () =>
    expectIgnored(site, ['nowhere/x.c', 'constructor/x.c', '__proto__/x.c', 'x.c', '/']));

  it('reports no error', () => expect(site.observed.errors).toEqual([]));
});
