// The page for everybody: the audit of audit.ts finds nothing in any view or dialog, in both colour
// schemes, and everything that can be clicked is reached by Tab.
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CHROMIUM } from '../coverage/browser.ts';
import { AUDIT } from './audit.ts';
import { PATIENCE, settled } from './built.ts';
import { BASELINE, hosted } from './hosted.ts';

const reason = existsSync(CHROMIUM) ? undefined : `the audit of the page skipped: no ${CHROMIUM}`;
if (reason) console.warn(reason);

describe.skipIf(reason)('the page for everybody', () => {
  const site = hosted('/', BASELINE);

  it(
    'names, roles, keyboard and contrast in all views and dialogs',
    async () => {
      const page = await site.opened('#program=race');
      const faults: string[] = [];
      const audit = async (view: string): Promise<void> => {
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme });
          for (const fault of (await page.evaluate(AUDIT)) as string[])
            faults.push(`${view}, ${colorScheme}: ${fault}`);
        }
      };
      const press = async (...keys: string[]): Promise<void> => {
        for (const key of keys) {
          await page.keyboard.press(key);
          await settled(page);
        }
      };
      await press('n', 'm');
      await page.locator('.state summary').click();
      await audit('a run with two harts');
      await page.locator('header select').selectOption('constants');
      await settled(page);
      await press('>');
      await page.getByTitle('follow this word as a datum').first().click();
      await settled(page);
      await press('w', '2');
      await page.locator('.files ol button').first().waitFor();
      await audit('comparisons, a datum, functions');
      await press('3');
      await page.locator('.files ol button').first().waitFor();
      await audit('calls');
      await press('?');
      await audit('keys');
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Share' }).click();
      await page.locator('.sharing[open]').waitFor();
      await audit('share');
      await page.keyboard.press('Escape');
      await page.locator('input[type=file]').setInputFiles({
        name: 'no.kcapsule',
        mimeType: 'text/plain',
        buffer: Buffer.from('PK no'),
      });
      await settled(page);
      await audit('an error');
      await page.goto(`${site.home}labs.html`);
      await page.getByRole('article').waitFor();
      await audit('labs');
      expect(faults).toEqual([]);
      await page.close();
    },
    PATIENCE,
  );

  it(
    'Tab reaches every control, in the order of the page',
    async () => {
      const page = await site.opened('#program=bare');
      for (const view of ['.files ol button', '.records .record, .state .empty', '.cm-line'])
        await page.locator(view).first().waitFor();
      // Controls in the order of the document; one of a group of radio buttons takes the focus.
      const wanted = `[...document.querySelectorAll('button, a[href], input, select, summary, [tabindex="0"]')]
        .filter(one => one.checkVisibility() && !one.disabled && one.tabIndex === 0 && !one.closest('.xterm') && (one.type !== 'radio' || one.checked))`;
      const count = (await page.evaluate(`${wanted}.length`)) as number;
      await page.evaluate('document.activeElement?.blur()');
      const reached = new Set<number>();
      for (let i = 0; i < count + 20; i++) {
        await page.keyboard.press('Tab');
        reached.add((await page.evaluate(`${wanted}.indexOf(document.activeElement)`)) as number);
      }
      reached.delete(-1); // the terminal, and the browser itself
      expect([...reached]).toEqual([...reached].toSorted((a, b) => a - b));
      expect(reached.size).toBe(count);
      await page.close();
    },
    PATIENCE,
  );

  it('reports no error', () => expect(site.observed.errors).toEqual([]));
});
