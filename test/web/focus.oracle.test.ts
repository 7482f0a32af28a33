// One focus for all views: a datum that is followed through time, the keys, the lanes of the time
// axis, and the pages of the kcov buffer. The oracle is the machine itself: the instruction that
// is said to write a datum changes it when it runs, and the program's own output.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, describe, expect, it } from 'vitest';
import { ACTS, MOTIONS } from '../../web/views/keys.ts';
import { CHROMIUM } from '../coverage/browser.ts';
import { kcovbox, ROOT } from '../support/command.ts';
import { capsuleOf, PATIENCE, settled } from './built.ts';
import { BASELINE, hosted } from './hosted.ts';

const reason = existsSync(CHROMIUM) ? undefined : `the focus skipped: no ${CHROMIUM}`;
if (reason) console.warn(reason);

describe.skipIf(reason)('the focus', () => {
  const site = hosted('/', BASELINE);
  const dir = mkdtempSync(join(tmpdir(), 'kcovbox-focus-'));

  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  const opened = (hash: string) => site.at(hash);
  const unitOf = async (page: Page): Promise<number> =>
    Number(await page.locator('.unit input').inputValue());
  const press = async (page: Page, ...keys: string[]): Promise<void> => {
    for (const key of keys) {
      await page.keyboard.press(key);
      await settled(page);
    }
  };
  const messageOf = (page: Page) => page.locator('.message').textContent();
  /** The value of the datum; it is asked for when the reader rests. */
  const datumValue = (page: Page) =>
    expect.poll(async () => Number(await page.locator('.datum-value b').textContent()), { timeout: 30_000 });
  const register = (page: Page, name: string) =>
    page.locator('.registers div', { has: page.getByRole('button', { name, exact: true }) });

  it(
    'word 0 of the buffer is a datum: each store to it counts one record',
    async () => {
      const page = await opened('#program=bare');
      await press(page, '>');
      await page.getByTitle('follow word 0 as a datum').click();
      await settled(page);
      // The program's status is the number of records of its read(2).
      const { status } = capsuleOf('bare').manifest.outcome;
      const values = async (): Promise<number[]> =>
        (await page.locator('.datum ol b').allTextContents()).map(Number);
      await expect.poll(values).toHaveLength(8);
      const latest = (await values())[0]!;
      expect(latest).toBeGreaterThanOrEqual(status);
      expect(await values()).toEqual(Array.from({ length: 8 }, (_, i) => latest - i));
      await press(page, 'w');
      // The instruction is the hook's, which says nothing; the record has the code.
      const record = (act: string, index: number | string): RegExp =>
        new RegExp(String.raw`: kcov ${act} record ${index} of thread \d+, from \w+ at kernel/\S+:\d+$`);
      expect(await messageOf(page)).toMatch(record('counts', latest - 1));
      expect(await page.locator('.datum ol span').first().textContent()).toMatch(/^kcov counts record /);
      const unit = await unitOf(page);
      await datumValue(page).toBe(latest - 1);
      await press(page, 'i');
      await datumValue(page).toBe(latest);
      await press(page, 'w');
      expect(await unitOf(page)).toBe(unit);
      await press(page, 'w', 'W');
      expect(await unitOf(page)).toBe(unit);
      // The word of the record is written by the same instruction.
      await press(page, 'i');
      await page.getByLabel(`follow record ${latest - 1} as a datum`).click();
      await settled(page);
      await press(page, 'w');
      expect(await messageOf(page)).toMatch(record('writes', latest - 1));
      expect(await unitOf(page)).toBe(unit);
      await press(page, 'z', 'z', 'z');
      await datumValue(page).toBe(latest - 1);
      // The address holds the datum, too.
      const again = await site.opened(new URL(page.url()).hash);
      await datumValue(again).toBe(latest - 1);
      await again.close();
      site.leave(page);
    },
    PATIENCE,
  );

  it(
    'everything is done by the keyboard alone',
    async () => {
      const page = await opened('#program=kcov-openbsd');
      const shown = (): Promise<string | null> => page.locator('.l-shown').textContent();
      const start = await unitOf(page);
      // A line, its breakpoint, its moments.
      const before = await shown();
      await press(page, 'j', 'j', 'j');
      expect(await shown()).not.toBe(before);
      await press(page, 'k', 'k', 'k');
      expect(await shown()).toBe(before);
      for (let i = 0; i < 40 && !(await shown())?.includes('KIOSETBUFSIZE'); i++) await press(page, 'j');
      await press(page, 'b');
      expect(await page.locator('.g-break').textContent()).toContain('●');
      await press(page, 'c');
      const stop = await unitOf(page);
      expect(stop).toBeGreaterThan(start);
      expect(await page.locator('.l-now').textContent()).toContain('KIOSETBUFSIZE');
      await press(page, '>', 'C');
      expect(await unitOf(page)).toBe(stop);
      await press(page, 'm');
      expect(await page.locator('.moments h2').textContent()).toMatch(/ran once$/);
      await press(page, '<', '.');
      expect(await unitOf(page)).toBe(stop);
      await press(page, '>', ',');
      expect(await unitOf(page)).toBe(stop);
      // The time axis.
      await press(page, ']');
      const event = await unitOf(page);
      expect(await page.locator('.time output').textContent()).toMatch(/^\w+.*, unit [\d,]+$/);
      await press(page, ']', '[');
      expect(await unitOf(page)).toBe(event);
      await press(page, '+', '+', '-', '=');
      // Views, and a unit.
      await press(page, '2');
      await page.getByLabel('filter functions').waitFor();
      await press(page, '3');
      await page.getByLabel('system call or remote section').waitFor();
      await press(page, '1');
      await page.getByLabel('filter files').focus();
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await settled(page);
      expect(await page.locator('.source h2').textContent()).toMatch(/^kernel\//);
      await press(page, 'u');
      await page.keyboard.type(`${start}`);
      await page.keyboard.press('Enter');
      await settled(page);
      expect(await unitOf(page)).toBe(start);
      // The help names every key, and Escape closes it.
      await page.locator('.source .cm-content').focus();
      await press(page, '?');
      const keys = await page.locator('.help kbd').allTextContents();
      expect(keys.sort()).toEqual([...MOTIONS, ...ACTS].map(({ key }) => key).sort());
      expect(new Set(keys).size).toBe(keys.length);
      await page.keyboard.press('Escape');
      expect(await page.locator('.help').isVisible()).toBe(false);
      site.leave(page);
    },
    PATIENCE,
  );

  it(
    'remotes are registered before their sections, and threads that never record have a lane',
    async () => {
      const page = await opened('#program=remote-openbsd');
      const seen: string[] = [];
      for (let i = 0; i < 20; i++) {
        await press(page, ']');
        seen.push((await page.locator('.time output').textContent())!.replace(/, unit.*/, ''));
      }
      const [registered, enters] = [/^remote (0x\w+) is registered$/, /^remote section (0x\w+) enters$/].map(
        form => seen.findIndex(name => form.test(name)),
      ) as [number, number];
      expect(registered).toBeGreaterThanOrEqual(0);
      expect(enters).toBeGreaterThan(registered);
      expect(seen[enters]).toContain(/0x\w+/.exec(seen[registered]!)![0]);
      site.leave(page);
      const quiet = await opened('#program=hello'); // it never opens kcov
      const axis = quiet.getByRole('img', { name: /^\d+ events of 1 harts, and 1 threads/ });
      const box = (await axis.boundingBox())!;
      // Behind the lane of the hart: the one of the thread leads to its trap, too.
      const before = await unitOf(quiet);
      const over = (await quiet.locator('.u-over').boundingBox())!;
      for (let x = over.width - 1; x > 0 && (await unitOf(quiet)) === before; x -= 4) {
        await quiet.mouse.move(over.x + x, box.y + 12 + 1.5 * 16);
        const near = await quiet.locator('.time output').textContent();
        if (near?.startsWith('thread')) await quiet.mouse.click(over.x + x, box.y + 12 + 1.5 * 16);
        await settled(quiet);
      }
      const said = await quiet.locator('.time output').textContent();
      expect(said).toBe(`thread 1, unit ${(await unitOf(quiet)).toLocaleString('en-US')}`);
      site.leave(quiet);
    },
    PATIENCE,
  );

  it(
    'a register and a variable are data: the instruction that wrote them changes them',
    async () => {
      const page = await opened('#program=bare');
      await press(page, 's', 's', 's', 's');
      await page.locator('.state summary').click();
      const here = await unitOf(page);
      const value = await register(page, 'a0').locator('dd').textContent();
      await page.getByTitle('go to the last change of a0').click();
      await settled(page);
      expect(await messageOf(page)).toMatch(/^\$a0 was last written here: /);
      expect(await unitOf(page)).toBeLessThan(here);
      expect(await register(page, 'a0').locator('dd').textContent()).not.toBe(value);
      await press(page, 'i');
      expect(await register(page, 'a0').locator('dd').textContent()).toBe(value);
      // A variable, by its expression; its memory stays the datum when the name is out of sight.
      await press(page, '<', 'n', 'n', 'n', 'd');
      // Slower than the pause behind which the value arrives: typing is not overwritten.
      await page.keyboard.type('words + 0', { delay: 60 });
      await page.keyboard.press('Enter');
      await settled(page);
      expect(await messageOf(page)).toMatch(/^words \+ 0: /);
      await page.getByLabel('datum to follow').fill('words');
      await page.keyboard.press('Enter');
      await page.locator('.source .cm-content').focus();
      await settled(page);
      await datumValue(page).toBe(512);
      await press(page, 'w');
      expect(await messageOf(page)).toMatch(/^words was last written here: main at /);
      await datumValue(page).not.toBe(512);
      await press(page, 'i');
      await datumValue(page).toBe(512);
      await press(page, '>');
      expect(await page.locator('.datum-value').textContent()).toMatch(/8 bytes at 0x/);
      site.leave(page);
    },
    PATIENCE,
  );

  it(
    'the buffer turns through all records',
    async () => {
      // The program of the menu, with thirty calls.
      const [source, capsule] = [join(dir, 'many.c'), join(dir, 'many.kcapsule')];
      const text = readFileSync(join(ROOT, 'examples', 'bare.c'), 'utf8');
      const call = 'call(SYS_read, -1, 0, 0, 0, 0);';
      expect(text).toContain(call);
      writeFileSync(source, text.replace(call, `for (int i = 0; i < 30; i++) ${call}`));
      const flags = ['--cflags', '-g -O0 -nostdlib -static', '--record', capsule];
      kcovbox(['run', ...flags, source], { cwd: dir });
      const page = await opened('#program=bare');
      await page.locator('input[type=file]').setInputFiles(capsule);
      await page.locator('.verdict.same[title*="status"]').waitFor();
      await settled(page);
      await press(page, '>');
      const pages = page.locator('.pages');
      const range = async (): Promise<[number, number, number]> => {
        const text = (await pages.locator('span').textContent())!.replaceAll(',', '');
        return /^(\d+) to (\d+) of (\d+)$/.exec(text)!.slice(1).map(Number) as [number, number, number];
      };
      const total = Number((await page.locator('.word0').textContent())!.replaceAll(',', ''));
      expect(await range()).toEqual([total - 100, total - 1, total]);
      const seen = new Set<string>();
      await pages.getByTitle('the first records').click();
      await expect.poll(async () => (await range())[0]).toBe(0);
      for (;;) {
        for (const index of await page.locator('.records .index').allTextContents()) seen.add(index);
        const [, last] = await range();
        if (last === total - 1) break;
        await pages.getByTitle('the records behind these').click();
        await expect.poll(async () => (await range())[1]).toBeGreaterThan(last);
      }
      expect(seen.size).toBe(total);
      site.leave(page);
    },
    PATIENCE,
  );

  it('reports no error', () => expect(site.observed.errors).toEqual([]));
});
