/** Each program of the menu in the page: the oracle is the run that Node recorded. */
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { PROGRAMS } from '../../web/assets/programs.ts';
import { capsuleOf, settled } from './built.ts';
import type { Hosted } from './hosted.ts';

export const IDS = PROGRAMS.map(({ id }) => id);
/** Those that the page as one file has. */
export const INLINED = PROGRAMS.filter(({ dialect }) => dialect === 'openbsd').map(({ id }) => id);

/** The page shows this program: its state is the recorded one. */
export async function expectRecorded(page: Page, id: string): Promise<void> {
  const verdict = page.locator('.verdict');
  expect(await verdict.textContent()).toBe('identical to the recorded run');
  expect(await verdict.getAttribute('title')).toContain(capsuleOf(id).manifest.outcome.stateHash);
  expect(await page.locator('header select').inputValue()).toBe(id);
}

/** Goes to the end of the run, where the console has the last line of the recorded one. */
export async function expectConsole(page: Page, id: string): Promise<void> {
  await page.getByTitle('to the end of the run').click();
  await settled(page);
  const wanted = new TextDecoder().decode(capsuleOf(id).console()).trimEnd().split('\n').at(-1)!;
  const last = page.locator('.terminal .xterm-accessibility-tree > div', {
    hasText: wanted.slice(0, 60).trim(),
  });
  await last.first().waitFor({ state: 'attached' });
}

/** Visits of one browser at places in files that the page has not. */
export async function expectIgnored(site: Hosted, files: readonly string[]): Promise<void> {
  const context = await site.browser.newContext();
  for (const file of files) {
    const page = await context.newPage();
    site.observed.add(page);
    await page.goto(`${site.home}#program=bare&file=${encodeURIComponent(file)}&line=1`);
    await page.waitForSelector('.verdict.same');
    await page.close();
  }
  await context.close();
  expect(site.observed.errors).toEqual([]);
}
