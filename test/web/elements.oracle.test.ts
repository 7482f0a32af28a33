// One focus (moment, frame, datum, line) drives all views, and every element of every view moves
// it: each kind of element that can be clicked is clicked, and the focus is another one afterwards.
// The few that choose what a view lists are named here.
import { existsSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { CHROMIUM } from '../coverage/browser.ts';
import { PATIENCE, settled } from './built.ts';
import { BASELINE, hosted } from './hosted.ts';

const reason = existsSync(CHROMIUM) ? undefined : `elements of the page skipped: no ${CHROMIUM}`;
if (reason) console.warn(reason);

/** Elements that choose what a view lists, or open a dialog: they leave the focus where it is. */
const LISTS = [
  /^views of the kernel /, // files, functions, calls
  / input\[(radio|checkbox|search)\]/, // which lines are counted, which rows are listed
  / select:system call or remote section$/, // whose calls are listed
  /^kcov buffer button:the (records (before|behind) these|(first|last) records)$/, // its pages
  /^Registers summary/,
  /^motion button:these keys$/,
  /^moments button:close$/,
];

/**
 * Clicks an element of each kind that is not in `known`, and answers with all kinds and with those
 * that moved the focus. Of a list, two are tried: one of them may be the present focus.
 */
const WALK = `(async (lists, known) => {
  const settle = async () => {
    await new Promise(done => setTimeout(done, 30));
    while (document.querySelector('.verdict.busy')) await new Promise(done => setTimeout(done, 10));
  };
  const spot = () => location.href + document.querySelector('.calls button[aria-current]')?.textContent;
  const key = letter => document.body.dispatchEvent(new KeyboardEvent('keydown', { key: letter, bubbles: true }));
  const back = async home => {
    for (let i = 0; i < 4 && spot() !== home; i++) {
      key('z');
      await settle();
    }
  };
  const act = one => {
    if (one.tagName !== 'INPUT') return one.click();
    one.focus();
    one.value = one.type === 'number' ? one.valueAsNumber - 1 : '$sp';
    one.dispatchEvent(new Event('change', { bubbles: true }));
    one.form?.requestSubmit();
    one.blur();
  };
  const tidy = text => text.replace(/0x[0-9a-f]+|[\\d,.]+/g, 'N').trim();
  const kindOf = one => {
    const view = one.closest('[aria-label]:not(button, input, select), section, details');
    const name = view.ariaLabel ?? view.querySelector('h2, summary')?.textContent ?? '';
    const row = one.closest('li, dd, dt')?.tagName.toLowerCase();
    const type = one.tagName === 'INPUT' ? 'input[' + one.type + ']' : one.tagName.toLowerCase();
    const says = row ? (row + ' ' + one.className).trim() : tidy(one.ariaLabel || one.title || one.textContent);
    return name.replace(/^moments of .*/, 'moments').trim() + ' ' + type + ':' + says;
  };
  const kinds = () => {
    const found = new Map();
    for (const one of document.querySelectorAll('main :is(button, a, input, select, summary, [role=button])')) {
      if (!one.checkVisibility() || one.disabled || one.closest('.xterm, dialog')) continue;
      found.set(kindOf(one), [...(found.get(kindOf(one)) ?? []), one].slice(0, 2));
    }
    return found;
  };
  const home = spot();
  const moved = [];
  const all = [...kinds().keys()];
  for (const kind of all.filter(one => !known.has(one) && !lists.some(list => list.test(one)))) {
    for (let i = 0; i < 2 && !moved.includes(kind); i++) {
      const one = kinds().get(kind)?.[i];
      if (!one) continue;
      act(one);
      await settle();
      if (spot() !== home) moved.push(kind);
      await back(home);
    }
    if (spot() !== home) throw new Error('z does not come back behind ' + kind);
  }
  return { all, moved };
})`;

describe.skipIf(reason)('elements of the views', () => {
  const site = hosted('/', BASELINE);

  const press = async (page: Page, ...keys: string[]): Promise<void> => {
    for (const key of keys) {
      await page.keyboard.press(key);
      await settled(page);
    }
  };

  const walked = (page: Page, known: ReadonlySet<string>) =>
    page.evaluate(`${WALK}([${LISTS.join(', ')}], new Set(${JSON.stringify([...known])}))`) as Promise<{
      readonly all: readonly string[];
      readonly moved: readonly string[];
    }>;
  /** A moment of a program; `isThere`: has it the elements that are wanted, or shall it go on? */
  async function goTo(page: Page, program: string, key: string, isThere: string): Promise<void> {
    await page.locator('header select').selectOption(program);
    await settled(page);
    await page.waitForSelector('.uplot');
    for (let i = 0; i < 30 && (await page.locator(isThere).count()) === 0; i++) await press(page, key);
    if ((await page.locator('.state details[open]').count()) === 0)
      await page.locator('.state summary').click();
    await press(page, 'm');
  }

  it(
    'each kind of them moves the focus',
    async () => {
      const page = await site.opened('#program=bare');
      const moved = new Set<string>();
      const all = new Set<string>();
      for (const [program, key, isThere, ways] of [
        // Its variables are in memory, and its buffer has records.
        ['bare', 'n', '.records .record', '1'],
        ['kcov-openbsd', ')', '.terminal:has-text("0x")', '23'],
        ['race', 's', '.state h2:has-text("Harts")', '1'],
      ] as const) {
        await goTo(page, program, key, isThere);
        for (const way of ways) {
          await press(page, way);
          await page.locator('.files ol button, .files .empty').first().waitFor();
          const found = await walked(page, moved);
          for (const kind of found.all) all.add(kind);
          for (const kind of found.moved) moved.add(kind);
        }
      }
      expect([...all].filter(kind => !moved.has(kind) && !LISTS.some(list => list.test(kind)))).toEqual([]);
      expect(moved.size).toBeGreaterThan(25);
      await page.close();
    },
    2 * PATIENCE,
  );

  it('reports no error', () => expect(site.observed.errors).toEqual([]));
});
